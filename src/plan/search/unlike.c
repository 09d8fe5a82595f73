/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which of unlike devices a call uses. In which order devices are best added depends on what binds
 * the call, which only plans show, and a device that waits for its operands, or has little memory,
 * may make the others slower. So rows of devices contend: several orders, cut where the devices
 * become worse. A search for each, as if the machine had no other devices, and one on any number of
 * all devices run on threads of their own. Their results do not depend on one another.
 */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "plan/search/search.h"

/* ---- Unlike devices ---- */

static bool differ(double a, double b) {
  return fabs(a - b) > TSR_TUNE_DIFFERENCE * fmax(a, b);
}

static bool are_unlike(const tsr_search *s, int a, int b) {
  const tsr_device *x = &s->machine->device[a], *y = &s->machine->device[b];
  tsr_type type = s->call->type;
  return differ(tsr_machine_speed(s->machine, a, type), tsr_machine_speed(s->machine, b, type)) ||
         differ(x->memory_rate, y->memory_rate) ||
         differ((double)s->options->budget[a], (double)s->options->budget[b]) ||
         differ(tsr_search_shared_rate(s, a, 0), tsr_search_shared_rate(s, b, 0));
}

bool tsr_search_devices_differ(const tsr_search *s) {
  for (int d = 1; d < s->machine->devices; d++)
    if (are_unlike(s, 0, d)) return true;
  return false;
}

/* ---- Rows of devices that contend ---- */

typedef struct contender {
  tsr_search search;
  pthread_t thread;
  bool started;
  tsr_error error;
} contender;

typedef struct contest {
  contender list[TSR_TUNE_CONTENDERS];
  int count;
} contest;

/* Makes a search on the first devices of an order, unless the same contend already. exact: it uses
 * all of these. */
static void add_row(const tsr_search *s, const int *order, int devices, bool exact, contest *c) {
  for (int i = 0; i < c->count; i++) {
    const tsr_search *made = &c->list[i].search;
    if (made->devices == devices && made->exact == exact &&
        memcmp(made->order, order, (size_t)devices * sizeof *order) == 0)
      return;
  }
  if (c->count == TSR_TUNE_CONTENDERS) return;
  contender *made = &c->list[c->count++];
  tsr_search_branch(s, &made->search);
  TSR_VEC_FREE(&made->search.tried); /* other devices: other plans */
  memset(&made->search.tried, 0, sizeof made->search.tried);
  made->search.devices = devices;
  made->search.exact = exact;
  memcpy(made->search.order, order, sizeof made->search.order);
}

/* Few devices are cut anywhere; many only before a device that differs from the one before. */
static void add_rows(const tsr_search *s, tsr_device_order by, contest *c) {
  tsr_search ranked = *s;
  int all = s->machine->devices;
  tsr_search_order_devices(&ranked, by);
  for (int count = all; count >= 1; count--)
    if (count == all || all <= TSR_TUNE_CONTENDERS_FEW ||
        are_unlike(s, ranked.order[count - 1], ranked.order[count]))
      add_row(s, ranked.order, count, true, c);
}

/* ---- Searching ---- */

static void *run(void *argument) {
  contender *c = argument;
  tsr_status status = tsr_search_all(&c->search);
  if (status != TSR_OK) tsr_error_take(status, &c->error);
  return NULL;
}

static tsr_status run_all(tsr_search *s, contest *c) {
  tsr_status status = TSR_OK;
  for (int i = 1; i < c->count; i++)
    c->list[i].started = tsr_thread_start(run, &c->list[i], &c->list[i].thread);
  for (int i = 0; i < c->count; i++)
    if (!c->list[i].started) run(&c->list[i]);
  for (int i = 0; i < c->count; i++) {
    contender *now = &c->list[i];
    if (now->started) pthread_join(now->thread, NULL);
    if (status == TSR_OK && now->error.status != TSR_OK) status = tsr_error_put(&now->error);
    if (now->search.best != NULL && (s->best == NULL || now->search.found.score < s->found.score))
      memcpy(s->order, now->search.order, sizeof s->order);
    if (s->refused == NULL) s->refused = now->search.refused;
    tsr_search_merge(s, &now->search);
  }
  return status;
}

tsr_status tsr_search_unlike(tsr_search *s) {
  contest *c = tsr_alloc_zero(1, sizeof *c);
  if (c == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to plan a call");
  add_row(s, s->order, s->machine->devices, false, c);
  add_rows(s, TSR_ORDER_BY_BOTH, c);
  add_rows(s, TSR_ORDER_BY_KERNELS, c);
  add_rows(s, TSR_ORDER_BY_LINKS, c);
  tsr_status status = run_all(s, c);
  tsr_dealloc(c);
  return status;
}
