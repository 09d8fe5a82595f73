/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/flags.h"

/* Source of the numbers and names: cblas.h of the reference BLAS; CblasConjNoTrans is OpenBLAS's.
 */
#define OF_CBLAS(name) ", which is " name " of CBLAS"
static const struct known {
  tsr_flag flag;
  int cblas, letter; /* 0: CBLAS, or tessera.h, has no such value */
  const char *of_cblas;
} all[] = {
    {TSR_FLAG_LAYOUT, 101, TSR_ROW_MAJOR, OF_CBLAS("CblasRowMajor")},
    {TSR_FLAG_LAYOUT, 102, TSR_COL_MAJOR, OF_CBLAS("CblasColMajor")},
    {TSR_FLAG_OP, 111, TSR_NO_TRANS, OF_CBLAS("CblasNoTrans")},
    {TSR_FLAG_OP, 112, TSR_TRANS, OF_CBLAS("CblasTrans")},
    {TSR_FLAG_OP, 113, TSR_CONJ_TRANS, OF_CBLAS("CblasConjTrans")},
    {TSR_FLAG_OP, 114, 0, OF_CBLAS("CblasConjNoTrans")},
    {TSR_FLAG_UPLO, 0, TSR_GENERAL, ""},
    {TSR_FLAG_UPLO, 121, TSR_UPPER, OF_CBLAS("CblasUpper")},
    {TSR_FLAG_UPLO, 122, TSR_LOWER, OF_CBLAS("CblasLower")},
    {TSR_FLAG_DIAG, 131, TSR_NON_UNIT, OF_CBLAS("CblasNonUnit")},
    {TSR_FLAG_DIAG, 132, TSR_UNIT, OF_CBLAS("CblasUnit")},
    {TSR_FLAG_SIDE, 141, TSR_LEFT, OF_CBLAS("CblasLeft")},
    {TSR_FLAG_SIDE, 142, TSR_RIGHT, OF_CBLAS("CblasRight")},
};
enum { KNOWN = sizeof all / sizeof *all };

int tsr_flag_letter(tsr_flag flag, int value) {
  for (int i = 0; i < KNOWN && value != 0; i++) {
    if (all[i].flag != flag || all[i].letter == 0) continue;
    if (value == all[i].cblas || value == all[i].letter - 'A' + 'a') return all[i].letter;
  }
  return value;
}

const char *tsr_flag_of_cblas(int value) {
  for (int i = 0; i < KNOWN && value != 0; i++)
    if (value == all[i].cblas) return all[i].of_cblas;
  return "";
}
