#include "run/aside.h"

#include <pthread.h>

typedef struct aside {
  tsr_status (*work)(void *argument);
  void *argument;
  tsr_error error;
} aside;

static void *run(void *argument) {
  aside *a = argument;
  tsr_status status = a->work(a->argument);
  if (status != TSR_OK) tsr_error_take(status, &a->error);
  return NULL;
}

tsr_status tsr_aside(tsr_status (*work)(void *argument), void *argument) {
  aside a = {.work = work, .argument = argument};
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, &a) != 0)
    return tsr_fail(TSR_ERR_MEMORY, "cannot start a thread; raise the limit on threads");
  pthread_join(thread, NULL);
  return a.error.status == TSR_OK ? TSR_OK : tsr_error_put(&a.error);
}
