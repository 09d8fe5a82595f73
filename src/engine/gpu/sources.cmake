# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# The source that the engines for GPUs share. Each of them is a folder beside this one with the
# vendor's names (names.h, kernel_names.h) and functions (facts.c), and adds these files to its own.
set(TESSERA_GPU_FOLDER ${CMAKE_CURRENT_LIST_DIR})
set(TESSERA_GPU_SOURCES
  blas.c blocked.c copy.c device.c engine.c gemm.c kernel.c level3.c memory.c queue.c solve.c start.c)
list(TRANSFORM TESSERA_GPU_SOURCES PREPEND ${TESSERA_GPU_FOLDER}/)
