/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/least.h"
#include "cluster/layout/axis.h"

#include <stddef.h>

/* ---- Irregular blocks -------------------------------------------------------- */

/* FNV-1a over the bytes of the list. */
static uint64_t digest_of(const int64_t *ends, int64_t blocks) {
  uint64_t digest = UINT64_C(14695981039346656037);
  for (int64_t b = 0; b < blocks; b++)
    for (int shift = 0; shift < 64; shift += 8)
      digest = (digest ^ ((uint64_t)ends[b] >> shift & 0xff)) * UINT64_C(1099511628211);
  return digest;
}

tsr_axis tsr_axis_irregular(const int64_t *ends, int64_t blocks, int source, int count) {
  int64_t extent = blocks > 0 ? ends[blocks - 1] : 0;
  return (tsr_axis){.extent = extent,
                    .first = blocks > 0 ? ends[0] : 1,
                    .block = blocks > 0 ? (extent + blocks - 1) / blocks : 1,
                    .source = source,
                    .count = count,
                    .ends = ends,
                    .blocks = blocks,
                    .digest = digest_of(ends, blocks)};
}

/* Where the listed blocks end. Behind them blocks of one index are thought to follow. */
static int64_t end_of_list(const tsr_axis *x) {
  return x->blocks > 0 ? x->ends[x->blocks - 1] - x->offset : 0;
}

static int64_t listed_block_of(const tsr_axis *x, int64_t at) {
  int64_t low = 0, high = x->blocks, behind = end_of_list(x);
  if (at >= behind) return x->blocks + at - behind;
  while (low < high) { /* the first block that ends behind `at` is in low .. high */
    int64_t middle = low + (high - low) / 2;
    if (x->ends[middle] - x->offset > at)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static int64_t listed_begin_of(const tsr_axis *x, int64_t block) {
  if (block > x->blocks) return end_of_list(x) + block - x->blocks;
  return x->ends[block - 1] - x->offset;
}

/* ---- Blocks ------------------------------------------------------------------ */

/* The number of the block that index `at` is in; the first block is number 0. */
static int64_t block_of(const tsr_axis *x, int64_t at) {
  if (x->ends != NULL) return listed_block_of(x, at);
  return at < x->first ? 0 : 1 + (at - x->first) / x->block;
}

static int64_t begin_of(const tsr_axis *x, int64_t block) {
  if (block == 0) return 0;
  return x->ends != NULL ? listed_begin_of(x, block) : x->first + (block - 1) * x->block;
}

bool tsr_axis_same_blocks(const tsr_axis *a, const tsr_axis *b) {
  if (a->extent <= a->first && b->extent <= b->first) return true;
  if ((a->ends != NULL) != (b->ends != NULL)) return false;
  if (a->ends != NULL) return a->digest == b->digest && a->offset == b->offset;
  return a->first == b->first && a->block == b->block;
}

/* How many coordinates after the source a coordinate's turn comes. */
static int distance(const tsr_axis *x, int coordinate) {
  return (coordinate - x->source + x->count) % x->count;
}

int tsr_axis_owner(const tsr_axis *x, int64_t at) {
  return (int)((x->source + block_of(x, at)) % x->count);
}

/* Indices in the blocks below number `last` that belong to a coordinate. */
static int64_t listed_before(const tsr_axis *x, int64_t turn, int64_t last) {
  int64_t sum = 0;
  for (int64_t block = turn; block < last; block += x->count)
    sum += begin_of(x, block + 1) - begin_of(x, block);
  return sum;
}

int64_t tsr_axis_before(const tsr_axis *x, int coordinate, int64_t at) {
  if (x->everywhere) return at;
  int64_t last = block_of(x, at), turn = distance(x, coordinate);
  int64_t rest = last % x->count == turn ? at - begin_of(x, last) : 0;
  if (last <= turn) return rest;
  if (x->ends != NULL) return rest + listed_before(x, turn, last);
  int64_t blocks = 1 + (last - 1 - turn) / x->count; /* whole blocks of the coordinate below `at` */
  return rest + blocks * x->block + (turn == 0 ? x->first - x->block : 0);
}

int64_t tsr_axis_local(const tsr_axis *x, int coordinate) {
  return tsr_axis_before(x, coordinate, x->extent);
}

int64_t tsr_axis_most(const tsr_axis *x) {
  int64_t most = 0;
  for (int i = 0; i < x->count; i++) {
    int64_t local = tsr_axis_local(x, i);
    if (local > most) most = local;
  }
  return most;
}

tsr_axis tsr_axis_part(const tsr_axis *x, int64_t at, int64_t extent) {
  tsr_axis part = *x;
  int64_t block = block_of(x, at);
  part.extent = extent;
  part.first = begin_of(x, block + 1) - at;
  part.source = tsr_axis_owner(x, at);
  if (x->ends == NULL) return part;
  int64_t skipped = block < x->blocks ? block : x->blocks;
  part.ends += skipped;
  part.blocks -= skipped;
  part.offset += at;
  return part;
}

/* The first run of indices >= `at` that a coordinate owns. It may begin or end beyond the extent.
 */
static tsr_span own(const tsr_axis *x, int coordinate, int64_t at) {
  if (x->count == 1 || x->everywhere) return (tsr_span){at, x->extent};
  int64_t block = block_of(x, at);
  int blocks = (distance(x, coordinate) - (int)(block % x->count) + x->count) % x->count;
  return (tsr_span){blocks == 0 ? at : begin_of(x, block + blocks),
                    begin_of(x, block + blocks + 1)};
}

bool tsr_axis_agrees(const tsr_axis *a, const tsr_axis *b) {
  if (a->count != b->count) return false;
  if (a->count == 1) return true;
  for (int64_t at = 0; at < a->extent;) {
    int owner = tsr_axis_owner(a, at);
    if (owner != tsr_axis_owner(b, at)) return false;
    if (a->ends == NULL && b->ends == NULL && a->block == b->block &&
        own(a, owner, at).end == own(b, owner, at).end)
      return true;
    at = tsr_least(own(a, owner, at).end, own(b, owner, at).end);
  }
  return true;
}

bool tsr_axis_common(const tsr_axis *a, int pa, const tsr_axis *b, int pb, int64_t end,
                     tsr_span *span) {
  int64_t at = span->at;
  while (at < end) {
    tsr_span x = own(a, pa, at), y = own(b, pb, at);
    int64_t from = x.at > y.at ? x.at : y.at;
    int64_t to = tsr_least(tsr_least(x.end, y.end), end);
    if (from < to) {
      *span = (tsr_span){from, to};
      return true;
    }
    at = from;
  }
  return false;
}

int64_t tsr_axis_common_count(const tsr_axis *a, int pa, const tsr_axis *b, int pb, int64_t at,
                              int64_t end) {
  int64_t count = 0;
  for (tsr_span s = {at, at}; tsr_axis_common(a, pa, b, pb, end, &s); s.at = s.end)
    count += s.end - s.at;
  return count;
}
