/*
 * Memory of one device, or pinned memory of the host (TSR_HOST), for what stays between calls. The
 * heap takes large blocks from the engine when they are first needed and gives them out in pieces.
 * A piece lies in one block and begins at a multiple of 512 bytes; its length is rounded up to a
 * multiple of 512. It is cut from the smallest free piece that is large enough, and joins its free
 * neighbours when it is given back.
 *
 * The heap owns the blocks; the engine and its state must outlive it. It is not thread-safe: one
 * thread at a time. It knows nothing of queues: before a piece is given back, commands on it are
 * complete, or ordered before those of the piece's next owner. Pieces are kept in sorted arrays:
 * with some thousand pieces, taking and giving back cost a few microseconds at most.
 */
#ifndef TSR_COMPOSE_HEAP_H
#define TSR_COMPOSE_HEAP_H

#include "engine/engine.h"

typedef struct tsr_heap tsr_heap;

/* limit: the most bytes it may hold. block: bytes to take from the engine at a time, unless a piece
 * needs more or less is left; 0: 256 MiB or an eighth of the limit, whichever is more. Takes
 * nothing from the engine yet. TSR_ERR_MEMORY. */
tsr_status tsr_heap_create(const tsr_engine *engine, tsr_engine_state *state, int device,
                           size_t limit, size_t block, tsr_heap **heap);

/* Gives all blocks back to the engine, also those with pieces still out. NULL is nothing. */
void tsr_heap_destroy(tsr_heap *heap);

/* Another limit; blocks beyond it stay until they are trimmed. */
void tsr_heap_limit(tsr_heap *heap, size_t limit);

/* A piece of at least max(1, bytes) bytes, not cleared. TSR_ERR_MEMORY: the limit or the engine
 * allows no more, and the heap is as before; fewer bytes, or the same after a piece was given back,
 * may be there. */
tsr_status tsr_heap_take(tsr_heap *heap, size_t bytes, void **pointer);

/* Gives a piece back; never fails. pointer: from tsr_heap_take; NULL is nothing. */
void tsr_heap_give(tsr_heap *heap, void *pointer);

/* Gives the blocks without pieces back to the engine, which may wait for the device. */
void tsr_heap_trim(tsr_heap *heap);

/* Bytes of the pieces that are out, and of the blocks. */
size_t tsr_heap_used(const tsr_heap *heap);
size_t tsr_heap_held(const tsr_heap *heap);

#endif
