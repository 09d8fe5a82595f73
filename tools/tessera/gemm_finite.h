/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* NaN and infinities of the matrices of a product: which file has them, where the first one is, and
 * which part of the result they reach. */
#ifndef TESSERA_GEMM_FINITE_H
#define TESSERA_GEMM_FINITE_H

#include "gemm.h"

/* Examines a finished product and notes on stderr which matrix has elements that are no finite
 * numbers, so that they never go unnoticed. Costs O(m + n) unless there are some; O(m n) with C0
 * and for fp16, whose sums exceed its range soon. Sets job->odd and job->reached; the exit code. */
int finite_examine(gemm_job *job);

/* For a result that the check refuses: whether C has elements that are no finite numbers though the
 * elements that they come from are; *first: the first of them. */
bool finite_is_exceeded(const gemm_job *job, nonfinite *first);

/* Adds "nonfinite" to the object: an array with one entry for each matrix that has such elements.
 */
void finite_add_json(const gemm_job *job, cJSON *object);

#endif
