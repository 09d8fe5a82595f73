/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Factorisations among the random problems: matrices without a factor, and whether what a call made
 * is one. */
#ifndef TSR_TESTS_FACTOR_H
#define TSR_TESTS_FACTOR_H

#include "operand.h"

/* Spoils the element on the diagonal at the order p->bad, which is positive. */
tsr_status factor_spoil(const problem *p, operand *c);

/* Whether info is right, and, where there is a factor, L L^H (U^H U) is the matrix in c's image. If
 * it is not, wrong says why. */
bool factor_is_right(const problem *p, const operand *c, unsigned char const *bytes, int64_t info,
                     char *wrong, size_t room);

#endif
