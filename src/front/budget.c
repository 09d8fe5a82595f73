/*
 * Budgets: what calls may use of the memory of each device, and of the host's for staging. A plan
 * that finds less memory than its budget says lowers it, and is made again; when calls have found
 * theirs for a while it grows, step by step, up to what was asked for.
 */
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"
#include "base/thread.h"
#include "front/context.h"

/* Pinned memory for staging: what threads write there is to be in their caches still when a device
 * fetches it. Staging goes at 75 GB/s by way of 128 MiB, half of the last cache, and at 57 by way
 * of 256 (16 threads, measured). */
static const size_t most_ring = 128 << 20, least_ring = 32 << 20, emulated_ring = 4 << 20;

static const double share_of_memory = 0.8;

/* Less by that much for the first attempts of a call, and then by so much: others may have left
 * very little. */
static const double shrink = 0.7, shrink_more = 0.4, step_up = 2;
enum { FIRST_ATTEMPTS = 2 };

/* Calls until budgets grow, at first; twice as many each time that growing was no use. */
enum { PATIENCE = 8, MOST_PATIENCE = 1024 };

static int locations(const tsr_context *context) {
  return (context->engine != NULL ? context->devices : context->machine->devices) + 1;
}

/* Of a device, or behind the devices of the staging ring. */
static size_t *budget_of(tsr_context *context, int location) {
  return location + 1 < locations(context) ? &context->planning.budget[location]
                                           : &context->planning.ring;
}

/* ---- What is asked for ---------------------------------------------------- */

/* The device-th of "16G,4G", or the last one. */
static tsr_status parse_listed(const char *text, int device, size_t *bytes) {
  char one[32];
  const char *comma;
  for (; device > 0 && (comma = strchr(text, ',')) != NULL; device--) text = comma + 1;
  size_t length = strcspn(text, ",");
  if (length >= sizeof one)
    return tsr_fail(TSR_ERR_ARGUMENT, "budgets: \"%.40s\" is no number of bytes; give such as 16G",
                    text);
  memcpy(one, text, length);
  one[length] = '\0';
  return tsr_parse_bytes("budgets", one, bytes);
}

static tsr_status budget_asked_for(const tsr_context *context, const tsr_options *options,
                                   int device, size_t *bytes) {
  double room = context->engine != NULL ? (double)context->info[device].memory_free
                                        : context->machine->device[device].memory;
  if (options->budgets != NULL) return parse_listed(options->budgets, device, bytes);
  *bytes = options->memory > 0 ? options->memory : (size_t)(share_of_memory * room);
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

static size_t ring_of(const tsr_context *context) {
  if (context->engine == &tsr_engine_host) return emulated_ring;
  if (context->engine == NULL) return most_ring; /* for another machine, whose caches are unknown */
  long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);   /* 0, -1: unknown */
  size_t half = cache > 0 ? (size_t)cache / 2 : most_ring / 2;
  return half > most_ring ? most_ring : half < least_ring ? least_ring : half;
}

tsr_status tsr_budget_begin(tsr_context *context, const tsr_options *options) {
  int ring = locations(context) - 1;
  context->budgets.wanted[ring] = ring_of(context);
  for (int d = 0; d < ring; d++)
    TSR_TRY(budget_asked_for(context, options, d, &context->budgets.wanted[d]));
  memcpy(context->budgets.given, context->budgets.wanted, sizeof context->budgets.given);
  for (int l = 0; l <= ring; l++) *budget_of(context, l) = context->budgets.wanted[l];
  return TSR_OK;
}

/* ---- Less, and more again ------------------------------------------------- */

static bool is_less(tsr_context *context) {
  for (int l = 0; l < locations(context); l++)
    if (*budget_of(context, l) < context->budgets.wanted[l]) return true;
  return false;
}

void tsr_budget_shrink(tsr_context *context, const tsr_plan *plan, int location, int attempt) {
  tsr_budgets *b = &context->budgets;
  double factor = attempt < FIRST_ATTEMPTS ? shrink : shrink_more;
  size_t less = (size_t)(factor * (double)plan->arena[location]);
  pthread_mutex_lock(&context->lock);
  size_t *budget = budget_of(context, location);
  if (less < *budget) *budget = less;
  if (attempt == 0)
    b->patience = b->patience == 0              ? PATIENCE
                  : b->patience < MOST_PATIENCE ? 2 * b->patience
                                                : MOST_PATIENCE;
  b->calls = 0;
  tsr_context_note_settings(context);
  pthread_mutex_unlock(&context->lock);
  tsr_log(TSR_LOG_INFO, "location %d has no room for %zu bytes: planning again with %zu", location,
          plan->arena[location], less);
}

/* A step up; the caller holds the lock. */
static void grow(tsr_context *context) {
  tsr_budgets *b = &context->budgets;
  for (int l = 0; l < locations(context); l++) {
    size_t *budget = budget_of(context, l);
    double more = step_up * (double)*budget;
    *budget = more < (double)b->wanted[l] ? (size_t)more : b->wanted[l];
  }
  b->calls = 0;
  tsr_context_note_settings(context);
}

void tsr_budget_call(tsr_context *context) {
  tsr_budgets *b = &context->budgets;
  pthread_mutex_lock(&context->lock);
  if (b->patience > 0 && ++b->calls > b->patience) {
    if (is_less(context))
      grow(context);
    else
      b->patience = 0; /* all is as it was */
  }
  pthread_mutex_unlock(&context->lock);
}

bool tsr_budget_restore(tsr_context *context) {
  pthread_mutex_lock(&context->lock);
  bool any = is_less(context);
  for (int l = 0; l < locations(context); l++) *budget_of(context, l) = context->budgets.wanted[l];
  context->budgets.patience = 0;
  tsr_context_note_settings(context);
  pthread_mutex_unlock(&context->lock);
  return any;
}

/* ---- The user's orders ---------------------------------------------------- */

static tsr_status check_device(const tsr_context *context, int device) {
  if (device >= 0 && device + 1 < locations(context)) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "device is %d; the context has %d", device,
                  locations(context) - 1);
}

TSR_ENTRY(tsr_set_budget, (context, device, bytes), tsr_context *context, int device,
          size_t bytes) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_device(context, device));
  if (context->runner != NULL) {
    bool any;
    TSR_TRY(tsr_compose_evict(context, &any));
    tsr_runner_trim(context->runner);
  }
  pthread_mutex_lock(&context->lock);
  size_t budget = bytes > 0 ? bytes : context->budgets.given[device];
  context->budgets.wanted[device] = context->planning.budget[device] = budget;
  tsr_context_note_settings(context);
  pthread_mutex_unlock(&context->lock);
  tsr_compose_limit(context, device, budget);
  return TSR_OK;
}

TSR_ENTRY(tsr_get_budget, (context, device, bytes), tsr_context *context, int device,
          size_t *bytes) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_device(context, device));
  if (bytes == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "bytes is NULL; give the address of what is to be filled");
  pthread_mutex_lock(&context->lock);
  *bytes = context->planning.budget[device];
  pthread_mutex_unlock(&context->lock);
  return TSR_OK;
}
