/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory of the emulated devices, pinned host memory, and the memory that a pointer points to. */
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/host/host.h"
#include "engine/host/internal.h"

enum { ALIGNMENT = 512 };

static atomic_long fail_in, failed;

/* What is refused of a kind of events: those with numbers from .. from + count - 1. */
typedef struct refusal {
  atomic_long from, count, asked, refused;
} refusal;

static refusal allocations, commands;
static atomic_int commands_status;
static atomic_bool hold_pins, refuse_pinned, errors_pass;

long tsr_engine_host_fail_at(long n) {
  atomic_store(&fail_in, n);
  return atomic_exchange(&failed, 0);
}

void tsr_engine_host_pass(bool pass) {
  atomic_store(&errors_pass, pass);
}

bool host_errors_pass(void) {
  return atomic_load(&errors_pass);
}

static long set_refusal(refusal *x, long nth, long count) {
  atomic_store(&x->count, 0);
  atomic_store(&x->asked, 0);
  atomic_store(&x->from, nth);
  atomic_store(&x->count, nth > 0 ? count : 0);
  return atomic_exchange(&x->refused, 0);
}

static bool is_refused(refusal *x) {
  if (atomic_load_explicit(&x->count, memory_order_relaxed) == 0) return false;
  long number = atomic_fetch_add(&x->asked, 1) + 1, from = atomic_load(&x->from);
  if (number < from || number - from >= atomic_load(&x->count)) return false;
  atomic_fetch_add(&x->refused, 1);
  return true;
}

long tsr_engine_host_refuse(long nth, long count) {
  return set_refusal(&allocations, nth, count);
}

long tsr_engine_host_refuse_commands(long nth, long count, tsr_status status) {
  atomic_store(&commands_status, (int)status);
  return set_refusal(&commands, nth, count);
}

tsr_status host_refuse_command(void) {
  if (!is_refused(&commands)) return TSR_OK;
  return tsr_fail((tsr_status)atomic_load(&commands_status), "an emulated queue refuses a command");
}

void tsr_engine_host_refuse_pinned(bool refuse) {
  atomic_store(&refuse_pinned, refuse);
}

static bool must_refuse(int device) {
  if (device == TSR_HOST) return atomic_load_explicit(&refuse_pinned, memory_order_relaxed);
  return is_refused(&allocations);
}

void tsr_engine_host_hold_pins(bool hold) {
  atomic_store(&hold_pins, hold);
}

bool host_must_fail(void) {
  if (atomic_load_explicit(&fail_in, memory_order_relaxed) <= 0) return false;
  if (atomic_fetch_sub(&fail_in, 1) != 1) return false;
  atomic_fetch_add(&failed, 1);
  return true;
}

/* Copies of doubling size: a sanitizer checks each memcpy once, but a loop at every store. */
void tsr_engine_host_poison(void *pointer, size_t bytes) {
  char *to = pointer;
  bytes = bytes / 2 * 2;
  if (bytes == 0) return;
  *(uint16_t *)pointer = TSR_POISON;
  for (size_t done = 2; done < bytes; done *= 2)
    memcpy(to + done, to, done < bytes - done ? done : bytes - done);
}

static bool contains(const host_block *block, const char *pointer) {
  return pointer >= block->begin && pointer < block->begin + block->bytes;
}

static void link_block(tsr_engine_state *state, host_block *block) {
  pthread_mutex_lock(&state->lock);
  block->next = state->blocks;
  state->blocks = block;
  pthread_mutex_unlock(&state->lock);
}

/* Takes the block that begins at pointer out of the list and subtracts its bytes from its device's
 * used memory. allocated: looks for a block that the engine allocated, else for pinned user memory.
 * The caller owns the result; NULL: no such block. */
static host_block *unlink_block(tsr_engine_state *state, const void *pointer, bool allocated) {
  pthread_mutex_lock(&state->lock);
  host_block **link = &state->blocks, *block;
  while ((block = *link) && (block->begin != pointer || (block->raw != NULL) != allocated))
    link = &block->next;
  if (block) {
    *link = block->next;
    if (block->device >= 0) state->used[block->device] -= block->bytes;
  }
  pthread_mutex_unlock(&state->lock);
  return block;
}

static tsr_status reserve(tsr_engine_state *state, int device, size_t bytes) {
  if (device == TSR_HOST) return TSR_OK;
  pthread_mutex_lock(&state->lock);
  size_t left = state->memory - state->used[device];
  bool fits = bytes <= left;
  if (fits) state->used[device] += bytes;
  pthread_mutex_unlock(&state->lock);
  if (fits) return TSR_OK;
  return tsr_fail(TSR_ERR_MEMORY,
                  "%zu bytes on emulated device %d, which has %zu left of %zu; use less or emulate "
                  "larger devices",
                  bytes, device, left, state->memory);
}

static void unreserve(tsr_engine_state *state, int device, size_t bytes) {
  if (device == TSR_HOST) return;
  pthread_mutex_lock(&state->lock);
  state->used[device] -= bytes;
  pthread_mutex_unlock(&state->lock);
}

static host_block *new_block(int device, size_t bytes) {
  host_block *block = tsr_alloc_zero(1, sizeof *block);
  void *raw = block && bytes <= SIZE_MAX - ALIGNMENT ? tsr_alloc(bytes + ALIGNMENT) : NULL;
  if (!raw) {
    tsr_dealloc(block);
    return NULL;
  }
  size_t past = (uintptr_t)raw % ALIGNMENT;
  *block = (host_block){.begin = (char *)raw + (past ? ALIGNMENT - past : 0),
                        .bytes = bytes,
                        .device = device,
                        .raw = raw};
  return block;
}

tsr_status host_alloc(tsr_engine_state *state, int device, size_t bytes, void **pointer) {
  if (device != TSR_HOST && (device < 0 || device >= state->count))
    return tsr_fail(TSR_ERR_ARGUMENT, "device is %d; the emulated devices are 0 to %d", device,
                    state->count - 1);
  if (host_must_fail())
    return tsr_fail(TSR_ERR_MEMORY, "this allocation of the host engine was told to fail");
  if (must_refuse(device))
    return tsr_fail(TSR_ERR_MEMORY, "%zu bytes of %s %d are refused", bytes,
                    device == TSR_HOST ? "pinned memory" : "emulated device", device);
  if (bytes == 0) bytes = 1;
  TSR_TRY(reserve(state, device, bytes));
  host_block *block = new_block(device, bytes);
  if (!block) {
    unreserve(state, device, bytes);
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for the %zu bytes of %s %d", bytes,
                    device == TSR_HOST ? "pinned memory" : "emulated device", device);
  }
  if (state->check) tsr_engine_host_poison(block->begin, bytes);
  link_block(state, block);
  *pointer = block->begin;
  return TSR_OK;
}

static void dealloc_block(host_block *block) {
  tsr_dealloc(block->raw);
  tsr_dealloc(block);
}

void host_free(tsr_engine_state *state, int device, void *pointer) {
  (void)device; /* the block has it */
  host_block *block = pointer ? unlink_block(state, pointer, true) : NULL;
  if (block) dealloc_block(block);
}

void host_free_all(tsr_engine_state *state) {
  while (state->blocks) {
    host_block *block = state->blocks;
    state->blocks = block->next;
    dealloc_block(block);
  }
}

static tsr_status unpin(tsr_engine_state *state, void *pointer) {
  host_block *block = unlink_block(state, pointer, false);
  if (!block)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "cannot unpin %p: this engine has pinned no memory that begins there", pointer);
  dealloc_block(block);
  return TSR_OK;
}

static bool overlaps(const host_block *block, const char *begin, size_t bytes) {
  return begin < block->begin + block->bytes && block->begin < begin + bytes;
}

/* Whether any known block shares a byte with the range. */
static bool is_known(tsr_engine_state *state, const char *begin, size_t bytes) {
  bool found = false;
  pthread_mutex_lock(&state->lock);
  for (const host_block *b = state->blocks; b && !found; b = b->next)
    found = overlaps(b, begin, bytes);
  pthread_mutex_unlock(&state->lock);
  return found;
}

bool host_being_pinned(tsr_engine_state *state, const char *begin, size_t bytes) {
  bool found = false;
  pthread_mutex_lock(&state->lock);
  for (const host_block *b = state->blocks; b && !found; b = b->next)
    found = b->pinning && overlaps(b, begin, bytes);
  pthread_mutex_unlock(&state->lock);
  return found;
}

/* Waits up to 700 us if delays are on, as real pinning takes time, and for hold_pins. */
static void take_time(const tsr_engine_state *state, size_t bytes) {
  if (state->delay_seed != 0) tsr_sleep((double)((state->delay_seed ^ bytes) % 700) * 1e-6);
  while (atomic_load(&hold_pins)) tsr_sleep(100e-6);
}

static void note_pinned(tsr_engine_state *state, host_block *block) {
  pthread_mutex_lock(&state->lock);
  block->pinning = false;
  pthread_mutex_unlock(&state->lock);
}

tsr_status host_pin(tsr_engine_state *state, void *pointer, size_t bytes, bool on) {
  if (!on) return unpin(state, pointer);
  if (!pointer || bytes == 0)
    return tsr_fail(TSR_ERR_ARGUMENT, "cannot pin %zu bytes at %p", bytes, pointer);
  if (is_known(state, pointer, bytes))
    return tsr_fail(TSR_ERR_ARGUMENT, "memory at %p is pinned already, in part or whole", pointer);
  host_block *block = tsr_alloc_zero(1, sizeof *block);
  if (!block) return tsr_fail(TSR_ERR_MEMORY, "no memory to note a pinned range");
  *block = (host_block){.begin = pointer, .bytes = bytes, .device = TSR_HOST, .pinning = true};
  link_block(state, block);
  take_time(state, bytes);
  if (!host_must_fail()) {
    note_pinned(state, block);
    return TSR_OK;
  }
  dealloc_block(unlink_block(state, pointer, false));
  return tsr_fail(TSR_ERR_MEMORY, "this pinning of the host engine was told to fail");
}

bool host_find_block(tsr_engine_state *state, const void *pointer, host_block *found) {
  pthread_mutex_lock(&state->lock);
  const host_block *block = state->blocks;
  while (block && (block->pinning || !contains(block, pointer))) block = block->next;
  if (block) *found = *block;
  pthread_mutex_unlock(&state->lock);
  return block != NULL;
}

tsr_status host_where(tsr_engine_state *state, const void *pointer, tsr_place *place) {
  host_block block;
  *place = (tsr_place){.memory = TSR_PAGEABLE, .device = TSR_HOST};
  if (!host_find_block(state, pointer, &block)) return TSR_OK;
  *place = (tsr_place){.memory = block.device >= 0 ? TSR_DEVICE : TSR_PINNED,
                       .device = block.device,
                       .begin = block.begin,
                       .bytes = block.bytes};
  return TSR_OK;
}
