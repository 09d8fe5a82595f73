/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The context's machine: built in, read from the kept measurement, measured, printed. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/system/cache_lock.h"
#include "base/thread.h"
#include "cpu/blas.h"
#include "front/context.h"
#include "front/tuning.h"
#include "machine/installed.h"
#include "machine/outline.h"
#include "machine/picture/draw.h"
#include "machine/shipped.h"
#include "probe/probe.h"
#include "run/aside.h"

/* ---- Without measuring ---- */

/* Emulated devices always get the same machine, so that their plans do not depend on the computer.
 * Its rates are near those of a thread's BLAS and of memcpy. */
tsr_status tsr_context_emulated_machine(int devices, tsr_machine **machine) {
  char string[96];
  snprintf(string, sizeof string, "host:20 gpu*%d@nvswitch:20 pcie:10 rate:0.02 lat:20", devices);
  TSR_TRY(tsr_machine_parse(string, machine));
  snprintf((*machine)->name, sizeof(*machine)->name, "%d emulated device%s", devices,
           devices == 1 ? "" : "s");
  snprintf((*machine)->source, sizeof(*machine)->source, "built-in");
  return TSR_OK;
}

tsr_status tsr_context_cpu_machine(tsr_machine **machine) {
  tsr_machine *made;
  TSR_TRY(tsr_cpu_blas_load());
  TSR_TRY(tsr_machine_create(&made));
  made->nodes = 1;
  snprintf(made->name, sizeof made->name, "the CPU, with %.60s", tsr_cpu_blas_name());
  snprintf(made->source, sizeof made->source, "probe");
  tsr_probe_date(made->measured, sizeof made->measured);
  tsr_status status = tsr_probe_cpu(made);
  if (status == TSR_OK)
    *machine = made;
  else
    tsr_machine_destroy(made);
  return status;
}

/* ---- The kept measurement ---- */

/* The measured device that is the engine's: of the same identity, name and memory, since slices may
 * have the identity of their card. -1: there is none. */
static int find_device(const tsr_machine *machine, const tsr_device_info *info) {
  for (int d = 0; d < machine->devices; d++) {
    const tsr_device *device = &machine->device[d];
    bool same = strcmp(device->identity, info->identity) == 0 &&
                strcmp(device->name, info->name) == 0 &&
                fabs(device->memory / (double)info->memory_total - 1) < 0.01;
    if (same) return d;
  }
  return -1;
}

/* *machine: the part of the kept measurement that describes the engine's devices. TSR_ERR_MACHINE
 * if a device is not in it, or if the devices reach each other in other ways than it says. */
static tsr_status select_known(const tsr_context *context, const tsr_machine *kept,
                               tsr_machine **machine) {
  int list[TSR_MAX_DEVICES];
  for (int d = 0; d < context->devices; d++) {
    list[d] = find_device(kept, &context->info[d]);
    if (list[d] < 0)
      return tsr_fail(TSR_ERR_MACHINE, "the kept measurement does not have device %s (%s)",
                      context->info[d].identity, context->info[d].name);
  }
  TSR_TRY(tsr_context_check_peers(context, kept, list));
  return tsr_machine_select(kept, list, context->devices, machine);
}

/* A measurement that did not tell this computer's memory nodes apart is made again, by a context
 * that can. */
static tsr_status check_nodes(const tsr_context *context, const tsr_machine *kept) {
  if (context->quiet || !context->near.binds || kept->nodes == context->near.nodes) return TSR_OK;
  return tsr_fail(TSR_ERR_MACHINE,
                  "the kept measurement has %d host memory nodes, and this computer %d",
                  kept->nodes, context->near.nodes);
}

static tsr_status read_kept(const tsr_context *context, const char *path, tsr_machine **machine) {
  if (access(path, R_OK) != 0)
    return TSR_ERR_IO; /* common before the first measurement: no message */
  tsr_machine *kept;
  TSR_TRY(tsr_machine_read(path, &kept));
  tsr_status status = check_nodes(context, kept);
  if (status == TSR_OK) status = select_known(context, kept, machine);
  tsr_machine_destroy(kept);
  return status;
}

static tsr_status kept_path(const tsr_context *context, bool write, char **path) {
  char identity[192];
  tsr_probe_identity(context->info, context->devices, identity, sizeof identity);
  return write ? tsr_machine_cache_path_to_write(identity, path)
               : tsr_machine_cache_path(identity, path);
}

/* Writes the measurement to its file. If that fails, the measurement is still used. */
static void keep(const tsr_context *context, const tsr_machine *machine) {
  char *path = NULL;
  tsr_status status = kept_path(context, true, &path);
  if (status == TSR_OK) status = tsr_machine_write(machine, path);
  if (status == TSR_OK)
    tsr_log(TSR_LOG_INFO, "the measurement of this machine is kept in %s", path);
  else
    tsr_log(TSR_LOG_INFO,
            "the measurement of this machine cannot be kept, and each process measures anew: %s",
            tsr_message());
  tsr_dealloc(path);
}

typedef struct measurement {
  const tsr_context *context;
  tsr_probe_options options;
  tsr_machine *machine;
} measurement;

static tsr_status probe(void *argument) {
  measurement *m = argument;
  return tsr_probe(m->context->engine, m->context->state, m->context->info, m->context->devices,
                   &m->options, &m->machine);
}

static tsr_status measure(const tsr_context *context, tsr_progress progress, void *user,
                          tsr_machine **machine) {
  tsr_near near = context->near;
  near.places = near.binds;
  measurement m = {.context = context,
                   .options = {.quick = context->engine->traits.emulated,
                               .near = &near,
                               .progress = progress,
                               .user = user}};
  TSR_TRY(tsr_aside(probe, &m));
  *machine = m.machine;
  keep(context, *machine);
  return TSR_OK;
}

/* Processes of one computer measure one after another: beside each other they would find lower
 * rates, and where they have the same devices, the first one measures for all. Without a cache they
 * do not wait, and those of a process that takes too long do not wait for ever. */
static int await_turn(void) {
  char host[32], name[48];
  tsr_probe_host_name(host, sizeof host);
  snprintf(name, sizeof name, "%s.lock", host);
  return tsr_cache_lock(name, TSR_TUNE_MEASUREMENT_PATIENCE);
}

typedef struct wanted {
  const tsr_context *context;
  tsr_machine **machine;
} wanted;

static bool take_kept(const char *path, void *user) {
  const wanted *w = user;
  return read_kept(w->context, path, w->machine) == TSR_OK;
}

/* The measurement of these devices, or of more devices of the computer, which they are among. */
static bool find_kept(tsr_context *context, tsr_machine **machine) {
  char *path, host[32];
  wanted w = {context, machine};
  bool found = false;
  if (kept_path(context, false, &path) == TSR_OK) {
    found = take_kept(path, &w);
    tsr_dealloc(path);
  }
  tsr_probe_host_name(host, sizeof host);
  return found || tsr_machine_cache_visit(host, take_kept, &w);
}

static tsr_status measure_first(tsr_context *context, tsr_machine **machine) {
  tsr_log(TSR_LOG_INFO,
          "measuring this machine, which takes some seconds; the result is kept for later");
  atomic_store(&context->just_measured, true);
  return measure(context, NULL, NULL, machine);
}

tsr_status tsr_context_measured_machine(tsr_context *context, tsr_machine **machine) {
  if (find_kept(context, machine)) return TSR_OK;
  if (context->quiet) return tsr_machine_shipped(context->info[0].name, context->devices, machine);
  int turn = await_turn();
  tsr_status status = TSR_OK;
  if (turn < 0 || !find_kept(context, machine)) status = measure_first(context, machine);
  tsr_cache_unlock(turn);
  return status;
}

/* A device's own runtime takes less than a tenth. */
void tsr_context_note_memory(const tsr_context *context, tsr_machine *machine) {
  if (context->engine == NULL || context->engine->traits.emulated) return;
  for (int d = 0; d < context->devices && d < machine->devices; d++) {
    double left = (double)context->info[d].memory_free;
    if (left > 0 && left < 0.9 * machine->device[d].memory) machine->device[d].memory = left;
  }
}

/* ---- The interface ---- */

static tsr_status probe_devices(tsr_context *context, tsr_progress progress, void *user,
                                tsr_machine **machine) {
  tsr_runner_trim(context->calls.runner); /* frees memory for the probe's own buffers */
  tsr_runner_occupy(context->calls.runner);
  int turn = await_turn();
  tsr_status status = measure(context, progress, user, machine);
  tsr_cache_unlock(turn);
  tsr_runner_leave(context->calls.runner);
  if (status == TSR_ERR_DEVICE) tsr_runner_ask_all(context->calls.runner);
  return status;
}

TSR_ENTRY(tsr_machine_probe, (context, progress, user), tsr_context *context, tsr_progress progress,
          void *user) {
  tsr_machine *machine, *linked;
  TSR_TRY(tsr_context_check(context));
  /* The machine was measured when the context was made, since no measurement was kept. */
  if (atomic_exchange(&context->just_measured, false)) return TSR_OK;
  if (context->engine != NULL)
    TSR_TRY(probe_devices(context, progress, user, &machine));
  else if (context->plans->machine->devices == 0)
    TSR_TRY(tsr_context_cpu_machine(&machine));
  else
    return tsr_fail(
        TSR_ERR_ENGINE,
        "the machine \"%s\" is not this one and cannot be measured; give no machine to measure "
        "this one",
        context->plans->machine->name);
  tsr_context_note_memory(context, machine);
  tsr_status status = tsr_context_limit_peers(context, machine, &linked);
  if (status == TSR_OK)
    tsr_plans_exchange_machine(context->plans, machine, linked);
  else
    tsr_machine_destroy(machine);
  return status;
}

/* The files that describe the computer are read when a machine is printed: no plan depends on them,
 * and a context without a GPU is made often (by each program that is preloaded). */
static void complete(tsr_plans *plans) {
  pthread_rwlock_wrlock(&plans->machine_lock);
  tsr_machine *machine = plans->machine;
  bool here = machine->devices == 0 && strcmp(machine->source, "probe") == 0;
  if (here && machine->host.cores == 0) tsr_probe_host("", &machine->host);
  pthread_rwlock_unlock(&plans->machine_lock);
}

static tsr_status print(const tsr_machine *machine, tsr_format format, tsr_text *text) {
  switch (format) {
    case TSR_JSON:
      return tsr_machine_print_json(machine, text);
    case TSR_MACHINE_SVG:
      return tsr_machine_draw(machine, NULL, text);
    case TSR_DETAILS:
      tsr_machine_print_tables(machine, text);
      return TSR_OK;
    default:
      return tsr_machine_print_summary(machine, text);
  }
}

TSR_ENTRY(tsr_machine_print, (context, format, text), tsr_context *context, tsr_format format,
          char **text) {
  TSR_TRY(tsr_context_check(context));
  if (text == NULL) return tsr_fail(TSR_ERR_ARGUMENT, "text is NULL; give the address of a string");
  bool good = format == TSR_TEXT || format == TSR_JSON || format == TSR_DETAILS ||
              format == TSR_MACHINE_SVG;
  if (!good)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "format is %d; give TSR_TEXT, TSR_DETAILS, TSR_MACHINE_SVG or TSR_JSON",
                    (int)format);
  tsr_text written = TSR_TEXT_INIT;
  tsr_plans *plans = context->plans;
  complete(plans);
  pthread_rwlock_rdlock(&plans->machine_lock);
  tsr_status status = print(plans->machine, format, &written);
  pthread_rwlock_unlock(&plans->machine_lock);
  if (status == TSR_OK) status = tsr_text_take(&written, text);
  tsr_text_free(&written);
  return status;
}

/* ---- Installed machines ---- */

enum { BESIDE_NAME = 17 }; /* the column behind a name */

static tsr_status describe(const char *name, tsr_text *text) {
  tsr_machine *machine = NULL;
  TSR_TRY(tsr_machine_load(name, &machine));
  tsr_text_add(text, "%-16s ", name);
  tsr_outline_devices(machine, text);
  tsr_text_add(text, "\n");
  tsr_outline_about(machine, BESIDE_NAME, text);
  tsr_machine_destroy(machine);
  return TSR_OK;
}

static tsr_status list(tsr_text *text) {
  tsr_installed installed;
  tsr_installed_list(&installed);
  for (int i = 0; i < installed.count; i++) TSR_TRY(describe(installed.name[i], text));
  return TSR_OK;
}

TSR_ENTRY(tsr_machine_list, (text), char **text) {
  if (text == NULL) return tsr_fail(TSR_ERR_ARGUMENT, "text is NULL; give the address of a string");
  tsr_text written = TSR_TEXT_INIT;
  tsr_status status = list(&written);
  if (status == TSR_OK) status = tsr_text_take(&written, text);
  tsr_text_free(&written);
  return status;
}
