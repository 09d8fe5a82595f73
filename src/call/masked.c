/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "call/masked.h"

#include <string.h>

bool tsr_is_masked(const tsr_machine *machine, const tsr_plan_options *options) {
  uint32_t all = machine->devices < 32 ? (1u << machine->devices) - 1 : UINT32_MAX;
  return options->devices != 0 && (options->devices & all) != all;
}

/* ---- From the whole machine ------------------------------------------------- */

/* The number of a device among those that may be used; -1: it is not one of them. */
static int narrow_device(const tsr_masked *x, int device) {
  for (int i = 0; i < x->devices; i++)
    if (x->device[i] == device) return i;
  return -1;
}

static int narrow_location(const tsr_masked *x, int location) {
  return location >= x->all ? location - x->all + x->devices : narrow_device(x, location);
}

static tsr_status fail_for_memory_of(int device) {
  return tsr_fail(TSR_ERR_DEVICE,
                  "a matrix is in the memory of device %d, which has failed: copy it from where it "
                  "came from to another place, and repeat the call",
                  device);
}

static tsr_status narrow_operands(tsr_masked *x) {
  for (int i = 0; i < TSR_OPERANDS; i++) {
    tsr_operand *o = &x->call.operand[i];
    int location = narrow_location(x, o->location);
    if (location < 0 && o->rows > 0 && o->cols > 0) return fail_for_memory_of(o->location);
    o->location = location < 0 ? x->devices : location;
  }
  return TSR_OK;
}

static void narrow_mapping(tsr_masked *x, const tsr_mapping *mapping) {
  bool all = true;
  x->mapping = *mapping;
  for (int i = 0; i < mapping->grid_rows * mapping->grid_cols; i++) {
    int device = narrow_device(x, mapping->device[i]);
    all &= device >= 0;
    x->mapping.device[i] = (int16_t)(device >= 0 ? device : mapping->device[i] % x->devices);
  }
  if (x->options.mapping != NULL) x->options.mapping = all ? &x->mapping : NULL;
}

static tsr_status narrow_residency(tsr_masked *x) {
  if (x->options.residency == NULL) return TSR_OK;
  if (!tsr_residency_copy(x->options.residency, &x->residency))
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  x->options.residency = &x->residency;
  for (size_t i = 0; i < x->residency.blocks.count; i++) {
    tsr_cached_block *block = &x->residency.blocks.items[i];
    int device = narrow_device(x, block->device);
    if (device < 0) return fail_for_memory_of(block->device);
    block->device = (int16_t)device;
  }
  return TSR_OK;
}

static void choose_devices(tsr_masked *x, const tsr_plan_options *options) {
  for (int d = 0; d < x->all; d++)
    if (options->devices >> d & 1) x->device[x->devices++] = d;
  memset(x->options.budget, 0, sizeof x->options.budget);
  for (int i = 0; i < x->devices; i++) x->options.budget[i] = options->budget[x->device[i]];
  x->options.devices = 0;
}

tsr_status tsr_masked_make(const tsr_machine *machine, const tsr_call *call,
                           const tsr_mapping *mapping, const tsr_plan_options *options,
                           tsr_masked *masked) {
  *masked = (tsr_masked){.call = *call, .options = *options, .all = machine->devices};
  choose_devices(masked, options);
  if (mapping != NULL) narrow_mapping(masked, mapping);
  tsr_status status = narrow_operands(masked);
  if (status == TSR_OK) status = narrow_residency(masked);
  if (status == TSR_OK)
    status = tsr_machine_select(machine, masked->device, masked->devices, &masked->machine);
  if (status != TSR_OK) tsr_masked_free(masked);
  return status;
}

void tsr_masked_free(tsr_masked *masked) {
  tsr_machine_destroy(masked->machine);
  tsr_residency_free(&masked->residency);
}

/* ---- And back ----------------------------------------------------------------- */

static int16_t widen(const tsr_masked *x, int location) {
  return (int16_t)(location < x->devices ? x->device[location] : location - x->devices + x->all);
}

static void widen_residency(const tsr_masked *x, tsr_residency *residency) {
  for (size_t i = 0; residency != NULL && i < residency->blocks.count; i++)
    residency->blocks.items[i].device = widen(x, residency->blocks.items[i].device);
}

static void widen_bytes(const tsr_masked *x, size_t *bytes, int locations) {
  size_t narrow[TSR_MACHINE_LOCATIONS];
  memcpy(narrow, bytes, sizeof *bytes * (size_t)locations);
  memset(bytes, 0, sizeof *bytes * (size_t)locations);
  for (int l = 0; l < locations; l++)
    if (narrow[l] > 0) bytes[widen(x, l)] = narrow[l];
}

static void widen_queue(const tsr_masked *x, tsr_plan_queue *queue) {
  queue->location = widen(x, queue->location);
  if (queue->role == TSR_QUEUE_PEER && queue->index != TSR_ANY_PEER)
    queue->index = (uint8_t)x->device[queue->index];
}

void tsr_masked_widen(const tsr_masked *x, const tsr_call *call, tsr_plan *plan) {
  tsr_call made = plan->call;
  plan->call = *call;
  plan->call.arithmetic = made.arithmetic;
  plan->call.promise = made.promise;
  plan->machine_devices = x->all;
  for (int q = 0; q < plan->queues; q++) widen_queue(x, &plan->queue[q]);
  for (size_t i = 0; i < plan->buffers.count; i++)
    plan->buffers.items[i].location = widen(x, plan->buffers.items[i].location);
  widen_bytes(x, plan->arena, TSR_MACHINE_LOCATIONS);
  widen_bytes(x, plan->budget, TSR_MACHINE_DEVICES);
  widen_residency(x, plan->after);
  widen_residency(x, plan->before);
}
