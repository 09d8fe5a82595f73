/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Argument checks in the order and with the positions of the reference BLAS. */
#include "blas/check.h"

/* Whether the leading dimension is too small; w is complete. */
static bool is_short(const tsr_level3 *w, const tsr_argument *matrix) {
  int64_t rows, cols;
  tsr_check_shape(w, matrix, &rows, &cols);
  int64_t least = w->layout == TSR_COL_MAJOR ? rows : cols;
  return tsr_check_number(w, matrix->at) < (least > 1 ? least : 1);
}

/* 0 is a flag that was not recognised. */
static bool flag_is_wrong(const tsr_operation_info *info, const tsr_level3 *w,
                          const tsr_argument *argument) {
  int flag = tsr_check_flag(w, argument->at);
  return flag == 0 ||
         (argument->flag == TSR_FLAG_OP && !tsr_check_takes(info, w->type, (tsr_op)flag));
}

static bool is_wrong(const tsr_operation_info *info, const tsr_level3 *w,
                     const tsr_argument *argument) {
  switch (argument->kind) {
    case TSR_ARGUMENT_FLAG:
      return flag_is_wrong(info, w, argument);
    case TSR_ARGUMENT_EXTENT:
      return tsr_check_number(w, argument->at) < 0;
    case TSR_ARGUMENT_INPUT:
    case TSR_ARGUMENT_RESULT:
      return is_short(w, argument);
    default:
      return false;
  }
}

/* A matrix and its ld are two. */
static int places_of(const tsr_argument *argument) {
  return argument->kind >= TSR_ARGUMENT_INPUT ? 2 : 1;
}

int tsr_check_position(const tsr_level3 *what) {
  const tsr_operation_info *info = tsr_operation_get(what->operation);
  tsr_level3 w = tsr_check_complete(what);
  int position = 0;
  if ((int)w.layout == 0) return TSR_POSITION_LAYOUT;
  for (int i = 0; i < info->argument_count; i++) {
    const tsr_argument *argument = &info->arguments[i];
    position += places_of(argument);
    if (is_wrong(info, &w, argument)) return position;
  }
  return 0;
}

int tsr_check_position_of_result(tsr_operation operation) {
  const tsr_operation_info *info = tsr_operation_get(operation);
  int position = 1, i = 0;
  while (info->arguments[i].kind != TSR_ARGUMENT_RESULT)
    position += places_of(&info->arguments[i++]);
  return position;
}
