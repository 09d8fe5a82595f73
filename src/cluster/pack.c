#include "cluster/pack.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "cluster/tuning.h"

enum { MOST = TSR_TUNE_PACKERS };

struct tsr_packers {
  int count; /* with the calling thread */
  int threads;
  bool started, quit;
  pthread_t thread[MOST];
  pthread_mutex_t lock;
  pthread_cond_t more, all; /* there is work; it is done */
  tsr_pack_work work;
  void *what;
  int64_t lines, part, next; /* next: the first line that nobody has taken */
  int busy;                  /* threads that have some of it */
  uint64_t round;
};

static int processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count > MOST ? MOST : count;
}

tsr_status tsr_packers_create(tsr_packers **packers) {
  tsr_packers *p = tsr_alloc_zero(1, sizeof *p);
  if (p == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for the threads of a grid");
  p->count = processors();
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->more, NULL);
  pthread_cond_init(&p->all, NULL);
  *packers = p;
  return TSR_OK;
}

/* Takes parts until there are none; the lock is held when it is called and when it returns. */
static void take_parts(tsr_packers *p) {
  while (p->next < p->lines) {
    int64_t at = p->next, count = p->lines - at < p->part ? p->lines - at : p->part;
    p->next += count;
    pthread_mutex_unlock(&p->lock);
    p->work(p->what, at, count);
    pthread_mutex_lock(&p->lock);
  }
}

static void *thread_main(void *argument) {
  tsr_packers *p = argument;
  uint64_t seen = 0;
  pthread_mutex_lock(&p->lock);
  for (;;) {
    while (p->round == seen && !p->quit) pthread_cond_wait(&p->more, &p->lock);
    if (p->quit) break;
    seen = p->round;
    p->busy++;
    take_parts(p);
    if (--p->busy == 0) pthread_cond_signal(&p->all);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* Those that cannot be started are done without. */
static void start(tsr_packers *p) {
  if (p->started) return;
  p->started = true;
  for (int i = 0; i < p->count - 1; i++)
    if (tsr_thread_start(thread_main, p, &p->thread[p->threads])) p->threads++;
}

void tsr_packers_run(tsr_packers *p, tsr_pack_work work, void *what, int64_t lines, size_t bytes) {
  if (p == NULL || p->count == 1 || bytes < TSR_TUNE_PACK_LEAST || lines < 2) {
    work(what, 0, lines);
    return;
  }
  start(p);
  pthread_mutex_lock(&p->lock);
  p->work = work, p->what = what, p->lines = lines, p->next = 0;
  p->part = (lines + 4 * p->count - 1) / (4 * p->count);
  p->round++;
  pthread_cond_broadcast(&p->more);
  take_parts(p);
  while (p->busy > 0) pthread_cond_wait(&p->all, &p->lock);
  pthread_mutex_unlock(&p->lock);
}

void tsr_packers_destroy(tsr_packers *p) {
  if (p == NULL) return;
  pthread_mutex_lock(&p->lock);
  p->quit = true;
  pthread_cond_broadcast(&p->more);
  pthread_mutex_unlock(&p->lock);
  for (int i = 0; i < p->threads; i++) pthread_join(p->thread[i], NULL);
  pthread_mutex_destroy(&p->lock);
  pthread_cond_destroy(&p->more);
  pthread_cond_destroy(&p->all);
  tsr_dealloc(p);
}
