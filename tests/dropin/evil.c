/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A library that tells when it is loaded: what nobody with more rights than its owner may do. */
#include <unistd.h>

__attribute__((constructor)) static void tell(void) {
  static const char told[] = "evil was loaded\n";
  if (write(STDOUT_FILENO, told, sizeof told - 1) < 0) _exit(3);
}
