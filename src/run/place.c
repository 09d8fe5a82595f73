/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "run/place.h"

/* The storage of an operand. */
typedef struct query {
  tsr_pinner *pinner;
  const char *base;
  int64_t bytes;
} query;

/* Memory is pinned in pages. */
enum { PAGE = 4096 };

int tsr_place_alignment(uintptr_t base, int64_t ld_bytes) {
  uintptr_t both = base | (uintptr_t)ld_bytes;
  int log = 0;
  while (log < 4 && !(both >> log & 1)) log++;
  return log;
}

static tsr_status ask(const query *q, int64_t offset, tsr_place *place) {
  return tsr_pinner_where(q->pinner, q->base + offset, place);
}

/* The offset of the end of the memory known to be of place's kind, at least offset + 1. */
static int64_t known_end(const query *q, const tsr_place *place, int64_t offset) {
  int64_t end = place->bytes > 0 ? place->begin + place->bytes - q->base : 0;
  if (end <= offset) end = offset + 1;
  return end < q->bytes ? end : q->bytes;
}

/* *boundary: the offset in (from, to] of the page boundary at which memory changes between pinned
 * and not pinned; memory at from and at to differs. */
static tsr_status find_boundary(const query *q, int64_t from, int64_t to, bool pinned_at_from,
                                int64_t *boundary) {
  uintptr_t base = (uintptr_t)q->base;
  uintptr_t low = (base + (uintptr_t)from) / PAGE, high = (base + (uintptr_t)to) / PAGE;
  while (high - low > 1) {
    uintptr_t middle = low + (high - low) / 2;
    tsr_place place;
    TSR_TRY(ask(q, (int64_t)(middle * PAGE - base), &place));
    if ((place.memory == TSR_PINNED) == pinned_at_from)
      low = middle;
    else
      high = middle;
  }
  int64_t offset = (int64_t)(high * PAGE - base);
  *boundary = offset > from ? offset : to;
  return TSR_OK;
}

/* *end: the end of the pinned range in which the storage starts. A range that follows directly but
 * was pinned separately does not count, because one copy must not span two ranges. */
static tsr_status pinned_prefix(const query *q, const tsr_place *first, int64_t *end) {
  *end = known_end(q, first, 0);
  if (first->bytes > 0) return TSR_OK;
  /* The runtime does not tell ranges: search for the end. */
  tsr_place place;
  TSR_TRY(ask(q, q->bytes - 1, &place));
  *end = q->bytes;
  if (place.memory == TSR_PINNED) return TSR_OK;
  return find_boundary(q, 0, q->bytes - 1, true, end);
}

/* *begin: the begin of the pinned range in which the storage, which starts in pageable memory,
 * ends. */
static tsr_status pinned_suffix(const query *q, const tsr_place *last, int64_t *begin) {
  if (last->bytes > 0 && last->begin > q->base) {
    *begin = last->begin - q->base;
    return TSR_OK;
  }
  return find_boundary(q, 0, q->bytes - 1, false, begin);
}

static tsr_status place_host(const query *q, const tsr_place *first, tsr_operand *operand) {
  int64_t begin = 0, end = 0;
  if (first->memory == TSR_PINNED) {
    TSR_TRY(pinned_prefix(q, first, &end));
  } else {
    tsr_place last;
    TSR_TRY(ask(q, q->bytes - 1, &last));
    if (last.memory == TSR_PINNED) {
      end = q->bytes;
      TSR_TRY(pinned_suffix(q, &last, &begin));
    }
  }
  operand->memory = begin == 0 && end == q->bytes ? TSR_PINNED : TSR_PAGEABLE;
  operand->pinned_begin = begin;
  operand->pinned_end = end;
  return TSR_OK;
}

static tsr_status place_device(const query *q, const tsr_place *first, const char *what,
                               tsr_operand *operand) {
  operand->memory = TSR_DEVICE;
  operand->location = first->device;
  if (known_end(q, first, 0) == q->bytes) return TSR_OK;
  tsr_place last;
  TSR_TRY(ask(q, q->bytes - 1, &last));
  if (last.memory == TSR_DEVICE && last.device == first->device) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s starts at %p in memory of device %d but its %lld bytes reach beyond that "
                  "memory; give a matrix that is in one memory, or correct its extents",
                  what, (const void *)q->base, first->device, (long long)q->bytes);
}

tsr_status tsr_place_operand(tsr_pinner *pinner, int host, tsr_type type, const char *what,
                             const void *base, tsr_operand *operand) {
  query q = {pinner, base, tsr_operand_bytes(operand, type)};
  operand->memory = TSR_PAGEABLE;
  operand->location = host;
  operand->pinned_begin = operand->pinned_end = 0;
  operand->alignment = 4;
  if (base == NULL || q.bytes == 0) return TSR_OK;
  operand->alignment =
      tsr_place_alignment((uintptr_t)base, operand->ld * (int64_t)tsr_type_get(type)->size);
  tsr_place first;
  TSR_TRY(ask(&q, 0, &first));
  if (first.memory == TSR_DEVICE) return place_device(&q, &first, what, operand);
  operand->location += tsr_pinner_node(pinner, base, (size_t)q.bytes);
  operand->memory = TSR_MANAGED;
  return first.memory == TSR_MANAGED ? TSR_OK : place_host(&q, &first, operand);
}
