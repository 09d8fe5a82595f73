/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A heap: memory of one device, or pinned host memory (TSR_HOST), for cached blocks and the arenas
 * of composed calls. The heap allocates large blocks from the engine when it needs them, and gives
 * them out in pieces. A piece lies in one block; its address and length are multiples of 512 bytes.
 * It is cut from the smallest free piece that is large enough, and is joined with free neighbours
 * when it is given back.
 *
 * The heap owns the blocks; the engine and its state must outlive it. One thread at a time uses a
 * heap. The heap knows nothing of queues: before a piece is given back, commands on it must be
 * complete, or be ordered before those of the piece's next owner. Pieces are kept in sorted arrays:
 * with some thousand pieces, taking and giving back take a few microseconds at most.
 */
#ifndef TSR_COMPOSE_HEAP_H
#define TSR_COMPOSE_HEAP_H

#include "engine/engine.h"
#include "run/near.h"

typedef struct tsr_heap tsr_heap;

/* Makes an empty heap. limit: the most bytes that it may allocate. block: bytes to allocate at a
 * time, unless a piece needs more or less is left below the limit; 0: the larger of 256 MiB and
 * limit / 8. TSR_ERR_MEMORY: no host memory. */
tsr_status tsr_heap_create(const tsr_engine *engine, tsr_engine_state *state, int device,
                           size_t limit, size_t block, tsr_heap **heap);

/* Later blocks of a heap of pinned memory lie on this node (tsr_near_alloc); near is borrowed. */
void tsr_heap_place(tsr_heap *heap, const tsr_near *near, int node);

/* Frees all blocks, also those with pieces in use. NULL is accepted. */
void tsr_heap_destroy(tsr_heap *heap);

/* Changes the limit; blocks beyond it stay until tsr_heap_trim. */
void tsr_heap_limit(tsr_heap *heap, size_t limit);

/* Takes a piece of at least max(1, bytes) bytes, not cleared. If there is no memory for it, blocks
 * of which no piece is in use are freed first. TSR_ERR_MEMORY: the limit or the engine allows no
 * more. A smaller piece, or the same after a piece was given back, may be had. */
tsr_status tsr_heap_take(tsr_heap *heap, size_t bytes, void **pointer);

/* Gives back a piece of tsr_heap_take; never fails. NULL is accepted. */
void tsr_heap_give(tsr_heap *heap, void *pointer);

/* Frees the blocks of which no piece is in use. The engine may wait for the device. */
void tsr_heap_trim(tsr_heap *heap);

/* Bytes of the pieces in use, and of the blocks. */
size_t tsr_heap_used(const tsr_heap *heap);
size_t tsr_heap_held(const tsr_heap *heap);

#endif
