/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "compose/heap.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "compose/tuning.h"

enum {
  ALIGNMENT = 512
}; /* of pieces [bytes]: as engines align memory, and more than any load needs */

/* Addresses are numbers here, because C does not order pointers into different objects. */
typedef struct range {
  uintptr_t begin;
  size_t bytes;
} range;

typedef TSR_VEC(range) ranges; /* disjoint, ascending */

/* Invariants: taken and spare pieces together make up the blocks; between two spare pieces of one
 * block there is a taken one. */
struct tsr_heap {
  const tsr_engine *engine;
  tsr_engine_state *state;
  int device;
  const tsr_near *near; /* NULL: blocks lie where the engine puts them */
  int node;
  size_t limit, block; /* as in tsr_heap_create; multiples of ALIGNMENT */
  size_t used, held;   /* bytes of taken pieces, and of blocks; multiples of ALIGNMENT */
  ranges blocks, taken, spare;
};

/* ---- Ranges ---- */

static uintptr_t end_of(range r) {
  return r.begin + r.bytes;
}

/* The index of the first range that begins at or after the address. */
static size_t first_from(const ranges *set, uintptr_t address) {
  size_t low = 0, high = set->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (set->items[middle].begin < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Inserts r in order. The caller has reserved memory in the set. */
static void insert(ranges *set, range r) {
  size_t at = first_from(set, r.begin);
  memmove(set->items + at + 1, set->items + at, (set->count - at) * sizeof *set->items);
  set->items[at] = r;
  set->count++;
}

static void drop(ranges *set, size_t at) {
  set->count--;
  memmove(set->items + at, set->items + at + 1, (set->count - at) * sizeof *set->items);
}

/* ---- Create, destroy ---- */

static size_t round_down(size_t bytes) {
  return bytes / ALIGNMENT * ALIGNMENT;
}

tsr_status tsr_heap_create(const tsr_engine *engine, tsr_engine_state *state, int device,
                           size_t limit, size_t block, tsr_heap **heap) {
  tsr_heap *made = tsr_alloc_zero(1, sizeof *made);
  if (made == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a heap");
  size_t part = limit / TSR_TUNE_HEAP_BLOCK_PARTS;
  if (block == 0) block = part > TSR_TUNE_HEAP_BLOCK ? part : TSR_TUNE_HEAP_BLOCK;
  made->engine = engine;
  made->state = state;
  made->device = device;
  made->limit = round_down(limit);
  made->block = round_down(block);
  *heap = made;
  return TSR_OK;
}

void tsr_heap_place(tsr_heap *heap, const tsr_near *near, int node) {
  heap->near = near;
  heap->node = node;
}

void tsr_heap_limit(tsr_heap *heap, size_t limit) {
  heap->limit = round_down(limit);
}

void tsr_heap_destroy(tsr_heap *heap) {
  if (heap == NULL) return;
  for (size_t i = 0; i < heap->blocks.count; i++)
    heap->engine->free(heap->state, heap->device, (void *)heap->blocks.items[i].begin);
  TSR_VEC_FREE(&heap->blocks);
  TSR_VEC_FREE(&heap->taken);
  TSR_VEC_FREE(&heap->spare);
  tsr_dealloc(heap);
}

/* ---- Take ---- */

/* Reserves host memory for one more piece and one more block. Giving pieces back then needs none,
 * because a block has at most one spare piece more than taken pieces. */
static bool reserve(tsr_heap *heap) {
  return TSR_VEC_RESERVE(&heap->blocks, 1) && TSR_VEC_RESERVE(&heap->taken, 1) &&
         TSR_VEC_RESERVE(&heap->spare, heap->taken.count + heap->blocks.count + 2);
}

/* The index of the smallest spare piece that is large enough, the first among equals; SIZE_MAX:
 * none. */
static size_t best_fit(const tsr_heap *heap, size_t bytes) {
  size_t best = SIZE_MAX, size = SIZE_MAX;
  for (size_t i = 0; i < heap->spare.count && size != bytes; i++) {
    size_t other = heap->spare.items[i].bytes;
    if (other < bytes || other >= size) continue;
    best = i;
    size = other;
  }
  return best;
}

static tsr_status allocate(const tsr_heap *heap, size_t bytes, void **base) {
  return heap->near != NULL
             ? tsr_near_alloc(heap->near, heap->engine, heap->state, heap->node, bytes, base)
             : heap->engine->alloc(heap->state, heap->device, bytes, base);
}

/* Fails for a piece that is too large. No option sets how much memory is pinned for staging. */
static tsr_status fail_for(const tsr_heap *heap, size_t bytes, const char *why) {
  char where[24];
  bool host = heap->device == TSR_HOST;
  snprintf(where, sizeof where, "device %d", heap->device);
  return tsr_fail(TSR_ERR_MEMORY, "%zu bytes on %s: %zu of at most %zu are in use%s; %s", bytes,
                  host ? "the host, to stage copies" : where, heap->used, heap->limit, why,
                  host ? "free some host memory" : "free some memory, or raise the budget");
}

/* Allocates a block for a piece: of heap->block bytes or, if the engine has less, of the piece's
 * size. */
static tsr_status add_block(tsr_heap *heap, size_t piece) {
  size_t left = heap->limit > heap->held ? heap->limit - heap->held : 0;
  if (piece > left) return fail_for(heap, piece, ", and no free piece is large enough");
  size_t bytes = heap->block < left ? heap->block : left;
  if (bytes < piece) bytes = piece;
  void *base = NULL;
  tsr_status status = allocate(heap, bytes, &base);
  if (status == TSR_ERR_MEMORY && bytes > piece) {
    bytes = piece;
    status = allocate(heap, bytes, &base);
  }
  TSR_TRY(status);
  insert(&heap->blocks, (range){(uintptr_t)base, bytes});
  insert(&heap->spare, (range){(uintptr_t)base, bytes});
  heap->held += bytes;
  return TSR_OK;
}

/* Free pieces of different blocks are never one piece. So, if there is no memory for a block,
 * blocks that nobody uses are freed first. */
static tsr_status grow(tsr_heap *heap, size_t piece) {
  size_t held = heap->held;
  tsr_status status = add_block(heap, piece);
  if (status != TSR_ERR_MEMORY) return status;
  tsr_heap_trim(heap);
  return heap->held < held ? add_block(heap, piece) : status;
}

/* Cuts a piece from the front of a spare one. */
static range carve(tsr_heap *heap, size_t at, size_t bytes) {
  range *from = &heap->spare.items[at];
  range piece = {from->begin, bytes};
  from->begin += bytes;
  from->bytes -= bytes;
  if (from->bytes == 0) drop(&heap->spare, at);
  insert(&heap->taken, piece);
  heap->used += bytes;
  return piece;
}

tsr_status tsr_heap_take(tsr_heap *heap, size_t bytes, void **pointer) {
  if (bytes > heap->limit) return fail_for(heap, bytes, "");
  size_t piece = bytes == 0 ? ALIGNMENT : round_down(bytes + ALIGNMENT - 1);
  if (!reserve(heap)) return tsr_fail(TSR_ERR_MEMORY, "no host memory for the pieces of a heap");
  size_t at = best_fit(heap, piece);
  if (at == SIZE_MAX) {
    TSR_TRY(grow(heap, piece));
    at = best_fit(heap, piece);
  }
  *pointer = (void *)carve(heap, at, piece).begin;
  return TSR_OK;
}

/* ---- Give ---- */

static range block_of(const tsr_heap *heap, uintptr_t address) {
  return heap->blocks.items[first_from(&heap->blocks, address + 1) - 1];
}

/* Adds the piece to spare and joins it with its spare neighbours in the same block: blocks are
 * freed one by one. */
static void make_spare(tsr_heap *heap, range piece) {
  range block = block_of(heap, piece.begin);
  ranges *spare = &heap->spare;
  size_t next = first_from(spare, piece.begin);
  if (next < spare->count && spare->items[next].begin == end_of(piece) &&
      end_of(piece) < end_of(block)) {
    piece.bytes += spare->items[next].bytes;
    drop(spare, next);
  }
  if (next > 0 && piece.begin > block.begin && end_of(spare->items[next - 1]) == piece.begin)
    spare->items[next - 1].bytes += piece.bytes;
  else
    insert(spare, piece);
}

void tsr_heap_give(tsr_heap *heap, void *pointer) {
  size_t at = first_from(&heap->taken, (uintptr_t)pointer);
  if (at == heap->taken.count || heap->taken.items[at].begin != (uintptr_t)pointer) return;
  range piece = heap->taken.items[at];
  drop(&heap->taken, at);
  heap->used -= piece.bytes;
  make_spare(heap, piece);
}

void tsr_heap_trim(tsr_heap *heap) {
  for (size_t i = heap->blocks.count; i-- > 0;) {
    range block = heap->blocks.items[i];
    size_t at = first_from(&heap->spare, block.begin);
    if (at == heap->spare.count || heap->spare.items[at].begin != block.begin ||
        heap->spare.items[at].bytes != block.bytes)
      continue;
    heap->engine->free(heap->state, heap->device, (void *)block.begin);
    heap->held -= block.bytes;
    drop(&heap->spare, at);
    drop(&heap->blocks, i);
  }
}

size_t tsr_heap_used(const tsr_heap *heap) {
  return heap->used;
}

size_t tsr_heap_held(const tsr_heap *heap) {
  return heap->held;
}
