/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "blas/graph.h"

#include "base/alloc.h"

static tsr_status allocate(int count, tsr_cuts *cuts) {
  int64_t *at = tsr_alloc(sizeof *at * ((size_t)count + 1));
  if (!at) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  *cuts = (tsr_cuts){count, at};
  return TSR_OK;
}

tsr_status tsr_cuts_uniform(int64_t extent, int64_t size, tsr_cuts *cuts) {
  int64_t count = extent == 0 ? 0 : 1 + (extent - 1) / size; /* does not overflow for any size */
  if (count > (1 << 28))
    return tsr_fail(TSR_ERR_MEMORY, "tiles of %lld cut %lld into too many parts: use larger tiles",
                    (long long)size, (long long)extent);
  TSR_TRY(allocate((int)count, cuts));
  for (int64_t i = 0; i < count; i++) cuts->at[i] = i * size;
  cuts->at[count] = extent;
  return TSR_OK;
}

tsr_status tsr_cuts_weighted(int64_t extent, int count, const double *weights, int64_t align,
                             tsr_cuts *cuts) {
  if (count > extent) count = (int)extent;
  while (align > 1 && extent / align < count) align /= 2;
  TSR_TRY(allocate(count, cuts));
  double total = 0, before = 0;
  for (int i = 0; i < count; i++) total += weights[i];
  cuts->at[0] = 0;
  for (int i = 1; i < count; i++) {
    before += weights[i - 1];
    int64_t at = (int64_t)((double)extent * before / total) / align * align;
    int64_t least = cuts->at[i - 1] + 1, most = extent - (count - i); /* no part is empty */
    cuts->at[i] = at < least ? least : at > most ? most : at;
  }
  cuts->at[count] = extent;
  return TSR_OK;
}

void tsr_cuts_free(tsr_cuts *cuts) {
  tsr_dealloc(cuts->at);
  *cuts = (tsr_cuts){0, NULL};
}

bool tsr_graph_is_free(const tsr_graph *graph) {
  size_t count = graph->groups.count;
  return graph->needs.count == 0 && (count == 0 || graph->groups.items[count - 1].all_before == 0);
}

void tsr_graph_free(tsr_graph *graph) {
  TSR_VEC_FREE(&graph->tasks);
  TSR_VEC_FREE(&graph->groups);
  TSR_VEC_FREE(&graph->needs);
}
