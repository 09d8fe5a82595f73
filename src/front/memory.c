/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The native door: allocating, copying and registering memory that devices copy fast. */
#include <string.h>

#include "base/alloc.h"
#include "base/settings/settings.h"
#include "base/system/numa.h"
#include "base/thread.h"
#include "front/context.h"
#include "front/left.h"
#include "tessera_model.h"

static tsr_status check_device(const tsr_context *context, int device) {
  if (device == TSR_HOST || (device >= 0 && device < context->devices)) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "device is %d; the context has %d devices; give one, or TSR_HOST", device,
                  context->devices);
}

static tsr_status allocate(tsr_context *context, int device, size_t bytes, void **pointer) {
  if (bytes == 0) bytes = 1;
  if (context->engine != NULL && device == TSR_HOST)
    return tsr_near_alloc(&context->near, context->engine, context->state, context->near.nodes,
                          bytes, pointer);
  if (context->engine != NULL)
    return context->engine->alloc(context->state, device, bytes, pointer);
  void *made = tsr_alloc(bytes);
  if (made == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for %zu bytes", bytes);
  *pointer = made;
  return TSR_OK;
}

static void give_back(tsr_context *context, tsr_user_allocation block) {
  if (context->engine != NULL)
    context->engine->free(context->state, block.device, block.pointer);
  else
    tsr_dealloc(block.pointer);
}

void tsr_context_free_blocks(tsr_context *context) {
  for (size_t i = 0; i < context->blocks.count; i++) give_back(context, context->blocks.items[i]);
  TSR_VEC_FREE(&context->blocks);
}

TSR_ENTRY(tsr_malloc, (context, device, bytes, pointer), tsr_context *context, int device,
          size_t bytes, void **pointer) {
  TSR_TRY(tsr_context_check(context));
  if (pointer == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "pointer is NULL; give the address of a pointer");
  TSR_TRY(check_device(context, device));
  tsr_user_allocation block = {NULL, bytes, device};
  TSR_TRY(allocate(context, device, bytes, &block.pointer));
  pthread_mutex_lock(&context->lock);
  bool noted = TSR_VEC_PUSH(&context->blocks, block);
  pthread_mutex_unlock(&context->lock);
  if (!noted) {
    give_back(context, block);
    return tsr_fail(TSR_ERR_MEMORY, "no host memory to record an allocation");
  }
  *pointer = block.pointer;
  return TSR_OK;
}

/* Waits for all calls under way, since they may use the memory. */
TSR_ENTRY_VOID(tsr_free, (context, pointer), tsr_context *context, void *pointer) {
  if (context == NULL || pointer == NULL) return;
  tsr_user_allocation block = {NULL, 0, TSR_HOST};
  pthread_mutex_lock(&context->lock);
  for (size_t i = 0; i < context->blocks.count && block.pointer == NULL; i++) {
    if (context->blocks.items[i].pointer != pointer) continue;
    block = context->blocks.items[i];
    context->blocks.items[i] = context->blocks.items[--context->blocks.count];
  }
  pthread_mutex_unlock(&context->lock);
  if (block.pointer == NULL) return;
  if (context->calls.runner != NULL)
    tsr_compose_forget_bytes(&context->directory, block.pointer, block.bytes);
  if (context->calls.runner != NULL) tsr_runner_drain(context->calls.runner);
  give_back(context, block);
}

/* *device: the device that owns the memory, or TSR_HOST for host memory of any kind. Waits first
 * for registrations of that memory that are under way. */
static tsr_status device_of(tsr_context *context, const void *pointer, size_t bytes, int *device) {
  tsr_place place;
  tsr_pinner_await(context->calls.pinner,
                   tsr_pinner_touching(context->calls.pinner, pointer, bytes));
  TSR_TRY(context->engine->where(context->state, pointer, &place));
  *device = place.memory == TSR_DEVICE ? place.device : TSR_HOST;
  return TSR_OK;
}

static bool reach(const tsr_context *context, const tsr_copy_args *args) {
  int from = args->from_device, to = args->to_device;
  return from == TSR_HOST || to == TSR_HOST || from == to || context->info[from].peer[to];
}

/* Copies between devices that do not reach each other, piece by piece by way of pinned memory. */
static tsr_status copy_by_host(tsr_context *context, const tsr_copy_args *args) {
  const size_t most = (size_t)16 << 20;
  size_t piece = args->width < most ? args->width : most;
  void *between;
  TSR_TRY(context->engine->alloc(context->state, TSR_HOST, piece, &between));
  tsr_status status = TSR_OK;
  for (size_t at = 0; at < args->width && status == TSR_OK; at += piece) {
    size_t bytes = args->width - at < piece ? args->width - at : piece;
    tsr_copy_args out = {
        between, (const char *)args->from + at, TSR_HOST, args->from_device, bytes, bytes, bytes,
        1};
    tsr_copy_args in = {
        (char *)args->to + at, between, args->to_device, TSR_HOST, bytes, bytes, bytes, 1};
    status = tsr_runner_copy(context->calls.runner, &out);
    if (status == TSR_OK) status = tsr_runner_copy(context->calls.runner, &in);
  }
  context->engine->free(context->state, TSR_HOST, between);
  return status;
}

TSR_ENTRY(tsr_memcpy, (context, to, from, bytes), tsr_context *context, void *to, const void *from,
          size_t bytes) {
  TSR_TRY(tsr_context_check(context));
  if (bytes == 0) return TSR_OK;
  if (to == NULL || from == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s is NULL; give the address of %zu bytes",
                    to == NULL ? "to" : "from", bytes);
  tsr_copy_args args = {to, from, TSR_HOST, TSR_HOST, bytes, bytes, bytes, 1};
  if (context->engine != NULL) {
    if (tsr_left_has_failed_devices(context)) tsr_left_choose_devices(context);
    TSR_TRY(device_of(context, to, bytes, &args.to_device));
    TSR_TRY(device_of(context, from, bytes, &args.from_device));
  }
  if (context->engine != NULL) {
    TSR_TRY(tsr_compose_clear_bytes(&context->directory, from, bytes));
    TSR_TRY(tsr_compose_clear_bytes(&context->directory, to, bytes));
  }
  if (context->engine != NULL && !reach(context, &args)) return copy_by_host(context, &args);
  if (args.to_device != TSR_HOST || args.from_device != TSR_HOST)
    return tsr_runner_copy(context->calls.runner, &args);
  TSR_TRY(tsr_context_wait_for_devices(context));
  memmove(to, from, bytes);
  return TSR_OK;
}

/* ---- Finding ---- */

/* As tsr_home has it: the node of host memory, or TSR_INTERLEAVED. */
static int node_of(const tsr_context *context, const void *pointer, size_t bytes) {
  if (pointer == NULL || bytes == 0) return 0;
  if (tsr_plans_interleaved(context->plans)) return TSR_INTERLEAVED;
  int node = tsr_pinner_node(context->calls.pinner, pointer, bytes);
  return node > 0 && node == context->near.nodes ? TSR_INTERLEAVED : node;
}

TSR_ENTRY(tsr_home_find, (context, pointer, bytes, home), tsr_context *context, const void *pointer,
          size_t bytes, tsr_home *home) {
  TSR_TRY(tsr_context_check(context));
  if (home == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "home is NULL; give the address of a tsr_home");
  tsr_place first = {.memory = TSR_PAGEABLE}, last = first;
  if (context->engine != NULL && pointer != NULL && bytes > 0) {
    TSR_TRY(tsr_pinner_where(context->calls.pinner, pointer, &first));
    TSR_TRY(tsr_pinner_where(context->calls.pinner, (const char *)pointer + bytes - 1, &last));
  }
  home->memory = first.memory == last.memory ? first.memory : TSR_PAGEABLE;
  home->location = home->memory == TSR_DEVICE ? first.device : node_of(context, pointer, bytes);
  return TSR_OK;
}

/* ---- Interleaving ---- */

TSR_ENTRY_OF(int, tsr_memory_interleave, (), void) {
  const tsr_topology *topology = tsr_topology_get();
  int numbers[TSR_TOPOLOGY_NODES];
  bool bind;
  if (tsr_settings_bind(&bind) != TSR_OK || !bind || !topology->here || topology->nodes < 2)
    return 0;
  for (int i = 0; i < topology->nodes; i++) numbers[i] = topology->node[i].number;
  bool done = !tsr_numa_has_policy() && tsr_numa_take_memory_from(numbers, topology->nodes);
  return done ? topology->nodes : 0;
}

/* ---- Registering ---- */

TSR_ENTRY(tsr_register, (context, pointer, bytes), tsr_context *context, void *pointer,
          size_t bytes) {
  TSR_TRY(tsr_context_check(context));
  return tsr_pinner_add(context->calls.pinner, pointer, bytes);
}

/* Waits for all calls under way, since they may use the memory. */
TSR_ENTRY(tsr_unregister, (context, pointer), tsr_context *context, void *pointer) {
  TSR_TRY(tsr_context_check(context));
  if (pointer == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "pointer is NULL; give the address that was registered");
  if (context->calls.runner != NULL) tsr_runner_drain(context->calls.runner);
  return tsr_pinner_remove(context->calls.pinner, pointer);
}
