/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a problem must give: plainly computed in double precision from the operands as they were
 * rounded, and how far each element may be from it.
 */
#ifndef TSR_TESTS_REFERENCE_H
#define TSR_TESTS_REFERENCE_H

#include "dense.h"

/* The C that the image of c holds, known exactly: its sizes are bounds of the error. False: out of
 * memory. */
bool reference_create(const problem *p, const operand *c, dense *made);

/* One call after the others, from A and B of the set. */
bool reference_apply(const problem *p, const operand set[3], dense *c);

/* Compares the C in bytes (laid out as c). False, and what is wrong first, if it is too far. */
bool reference_compare(const problem *p, const dense *expected, const operand *c,
                       const unsigned char *bytes, char *wrong, size_t room);

#endif
