/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A sweep over the calls of public headers. Each visit makes one call again and again: the first
 * allocation fails, then the second, and so on, until the call is over before any does. After each
 * of them the visit looks at the status, at the outputs and at all memory, and makes the call
 * again. A function of a header that no visit calls is an error, but for those with the type in
 * their name (tsr_dgemm), which hand on what they get, and the hooks that make things fail.
 *
 * The calls are made in a floating-point environment that goes with n (tests/float_modes.h), and
 * must leave it as it is but for the flags of a product that the CPU does.
 *
 * Every trial is replayed by the line that is printed when it fails:
 *
 *   sweep_calls --visit "coherent_async" --way once --n 37
 */
#ifndef TSR_TESTS_SWEEP_H
#define TSR_TESTS_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera_model.h"

/* How calls are made to fail: arm(n) lets the nth event fail, and the later ones where the way says
 * so; arm(0) nothing more. Both return how many failed since the last time. */
typedef struct sweep_way {
  const char *name; /* "once", "on", "engine", "refused" */
  long (*arm)(long n);
  bool lasting; /* a device that failed so stays failed */
  bool midway;  /* a job may fail half-way: devices fail, or lack memory for good */
} sweep_way;

/* What became of a trial. */
typedef struct sweep_outcome {
  tsr_status status; /* of the call */
  tsr_status synced; /* of waiting for what it began; TSR_OK where there is nothing to wait for */
  bool failed;       /* something was made to fail */
  char said[300];    /* the message of what did not come to its end */
  bool dead;         /* devices may have failed for good */
  bool midway;       /* a job may have failed half-way */
} sweep_outcome;

typedef struct sweep_visit sweep_visit;
struct sweep_visit {
  const char *name;
  const void *what;            /* the visit's own, for its functions */
  void (*before)(void *world); /* what precedes the call, or NULL: nothing fails in it */
  tsr_status (*call)(void *world);
  /* Looks at what the call has done, or NULL; what it made is undone. Nothing fails in it. */
  void (*after)(void *world, const sweep_outcome *outcome);
  int coarse;        /* n: of every stretch of trials a nth part is made; 0: all */
  bool bare;         /* the world has no context */
  const char *setup; /* of the world: the program's own words */
};

/* What the visits of a program share. */
typedef struct sweep_rig {
  void *(*open)(const sweep_visit *visit, const char *setup); /* words that all visits add */
  tsr_status (*settle)(void *world);                          /* waits for what the call began */
  void (*close)(void *world, const sweep_outcome *outcome); /* checks that the world still works */
} sweep_rig;

typedef struct sweep {
  const char *const *headers; /* paths of public headers; NULL ends them */
  const sweep_rig *rig;
  const sweep_visit *const *tables; /* each ends with a visit that has no name; NULL ends them */
  const sweep_way *ways;
  int way_count;
} sweep;

/* Runs the visits that the arguments ask for, prints a line for each and, last, "N passed, M
 * failed"; the exit code. */
int sweep_main(int argc, char **argv, const sweep *s);

/* Calls a function of the header: CALLED(tsr_gemm)(context, ...). */
#define CALLED(function) (sweep_note(#function), function)
void sweep_note(const char *function);

/* Notes the first thing that is wrong in a trial. */
bool sweep_hold(bool right, const char *what, const char *file, int line);
#define HOLD(condition) sweep_hold(condition, #condition, __FILE__, __LINE__)

/* The call did nothing, and said so. */
static inline bool sweep_refused(const sweep_outcome *o) {
  return o->status == TSR_ERR_MEMORY;
}

/* All that the call began came to its end. */
static inline bool sweep_done(const sweep_outcome *o) {
  return o->status == TSR_OK && o->synced == TSR_OK;
}

#endif
