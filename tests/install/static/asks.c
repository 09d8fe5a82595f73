/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Asks for the CUDA engine. It has a function of its own with a name that is hidden in the library.
 */
#include <stdio.h>
#include <tessera.h>

const void *tsr_engine_find(const char *name);
const void *tsr_engine_find(const char *name) {
  return name;
}

int main(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context;
  options.engine = "cuda";
  tsr_status status = tsr_context_create(&options, &context);
  printf("%s: %s\n", tsr_status_name(status), tsr_message());
  return tsr_engine_find("") == NULL;
}
