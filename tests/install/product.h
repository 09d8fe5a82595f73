/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef TSR_TESTS_PRODUCT_H
#define TSR_TESTS_PRODUCT_H

/* 2 x 2. False when it failed. */
int product(double c[4]);

/* The lower triangle of a product with its own transpose. */
int square(double c[4]);

#endif
