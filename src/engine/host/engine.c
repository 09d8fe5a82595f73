/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The host engine: emulated devices, each with memory and queues of its own, served by threads and
 * the CPU's BLAS. The properties of a GPU that matter to a plan are kept: queues run independently,
 * only events order their commands, and a device's memory is limited.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/blas.h"
#include "engine/host/host.h"
#include "engine/host/internal.h"

#define DEFAULT_MEMORY ((size_t)1 << 30)
enum { DEFAULT_COUNT = 4 };

/* While emulated devices are open, each call of the CPU's BLAS uses one thread: the queues' threads
 * already run in parallel, and multi-threaded calls would queue up for the same BLAS workers. */
static struct {
  pthread_mutex_t lock;
  int open;    /* number of open host engines */
  int threads; /* the BLAS's threads before the first was opened; the last restores them */
} blas_use = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void blas_enter(void) {
  pthread_mutex_lock(&blas_use.lock);
  if (blas_use.open++ == 0) {
    blas_use.threads = tsr_cpu_blas_threads();
    tsr_cpu_blas_set_threads(1);
  }
  pthread_mutex_unlock(&blas_use.lock);
}

static void blas_leave(void) {
  pthread_mutex_lock(&blas_use.lock);
  if (--blas_use.open == 0) tsr_cpu_blas_set_threads(blas_use.threads);
  pthread_mutex_unlock(&blas_use.lock);
}

/* What is known of a device that is not open. */
static void name_device(int d, const int *devices, tsr_device_info *info) {
  *info = (tsr_device_info){.memory_total = 0};
  snprintf(info->name, sizeof info->name, "emulated device");
  snprintf(info->identity, sizeof info->identity, "host:%d", devices ? devices[d] : d);
}

static void describe(const tsr_engine_state *state, const int *devices, tsr_device_info *info) {
  for (int d = 0; d < state->count; d++) {
    name_device(d, devices, &info[d]);
    info[d].memory_total = info[d].memory_free = state->memory;
    for (int p = 0; p < state->count; p++) info[d].peer[p] = !(state->unlinked[d] >> p & 1);
  }
}

static tsr_status check_count(int count) {
  if (count <= TSR_MAX_DEVICES) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%d emulated devices; there may be 1 to %d", count,
                  TSR_MAX_DEVICES);
}

static tsr_status host_factors(void) {
  return TSR_OK;
}

static tsr_status host_open(const tsr_engine_options *options, tsr_engine_state **opened,
                            tsr_device_info *info, int *count) {
  int wanted = options->count > 0 ? options->count : DEFAULT_COUNT;
  TSR_TRY(check_count(wanted));
  TSR_TRY(tsr_cpu_blas_load());
  tsr_engine_state *state = tsr_alloc_zero(1, sizeof *state);
  if (!state) return tsr_fail(TSR_ERR_MEMORY, "no memory to open emulated devices");
  state->count = wanted;
  state->check = options->check;
  state->delay_seed = options->delay_seed;
  state->memory = options->emulated_memory ? options->emulated_memory : DEFAULT_MEMORY;
  memcpy(state->unlinked, options->emulated_unlinked, sizeof state->unlinked);
  memcpy(state->pace, options->emulated_pace, sizeof state->pace);
  pthread_mutex_init(&state->lock, NULL);
  for (int d = 0; d < wanted; d++) {
    state->devices[d].index = d;
    pthread_mutex_init(&state->devices[d].lock, NULL);
  }
  blas_enter();
  describe(state, options->devices, info);
  *count = wanted;
  *opened = state;
  return TSR_OK;
}

static tsr_status host_list(const tsr_engine_options *options, tsr_device_info *info, int *count) {
  int wanted = options->count > 0 ? options->count : DEFAULT_COUNT;
  TSR_TRY(check_count(wanted));
  for (int d = 0; d < wanted; d++) name_device(d, options->devices, &info[d]);
  *count = wanted;
  return TSR_OK;
}

static void host_close(tsr_engine_state *state) {
  if (!state) return;
  blas_leave();
  host_free_all(state);
  for (int d = 0; d < state->count; d++) pthread_mutex_destroy(&state->devices[d].lock);
  pthread_mutex_destroy(&state->lock);
  tsr_dealloc(state);
}

/* Device memory is host memory, and the checking mode fills it with poison when it is allocated:
 * block and ring are small to keep that short. */
const tsr_engine tsr_engine_host = {
    .name = "host",
    .traits = {.emulated = true,
               .quick_start = true,
               .forms = 1u << TSR_KERNEL_RESIDUES | 1u << TSR_KERNEL_SPLIT,
               .overlaps = true,
               .ring = 4 << 20,
               .block = 64 << 10},
    .factors = host_factors,
    .open = host_open,
    .close = host_close,
    .list = host_list,
    .alloc = host_alloc,
    .free = host_free,
    .pin = host_pin,
    .queue_create = host_queue_create,
    .queue_destroy = host_queue_destroy,
    .event_create = host_event_create,
    .event_destroy = host_event_destroy,
    .record = host_record,
    .wait = host_wait,
    .query = host_query,
    .check = host_check,
    .recover = host_recover,
    .copy = host_copy,
    .kernel = host_kernel,
    .where = host_where,
    .poison = tsr_engine_host_poison,
};
