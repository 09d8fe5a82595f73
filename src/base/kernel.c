#include "base/kernel.h"

static const tsr_kernel_info kernels[TSR_KERNEL_COUNT] = {
    [TSR_KERNEL_GEMM] = {"gemm", {TSR_READ, TSR_READ, TSR_UPDATE}, false},
    [TSR_KERNEL_ADD] = {"add", {TSR_READ, TSR_NONE, TSR_UPDATE}, true},
    [TSR_KERNEL_SCALE] = {"scale", {TSR_NONE, TSR_NONE, TSR_UPDATE}, true},
    [TSR_KERNEL_SYMM] = {"symm", {TSR_READ, TSR_READ, TSR_UPDATE}, false},
    [TSR_KERNEL_HEMM] = {"hemm", {TSR_READ, TSR_READ, TSR_UPDATE}, false},
    [TSR_KERNEL_SYRK] = {"syrk", {TSR_READ, TSR_NONE, TSR_UPDATE}, false},
    [TSR_KERNEL_HERK] = {"herk", {TSR_READ, TSR_NONE, TSR_UPDATE}, false},
    [TSR_KERNEL_SYR2K] = {"syr2k", {TSR_READ, TSR_READ, TSR_UPDATE}, false},
    [TSR_KERNEL_HER2K] = {"her2k", {TSR_READ, TSR_READ, TSR_UPDATE}, false},
    [TSR_KERNEL_TRMM] = {"trmm", {TSR_READ, TSR_NONE, TSR_UPDATE}, false},
    [TSR_KERNEL_TRSM] = {"trsm", {TSR_READ, TSR_NONE, TSR_UPDATE}, false},
};

const tsr_kernel_info *tsr_kernel_get(tsr_kernel kernel) {
  return (unsigned)kernel < TSR_KERNEL_COUNT ? &kernels[kernel] : NULL;
}

tsr_uplo tsr_kernel_triangle(tsr_kernel kernel, uint8_t form) {
  switch (kernel) {
    case TSR_KERNEL_ADD:
    case TSR_KERNEL_SCALE:
    case TSR_KERNEL_SYRK:
    case TSR_KERNEL_HERK:
    case TSR_KERNEL_SYR2K:
    case TSR_KERNEL_HER2K:
      return tsr_form_unpack(form).uplo;
    default: /* their uplo is that of a */
      return TSR_GENERAL;
  }
}

double tsr_kernel_flops(tsr_kernel kernel, tsr_type type, int64_t m, int64_t n, int64_t k) {
  const tsr_type_info *info = tsr_type_get(type);
  double elements = (double)m * (double)n;
  switch (kernel) {
    case TSR_KERNEL_GEMM:
    case TSR_KERNEL_SYMM:
    case TSR_KERNEL_HEMM:
    case TSR_KERNEL_SYR2K:
    case TSR_KERNEL_HER2K:
      return info->flop_factor * elements * (double)k;
    case TSR_KERNEL_SYRK:
    case TSR_KERNEL_HERK:
    case TSR_KERNEL_TRMM:
    case TSR_KERNEL_TRSM:
      return info->flop_factor / 2 * elements * (double)k;
    case TSR_KERNEL_ADD: /* two products and a sum */
      return (info->complex_valued ? 14 : 3) * elements;
    case TSR_KERNEL_SCALE:
      return (info->complex_valued ? 6 : 1) * elements;
    default:
      return 0;
  }
}

double tsr_kernel_bytes(tsr_kernel kernel, tsr_type type, int64_t m, int64_t n, bool wide,
                        bool reads_c) {
  const tsr_type_info *info = tsr_type_get(type);
  double wide_size = (double)tsr_type_get(wide ? info->wide : type)->size;
  double c_size = kernel == TSR_KERNEL_ADD ? (double)info->size : wide_size;
  double a_size = kernel == TSR_KERNEL_ADD ? wide_size : 0;
  return (double)m * (double)n * (a_size + c_size * (reads_c ? 2 : 1));
}
