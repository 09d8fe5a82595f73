#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/verify.h"

static uint64_t hash_ends(const int64_t *ends, size_t count) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < 2 * count; i++) {
    hash = (hash ^ (uint64_t)ends[i]) * 1099511628211u;
    hash ^= hash >> 29;
  }
  return hash;
}

static void place(tsr_sums *sums, uint32_t set) {
  size_t i = sums->sets.items[set].hash & (sums->slots - 1);
  while (sums->table[i] != UINT32_MAX) i = (i + 1) & (sums->slots - 1);
  sums->table[i] = set;
}

static tsr_status grow(tsr_sums *sums, size_t slots) {
  uint32_t *table = tsr_alloc(slots * sizeof *table);
  if (table == NULL) return tsr_verify_no_memory();
  memset(table, 0xff, slots * sizeof *table);
  tsr_dealloc(sums->table);
  sums->table = table;
  sums->slots = slots;
  for (size_t i = 0; i < sums->sets.count; i++) place(sums, (uint32_t)i);
  return TSR_OK;
}

static bool same(const tsr_sums *sums, const tsr_sum_set *a, const tsr_sum_set *b) {
  return a->hash == b->hash && a->count == b->count &&
         (a->count == 0 || memcmp(sums->ends.items + a->begin, sums->ends.items + b->begin,
                                  2 * a->count * sizeof(int64_t)) == 0);
}

/* The number of the set whose ends stand at the end of sums->ends, behind `begin`: a known one
 * (then they are taken off again) or a new one. */
static tsr_status intern(tsr_sums *sums, size_t begin, uint32_t *set) {
  size_t count = (sums->ends.count - begin) / 2;
  const int64_t *ends = count == 0 ? NULL : sums->ends.items + begin;
  tsr_sum_set fresh = {hash_ends(ends, count), begin, count};
  size_t i = fresh.hash & (sums->slots - 1);
  for (; sums->table[i] != UINT32_MAX; i = (i + 1) & (sums->slots - 1)) {
    if (!same(sums, &fresh, &sums->sets.items[sums->table[i]])) continue;
    sums->ends.count = begin;
    *set = sums->table[i];
    return TSR_OK;
  }
  if (!TSR_VEC_PUSH(&sums->sets, fresh)) return tsr_verify_no_memory();
  *set = (uint32_t)sums->sets.count - 1;
  if (2 * sums->sets.count > sums->slots) return grow(sums, 2 * sums->slots);
  sums->table[i] = *set;
  return TSR_OK;
}

tsr_status tsr_sums_start(tsr_sums *sums) {
  *sums = (tsr_sums){.table = NULL};
  TSR_TRY(grow(sums, 64));
  uint32_t empty;
  return intern(sums, 0, &empty);
}

void tsr_sums_stop(tsr_sums *sums) {
  TSR_VEC_FREE(&sums->ends);
  TSR_VEC_FREE(&sums->sets);
  tsr_dealloc(sums->table);
}

tsr_status tsr_sums_interval(tsr_sums *sums, int64_t k0, int64_t k1, uint32_t *set) {
  size_t begin = sums->ends.count;
  if (!TSR_VEC_RESERVE(&sums->ends, 2)) return tsr_verify_no_memory();
  sums->ends.items[sums->ends.count++] = k0;
  sums->ends.items[sums->ends.count++] = k1;
  return intern(sums, begin, set);
}

/* Appends [k0, k1) behind `begin`, joined to the last interval where they touch; false when they
 * overlap. Intervals come in ascending order, and there is room. */
static bool append(tsr_sums *sums, size_t begin, int64_t k0, int64_t k1) {
  int64_t *ends = sums->ends.items;
  size_t count = sums->ends.count;
  if (count > begin && ends[count - 1] > k0) return false;
  if (count > begin && ends[count - 1] == k0) {
    ends[count - 1] = k1;
    return true;
  }
  ends[count] = k0;
  ends[count + 1] = k1;
  sums->ends.count += 2;
  return true;
}

tsr_status tsr_sums_unite(tsr_sums *sums, uint32_t a, uint32_t b, bool *disjoint, uint32_t *set) {
  tsr_sum_set x = sums->sets.items[a], y = sums->sets.items[b];
  size_t begin = sums->ends.count, i = 0, j = 0;
  if (!TSR_VEC_RESERVE(&sums->ends, 2 * (x.count + y.count))) return tsr_verify_no_memory();
  *disjoint = true;
  while (*disjoint && (i < x.count || j < y.count)) {
    const int64_t *p = sums->ends.items + x.begin + 2 * i;
    const int64_t *q = sums->ends.items + y.begin + 2 * j;
    bool first = j == y.count || (i < x.count && p[0] < q[0]);
    *disjoint = first ? append(sums, begin, p[0], p[1]) : append(sums, begin, q[0], q[1]);
    *(first ? &i : &j) += 1;
  }
  if (*disjoint) return intern(sums, begin, set);
  sums->ends.count = begin;
  return TSR_OK;
}

void tsr_sums_describe(const tsr_sums *sums, uint32_t set, char *text, size_t room) {
  const tsr_sum_set *described = &sums->sets.items[set];
  if (described->count == 0) snprintf(text, room, "no k");
  size_t length = 0;
  for (size_t i = 0; i < described->count && length + 40 < room; i++) {
    const int64_t *ends = sums->ends.items + described->begin + 2 * i;
    length += (size_t)snprintf(text + length, room - length, "%s%lld..%lld", i == 0 ? "k " : ", ",
                               (long long)ends[0], (long long)ends[1] - 1);
  }
}
