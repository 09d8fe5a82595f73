/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/environment.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

const char *tsr_environment_get(const char *name) {
  return secure_getenv(name);
}

/* The environment may be empty; a program may also have set it to NULL (clearenv). */
const char *tsr_environment_at(int index) {
  return environ != NULL && tsr_environment_is_trusted() ? environ[index] : NULL;
}

bool tsr_environment_is_trusted(void) {
  return getauxval(AT_SECURE) == 0;
}
