/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Our flags from those of the Fortran BLAS and of CBLAS. */
#include "front/doors/doors.h"

/* Source: cblas.h. */
enum {
  CBLAS_ROW_MAJOR = 101,
  CBLAS_COL_MAJOR,
  CBLAS_NO_TRANS = 111,
  CBLAS_TRANS,
  CBLAS_CONJ_TRANS,
  CBLAS_CONJ_NO_TRANS, /* OpenBLAS's */
  CBLAS_UPPER = 121,
  CBLAS_LOWER,
  CBLAS_NON_UNIT = 131,
  CBLAS_UNIT,
  CBLAS_LEFT = TSR_CBLAS_LEFT,
  CBLAS_RIGHT
};

/* The letter in upper case if `known` contains it, else 0. */
static int one_of(char letter, const char *known) {
  char upper = letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
  for (; *known != '\0'; known++)
    if (*known == upper) return upper;
  return 0;
}

tsr_op tsr_door_op(const char *letter) {
  return (tsr_op)one_of(*letter, "NTCR");
}

tsr_side tsr_door_side(const char *letter) {
  return (tsr_side)one_of(*letter, "LR");
}

tsr_uplo tsr_door_uplo(const char *letter) {
  return (tsr_uplo)one_of(*letter, "LU");
}

tsr_diag tsr_door_diag(const char *letter) {
  return (tsr_diag)one_of(*letter, "NU");
}

tsr_layout tsr_cblas_layout(int number) {
  if (number == CBLAS_ROW_MAJOR) return TSR_ROW_MAJOR;
  return number == CBLAS_COL_MAJOR ? TSR_COL_MAJOR : (tsr_layout)0;
}

tsr_op tsr_cblas_op(int number) {
  static const char letters[] = "NTCR";
  bool known = number >= CBLAS_NO_TRANS && number <= CBLAS_CONJ_NO_TRANS;
  return known ? (tsr_op)letters[number - CBLAS_NO_TRANS] : (tsr_op)0;
}

tsr_side tsr_cblas_side(int number) {
  if (number == CBLAS_LEFT) return TSR_LEFT;
  return number == CBLAS_RIGHT ? TSR_RIGHT : (tsr_side)0;
}

tsr_uplo tsr_cblas_uplo(int number) {
  if (number == CBLAS_UPPER) return TSR_UPPER;
  return number == CBLAS_LOWER ? TSR_LOWER : (tsr_uplo)0;
}

tsr_diag tsr_cblas_diag(int number) {
  if (number == CBLAS_NON_UNIT) return TSR_NON_UNIT;
  return number == CBLAS_UNIT ? TSR_UNIT : (tsr_diag)0;
}
