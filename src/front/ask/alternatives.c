/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "front/ask/alternatives.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/amounts.h"
#include "blas/operation.h"
#include "front/tuning.h"
#include "plan/print/limits.h"

/* The plan whose alternatives are planned, and what is found. */
typedef struct question {
  const tsr_plan *plan;
  const tsr_plans *owner;
  const tsr_machine *machine; /* the owner's, or another one to plan for */
  const tsr_plan_options *options;
  tsr_device_set used;
  double spent;        /* s of planning, counted by tsr_plan_cost */
  double best_on_host; /* s of the best other place in host memory; INFINITY: none is better */
  bool on_host;        /* what is noted is such a place */
  tsr_alternatives *found;
} question;

/* ---- One alternative ---- */

/* A call that does not fit is searched for up to a second; an alternative of it gets less. */
static void limit_search(const question *q, tsr_plan_options *options) {
  if (q->plan->blocking.rows > 0) options->search_seconds = TSR_TUNE_ALTERNATIVE_SEARCH;
}

/* A plan of the call, which the caller frees; NULL: there is none, or no time is left to make
 * one. */
static tsr_plan *plan_for(question *q, const tsr_call *call, const tsr_plan_options *asked) {
  tsr_plan_options options = *asked;
  tsr_plan *made;
  if (q->spent > TSR_TUNE_ALTERNATIVES_TIME) return NULL;
  limit_search(q, &options);
  if (tsr_plan_make(q->machine, call, &options, &made) != TSR_OK) return NULL;
  q->spent += tsr_plan_cost(made);
  return made;
}

/* The predicted time of a plan of the call; INFINITY: there is none. */
static double seconds_of(question *q, const tsr_call *call, const tsr_plan_options *options) {
  tsr_plan *made = plan_for(q, call, options);
  double seconds = made != NULL ? made->seconds : INFINITY;
  tsr_plan_free(made);
  return seconds;
}

static void note(question *q, const char *what, double seconds) {
  tsr_alternatives *f = q->found;
  int at = f->count;
  if (!(seconds < (1 - TSR_TUNE_ALTERNATIVE_GAIN) * q->plan->seconds)) return;
  if (at == TSR_ALTERNATIVES) return;
  for (; at > 0 && f->list[at - 1].seconds > seconds; at--) f->list[at] = f->list[at - 1];
  f->list[at].seconds = seconds;
  f->list[at].of_machine = q->machine != q->owner->machine;
  f->list[at].of_host = q->on_host;
  snprintf(f->list[at].what, sizeof f->list[at].what, "%s", what);
  f->count++;
}

/* Plans a changed call, unless even its floor would gain too little. */
static void try_call(question *q, const tsr_call *call, const tsr_plan_options *options,
                     const char *what) {
  double least = tsr_floor(q->machine, call);
  if (!(least < (1 - TSR_TUNE_ALTERNATIVE_GAIN) * q->plan->seconds)) return;
  note(q, what, seconds_of(q, call, options));
}

/* ---- Operands elsewhere ---- */

/* "A", in the user's words. */
static char letter_of(const tsr_call *call, int operand) {
  bool exchanged = tsr_call_asked_matrix(call, operand) != operand;
  return (char)toupper(
      (unsigned char)tsr_operation_operand(call->operation, operand, exchanged)[0]);
}

static bool is_there(const tsr_call *call, int operand) {
  const tsr_operand *o = &call->operand[operand];
  return o->rows > 0 && o->cols > 0;
}

static bool is_on_host(const question *q, int operand) {
  const tsr_call *call = &q->plan->call;
  return is_there(call, operand) && call->operand[operand].location >= q->machine->devices;
}

/* The names of a set of operands, in the user's order: "A", "A and B", "A, B and C". */
static void name_operands(const tsr_call *call, const bool set[TSR_OPERANDS], char *text,
                          size_t room) {
  char letters[TSR_OPERANDS] = {0};
  int count = 0, used = 0;
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (set[x]) letters[count++] = letter_of(call, x);
  if (count > 1 && letters[0] > letters[1]) {
    char first = letters[0];
    letters[0] = letters[1];
    letters[1] = first;
  }
  for (int i = 0; i < count; i++)
    used += snprintf(text + used, room - (size_t)used, "%s%c",
                     i == 0           ? ""
                     : i == count - 1 ? " and "
                                      : ", ",
                     letters[i]);
}

/* The used device number `index`, in turn. */
static int used_device(const question *q, int index) {
  int count = tsr_devices_count(&q->used), at = count > 0 ? index % count : 0;
  for (int d = 0; d < q->machine->devices; d++)
    if (q->used.has[d] && at-- == 0) return d;
  return 0;
}

/* Moves an operand to a device, whose budget shrinks as far as the operand needs the memory. False:
 * it does not fit. */
static bool place_on_device(const question *q, int operand, int device, tsr_call *call,
                            tsr_plan_options *options) {
  tsr_operand *o = &call->operand[operand];
  double memory = q->machine->device[device].memory;
  double left = memory - (double)tsr_operand_bytes(o, call->type);
  if (memory > 0 && left <= 0) return false;
  if (memory > 0 && left < (double)options->budget[device]) options->budget[device] = (size_t)left;
  o->memory = TSR_DEVICE;
  o->location = device;
  o->pinned_begin = o->pinned_end = 0;
  return true;
}

/* Plans with the operands of the set on devices, one after the other on the devices in use. */
static void try_on_devices(question *q, const bool set[TSR_OPERANDS]) {
  tsr_call call = q->plan->call;
  tsr_plan_options options = *q->options;
  tsr_device_set where = {{false}};
  tsr_text text = TSR_TEXT_INIT;
  char names[16], what[96];
  int placed = 0;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    if (!set[x]) continue;
    int device = used_device(q, placed++);
    if (!place_on_device(q, x, device, &call, &options)) return;
    where.has[device] = true;
  }
  name_operands(&call, set, names, sizeof names);
  tsr_devices_add(&where, &text);
  if (!text.broken) {
    snprintf(what, sizeof what, "%s on %s", names, text.bytes);
    try_call(q, &call, &options, what);
  }
  tsr_text_free(&text);
}

static void try_operands(question *q) {
  bool all[TSR_OPERANDS] = {false};
  int count = 0;
  for (int x = 0; x < TSR_OPERANDS; x++) count += all[x] = is_on_host(q, x);
  for (int x = 0; x < TSR_OPERANDS; x++) {
    bool one[TSR_OPERANDS] = {false};
    one[x] = all[x];
    if (one[x]) try_on_devices(q, one);
  }
  if (count > 1) try_on_devices(q, all);
}

/* Another place in host memory. */
typedef struct placing {
  bool spread, pin; /* interleaved over all nodes; pinned */
  const char *said; /* follows the operands' names */
  double gain;      /* the least, part of the time */
} placing;

static bool can_spread(const question *q) {
  return q->machine->nodes > 1 && !q->machine->interleaved;
}

/* Moves an operand in host memory; false: it is there already. */
static bool place_on_host(const question *q, const placing *way, int operand, tsr_call *call) {
  tsr_operand *o = &call->operand[operand];
  int hosts = tsr_machine_host(q->machine, TSR_INTERLEAVED);
  bool pins = way->pin && o->memory != TSR_PINNED, spreads = way->spread && o->location != hosts;
  if (!is_on_host(q, operand) || !(pins || spreads)) return false;
  if (spreads) o->location = hosts;
  if (!pins) return true;
  o->memory = TSR_PINNED;
  o->pinned_begin = 0;
  o->pinned_end = tsr_operand_bytes(o, call->type);
  return true;
}

/* A way of more work for the user is noted only if it gains beside those of less. */
static void try_placing(question *q, const placing *way) {
  tsr_call call = q->plan->call;
  bool set[TSR_OPERANDS] = {false}, any = false;
  double most = fmin(q->plan->seconds, q->best_on_host) * (1 - way->gain);
  char names[16], what[96];
  for (int x = 0; x < TSR_OPERANDS; x++) any |= set[x] = place_on_host(q, way, x, &call);
  if (!any || !(tsr_floor(q->machine, &call) < most)) return;
  double seconds = seconds_of(q, &call, q->options);
  if (!(seconds < most)) return;
  name_operands(&call, set, names, sizeof names);
  snprintf(what, sizeof what, "%s %s", names, way->said);
  q->best_on_host = seconds;
  q->on_host = true;
  note(q, what, seconds);
  q->on_host = false;
}

static bool has_pageable(const question *q) {
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (is_on_host(q, x) && q->plan->call.operand[x].memory != TSR_PINNED) return true;
  return false;
}

/* numactl changes no line of the program, tsr_malloc those that allocate. */
static void try_on_host(question *q) {
  static const placing
      spread = {true, false, "interleaved over all nodes (numactl --interleave=all, tsr_malloc)",
                TSR_TUNE_INTERLEAVED_GAIN},
      pinned = {false, true, "in pinned memory", TSR_TUNE_ALTERNATIVE_GAIN},
      both = {true, true, "pinned and interleaved over all nodes (tsr_malloc)",
              TSR_TUNE_INTERLEAVED_GAIN};
  if (can_spread(q)) try_placing(q, &spread);
  try_placing(q, &pinned);
  if (can_spread(q) && has_pageable(q)) try_placing(q, &both);
}

/* ---- More or less of the machine ---- */

/* A call that does not fit, with the default share of the devices' whole memory. */
static void try_budget(question *q) {
  tsr_plan_options options = *q->options;
  tsr_text text = TSR_TEXT_INIT;
  double least = INFINITY;
  if (q->plan->blocking.rows == 0) return;
  for (int d = 0; d < q->machine->devices; d++) {
    double budget = TSR_TUNE_MEMORY_SHARE * q->machine->device[d].memory;
    if (budget <= (double)options.budget[d]) return;
    options.budget[d] = (size_t)budget;
    least = fmin(least, budget);
  }
  tsr_text_add(&text, "a budget of ");
  tsr_add_bytes(&text, 0, least);
  if (!text.broken) try_call(q, &q->plan->call, &options, text.bytes);
  tsr_text_free(&text);
}

/* If the user named the devices: as many of them as help. */
static void try_fewer(question *q) {
  tsr_plan_options options = *q->options;
  if (!options.obey_devices || q->machine->devices < 2) return;
  options.obey_devices = false;
  options.no_cpu = true;
  tsr_plan *made = plan_for(q, &q->plan->call, &options);
  if (made == NULL) return;
  tsr_text text = TSR_TEXT_INIT;
  tsr_device_set used = tsr_devices_used(made);
  tsr_devices_add(&used, &text);
  tsr_text_add(&text, " alone");
  if (!text.broken && made->devices < q->plan->devices) note(q, text.bytes, made->seconds);
  tsr_text_free(&text);
  tsr_plan_free(made);
}

/* If the planner chose fewer devices, or the CPU: what all, or any, would take. */
static void try_all(question *q) {
  tsr_plan_options options = *q->options;
  char what[96];
  bool cpu = q->plan->devices == 0;
  if (q->machine->devices == 0 || q->plan->devices == q->machine->devices) return;
  options.obey_devices = !cpu;
  options.no_cpu = true;
  double seconds = seconds_of(q, &q->plan->call, &options);
  if (!isfinite(seconds)) return;
  q->found->on_all = seconds;
  snprintf(what, sizeof what, "all %d GPUs", q->machine->devices);
  if (!cpu) note(q, what, seconds);
}

/* *machine: the machine with links between all devices that have none: those that the user's
 * setting leaves out, or else as they would be over the host links. The caller destroys it. */
static tsr_status link_devices(const question *q, tsr_machine **machine) {
  const tsr_machine *from = q->owner->linked != NULL ? q->owner->linked : q->machine;
  int all[TSR_MACHINE_DEVICES];
  for (int d = 0; d < from->devices; d++) all[d] = d;
  TSR_TRY(tsr_machine_select(from, all, from->devices, machine));
  tsr_status status = q->owner->linked != NULL ? TSR_OK : tsr_machine_link_over_host(*machine);
  if (status == TSR_OK) return TSR_OK;
  tsr_machine_destroy(*machine);
  return status;
}

/* Without peer access, or without all of it: with it. */
static void try_peers(question *q) {
  const tsr_machine *machine = q->machine;
  tsr_machine *with;
  if (machine->devices < 2 || tsr_machine_all_linked(machine)) return;
  if (link_devices(q, &with) != TSR_OK) return;
  q->machine = with;
  try_call(q, &q->plan->call, q->options,
           q->owner->linked != NULL ? "peer access between GPUs (TESSERA_PEER=1)"
                                    : "peer access between GPUs over their host links");
  q->machine = machine;
  tsr_machine_destroy(with);
}

static void ask_all(question *q) {
  try_all(q);
  if (q->plan->devices == 0) return;
  try_fewer(q);
  try_on_host(q);
  try_budget(q);
  try_peers(q);
  try_operands(q);
}

/* ---- Once for each plan ---- */

static bool has_alternatives(const tsr_plan *plan) {
  return plan->after == NULL && plan->before == NULL && !plan->moves &&
         !tsr_call_is_empty(&plan->call);
}

/* An alternative that cannot be planned leaves no message: the print succeeds without it. */
static tsr_alternatives *make(const tsr_plan *plan, const tsr_plans *owner,
                              const tsr_plan_options *options) {
  tsr_alternatives *found = tsr_alloc_zero(1, sizeof *found);
  tsr_error kept;
  if (found == NULL) return NULL;
  question q = {.plan = plan,
                .owner = owner,
                .machine = owner->machine,
                .options = options,
                .used = tsr_devices_used(plan),
                .best_on_host = INFINITY,
                .found = found};
  tsr_error_take(TSR_OK, &kept);
  ask_all(&q);
  (void)tsr_error_put(&kept);
  return found;
}

const tsr_alternatives *tsr_alternatives_of(tsr_plan_object *object) {
  tsr_plans *owner = object->owner;
  tsr_plan_options options;
  char *strategy;
  pthread_mutex_lock(&owner->lock);
  tsr_alternatives *known = object->alternatives;
  pthread_mutex_unlock(&owner->lock);
  if (known != NULL || !has_alternatives(&object->plan)) return known;
  if (tsr_plans_planning(owner, &options, &strategy) != TSR_OK) return NULL;
  tsr_alternatives *made = make(&object->plan, owner, &options);
  tsr_dealloc(strategy);
  pthread_mutex_lock(&owner->lock);
  if (object->alternatives == NULL) {
    object->alternatives = made;
    made = NULL;
  }
  known = object->alternatives;
  pthread_mutex_unlock(&owner->lock);
  tsr_dealloc(made); /* another thread was faster */
  return known;
}
