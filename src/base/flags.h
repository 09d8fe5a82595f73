/*
 * Flags as programs give them: the letters of tessera.h, the same in lower case, and the values of
 * CBLAS's enumerations, which are other numbers.
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

/* The letter that tessera.h has for the value of a flag; a value that the flag does not take comes
 * back as it is. */
int tsr_flag_letter(tsr_flag flag, int value);

/* For messages: ", which is CblasTrans of CBLAS", for any value that one of CBLAS's flags has, and
 * "" for others. */
const char *tsr_flag_of_cblas(int value);

#endif
