/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An opened engine with what tests need around it. TSR_TEST_ENGINE names the engine (host); a
 * machine without it skips.
 */
#ifndef TSR_TESTS_HARNESS_H
#define TSR_TESTS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arithmetic/kernel.h"
#include "base/clock.h"
#include "engine/engine.h"

typedef struct harness {
  const tsr_engine *engine;
  tsr_engine_state *state;
  tsr_device_info info[TSR_MAX_DEVICES];
  int count;
} harness;

#define OK(call)                                                                 \
  do {                                                                           \
    tsr_status ok_status_ = (call);                                              \
    if (ok_status_ != TSR_OK)                                                    \
      fail_msg("%s: %s: %s", #call, tsr_status_name(ok_status_), tsr_message()); \
  } while (0)

static inline const char *harness_name(void) {
  const char *name = getenv("TSR_TEST_ENGINE");
  return name && name[0] ? name : "host";
}

static inline bool harness_emulates(void) {
  return tsr_engine_emulates(harness_name());
}

static inline harness harness_open(const tsr_engine_options *options) {
  harness h = {.engine = tsr_engine_find(harness_name())};
  tsr_status status = TSR_ERR_ENGINE;
  if (h.engine) status = h.engine->open(options, &h.state, h.info, &h.count);
  if (status == TSR_ERR_ENGINE) {
    print_message("no %s engine here: %s\n", harness_name(), tsr_message());
    skip();
  }
  OK(status);
  return h;
}

static inline void harness_close(harness *h) {
  h->engine->close(h->state);
}

static inline void *take(harness *h, int device, size_t bytes) {
  void *p = NULL;
  OK(h->engine->alloc(h->state, device, bytes, &p));
  return p;
}

static inline tsr_queue *queue_of(harness *h, int device, tsr_queue_role role) {
  tsr_queue *queue = NULL;
  OK(h->engine->queue_create(h->state, device, role, NULL, &queue));
  return queue;
}

static inline tsr_queue_event *event_of(harness *h, int device, bool timed) {
  tsr_queue_event *event = NULL;
  OK(h->engine->event_create(h->state, device, timed, &event));
  return event;
}

/* Until the event has passed or its device has failed. */
static inline tsr_status await(harness *h, tsr_queue_event *event, double *seconds) {
  bool passed = false;
  while (!passed) {
    tsr_status status = h->engine->query(event, &passed, seconds);
    if (status != TSR_OK) return status;
    if (!passed) tsr_sleep(20e-6);
  }
  return TSR_OK;
}

/* Waits for all that is in the queue. */
static inline tsr_status drain(harness *h, tsr_queue *queue, int device) {
  tsr_queue_event *event = event_of(h, device, false);
  OK(h->engine->record(queue, event));
  tsr_status status = await(h, event, NULL);
  h->engine->event_destroy(event);
  return status;
}

static inline tsr_copy_args plain_copy(void *to, int to_device, const void *from, int from_device,
                                       size_t bytes) {
  return (tsr_copy_args){to, from, to_device, from_device, bytes, bytes, bytes, 1};
}

#endif
