#include "base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Allocations still to be made until one fails; 0 when none is to fail. */
static atomic_long fail_in;
static atomic_bool fail_on; /* all after that one fail, too */

static bool must_fail(void) {
  if (atomic_load_explicit(&fail_in, memory_order_relaxed) <= 0) return false;
  if (atomic_fetch_sub(&fail_in, 1) != 1) return false;
  if (atomic_load(&fail_on)) atomic_store(&fail_in, 1);
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

void tsr_alloc_fail_at(long n) {
  atomic_store(&fail_on, false);
  atomic_store(&fail_in, n);
}

void tsr_alloc_fail_from(long n) {
  atomic_store(&fail_on, true);
  atomic_store(&fail_in, n);
}
