/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Flags as programs give them: the letters of tessera.h, the same letters in lower case, or the
 * numbers of the enumerations of CBLAS.
 */
#ifndef TSR_BASE_FLAGS_H
#define TSR_BASE_FLAGS_H

#include "tessera.h"

typedef enum tsr_flag {
  TSR_FLAG_LAYOUT,
  TSR_FLAG_OP,
  TSR_FLAG_SIDE,
  TSR_FLAG_UPLO,
  TSR_FLAG_DIAG
} tsr_flag;

/* The letter that tessera.h has for a value of the flag. A value that the flag does not take is
 * returned unchanged. */
int tsr_flag_letter(tsr_flag flag, int value);

/* For messages: ", which is CblasTrans of CBLAS" if some flag of CBLAS has the value (112), else
 * "". */
const char *tsr_flag_of_cblas(int value);

#endif
