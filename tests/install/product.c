/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "product.h"

#include <tessera.h>

static const double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}; /* column by column */

static tsr_context *make(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context;
  options.engine = "host";
  options.devices = "2";
  options.machine = "host:200 gpu*2@nvswitch:300 pcie:25/pair rate:19";
  return tsr_context_create(&options, &context) == TSR_OK ? context : NULL;
}

int product(double c[4]) {
  tsr_context *context = make();
  if (context == NULL) return 0;
  tsr_status status = tsr_dgemm(context, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, 2, 2, 2, 1, a,
                                2, b, 2, 0, c, 2);
  tsr_context_destroy(context);
  return status == TSR_OK;
}

int square(double c[4]) {
  const double one = 1, zero = 0;
  tsr_context *context = make();
  if (context == NULL) return 0;
  tsr_status status = tsr_syrk(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, TSR_NO_TRANS, 2, 2, &one,
                               a, 2, &zero, c, 2);
  tsr_context_destroy(context);
  return status == TSR_OK;
}
