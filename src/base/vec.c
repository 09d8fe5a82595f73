/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/vec.h"

#include <stdint.h>

#include "base/alloc.h"

bool tsr_vec_reserve(void **items, size_t *room, size_t wanted, size_t size) {
  if (wanted <= *room) return true;
  size_t larger = *room < 8 ? 8 : *room + *room / 2;
  if (larger < wanted) larger = wanted;
  if (larger > SIZE_MAX / size) return false;
  void *moved = tsr_realloc(*items, larger * size);
  if (moved == NULL) return false;
  *items = moved;
  *room = larger;
  return true;
}

void tsr_vec_trim(void **items, size_t *room, size_t count, size_t size) {
  if (*room <= count || count == 0) return;
  void *moved = tsr_realloc(*items, count * size);
  if (moved == NULL) return;
  *items = moved;
  *room = count;
}

void tsr_vec_free(void **items, size_t *count, size_t *room) {
  tsr_dealloc(*items);
  *items = NULL;
  *count = 0;
  *room = 0;
}
