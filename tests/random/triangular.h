/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * trmm and trsm of dense matrices. B is read and written, so that several calls in a row are a
 * chain, whose bounds grow from one to the next.
 */
#ifndef TSR_TESTS_TRIANGULAR_H
#define TSR_TESTS_TRIANGULAR_H

#include "dense.h"

/* One call: b = alpha op(A)^+-1 b or b = alpha b op(A)^+-1, with what b is off in its sizes. eps is
 * the unit roundoff. False: out of memory. */
bool triangular_apply(const problem *p, const operand *a, double eps, dense *b);

#endif
