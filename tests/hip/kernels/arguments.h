/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The pointers in structures that kernels take as arguments: the memory of the device that they
 * mean is elsewhere on the CPU (block.h). */
#ifndef TESTS_HIP_KERNELS_ARGUMENTS_H
#define TESTS_HIP_KERNELS_ARGUMENTS_H

#include "engine/gpu/residues/residue_kernels.h"

/* Calls f with each pointer of a structure. Those that have none need no function. */
template <class F>
void hip_pointers(tsr_gpu_residues &x, F f) {
  f(x.a), f(x.block);
}

template <class F>
void hip_pointers(tsr_gpu_rest &x, F f) {
  f(x.a), f(x.b), f(x.sums);
}

template <class F>
void hip_pointers(tsr_gpu_recover &x, F f) {
  f(x.sums), f(x.residues), f(x.rows), f(x.columns), f(x.c), f(x.refused);
}

template <class F>
void hip_pointers(tsr_gpu_native &x, F f) {
  f(x.a), f(x.b), f(x.c), f(x.refused);
}

template <class F>
void hip_pointers(tsr_gpu_overlapping &x, F f) {
  f(x.lines), f(x.records), f(x.lost), f(x.bytes);
}

template <class F>
void hip_pointers(tsr_gpu_overlaps &x, F f) {
  hip_pointers(x.rows, f), hip_pointers(x.columns, f);
  f(x.judgement), f(x.verdict);
}

template <class T, class F>
void hip_pointers(T &, F) {}

#endif
