/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A program of two files against the installed library: small products on emulated devices. */
#include <stdio.h>
#include <tessera.h>

#include "product.h"

int main(void) {
  double c[4] = {0};
  if (!product(c)) {
    printf("%s\n", tsr_message());
    return 1;
  }
  printf("%s: %g %g %g %g\n", tsr_version(), c[0], c[1], c[2], c[3]);
  if (!(c[0] == 23 && c[1] == 34 && c[2] == 31 && c[3] == 46)) return 1;
  if (!square(c)) {
    printf("%s\n", tsr_message());
    return 1;
  }
  return !(c[0] == 10 && c[1] == 14 && c[2] == 31 && c[3] == 20);
}
