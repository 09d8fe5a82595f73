/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/axis.h"

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* The number of the block that index `at` is in; the first block is number 0. */
static int64_t block_of(const tsr_axis *x, int64_t at) {
  return at < x->first ? 0 : 1 + (at - x->first) / x->block;
}

static int64_t begin_of(const tsr_axis *x, int64_t block) {
  return block == 0 ? 0 : x->first + (block - 1) * x->block;
}

/* How many coordinates after the source a coordinate's turn comes. */
static int distance(const tsr_axis *x, int coordinate) {
  return (coordinate - x->source + x->count) % x->count;
}

int tsr_axis_owner(const tsr_axis *x, int64_t at) {
  return (int)((x->source + block_of(x, at)) % x->count);
}

int64_t tsr_axis_before(const tsr_axis *x, int coordinate, int64_t at) {
  int64_t last = block_of(x, at), turn = distance(x, coordinate);
  int64_t rest = last % x->count == turn ? at - begin_of(x, last) : 0;
  if (last <= turn) return rest;
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
  return part;
}

/* The first run of indices >= `at` that a coordinate owns. It may begin or end beyond the extent.
 */
static tsr_span own(const tsr_axis *x, int coordinate, int64_t at) {
  int64_t block = block_of(x, at);
  int blocks = (distance(x, coordinate) - (int)(block % x->count) + x->count) % x->count;
  if (x->count == 1) return (tsr_span){at, x->extent};
  return (tsr_span){blocks == 0 ? at : begin_of(x, block + blocks),
                    begin_of(x, block + blocks + 1)};
}

bool tsr_axis_agrees(const tsr_axis *a, const tsr_axis *b) {
  if (a->count != b->count) return false;
  if (a->count == 1) return true;
  for (int64_t at = 0; at < a->extent;) {
    int owner = tsr_axis_owner(a, at);
    if (owner != tsr_axis_owner(b, at)) return false;
    if (a->block == b->block && own(a, owner, at).end == own(b, owner, at).end) return true;
    at = least(own(a, owner, at).end, own(b, owner, at).end);
  }
  return true;
}

bool tsr_axis_common(const tsr_axis *a, int pa, const tsr_axis *b, int pb, int64_t end,
                     tsr_span *span) {
  int64_t at = span->at;
  while (at < end) {
    tsr_span x = own(a, pa, at), y = own(b, pb, at);
    int64_t from = x.at > y.at ? x.at : y.at;
    int64_t to = least(least(x.end, y.end), end);
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
