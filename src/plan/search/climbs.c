/*
 * Climbs side by side. One parameter at a time does not lead from a good plan for one limit to a
 * good one for another, so there is a climb from each good start, on a thread of its own: each in
 * the time that one takes. What a climb sees and how far it gets does not depend on the others, nor
 * on how many cores there are; a thread that cannot be had is done without.
 */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "plan/search/search.h"

typedef struct climber {
  tsr_search search;
  pthread_t thread;
  bool started;
  tsr_error error;
} climber;

static void *run(void *argument) {
  climber *c = argument;
  tsr_status status = tsr_search_climb(&c->search);
  if (status != TSR_OK) tsr_error_take(status, &c->error);
  return NULL;
}

/* A search that goes on from a start with what was tried so far, and plans of its own. */
static void branch(const tsr_search *s, const tsr_trial *from, climber *c) {
  *c = (climber){.search = *s};
  tsr_search *own = &c->search;
  own->best = own->spare = NULL;
  own->best_score = own->runner_up = INFINITY;
  own->candidates = 0;
  own->at = *from;
  memset(&own->graph, 0, sizeof own->graph);
  memset(&own->tried, 0, sizeof own->tried);
  for (size_t i = 0; i < s->tried.count; i++)
    (void)TSR_VEC_PUSH(&own->tried, s->tried.items[i]); /* without memory: tried again, perhaps */
}

/* The better plan of both, and where the better climb has come to. */
static void merge(tsr_search *s, tsr_search *own) {
  s->spent = fmax(s->spent, own->spent);
  s->candidates += own->candidates;
  s->runner_up = fmin(s->runner_up, own->runner_up);
  if (own->best != NULL) tsr_search_keep(s, &own->best_strategy, own->best_score, own->best);
  if (own->at.score < s->at.score) s->at = own->at;
  tsr_plan_free(own->spare);
  tsr_graph_free(&own->graph);
  TSR_VEC_FREE(&own->tried);
}

tsr_status tsr_search_climb_all(tsr_search *s, const tsr_trial *from, int count) {
  climber all[TSR_SEARCH_CLIMBS];
  tsr_status status = TSR_OK;
  if (count == 1) {
    s->at = from[0];
    return tsr_search_climb(s);
  }
  for (int i = 0; i < count; i++) branch(s, &from[i], &all[i]);
  for (int i = 1; i < count; i++)
    all[i].started = pthread_create(&all[i].thread, NULL, run, &all[i]) == 0;
  for (int i = 0; i < count; i++)
    if (!all[i].started) run(&all[i]);
  for (int i = 0; i < count; i++) {
    if (all[i].started) pthread_join(all[i].thread, NULL);
    if (status == TSR_OK && all[i].error.status != TSR_OK) status = tsr_error_put(&all[i].error);
    merge(s, &all[i].search);
  }
  return status;
}
