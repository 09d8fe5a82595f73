# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# What configuring prints at its end: what was found, and what is missing without the rest.
#
# Each part of the project says what it found, where it looks for it:
#
#   tessera_summary(<what> <found> <detail> [<missing>])
#
#   what     the part, in at most 13 letters: "CUDA engine"
#   found    true: it is built. False: it is not, and <missing> is printed below it
#   detail   if found, the version or the file; else the reason: "nvcc was not found"
#   missing  what cannot be done without the part, and how to get it, in one sentence or two
#
# tessera_summary_print() prints all of them, in the order in which they were said.

function(tessera_summary what found detail)
  set(mark "no ")
  if(found)
    set(mark "yes")
  endif()
  string(LENGTH "${what}" length)
  math(EXPR blanks "14 - ${length}")
  if(blanks LESS 1)
    message(FATAL_ERROR "tessera_summary: '${what}' has more than 13 letters")
  endif()
  string(REPEAT " " ${blanks} pad)
  set(lines "  ${mark}  ${what}${pad}${detail}")
  if(NOT found AND ARGC GREATER 3)
    string(APPEND lines "\n--                      ${ARGV3}")
  endif()
  string(REPLACE ";" "\\;" lines "${lines}") # a text with a semicolon stays one item of the list
  set_property(GLOBAL APPEND PROPERTY TESSERA_SUMMARY "${lines}")
endfunction()

function(tessera_summary_print)
  get_property(lines GLOBAL PROPERTY TESSERA_SUMMARY)
  message(STATUS "Tessera ${PROJECT_VERSION} (${TESSERA_COMMIT}), ${CMAKE_BUILD_TYPE}, has:")
  foreach(line IN LISTS lines)
    message(STATUS "${line}")
  endforeach()
endfunction()

# ---- What more than one part asks for ----

# The commit that is built: from the file COMMIT, where `git archive` has filled it in, or from git;
# else "unknown". Configuring is repeated when git's record of commits changes.
function(tessera_find_commit result)
  set(${result} unknown PARENT_SCOPE)
  file(STRINGS ${PROJECT_SOURCE_DIR}/COMMIT commit LIMIT_COUNT 1 REGEX "^[0-9a-f]+$")
  if(commit)
    set(${result} ${commit} PARENT_SCOPE)
    return()
  endif()
  find_package(Git QUIET)
  if(NOT GIT_FOUND OR NOT EXISTS ${PROJECT_SOURCE_DIR}/.git)
    return()
  endif()
  execute_process(
    COMMAND ${GIT_EXECUTABLE} rev-parse --path-format=absolute --git-path logs/HEAD --short HEAD
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(lines MATCHES "^(.+)\n([0-9a-f]+)$")
    set(${result} ${CMAKE_MATCH_2} PARENT_SCOPE)
    if(EXISTS ${CMAKE_MATCH_1})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_MATCH_1})
    endif()
  endif()
endfunction()

# The name and version of the MPI whose mpi.h is in one of the folders: "Open MPI 4.1.4".
function(tessera_name_mpi folders result)
  set(${result} "an unknown MPI" PARENT_SCOPE)
  find_file(header mpi.h PATHS ${folders} NO_DEFAULT_PATH NO_CACHE)
  if(NOT header)
    return()
  endif()
  file(STRINGS ${header} lines REGEX "define +(O?MPI_|OMPI_|MPICH_|I_MPI_|MVAPICH)[A-Z_0-9]*VERSION")
  if(lines MATCHES "OMPI_MAJOR_VERSION +([0-9]+).*OMPI_MINOR_VERSION +([0-9]+).*OMPI_RELEASE_VERSION +([0-9]+)")
    set(${result} "Open MPI ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}" PARENT_SCOPE)
  elseif(lines MATCHES "I_MPI_VERSION +\"([^\"]+)\"")
    set(${result} "Intel MPI ${CMAKE_MATCH_1}" PARENT_SCOPE)
  elseif(lines MATCHES "MVAPICH2?_VERSION +\"([^\"]+)\"")
    set(${result} "MVAPICH ${CMAKE_MATCH_1}" PARENT_SCOPE)
  elseif(lines MATCHES "MPICH_VERSION +\"([^\"]+)\"")
    set(${result} "MPICH ${CMAKE_MATCH_1}" PARENT_SCOPE)
  endif()
endfunction()
