/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "tessera_model.h"

static atomic_bool armed;   /* a test has asked for a failure */
static atomic_long fail_in; /* allocations until the one that fails */
static atomic_bool fail_on; /* all later ones fail, too */
static atomic_long failed;  /* since the last call of arm() */

static bool must_fail(void) {
  if (!atomic_load_explicit(&armed, memory_order_relaxed)) return false;
  long left = atomic_fetch_sub(&fail_in, 1) - 1;
  if (left > 0 || (left < 0 && !atomic_load(&fail_on))) return false;
  atomic_fetch_add(&failed, 1);
  return true;
}

void *tsr_alloc(size_t bytes) {
  if (must_fail()) return NULL;
  return malloc(bytes > 0 ? bytes : 1);
}

void *tsr_alloc_zero(size_t count, size_t size) {
  if (must_fail()) return NULL;
  return calloc(count > 0 ? count : 1, size > 0 ? size : 1);
}

void *tsr_realloc(void *pointer, size_t bytes) {
  if (must_fail()) return NULL;
  return realloc(pointer, bytes > 0 ? bytes : 1);
}

char *tsr_strdup(const char *s) {
  size_t bytes = strlen(s) + 1;
  char *copy = tsr_alloc(bytes);
  if (copy != NULL) memcpy(copy, s, bytes);
  return copy;
}

void tsr_dealloc(void *pointer) {
  free(pointer);
}

/* Makes the nth allocation from now fail (0: none), and with `on` all after it. Returns how many
 * have failed since the last call. */
static long arm(long n, bool on) {
  atomic_store(&armed, false);
  atomic_store(&fail_on, on);
  atomic_store(&fail_in, n);
  atomic_store(&armed, n > 0);
  return atomic_exchange(&failed, 0);
}

long tsr_alloc_fail_at(long n) {
  return arm(n, false);
}

long tsr_alloc_fail_from(long n) {
  return arm(n, true);
}
