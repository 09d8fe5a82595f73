#include "product.h"

#include <tessera.h>

int product(double c[4]) {
  const double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}; /* column by column */
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context;
  options.engine = "host";
  options.devices = "2";
  options.machine = "host:200 gpu*2@nvswitch:300 pcie:25/pair rate:19";
  if (tsr_context_create(&options, &context) != TSR_OK) return 0;
  tsr_status status = tsr_dgemm(context, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, 2, 2, 2, 1, a,
                                2, b, 2, 0, c, 2);
  tsr_context_destroy(context);
  return status == TSR_OK;
}
