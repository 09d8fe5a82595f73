# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# What explains the library, installed: the pages of docs/ but for the history of experiments,
# manual pages, and completion for bash and zsh. Manual pages and completions are made while building,
# by the command that was built; without Python, or for another machine than this one, they are left out.
foreach(document README.md LICENSE CHANGELOG.md)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${document})
    install(FILES ${PROJECT_SOURCE_DIR}/${document} DESTINATION ${CMAKE_INSTALL_DOCDIR})
  endif()
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.csv"
  PATTERN "history.md" EXCLUDE PATTERN "_*" EXCLUDE)

find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT Python3_Interpreter_FOUND)
  message(STATUS "Manual pages and completions: not made, there is no python3")
elseif(CMAKE_CROSSCOMPILING)
  message(STATUS "Manual pages and completions: not made, the command cannot run on this machine")
else()
  set(PAGES ${PROJECT_BINARY_DIR}/pages)
  file(GLOB PAGE_MAKERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/docs/*.py)
  set(PGEMM $<$<TARGET_EXISTS:tessera_pgemm>:tessera_pgemm>)
  add_custom_command(OUTPUT ${PAGES}/made
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${PAGES}
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/docs/man.py
      $<TARGET_FILE:tessera_command> ${PROJECT_SOURCE_DIR}/include/tessera.h ${PAGES}/man
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/docs/completion.py
      $<TARGET_FILE:tessera_command> ${PAGES}
    COMMAND ${CMAKE_COMMAND} -E touch ${PAGES}/made
    DEPENDS tessera_command ${PGEMM} ${PROJECT_SOURCE_DIR}/include/tessera.h ${PAGE_MAKERS}
    COMMENT "Manual pages and completions" VERBATIM)
  add_custom_target(tessera_pages ALL DEPENDS ${PAGES}/made)
  install(DIRECTORY ${PAGES}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(DIRECTORY ${PAGES}/bash-completion ${PAGES}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()
