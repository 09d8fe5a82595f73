/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "one_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "arithmetic/kernel.h"
#include "base/clock.h"

enum { TURNS = 5, AT_ONCE = 16 };

tsr_status one_device_wait(const one_device *on) {
  tsr_queue_event *event;
  bool complete = false;
  TSR_TRY(on->engine->event_create(on->state, 0, false, &event));
  tsr_status status = on->engine->record(on->queue, event);
  while (status == TSR_OK && !complete) status = on->engine->query(event, &complete, NULL);
  on->engine->event_destroy(event);
  return status;
}

tsr_status one_device_zeros(const one_device *on, tsr_type type, int64_t rows, int64_t columns,
                            void **matrix) {
  size_t bytes = (size_t)(rows * columns) * tsr_type_get(type)->size;
  TSR_TRY(on->engine->alloc(on->state, 0, bytes, matrix));
  tsr_kernel_args zeros = {
      .kernel = TSR_KERNEL_SCALE, .type = type, .m = rows, .n = columns, .c = *matrix, .ldc = rows};
  TSR_TRY(on->engine->kernel(on->queue, &zeros));
  return one_device_wait(on);
}

tsr_status one_device_time(const one_device *on, const tsr_kernel_args *args, double seconds,
                           double *us) {
  *us = INFINITY;
  TSR_TRY(on->engine->kernel(on->queue, args));
  TSR_TRY(one_device_wait(on));
  for (int turn = 0; turn < TURNS; turn++) {
    double begin = tsr_now(), end;
    int repeats = 0;
    do {
      for (int i = 0; i < AT_ONCE; i++) TSR_TRY(on->engine->kernel(on->queue, args));
      TSR_TRY(one_device_wait(on));
      repeats += AT_ONCE;
      end = tsr_now();
    } while (end - begin < seconds / TURNS);
    *us = fmin(*us, (end - begin) / repeats * 1e6);
  }
  return TSR_OK;
}

bool numbers_read(const char *text, numbers *list) {
  for (list->count = 0; list->count < NUMBERS_MOST; text++) {
    char *end;
    long item = strtol(text, &end, 10);
    if (end == text || item < 1 || item > 65536) return false;
    list->item[list->count++] = item;
    text = end;
    if (*text == '\0') return true;
    if (*text != ',') return false;
  }
  return false;
}

static tsr_status run(one_device *on, one_device_program *program, const void *what) {
  TSR_TRY(on->engine->queue_create(on->state, 0, TSR_QUEUE_COMPUTE, NULL, &on->queue));
  tsr_status status = program(on, what);
  on->engine->queue_destroy(on->queue);
  return status;
}

int one_device_run(const char *name, const char *engine, one_device_program *program,
                   const void *what) {
  one_device on = {.engine = tsr_engine_find(engine)};
  tsr_device_info info[TSR_MAX_DEVICES];
  int devices;
  tsr_status status = TSR_ERR_ENGINE;
  if (on.engine != NULL) {
    status = on.engine->open(&(tsr_engine_options){.count = 1}, &on.state, info, &devices);
    if (status == TSR_OK) {
      status = run(&on, program, what);
      on.engine->close(on.state);
    }
  }
  if (status != TSR_OK) fprintf(stderr, "%s: %s\n", name, tsr_message());
  return status == TSR_OK ? 0 : 2;
}
