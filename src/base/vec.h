/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Growing arrays: TSR_VEC(type) is a struct of items, their count, and room, the count that memory
 * suffices for. Pushing returns false when memory is out, and leaves the array as it was.
 */
#ifndef TSR_BASE_VEC_H
#define TSR_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

#define TSR_VEC(type)   \
  struct {              \
    type *items;        \
    size_t count, room; \
  }

/* Makes room for `extra` more items. False: no memory. */
#define TSR_VEC_RESERVE(vec, extra)                                             \
  tsr_vec_reserve((void **)&(vec)->items, &(vec)->room, (vec)->count + (extra), \
                  sizeof *(vec)->items)

#define TSR_VEC_PUSH(vec, item) \
  (TSR_VEC_RESERVE(vec, 1) ? ((vec)->items[(vec)->count++] = (item), true) : false)

/* Gives unused memory back, if the allocator can. */
#define TSR_VEC_TRIM(vec) \
  tsr_vec_trim((void **)&(vec)->items, &(vec)->room, (vec)->count, sizeof *(vec)->items)

#define TSR_VEC_FREE(vec) tsr_vec_free((void **)&(vec)->items, &(vec)->count, &(vec)->room)

bool tsr_vec_reserve(void **items, size_t *room, size_t wanted, size_t size);
void tsr_vec_trim(void **items, size_t *room, size_t count, size_t size);
void tsr_vec_free(void **items, size_t *count, size_t *room);

#endif
