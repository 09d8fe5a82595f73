# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# The source that the engines for GPUs share. Each of them is a folder beside this one with the
# vendor's names (names.h, kernel_names.h) and functions (facts.c), and adds these files to its own.
set(TESSERA_GPU_FOLDER ${CMAKE_CURRENT_LIST_DIR})
set(TESSERA_GPU_SOURCES
  engine.c kernel.c device/blas.c device/copy.c device/device.c device/memory.c device/queue.c device/start.c
  level3/blocked.c level3/filled.c level3/gemm.c level3/level3.c level3/potrf.c level3/solve.c level3/trapezoid.c level3/triangle.c residues/residues.c)
list(TRANSFORM TESSERA_GPU_SOURCES PREPEND ${TESSERA_GPU_FOLDER}/)
# The kernels. Those on residues give the bits of the CPU's only if they are compiled without
# contraction.
set(TESSERA_GPU_KERNELS ${TESSERA_GPU_FOLDER}/kernels.cu)
set(TESSERA_GPU_EXACT_KERNELS
  ${TESSERA_GPU_FOLDER}/residues/residue_kernels.cu ${TESSERA_GPU_FOLDER}/residues/residue_judgement.cu
  ${TESSERA_GPU_FOLDER}/residues/residue_overlaps.cu)
