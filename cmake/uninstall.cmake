# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Removes what the last installation from a build put in place, and folders of ours that it leaves empty.
# Usage: cmake -DBUILD=build -P cmake/uninstall.cmake
set(list ${BUILD}/install_manifest.txt)
if(NOT EXISTS ${list})
  message(FATAL_ERROR "${list} is not there: nothing was installed from this build folder")
endif()
file(STRINGS ${list} files)
foreach(file IN LISTS files)
  set(path $ENV{DESTDIR}${file})
  if(EXISTS ${path} OR IS_SYMLINK ${path})
    execute_process(COMMAND ${CMAKE_COMMAND} -E rm ${path} RESULT_VARIABLE failed ERROR_VARIABLE why)
    if(failed)
      message(FATAL_ERROR "${path} cannot be removed: ${why}")
    endif()
  endif()
  get_filename_component(folder ${path} DIRECTORY)
  # Up to and with the folder that has our name; folders above it are others'.
  while(folder MATCHES "/tessera(/|$)")
    file(GLOB left ${folder}/*)
    if(left OR NOT IS_DIRECTORY ${folder})
      break()
    endif()
    file(REMOVE_RECURSE ${folder})
    get_filename_component(folder ${folder} DIRECTORY)
  endwhile()
endforeach()
file(REMOVE ${list})
list(LENGTH files count)
message(STATUS "Removed ${count} files")
