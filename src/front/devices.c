/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Chooses the engine, the devices and the machine of a context. */
#include <stdatomic.h>
#include <string.h>

#include "base/log.h"
#include "base/settings/settings.h"
#include "base/thread.h"
#include "front/context.h"
#include "front/tuning.h"
#include "tessera_model.h"

/* options.devices as read: a count ("4") or a list of device numbers ("0,2"; "2," is a list of
 * one). After two dots ("..4") the planner chooses how many of these devices a call uses. */
typedef struct choice {
  int list[TSR_MAX_DEVICES];
  int count;   /* 0: all */
  bool listed; /* the devices are list[0..count-1]; else the first count devices */
} choice;

/* ---- Settings ---- */

tsr_status tsr_context_read_settings(tsr_options *options) {
  tsr_options filled = *options;
  TSR_TRY(tsr_settings_fill(&filled));
  if (options->engine == NULL && filled.engine != NULL)
    TSR_TRY(tsr_engine_check("TESSERA_ENGINE", filled.engine));
  *options = filled;
  return TSR_OK;
}

/* ---- Reading options.devices ---- */

static tsr_status refuse(const char *text, const char *why) {
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "devices is \"%s\": %s; give a count from 1 to %d such as 4, a list of devices "
                  "such as 0,2 (\"2,\" for device 2 alone), or ..4 for at most 4",
                  text, why, TSR_MAX_DEVICES);
}

/* Reads a whole number of at most four digits at *text and advances *text behind it; -1: no such
 * number is there. */
static int scan_number(const char **text) {
  int value = 0, digits = 0;
  for (; **text >= '0' && **text <= '9' && digits < 5; digits++)
    value = 10 * value + *(*text)++ - '0';
  return digits > 0 && digits < 5 ? value : -1;
}

static bool is_listed(const choice *c, int device) {
  for (int i = 0; i < c->count; i++)
    if (c->list[i] == device) return true;
  return false;
}

static bool is_at_most(const char *text) {
  return text[0] == '.' && text[1] == '.';
}

static const char *after_dots(const char *text) {
  return is_at_most(text) ? text + 2 : text;
}

static tsr_status parse_list(const char *text, choice *c) {
  const char *at = after_dots(text);
  for (;;) {
    int device = scan_number(&at);
    if (device < 0) return refuse(text, "a number is missing or wrong");
    if (is_listed(c, device)) return refuse(text, "a device is named twice");
    if (c->count == TSR_MAX_DEVICES) return refuse(text, "it names too many devices");
    c->list[c->count++] = device;
    if (*at == '\0') return TSR_OK;
    if (*at++ != ',') return refuse(text, "only digits and commas may be in it");
    if (*at == '\0' && c->count == 1) return TSR_OK;
  }
}

static tsr_status parse_devices(const char *text, choice *c) {
  *c = (choice){.count = 0};
  if (text == NULL || after_dots(text)[0] == '\0') return TSR_OK;
  c->listed = true;
  TSR_TRY(parse_list(text, c));
  if (strchr(text, ',') != NULL) return TSR_OK;
  int count = c->list[0];
  if (count < 1 || count > TSR_MAX_DEVICES) return refuse(text, "that is no count of devices");
  *c = (choice){.count = count};
  for (int i = 0; i < count; i++) c->list[i] = i;
  return TSR_OK;
}

bool tsr_context_obeys(const char *text) {
  return text != NULL && !is_at_most(text);
}

tsr_status tsr_context_count_devices(const char *text, int *count) {
  choice c;
  TSR_TRY(parse_devices(text, &c));
  *count = c.count;
  return TSR_OK;
}

/* ---- The machine ---- */

/* Reduces the given machine to the chosen devices. If it has exactly as many devices as are listed,
 * it is taken to describe those, whatever their numbers. */
static tsr_status choose_from(const choice *c, const char *name, tsr_machine **machine) {
  if (c->count == 0) return TSR_OK;
  int devices = (*machine)->devices, most = 0;
  for (int i = 0; i < c->count; i++) most = c->list[i] > most ? c->list[i] : most;
  if (most >= devices && c->count == devices) return TSR_OK;
  if (most >= devices)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "device %d is asked for, but the machine \"%s\" has %d; ask for fewer, or give "
                    "another machine",
                    most, name, devices);
  tsr_machine *selected;
  TSR_TRY(tsr_machine_select(*machine, c->list, c->count, &selected));
  tsr_machine_destroy(*machine);
  *machine = selected;
  return TSR_OK;
}

static tsr_status load_machine(const tsr_options *options, const choice *c, tsr_machine **machine) {
  TSR_TRY(tsr_machine_load(options->machine, machine));
  tsr_status status = choose_from(c, options->machine, machine);
  if (status == TSR_OK) return TSR_OK;
  tsr_machine_destroy(*machine);
  *machine = NULL;
  return status;
}

/* ---- The engine ---- */

static _Atomic uint64_t delay_seed; /* set by tsr_host_delay, used by contexts made later */

void tsr_host_delay(uint64_t seed) {
  atomic_store(&delay_seed, seed);
}

/* Set by tsr_host_pace, used by contexts made later. */
static struct {
  pthread_mutex_t lock;
  double of[TSR_MAX_DEVICES]; /* flop/s */
} paces = {.lock = PTHREAD_MUTEX_INITIALIZER};

void tsr_host_pace(const double *pace, int count) {
  pthread_mutex_lock(&paces.lock);
  for (int d = 0; d < TSR_MAX_DEVICES; d++) paces.of[d] = d < count ? pace[d] : 0;
  pthread_mutex_unlock(&paces.lock);
}

static void read_paces(double pace[TSR_MAX_DEVICES]) {
  pthread_mutex_lock(&paces.lock);
  memcpy(pace, paces.of, sizeof paces.of);
  pthread_mutex_unlock(&paces.lock);
}

/* Bytes of an emulated device for which nothing says more: 1 GiB, or less where the memory that the
 * process may use has no room for as many devices of it. */
static size_t emulated_least(const tsr_process_limits *limits, int devices) {
  const size_t most = (size_t)1 << 30, page = 4096;
  double part = TSR_TUNE_EMULATED_SHARE * limits->memory.most / (devices > 0 ? devices : 4);
  return part < (double)most ? (size_t)part / page * page : most;
}

static tsr_status find_emulated_memory(const tsr_context *context, const tsr_options *options,
                                       int devices, size_t *bytes) {
  size_t least = emulated_least(&context->limits, devices);
  TSR_TRY(tsr_budget_most(options, bytes));
  if (*bytes < least) *bytes = least;
  double described =
      context->plans->machine != NULL ? context->plans->machine->device[0].memory : 0;
  if (described > (double)*bytes) *bytes = (size_t)described;
  return TSR_OK;
}

static tsr_status find_near(tsr_context *context) {
  bool bind;
  TSR_TRY(tsr_settings_bind(&bind));
  tsr_near_find(tsr_topology_get(), context->engine, context->info, context->devices,
                &context->near);
  context->near.binds &= bind;
  return TSR_OK;
}

static tsr_status open_engine(tsr_context *context, const tsr_engine *engine,
                              const tsr_options *options, const choice *c) {
  bool emulated = engine->traits.emulated;
  int count = context->plans->machine != NULL ? context->plans->machine->devices : c->count;
  tsr_engine_options engine_options = {.devices = c->listed && !emulated ? c->list : NULL,
                                       .count = count,
                                       .check = options->check == 1,
                                       .delay_seed = atomic_load(&delay_seed)};
  if (emulated)
    TSR_TRY(find_emulated_memory(context, options, count, &engine_options.emulated_memory));
  if (emulated) read_paces(engine_options.emulated_pace);
  if (emulated) TSR_TRY(tsr_context_emulate_peers(context->plans->machine, &engine_options));
  TSR_TRY(engine->open(&engine_options, &context->state, context->info, &context->devices));
  context->engine = engine;
  for (int d = 0; d < context->devices; d++)
    context->number[d] = engine_options.devices != NULL ? c->list[d] : d;
  return find_near(context);
}

static tsr_status open_named(tsr_context *context, const tsr_options *options, const choice *c) {
  const tsr_engine *engine = tsr_engine_find(options->engine);
  if (engine == NULL) return TSR_ERR_ENGINE;
  TSR_TRY(open_engine(context, engine, options, c));
  if (context->plans->machine != NULL) return TSR_OK;
  if (engine->traits.emulated)
    return tsr_context_emulated_machine(context->devices, &context->plans->machine);
  return tsr_context_measured_machine(context, &context->plans->machine);
}

/* Opens the first engine that finds devices on this machine; TSR_ERR_ENGINE: none does. */
static tsr_status open_first(tsr_context *context, const tsr_options *options, const choice *c) {
  tsr_status status = TSR_ERR_ENGINE;
  const char *name;
  for (int i = 0; status == TSR_ERR_ENGINE && (name = tsr_engine_name(i)) != NULL; i++) {
    const tsr_engine *engine = tsr_engine_worth_trying(name) ? tsr_engine_find(name) : NULL;
    if (engine != NULL) status = open_engine(context, engine, options, c);
  }
  return status;
}

static tsr_status refuse_without_gpu(const tsr_options *options) {
  return tsr_fail(TSR_ERR_ENGINE,
                  "devices is \"%s\", but no GPU can be used here; name engine \"host\" to emulate "
                  "devices, or leave devices out to use the CPU's BLAS",
                  options->devices);
}

/* Opens devices when no engine is named. Without a given machine: the GPUs found, else the CPU's
 * BLAS. With one: the GPUs, if enough are found for it; else the CPU's BLAS does the work and plans
 * are for the given machine. */
static tsr_status open_best(tsr_context *context, const tsr_options *options, const choice *c) {
  tsr_status status = open_first(context, options, c);
  if (context->plans->machine != NULL) return TSR_OK;
  if (status == TSR_OK) return tsr_context_measured_machine(context, &context->plans->machine);
  if (status != TSR_ERR_ENGINE) return status;
  if (options->devices != NULL) return refuse_without_gpu(options);
  tsr_log(TSR_LOG_INFO, "no GPU can be used: the CPU's BLAS does the work");
  return tsr_context_cpu_machine(&context->plans->machine);
}

static tsr_status open_any(tsr_context *context, const tsr_options *options) {
  choice c;
  TSR_TRY(parse_devices(options->devices, &c));
  if (options->machine != NULL) TSR_TRY(load_machine(options, &c, &context->plans->machine));
  if (options->engine == NULL) return open_best(context, options, &c);
  if (strcmp(options->engine, "cpu") != 0) return open_named(context, options, &c);
  return context->plans->machine != NULL ? TSR_OK
                                         : tsr_context_cpu_machine(&context->plans->machine);
}

tsr_status tsr_context_open_devices(tsr_context *context, const tsr_options *options) {
  TSR_TRY(open_any(context, options));
  if (options->machine == NULL) tsr_context_note_memory(context, context->plans->machine);
  return tsr_context_limit_peers(context, context->plans->machine, &context->plans->linked);
}

/* ---- Which devices, without opening any ---- */

/* machine: the one that the options name, reduced to the devices that they choose; or NULL. */
static tsr_status list_engine(const tsr_engine *engine, const tsr_machine *machine, const choice *c,
                              tsr_devices_facts *facts) {
  tsr_device_info info[TSR_MAX_DEVICES];
  int count;
  const tsr_engine_options options = {.devices = c->listed ? c->list : NULL,
                                      .count = machine != NULL ? machine->devices : c->count};
  TSR_TRY(engine->list(&options, info, &count));
  facts->devices = count;
  for (int d = 0; d < count; d++) {
    facts->number[d] = c->listed ? c->list[d] : d;
    memcpy(facts->identity[d], info[d].identity, sizeof facts->identity[d]);
  }
  return TSR_OK;
}

/* As open_best chooses. */
static tsr_status list_best(const tsr_options *options, const tsr_machine *machine, const choice *c,
                            tsr_devices_facts *facts) {
  tsr_status status = TSR_ERR_ENGINE;
  const char *name;
  for (int i = 0; status == TSR_ERR_ENGINE && (name = tsr_engine_name(i)) != NULL; i++) {
    const tsr_engine *engine = tsr_engine_worth_trying(name) ? tsr_engine_find(name) : NULL;
    if (engine != NULL) status = list_engine(engine, machine, c, facts);
  }
  if (machine != NULL || (status == TSR_ERR_ENGINE && options->devices == NULL)) return TSR_OK;
  return status == TSR_ERR_ENGINE ? refuse_without_gpu(options) : status;
}

static tsr_status list_devices(const tsr_options *options, const tsr_machine *machine,
                               const choice *c, tsr_devices_facts *facts) {
  if (options->engine == NULL) return list_best(options, machine, c, facts);
  if (strcmp(options->engine, "cpu") == 0) return TSR_OK;
  const tsr_engine *engine = tsr_engine_find(options->engine);
  return engine != NULL ? list_engine(engine, machine, c, facts) : TSR_ERR_ENGINE;
}

TSR_ENTRY(tsr_devices_describe, (given, facts), const tsr_options *given,
          tsr_devices_facts *facts) {
  tsr_options options;
  tsr_devices_facts found = {.devices = 0};
  tsr_machine *machine = NULL;
  choice c;
  if (facts == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "facts is NULL; give the address of a struct to fill");
  TSR_TRY(tsr_options_read(given, &options));
  TSR_TRY(tsr_context_read_settings(&options));
  TSR_TRY(parse_devices(options.devices, &c));
  if (options.machine != NULL) TSR_TRY(load_machine(&options, &c, &machine));
  tsr_status status = list_devices(&options, machine, &c, &found);
  tsr_machine_destroy(machine);
  if (status == TSR_OK) *facts = found;
  return status;
}
