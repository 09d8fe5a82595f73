# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# cmake -DFROM=kernels.cu -DTO=kernels.cpp -P launches.cmake: writes launches of kernels as C++:
#   kernel<A, B><<<grid, block, 0, stream>>>(...)
# becomes
#   hip_registered<&kernel<A, B>>::launch(grid, block, 0, stream)(...)
file(READ ${FROM} text)
string(REGEX REPLACE "([a-z_]+(<[^<>]*>)?)[ \n]*<<<([^<>]*)>>>"
  "hip_registered<&\\1>::launch(\\3)" text "${text}")
if(text MATCHES "<<<")
  message(FATAL_ERROR "${FROM} has a launch that launches.cmake does not read")
endif()
file(WRITE ${TO} "#line 1 \"${FROM}\"\n${text}")
