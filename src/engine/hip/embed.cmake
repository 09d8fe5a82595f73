# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# cmake -DFROM=FILE -DFOLDERS=A,B -DALONE=FILE -DCODE=FILE -P embed.cmake
# Writes to ALONE the source FROM with each header of ours, which is in one of FOLDERS, in place of the
# first line that includes it, and without the lines that include C's own headers, which compilers at
# run time lack; and to CODE a C source with that text, tsr_hip_kernels.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" FOLDERS "${FOLDERS}")
file(READ ${FROM} text)
set(included)
while(text MATCHES "#include \"([^\"]+)\"[^\n]*\n")
  set(line "${CMAKE_MATCH_0}")
  set(name "${CMAKE_MATCH_1}")
  set(header "")
  if(NOT name IN_LIST included)
    list(APPEND included ${name})
    unset(found CACHE)
    find_file(found ${name} PATHS ${FOLDERS} NO_DEFAULT_PATH NO_CACHE)
    if(NOT found)
      message(FATAL_ERROR "${FROM}: no ${name} in ${FOLDERS}")
    endif()
    file(READ ${found} header)
    unset(found)
  endif()
  string(REPLACE "${line}" "${header}" text "${text}")
endwhile()
string(REGEX REPLACE "#include <(math|stdbool|stddef|stdint|string)\\.h>\n" "" text "${text}")
file(WRITE ${ALONE} "${text}")

file(READ ${ALONE} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
  "\\1\n" bytes "${bytes}")
file(WRITE ${CODE} "/* Made by embed.cmake. */
#include \"compile.h\"

const char tsr_hip_kernels[] = {
${bytes}0};
")
