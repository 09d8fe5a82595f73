/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory budgets of a context, as its options and the user set them. */
#include <string.h>
#include <unistd.h>

#include "base/settings/settings.h"
#include "base/system/process_limits.h"
#include "base/thread.h"
#include "call/budget.h"
#include "front/context.h"
#include "front/tuning.h"

/* Bounds in bytes of the staging ring, which is pinned host memory. The ring is small enough that
 * data which staging threads write to it is still in the CPU's caches when a device fetches it. */
static const size_t most_ring = TSR_TUNE_RING_MOST, least_ring = TSR_TUNE_RING_LEAST;

/* ---- The options ---------------------------------------------------------- */

/* The entry of a list such as "16G,4G" for a device; the last entry if the list is shorter. */
static tsr_status parse_listed(const char *text, int device, size_t *bytes) {
  char one[32];
  const char *comma;
  for (; device > 0 && (comma = strchr(text, ',')) != NULL; device--) text = comma + 1;
  size_t length = strcspn(text, ",");
  if (length >= sizeof one)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "budgets: \"%.40s\" is no number of bytes; give a number such as 16G", text);
  memcpy(one, text, length);
  one[length] = '\0';
  return tsr_parse_bytes("budgets", one, bytes);
}

static tsr_status budget_asked_for(const tsr_context *context, const tsr_options *options,
                                   int device, size_t *bytes) {
  double unused = context->engine != NULL ? (double)context->info[device].memory_free
                                          : context->plans->machine->device[device].memory;
  if (options->budgets != NULL) return parse_listed(options->budgets, device, bytes);
  *bytes = options->memory > 0 ? options->memory : (size_t)(TSR_TUNE_MEMORY_SHARE * unused);
  return TSR_OK;
}

tsr_status tsr_budget_most(const tsr_options *options, size_t *most) {
  *most = options->memory;
  if (options->budgets == NULL) return TSR_OK;
  for (int d = 0; d < TSR_MAX_DEVICES; d++) {
    size_t bytes;
    TSR_TRY(parse_listed(options->budgets, d, &bytes));
    if (bytes > *most) *most = bytes;
  }
  return TSR_OK;
}

/* Bytes of the ring for so many staging threads. */
static size_t ring_for_threads(int threads) {
  size_t bytes = (size_t)(threads > 0 ? threads : 1) * TSR_TUNE_RING_OF_THREAD;
  return bytes > most_ring ? most_ring : bytes < least_ring ? least_ring : bytes;
}

static size_t ring_for_caches(const tsr_context *context) {
  if (context->engine->traits.ring > 0) return context->engine->traits.ring;
  int threads = tsr_process_limits_cores(&context->limits) / 2; /* at most these stage */
  size_t ring = ring_for_threads(threads);
  long cache = sysconf(_SC_LEVEL3_CACHE_SIZE); /* 0, -1: unknown */
  size_t half = cache > 0 ? (size_t)cache / 2 : most_ring / 2;
  return half > ring ? ring : half < least_ring ? least_ring : half;
}

/* Pinned memory is never given up to anyone else: a container that has little memory would be ended
 * for it. */
static size_t ring_of(const tsr_context *context) {
  if (context->engine == NULL) return ring_for_threads(context->plans->machine->staging_threads);
  size_t ring = ring_for_caches(context);
  double share = context->limits.unused.most / TSR_TUNE_RING_PARTS;
  if (share >= (double)ring) return ring;
  return share > TSR_TUNE_RING_LAST ? (size_t)share / 4096 * 4096 : TSR_TUNE_RING_LAST;
}

static int devices_of(const tsr_context *context) {
  return context->engine != NULL ? context->devices : context->plans->machine->devices;
}

tsr_status tsr_context_set_budgets(tsr_context *context, const tsr_options *options) {
  int devices = devices_of(context);
  size_t bytes[TSR_MACHINE_LOCATIONS];
  for (int d = 0; d < devices; d++) TSR_TRY(budget_asked_for(context, options, d, &bytes[d]));
  bytes[devices] = ring_of(context);
  tsr_budget_begin(context->plans, devices, bytes);
  return TSR_OK;
}

/* ---- Budgets that the user sets later -------------------------------------- */

static tsr_status check_device(const tsr_context *context, int device) {
  int devices = context->plans->budgets.devices;
  if (device >= 0 && device < devices) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "device is %d; the context has %d devices, numbered from 0",
                  device, devices);
}

TSR_ENTRY(tsr_set_budget, (context, device, bytes), tsr_context *context, int device,
          size_t bytes) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_device(context, device));
  if (context->calls.runner != NULL) {
    bool any;
    TSR_TRY(tsr_compose_evict(&context->directory, &any));
    tsr_runner_trim(context->calls.runner);
  }
  size_t budget = tsr_budget_set(context->plans, device, bytes);
  tsr_compose_limit(&context->directory, device, budget);
  return TSR_OK;
}

TSR_ENTRY(tsr_get_budget, (context, device, bytes), tsr_context *context, int device,
          size_t *bytes) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_device(context, device));
  if (bytes == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "bytes is NULL; give the address of a size_t");
  *bytes = tsr_budget_get(context->plans, device);
  return TSR_OK;
}
