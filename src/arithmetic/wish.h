/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* How products are to be computed, as users say it. */
#ifndef TSR_ARITHMETIC_WISH_H
#define TSR_ARITHMETIC_WISH_H

#include "arithmetic/arithmetic.h"
#include "base/status.h"
#include "tessera_model.h"

typedef enum tsr_arithmetic_kind {
  TSR_NATIVE,
  TSR_EMULATED, /* in residues (arithmetic/moduli.h), where that is possible */
  TSR_FASTER    /* in whichever way is predicted to be faster */
} tsr_arithmetic_kind;

typedef struct tsr_arithmetic_wish {
  tsr_arithmetic_kind kind;
  const tsr_arithmetic *products; /* NULL: as the type or the accuracy needs */
  double accuracy; /* asked of them: the error as a part of |A||B|; 0: as native products have */
} tsr_arithmetic_wish;

/* Reads "native", "emulated", "emulated:M", "emulated:X", "auto" or "auto:X"; text NULL: native.
 * what: the name of the option or variable, for the message of TSR_ERR_ARGUMENT. */
tsr_status tsr_parse_arithmetic(const char *what, const char *text,
                                tsr_arithmetic_wish *arithmetic);

/* Writes an arithmetic so that reading the text gives the same one. */
void tsr_arithmetic_print(const tsr_arithmetic_wish *arithmetic, char text[TSR_ARITHMETIC_TEXT]);

#endif
