/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "run.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "factor.h"
#include "operand.h"
#include "reference.h"

enum { MAX_SETS = CALL_SETS, MAX_THREADS = 2 };

/* One thread's part: its own operands, the same problem. */
typedef struct worker {
  const problem *p;
  tsr_context *context;
  int index;
  operand set[MAX_SETS][3];
  bool aliased[MAX_SETS];
  int64_t info[MAX_SETS]; /* of factorisations */
  tsr_status status;      /* of the calls */
  bool failed;
  char message[512]; /* of a status that is not TSR_OK */
  char why[RUN_WHY];
} worker;

static bool fail(worker *w, const char *what, tsr_status status) {
  w->failed = true;
  snprintf(w->why, sizeof w->why, "thread %d: %s: %s: %s", w->index, what, tsr_status_name(status),
           tsr_message());
  return false;
}

/* ---- Operands ---- */

/* A and B in one storage: as large as both, each reading its part of it. */
static tsr_status create_aliased(const problem *p, tsr_context *context, operand_content content,
                                 rng *random, operand set[3]) {
  stored shape[2] = {problem_stored(p, 0), problem_stored(p, 1)}, both = shape[0];
  if (shape[1].fast > both.fast) both.fast = shape[1].fast;
  if (shape[1].slow > both.slow) both.slow = shape[1].slow;
  tsr_status status = operand_create(p, context, 0, &both, content, random, &set[0]);
  set[1] = set[0];
  set[0].shape = shape[0], set[1].shape = shape[1];
  return status;
}

/* The BLAS returns at once, and leaves the imaginary parts of C's diagonal as they are, which
 * tessera.h has zero. */
static bool idle(const problem *p) {
  return p->beta == '1' && (p->alpha == '0' || p->k == 0);
}

static operand_content content_of(const problem *p, int which) {
  if (problem_kind_of(p) == KIND_FACTOR) return CONTENT_DEFINITE;
  bool read = which == 2 && problem_has_beta(p) ? p->beta != '0' : p->alpha != '0';
  if (!read) return CONTENT_NAN;
  if (which == 2 && problem_has_beta(p) && idle(p)) return CONTENT_REAL;
  return which == 0 && p->operation == TSR_TRSM ? CONTENT_DOMINANT : CONTENT_RANDOM;
}

static tsr_status create_set(worker *w, int s) {
  const problem *p = w->p;
  operand *set = w->set[s];
  rng random = {p->seed + 1000003u * (uint64_t)(w->index * MAX_SETS + s)};
  tsr_status status = TSR_OK;
  w->aliased[s] = p->alias;
  if (p->alias) status = create_aliased(p, w->context, content_of(p, 0), &random, set);
  for (int which = p->alias ? 2 : 0; status == TSR_OK && which < 3; ++which) {
    stored shape = problem_stored(p, which);
    if (!problem_has(p, which)) continue;
    status =
        operand_create(p, w->context, which, &shape, content_of(p, which), &random, &set[which]);
  }
  if (status == TSR_OK && p->bad > 0) status = factor_spoil(p, &set[2]);
  return status;
}

static bool create_sets(worker *w) {
  for (int s = 0; s < w->p->sets; ++s) {
    tsr_status status = create_set(w, s);
    if (status != TSR_OK) return fail(w, "making the operands", status);
  }
  return true;
}

/* Registers what is to be so right before the calls, or unregisters everything behind them. */
static bool register_sets(worker *w, bool on) {
  for (int s = 0; s < w->p->sets; ++s)
    for (int which = w->aliased[s] ? 1 : 0; which < 3; ++which) {
      operand *o = &w->set[s][w->aliased[s] && which == 1 ? 0 : which];
      tsr_status status = (on ? operand_register : operand_unregister)(o);
      if (status != TSR_OK) return fail(w, on ? "registering" : "unregistering", status);
    }
  return true;
}

static void destroy_sets(worker *w) {
  for (int s = 0; s < MAX_SETS; ++s) {
    operand_destroy(&w->set[s][0]);
    if (!w->aliased[s]) operand_destroy(&w->set[s][1]);
    operand_destroy(&w->set[s][2]);
  }
}

/* ---- Judging ---- */

static bool judge_bytes(worker *w, int s, int which, bool all, unsigned char **bytes) {
  const operand *o = &w->set[s][which];
  tsr_status status = operand_fetch(o, bytes);
  if (status != TSR_OK) return fail(w, "reading an operand back", status);
  int64_t change = operand_first_change(o, *bytes, all);
  if (change < 0) return true;
  w->failed = true;
  snprintf(w->why, sizeof w->why,
           "thread %d set %d: byte %" PRId64
           " of %c, which %s, was written (the matrix begins at "
           "byte %zu)",
           w->index, s, change, "ABC"[which], all ? "must stay as it is" : "is outside the matrix",
           o->start);
  return false;
}

/* Nothing at all may have changed; with c_too not even C. */
static bool judge_untouched(worker *w, int s, bool c_too) {
  bool ok = true;
  for (int which = 0; ok && which < (c_too ? 3 : 2); ++which) {
    if (!problem_has(w->p, which)) continue;
    unsigned char *bytes = NULL;
    ok = judge_bytes(w, s, which, true, &bytes);
    free(bytes);
  }
  return ok;
}

static bool judge_factor(worker *w, int s, const unsigned char *bytes) {
  char wrong[400];
  if (factor_is_right(w->p, &w->set[s][2], bytes, w->info[s], wrong, sizeof wrong)) return true;
  w->failed = true;
  snprintf(w->why, sizeof w->why, "thread %d set %d: %s", w->index, s, wrong);
  return false;
}

static bool judge_values(worker *w, int s, const unsigned char *bytes) {
  const problem *p = w->p;
  if (problem_kind_of(p) == KIND_FACTOR) return judge_factor(w, s, bytes);
  dense expected;
  char wrong[400] = "out of memory";
  bool ok = reference_create(p, &w->set[s][2], &expected);
  if (ok) {
    for (int i = s; ok && i < p->calls; i += p->sets) ok = reference_apply(p, w->set[s], &expected);
    ok = ok && reference_compare(p, &expected, &w->set[s][2], bytes, wrong, sizeof wrong);
    dense_destroy(&expected);
  }
  if (!ok) {
    w->failed = true;
    snprintf(w->why, sizeof w->why, "thread %d set %d: %s", w->index, s, wrong);
  }
  return ok;
}

static bool judge_set(worker *w, int s) {
  if (!judge_untouched(w, s, false)) return false;
  unsigned char *bytes = NULL;
  bool ok = judge_bytes(w, s, 2, false, &bytes) && judge_values(w, s, bytes);
  free(bytes);
  return ok;
}

/* The plan kept within its budget and its devices. */
static bool judge_plan(worker *w) {
  const problem *p = w->p;
  tsr_plan *plan = NULL;
  tsr_prediction got;
  if (p->mode != MODE_BLOCKING || p->threads != THREADS_ONE) return true;
  if (tsr_plan_last(w->context, &plan) != TSR_OK) return true; /* an empty call has none */
  tsr_status status = tsr_plan_predict(plan, &got);
  tsr_plan_destroy(plan);
  if (status != TSR_OK) return fail(w, "tsr_plan_predict", status);
  bool within = p->memory == 0 || got.device_memory <= problem_most_memory(p);
  if (within && got.devices <= p->devices) return true;
  w->failed = true;
  snprintf(w->why, sizeof w->why, "the plan uses %d devices and %zu bytes of each", got.devices,
           got.device_memory);
  return false;
}

void (*run_beside_calls)(tsr_context *context, bool begins);

static void *work(void *argument) {
  worker *w = argument;
  if (!create_sets(w) || !register_sets(w, true)) return NULL;
  if (run_beside_calls != NULL) run_beside_calls(w->context, true);
  char changed[CALL_CHANGED];
  w->status = call_run(w->p, w->context, w->set, run_beside_calls != NULL, changed, w->info);
  if (run_beside_calls != NULL) run_beside_calls(w->context, false);
  snprintf(w->message, sizeof w->message, "%s", tsr_message());
  if (!register_sets(w, false)) return NULL;
  if (changed[0] != '\0') {
    w->failed = true;
    snprintf(w->why, sizeof w->why, "thread %d: %s", w->index, changed);
  } else if (w->status == TSR_ERR_MEMORY) {
    /* Refused while planning: nothing may have happened (calls of this kind share their fate). */
    for (int s = 0; s < w->p->sets; ++s)
      if (!judge_untouched(w, s, true)) break;
  } else if (w->status != TSR_OK) {
    w->failed = true;
    snprintf(w->why, sizeof w->why, "thread %d: the call: %s: %s", w->index,
             tsr_status_name(w->status), w->message);
  } else {
    for (int s = 0; s < w->p->sets; ++s)
      if (!judge_set(w, s)) return NULL;
    judge_plan(w);
  }
  return NULL;
}

/* ---- Problems ---- */

static tsr_status make_context(const problem *p, tsr_context **context) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  char devices[16], machine[256], strategy[PROBLEM_STRATEGY], budgets[PROBLEM_BUDGETS];
  char arithmetic[32];
  snprintf(devices, sizeof devices, "%d", p->devices);
  options.engine = p->engine;
  options.devices = p->devices > 0 ? devices : NULL;
  options.machine = problem_machine(p, machine, sizeof machine);
  options.memory = p->memory;
  options.reproducible = p->repro;
  options.check = p->check;
  options.budgets = problem_budgets(p, budgets);
  snprintf(arithmetic, sizeof arithmetic, "emulated:%d", p->moduli);
  options.arithmetic = p->moduli > 0 ? arithmetic : "native";
  tsr_host_delay(p->delay);
  bool unlinked = !p->peer && getenv("TESSERA_PEER") == NULL; /* else as who runs this wants it */
  if (unlinked) setenv("TESSERA_PEER", "0", 1);
  tsr_status status = tsr_context_create(&options, context);
  if (unlinked) unsetenv("TESSERA_PEER");
  tsr_host_delay(0);
  if (status == TSR_OK) status = tsr_set_tile(*context, p->tile);
  const char *words = problem_strategy(p, strategy);
  return status == TSR_OK && words != NULL ? tsr_set_strategy(*context, words) : status;
}

tsr_status run_context(const problem *p, tsr_context **context) {
  float_modes_set(&p->modes);
  float_state before = float_state_get();
  tsr_status status = make_context(p, context);
  char changed[CALL_CHANGED];
  if (float_state_is(&before, 0, changed, sizeof changed)) return status;
  printf("%s\n", changed);
  return TSR_ERR_INTERNAL;
}

void runner_close(runner *r) {
  for (int i = 0; i < MAX_THREADS; ++i) tsr_context_destroy(r->context[i]);
  r->ready = false;
  memset(r->context, 0, sizeof r->context);
}

static bool prepare(runner *r, const problem *p, char why[RUN_WHY]) {
  if (!r->ready || !problem_same_context(&r->kind, p)) {
    runner_close(r);
    r->kind = *p;
    r->ready = true;
  }
  for (int i = 0; i < (p->threads == THREADS_OWN ? 2 : 1); ++i) {
    if (r->context[i]) continue;
    tsr_status status = run_context(p, &r->context[i]);
    if (status == TSR_OK) continue;
    snprintf(why, RUN_WHY, "making a context: %s: %s", tsr_status_name(status), tsr_message());
    return false;
  }
  return true;
}

static void run_workers(runner *r, const problem *p, worker w[MAX_THREADS], int count) {
  pthread_t thread[MAX_THREADS];
  for (int i = 0; i < count; ++i)
    w[i] = (worker){.p = p, .index = i, .context = r->context[p->threads == THREADS_OWN ? i : 0]};
  for (int i = 1; i < count; ++i) pthread_create(&thread[i], NULL, work, &w[i]);
  work(&w[0]);
  for (int i = 1; i < count; ++i) pthread_join(thread[i], NULL);
  for (int i = 0; i < count; ++i) destroy_sets(&w[i]);
}

size_t run_least_budget(const char *message) {
  /* "... at least 123456 bytes ..." */
  const char *at = strstr(message, "least");
  if (!at) return 0;
  at += strcspn(at, "0123456789");
  return (size_t)strtoull(at, NULL, 10);
}

/* True when done; false with *least set when the problem wants that budget. */
static bool attempt(runner *r, const problem *p, size_t *least, char why[RUN_WHY]) {
  worker w[MAX_THREADS];
  int count = p->threads == THREADS_ONE ? 1 : 2;
  *least = 0;
  if (!prepare(r, p, why)) return false;
  run_workers(r, p, w, count);
  bool ok = true;
  for (int i = 0; i < count; ++i) {
    if (w[i].failed) {
      snprintf(why, RUN_WHY, "%s", w[i].why);
      *least = 0;
      return false;
    }
    if (w[i].status == TSR_OK) continue;
    ok = false;
    size_t asked = run_least_budget(w[i].message);
    if (asked > *least) *least = asked;
    snprintf(why, RUN_WHY, "too little memory: %s", w[i].message);
  }
  return ok;
}

bool run_problem(runner *r, const problem *p, char why[RUN_WHY]) {
  size_t least;
  bool ok = attempt(r, p, &least, why);
  if (!ok && least > p->memory && p->memory > 0) {
    problem more = *p;
    more.memory = least;
    ok = attempt(r, &more, &least, why);
    r->raised += ok;
  }
  if (!ok) runner_close(r); /* what is left of a failure must not disturb the next */
  return ok;
}
