/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Errors that the Fortran interface finds itself, reported as the library reports its own. */
#include <inttypes.h>

#include "base/status.h"

TSR_API tsr_status tsr_fortran_refuse(const char *name, int64_t step);
TSR_API tsr_status tsr_fortran_refuse_shape(const char *name, int64_t rows, int64_t cols,
                                            int64_t wanted_rows, int64_t wanted_cols);

tsr_status tsr_fortran_refuse(const char *name, int64_t step) {
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "the elements of a column of %s are %" PRId64
                  " apart; they must be next to one another: pass every row, or a copy",
                  name, step);
}

tsr_status tsr_fortran_refuse_shape(const char *name, int64_t rows, int64_t cols,
                                    int64_t wanted_rows, int64_t wanted_cols) {
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s is %" PRId64 " x %" PRId64 " where %" PRId64 " x %" PRId64
                  " is needed; check its extents and the flags",
                  name, rows, cols, wanted_rows, wanted_cols);
}
