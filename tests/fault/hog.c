/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Another program that takes memory: hog BYTES SECONDS [DEVICE [ENGINE]] takes so much of a
 * device's for so long. By hand, beside calls on the same device: they complete with smaller
 * budgets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tessera.h"

int main(int argc, char **argv) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context;
  void *memory;
  if (argc < 3) {
    fputs("usage: hog BYTES SECONDS [DEVICE [ENGINE]]\n", stderr);
    return 2;
  }
  size_t bytes = (size_t)strtod(argv[1], NULL);
  options.devices = argc > 3 ? argv[3] : NULL;
  options.engine = argc > 4 ? argv[4] : "cuda";
  options.machine = "host:200 gpu*1 pcie:25 rate:19"; /* nothing is measured */
  if (tsr_context_create(&options, &context) != TSR_OK ||
      tsr_malloc(context, 0, bytes, &memory) != TSR_OK) {
    fprintf(stderr, "hog: %s\n", tsr_message());
    return 1;
  }
  printf("hog: has %zu bytes\n", bytes);
  fflush(stdout);
  sleep((unsigned)strtoul(argv[2], NULL, 10));
  tsr_context_destroy(context);
  return 0;
}
