/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/print/verdict.h"

#include <math.h>
#include <string.h>

#include "base/amounts.h"
#include "blas/operation.h"
#include "plan/mapping.h"
#include "plan/names.h"
#include "plan/print/estimate.h"
#include "plan/print/limits.h"
#include "plan/print/reasons.h"
#include "plan/tuning.h"

/* All that the sentences are made of. */
typedef struct verdict {
  const tsr_plan *plan;
  const tsr_machine *machine;
  tsr_known known;
  tsr_limits limits;
  tsr_device_set used;
  double flops; /* 0: the call multiplies nothing, and has no rate */
  int digits;   /* of predicted times and rates */
} verdict;

static tsr_status find(const tsr_plan *plan, const tsr_machine *machine, const tsr_known *known,
                       verdict *v) {
  *v = (verdict){.plan = plan, .machine = machine, .used = tsr_devices_used(plan)};
  if (known != NULL) v->known = *known;
  v->digits = v->known.rehearsal ? 3 : tsr_estimate_digits(plan, machine);
  v->flops = tsr_call_scales_only(&plan->call) ? 0 : tsr_call_flops(&plan->call);
  return tsr_limits_find(plan, machine, &v->limits);
}

static double rate_of(const verdict *v, double seconds) {
  return seconds > 0 && isfinite(seconds) ? v->flops / seconds : 0;
}

static void add_rate(const verdict *v, double rate, tsr_text *text) {
  tsr_add_rate_in(text, rate, v->digits);
}

static void add_seconds(const verdict *v, double seconds, tsr_text *text) {
  tsr_add_seconds_in(text, seconds, v->digits);
}

/* The time that counts: the measured one, if there is one. */
static double seconds_of(const verdict *v) {
  return v->known.measured.seconds > 0 ? v->known.measured.seconds : v->plan->seconds;
}

/* ---- Rates ---- */

/* A measured rate has three digits beside an estimate, too. */
static int digits_of(const verdict *v) {
  return v->known.measured.seconds > 0 ? 3 : v->digits;
}

/* "197 of at most 200 TFLOP/s". A run may pass the floor by a little, since rates vary from the
 * day of their measurement to the next. */
static void add_rate_and_most(const verdict *v, double is, double least, tsr_text *text) {
  if (is >= least) {
    tsr_add_rate_of_in(text, rate_of(v, is), rate_of(v, least), digits_of(v));
    return;
  }
  tsr_add_rate_in(text, rate_of(v, is), digits_of(v));
  tsr_text_add(text, ", above the ");
  add_rate(v, rate_of(v, least), text);
  tsr_text_add(text, " of the machine's measurement");
}

/* The same, or times if there is no rate. */
static void add_reached(const verdict *v, tsr_text *text) {
  double is = seconds_of(v), least = v->plan->floor;
  bool measured = v->known.measured.seconds > 0;
  if (v->flops > 0 && least > 0) {
    add_rate_and_most(v, is, least, text);
    if (measured) tsr_text_add(text, " (predicted: ");
    if (measured) add_rate(v, rate_of(v, v->plan->seconds), text);
  } else if (v->flops > 0) {
    tsr_add_rate_in(text, rate_of(v, is), digits_of(v));
    measured = false;
  } else {
    tsr_add_seconds_in(text, is, digits_of(v));
    if (least > 0) tsr_text_add(text, ", at least ");
    if (least > 0) add_seconds(v, least, text);
    measured = false;
  }
  tsr_text_add(text, "%s", measured ? ")" : "");
  tsr_estimate_add(v->plan, v->machine, text);
  tsr_text_add(text, ".");
}

/* ---- Sentences ---- */

static void say_rehearsal(const verdict *v, tsr_text *text) {
  int count = v->plan->devices;
  tsr_text_add(text, "On %d emulated device%s: a rehearsal, its times mean nothing.", count,
               count == 1 ? "" : "s");
}

static void say_cpu(const verdict *v, tsr_text *text) {
  double seconds = seconds_of(v),
         devices = v->known.alternatives ? v->known.alternatives->on_all : 0;
  tsr_text_add(text, "Bound by the CPU's BLAS");
  if (rate_of(v, seconds) > 0) tsr_text_add(text, ": ");
  if (rate_of(v, seconds) > 0) tsr_add_rate_in(text, rate_of(v, seconds), digits_of(v));
  if (!(v->known.measured.seconds > 0)) tsr_estimate_add(v->plan, v->machine, text);
  tsr_text_add(text, ".");
  if (v->machine->devices == 0)
    tsr_text_add(text, " There is no GPU (tessera doctor says why).");
  else if (devices > 0) {
    tsr_text_add(text, " The GPUs would take ");
    add_seconds(v, devices, text);
    tsr_text_add(text, ", the CPU takes ");
    add_seconds(v, v->plan->seconds, text);
    tsr_text_add(text, ".");
  }
}

/* The busiest limit of another kind than the one that binds; NULL: none is half as busy. */
static const tsr_limit *runner_up(const verdict *v) {
  const tsr_limit *binds = &v->limits.binds;
  for (size_t i = 0; i < v->limits.list.count; i++) {
    const tsr_limit *limit = &v->limits.list.items[i];
    bool other = strcmp(tsr_limit_kind_name(limit->kind), tsr_limit_kind_name(binds->kind)) != 0;
    if (other && limit->busy > binds->busy / 2) return limit;
  }
  return NULL;
}

static void say_latency(const verdict *v, tsr_text *text) {
  int count = tsr_devices_count(&v->used);
  tsr_text_add(text,
               "Bound by latency: the call is too small for %d GPU%s, and starting copies and "
               "kernels takes %.0f %% of the time: ",
               count, count == 1 ? "" : "s", 100 * v->limits.binds.busy);
  add_reached(v, text);
}

static void say_waits(const verdict *v, tsr_text *text) {
  enum { SAID = 2 };
  const char *last = "";
  int said = 0;
  tsr_text_add(text, "Nothing is busy for half of the time");
  for (size_t i = 0; i < v->limits.list.count && said < SAID; i++) {
    const tsr_limit *limit = &v->limits.list.items[i];
    if (strcmp(last, tsr_limit_kind_name(limit->kind)) == 0) continue;
    last = tsr_limit_kind_name(limit->kind);
    tsr_text_add(text, "%s%s %.0f %%", said == 0 ? " (" : ", ",
                 limit->kind == TSR_LIMIT_KERNELS ? "kernels" : limit->what, 100 * limit->busy);
    said++;
  }
  tsr_text_add(text, "%s, since parts of the call wait for each other: ", said > 0 ? ")" : "");
  add_reached(v, text);
}

static void say_bound(const verdict *v, tsr_text *text) {
  const tsr_limit *binds = &v->limits.binds;
  bool mostly = binds->busy < TSR_TUNE_BUSY_BINDS;
  const tsr_limit *next = mostly ? runner_up(v) : NULL;
  tsr_text_add(text, "%s by %s (%.0f %% busy", mostly ? "Mostly bound" : "Bound", binds->what,
               100 * binds->busy);
  if (next != NULL)
    tsr_text_add(text, "; %s %.0f %%", next->kind == TSR_LIMIT_KERNELS ? "kernels" : next->what,
                 100 * next->busy);
  tsr_text_add(text, "): ");
  add_reached(v, text);
}

static void say_memory(const verdict *v, tsr_text *text) {
  double times = tsr_plan_reads(v->plan), least = INFINITY;
  if (v->plan->blocking.rows == 0) return;
  for (int d = 0; d < v->plan->machine_devices; d++)
    if (v->used.has[d]) least = fmin(least, (double)v->plan->budget[d]);
  tsr_text_add(text, " The call does not fit into ");
  tsr_add_bytes(text, 0, least);
  tsr_text_add(text, " on each GPU");
  if (times > 1.05) tsr_text_add(text, ", so its inputs are copied %.1f times", times);
  tsr_text_add(text, ".");
}

/* Whether the call took so much longer than predicted that what the plan says of limits is not what
 * bound it. */
static bool has_missed(const verdict *v) {
  return v->known.measured.seconds > TSR_TUNE_MISSED * v->plan->seconds;
}

/* Why the floor is so much better, unless what was said is the reason. */
static void say_reason(const verdict *v, tsr_text *text) {
  tsr_limit_kind kind = v->limits.binds.kind;
  bool told = kind == TSR_LIMIT_LATENCY || kind == TSR_LIMIT_WAITS;
  if (!told && !has_missed(v) && v->plan->blocking.rows == 0) tsr_reason_add(v->plan, text);
}

/* The time on all devices; 0: it is not known, or is no reason. */
static double slower_on_all(const verdict *v) {
  double on_all = v->known.alternatives != NULL ? v->known.alternatives->on_all : 0;
  return on_all > v->plan->seconds ? on_all : 0;
}

/* ": all 8 would take 50.1 ms instead of 49.2 ms" */
static void add_time_on_all(const verdict *v, double on_all, tsr_text *text) {
  tsr_text_add(text, ": all %d would take ", v->machine->devices);
  if (on_all < TSR_TUNE_SAME_TIME * v->plan->seconds) {
    tsr_text_add(text, "as long");
    return;
  }
  add_seconds(v, on_all, text);
  tsr_text_add(text, " instead of ");
  add_seconds(v, v->plan->seconds, text);
}

/* ---- Devices that are left out because they are worse ---- */

/* What a device has less of than the best device in use. */
typedef struct lack {
  double part; /* of what that device has; 1: nothing is less */
  int than;    /* that device */
  const char *of;
} lack;

static double speed_of(const verdict *v, int device) {
  return tsr_machine_speed(v->machine, device, v->plan->call.type);
}

static double memory_of(const verdict *v, int device) {
  return v->machine->device[device].memory;
}

static double link_of(const verdict *v, int device) {
  int node = v->machine->device[device].host_node;
  return v->machine->link[node][device].bandwidth;
}

static lack find_lack(const verdict *v, int device) {
  static const struct {
    double (*get)(const verdict *v, int device);
    const char *of;
  } aspects[] = {{speed_of, "speed"}, {link_of, "rate from host memory"}, {memory_of, "memory"}};
  lack least = {1, -1, ""};
  for (size_t i = 0; i < sizeof aspects / sizeof *aspects; i++) {
    int best = -1;
    for (int d = 0; d < v->machine->devices; d++)
      if (v->used.has[d] && (best < 0 || aspects[i].get(v, d) > aspects[i].get(v, best))) best = d;
    double most = best >= 0 ? aspects[i].get(v, best) : 0;
    double part = most > 0 ? aspects[i].get(v, device) / most : 1;
    if (part < least.part) least = (lack){part, best, aspects[i].of};
  }
  return least;
}

/* Devices of machine strings have no names but their numbers. */
static bool has_model(const tsr_device *device) {
  return device->name[0] != '\0' && strncmp(device->name, "gpu", 3) != 0;
}

/* ", without GPU 3 (Tesla K80, 4 % of the speed of GPU 0)". False: no device that is left out is
 * worse than those in use. */
static bool add_worse(const verdict *v, tsr_text *text) {
  enum { SAID = 4 };
  int said = 0;
  for (int d = 0; d < v->machine->devices; d++) {
    lack of = find_lack(v, d);
    if (v->used.has[d] || of.part > 1 - TSR_TUNE_DIFFERENCE || said == SAID) continue;
    tsr_text_add(text, "%sGPU %d (", said++ == 0 ? ", without " : " and ", d);
    if (has_model(&v->machine->device[d])) tsr_text_add(text, "%s, ", v->machine->device[d].name);
    tsr_text_add(text, "%.0f %% of the %s of GPU %d)", fmax(1, 100 * of.part), of.of, of.than);
  }
  return said > 0;
}

/* Why fewer devices than there are. */
static void add_reason(const verdict *v, tsr_text *text) {
  double on_all = slower_on_all(v);
  if (!add_worse(v, text) && tsr_devices_share_links(v->machine, &v->used))
    tsr_text_add(text, ", since the others share their links");
  if (on_all > 0) add_time_on_all(v, on_all, text);
}

static void say_devices(const verdict *v, tsr_text *text) {
  int count = tsr_devices_count(&v->used);
  if (count == 0 || count == v->machine->devices) return;
  tsr_text_add(text, " ");
  tsr_devices_add(&v->used, text);
  tsr_text_add(text, " %s it alone", count == 1 ? "does" : "do");
  add_reason(v, text);
  tsr_text_add(text, ".");
}

static void add_alternative(const verdict *v, const tsr_alternative *one, tsr_text *text) {
  tsr_text_add(text, "ith %s: ", one->what);
  if (v->flops > 0)
    add_rate(v, rate_of(v, one->seconds), text);
  else
    add_seconds(v, one->seconds, text);
}

/* The best other place in host memory; NULL: none is faster. */
static const tsr_alternative *cheapest(const tsr_alternatives *others) {
  for (int i = 0; others != NULL && i < others->count; i++)
    if (others->list[i].of_host) return &others->list[i];
  return NULL;
}

static void say_alternative(const verdict *v, const tsr_alternative *one, int *said,
                            tsr_text *text) {
  tsr_text_add(text, (*said)++ == 0 ? " W" : "; w");
  add_alternative(v, one, text);
}

/* Two, since a reader wants to know what to do first: another place in host memory costs least, so
 * that the best of these is said before all others. And what another machine would bring. */
static void say_alternatives(const verdict *v, tsr_text *text) {
  enum { SAID = 2 };
  const tsr_alternatives *others = v->known.alternatives;
  const tsr_alternative *first = cheapest(others);
  int said = 0;
  if (first != NULL) say_alternative(v, first, &said, text);
  for (int i = 0; others != NULL && i < others->count; i++) {
    const tsr_alternative *one = &others->list[i];
    if (one->of_host || (said >= SAID && !one->of_machine)) continue;
    say_alternative(v, one, &said, text);
  }
  if (said > 0) tsr_text_add(text, ".");
}

static void say_missed(const verdict *v, tsr_text *text) {
  tsr_text_add(text, "Took ");
  tsr_add_seconds(text, v->known.measured.seconds);
  tsr_text_add(text, " where ");
  add_seconds(v, v->plan->seconds, text);
  tsr_text_add(text,
               " were predicted, so something bound it that the plan does not know: memory that "
               "was touched first, other programs, or an old measurement of the machine. By the "
               "plan it is bound by %s (%.0f %% busy).",
               v->limits.binds.what, 100 * v->limits.binds.busy);
}

static void say_limit(const verdict *v, tsr_text *text) {
  if (has_missed(v)) {
    say_missed(v, text);
    return;
  }
  switch (v->limits.binds.kind) {
    case TSR_LIMIT_LATENCY:
      say_latency(v, text);
      break;
    case TSR_LIMIT_WAITS:
      say_waits(v, text);
      break;
    default:
      say_bound(v, text);
  }
}

/* The number of moduli; 0: native. */
static int number_of(const tsr_arithmetic *arithmetic) {
  return arithmetic != NULL ? arithmetic->number : 0;
}

static void add_moduli(const tsr_arithmetic *arithmetic, double accuracy, tsr_text *text) {
  tsr_text_add(text, " with %d %s", arithmetic->number, arithmetic->counted);
  if (accuracy > 0) tsr_text_add(text, " for an accuracy of %g", accuracy);
}

/* Why products are native that the faster way was asked for. */
static void say_native_is_faster(const verdict *v, tsr_text *text) {
  const tsr_plan *plan = v->plan;
  if (plan->other.seconds > 0) {
    tsr_text_add(text, " Products are native: emulated ones");
    add_moduli(plan->other.arithmetic, plan->other.promise.accuracy, text);
    tsr_text_add(text, " are predicted to take ");
    if (v->known.rehearsal) tsr_text_add(text, "longer");
    if (!v->known.rehearsal) add_seconds(v, plan->other.seconds, text);
    tsr_text_add(text, ".");
  } else if (plan->call.faster) {
    tsr_text_add(text, " Products are native, as with \"auto\" always %s.",
                 plan->reproducible ? "where results are reproducible" : "in this routine");
  }
}

/* Why products are native that should have been emulated. */
static void say_native(const verdict *v, tsr_text *text) {
  if (v->plan->form_need == 0) {
    say_native_is_faster(v, text);
    return;
  }
  if (v->plan->form_need == SIZE_MAX) {
    tsr_text_add(text,
                 " Products are not emulated: their residues do not fit beside what this call "
                 "and earlier ones keep on the GPUs (tsr_release).");
    return;
  }
  tsr_text_add(text, " Products are not emulated: their residues need a budget of ");
  tsr_add_bytes(text, 0, (double)v->plan->form_need);
  tsr_text_add(text, " on each GPU (TESSERA_MEMORY).");
}

/* How products are computed, unless that is natively. */
static void say_arithmetic(const verdict *v, tsr_text *text) {
  const tsr_call *call = &v->plan->call;
  if (!tsr_call_has_form(call)) {
    say_native(v, text);
    return;
  }
  tsr_text_add(text, " Products are emulated");
  add_moduli(call->arithmetic, call->promise.accuracy, text);
  int refused = v->known.refused;
  const char *what = call->promise.keeps_lines ? "product" : "part",
             *many = refused == 1 ? "" : "s";
  if (refused > 0)
    tsr_text_add(text,
                 "; %d %s%s%s, whose accuracy could not be promised for these data, %s computed "
                 "natively",
                 refused, what, many, call->promise.keeps_lines ? "" : " of C",
                 refused == 1 ? "was" : "were");
  tsr_text_add(text, ".");
  if (v->plan->other.seconds > 0 && !v->known.rehearsal) {
    tsr_text_add(text, " Natively the call is predicted to take ");
    add_seconds(v, v->plan->other.seconds, text);
    tsr_text_add(text, ".");
  }
}

/* Why C is not computed where the user mapped it, and how it would be. */
static void say_map(const verdict *v, tsr_text *text) {
  const tsr_call *call = &v->plan->call;
  bool left = call->side == TSR_LEFT;
  tsr_map_use use = (tsr_map_use)v->plan->map_use;
  if (use == TSR_MAP_NONE || use == TSR_MAP_FOLLOWED) return;
  tsr_text_add(text, " C is not computed where it is mapped: ");
  if (use == TSR_MAP_BY_LINES)
    tsr_text_add(text,
                 "%s gives each %s of C to one GPU, and the map does not. Map %s (a grid with %s).",
                 tsr_operation_get(call->operation)->name, left ? "column" : "row",
                 left ? "blocks of columns" : "blocks of rows", left ? "p = 1" : "q = 1");
  else if (use == TSR_MAP_FACTOR)
    tsr_text_add(text, "%s deals block columns of its own to the GPUs.",
                 tsr_operation_get(call->operation)->name);
  else if (use == TSR_MAP_TOO_FINE)
    tsr_text_add(text, "the map cuts C into too many blocks. Map larger ones.");
  else if (use == TSR_MAP_NO_ROOM)
    tsr_text_add(text,
                 "a GPU lacks memory for its blocks. Release other matrices, or map to more "
                 "GPUs.");
  else
    tsr_text_add(text, use == TSR_MAP_C_ON_DEVICE ? "it is in the memory of a GPU."
                                                  : "the map names a GPU that is not used.");
}

static void say(const verdict *v, tsr_text *text) {
  if (v->plan->devices == 0) {
    say_cpu(v, text);
  } else if (v->known.rehearsal) {
    say_rehearsal(v, text);
  } else {
    say_limit(v, text);
    say_memory(v, text);
    say_reason(v, text);
    say_devices(v, text);
    say_alternatives(v, text);
  }
  if (v->plan->devices > 0) say_arithmetic(v, text);
  say_map(v, text);
}

tsr_status tsr_verdict_write(const tsr_plan *plan, const tsr_machine *machine,
                             const tsr_known *known, tsr_text *text) {
  verdict v;
  tsr_text said = TSR_TEXT_INIT;
  TSR_TRY(find(plan, machine, known, &v));
  say(&v, &said);
  text->broken |= said.broken;
  if (!said.broken) tsr_text_add_lines(text, "", 0, said.bytes);
  tsr_text_free(&said);
  tsr_limits_free(&v.limits);
  return TSR_OK;
}

/* ---- JSON ---- */

static void add_number(tsr_text *text, const char *key, double value) {
  if (isfinite(value))
    tsr_text_add(text, "\"%s\": %.9g, ", key, value);
  else
    tsr_text_add(text, "\"%s\": null, ", key);
}

static void add_limit(tsr_text *text, const tsr_limit *limit) {
  tsr_text_add(text, "{\"what\": \"");
  tsr_text_add_json(text, limit->what);
  tsr_text_add(text, "\", \"kind\": \"%s\", ", tsr_limit_kind_name(limit->kind));
  if (limit->channel >= 0) tsr_text_add(text, "\"channel\": %d, ", limit->channel);
  if (limit->channel < 0 && limit->from >= 0)
    tsr_text_add(text, "\"from\": %d, \"to\": %d, ", limit->from, limit->to);
  tsr_text_add(text, "\"busy\": %.4f}", limit->busy);
}

static void add_busy(const verdict *v, tsr_text *text) {
  tsr_text_add(text, "\"busy\": [");
  for (size_t i = 0; i < v->limits.list.count; i++) {
    tsr_text_add(text, "%s\n      ", i > 0 ? "," : "");
    add_limit(text, &v->limits.list.items[i]);
  }
  tsr_text_add(text, "],\n    ");
}

static void add_devices(const verdict *v, tsr_text *text) {
  tsr_text why = TSR_TEXT_INIT;
  const char *between = "";
  tsr_text_add(text, "\"devices\": {\"used\": [");
  for (int d = 0; d < v->machine->devices; d++) {
    if (!v->used.has[d]) continue;
    tsr_text_add(text, "%s%d", between, d);
    between = ", ";
  }
  say_devices(v, &why);
  tsr_text_add(text, "], \"of\": %d, ", v->machine->devices);
  add_number(text, "on_all", slower_on_all(v) > 0 ? slower_on_all(v) : NAN);
  tsr_text_add(text, "\"why\": \"");
  tsr_text_add_json(text, why.length > 0 ? why.bytes + 1 : "");
  tsr_text_add(text, "\"},\n    ");
  text->broken |= why.broken;
  tsr_text_free(&why);
}

static void add_instead(const verdict *v, tsr_text *text) {
  const tsr_alternatives *others = v->known.alternatives;
  tsr_text_add(text, "\"instead\": [");
  for (int i = 0; others != NULL && i < others->count; i++) {
    tsr_text_add(text, "%s{\"what\": \"", i > 0 ? ", " : "");
    tsr_text_add_json(text, others->list[i].what);
    tsr_text_add(text, "\", \"seconds\": %.9g, \"rate\": %.9g}", others->list[i].seconds,
                 rate_of(v, others->list[i].seconds));
  }
  tsr_text_add(text, "]");
}

static void add_sentences(const verdict *v, tsr_text *text) {
  tsr_text said = TSR_TEXT_INIT;
  say(v, &said);
  tsr_text_add(text, "\"text\": \"");
  if (!said.broken) tsr_text_add_json(text, said.bytes);
  tsr_text_add(text, "\",\n    ");
  text->broken |= said.broken;
  tsr_text_free(&said);
}

static void add_arithmetic(const verdict *v, tsr_text *text) {
  const tsr_plan *plan = v->plan;
  bool other = plan->other.seconds > 0;
  tsr_text_add(text, "\"arithmetic\": {\"moduli\": %d, ",
               plan->devices > 0 ? number_of(plan->call.arithmetic) : 0);
  add_number(text, "accuracy", plan->call.promise.accuracy > 0 ? plan->call.promise.accuracy : NAN);
  add_number(text, "other_moduli", other ? number_of(plan->other.arithmetic) : NAN);
  tsr_text_add(text, "\"other_seconds\": ");
  if (other) tsr_text_add(text, "%.9g},\n    ", plan->other.seconds);
  if (!other) tsr_text_add(text, "null},\n    ");
}

/* The clause of the sentences, without the comma. */
static void add_estimate(const verdict *v, tsr_text *text) {
  tsr_text clause = TSR_TEXT_INIT;
  if (!v->known.rehearsal) tsr_estimate_add(v->plan, v->machine, &clause);
  if (clause.length > 2) {
    tsr_text_add(text, "\"estimate\": \"");
    tsr_text_add_json(text, clause.bytes + 2);
    tsr_text_add(text, "\", ");
  } else {
    tsr_text_add(text, "\"estimate\": null, ");
  }
  text->broken |= clause.broken;
  tsr_text_free(&clause);
}

tsr_status tsr_verdict_write_json(const tsr_plan *plan, const tsr_machine *machine,
                                  const tsr_known *known, tsr_text *text) {
  verdict v;
  TSR_TRY(find(plan, machine, known, &v));
  tsr_text_add(text, "{");
  add_sentences(&v, text);
  add_number(text, "seconds", plan->seconds);
  add_number(text, "measured", v.known.measured.seconds > 0 ? v.known.measured.seconds : NAN);
  add_number(text, "floor", plan->floor > 0 ? plan->floor : NAN);
  add_number(text, "rate", rate_of(&v, plan->seconds));
  add_number(text, "most", plan->floor > 0 ? rate_of(&v, plan->floor) : NAN);
  add_estimate(&v, text);
  tsr_text_add(text, "\"rehearsal\": %s,\n    ", v.known.rehearsal ? "true" : "false");
  add_arithmetic(&v, text);
  tsr_text_add(text, "\"limit\": ");
  add_limit(text, &v.limits.binds);
  tsr_text_add(text, ",\n    ");
  add_busy(&v, text);
  add_devices(&v, text);
  add_instead(&v, text);
  tsr_text_add(text, "}");
  tsr_limits_free(&v.limits);
  return TSR_OK;
}
