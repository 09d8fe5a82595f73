/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a long command is doing, on stderr: on a terminal as one line that changes and is erased at
 * the end, such as
 *
 *   [=========>          ]  47 %  179 TFLOP/s  12 s left
 *   planning  3 s
 *
 * Elsewhere nothing is shown, unless the user asks for it (--progress); then a line is printed for
 * each tenth of the work, for the log of a job. A thread of its own draws the line, so that time is
 * seen to pass while the library plans or the CPU's BLAS computes.
 */
#ifndef TESSERA_PROGRESS_H
#define TESSERA_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

typedef struct progress {
  bool terminal, lines; /* how it is shown; neither: not at all */
  int columns;          /* of the line on the terminal */
  double opened;        /* s */
  bool running;         /* the thread is there */
  pthread_t thread;
  pthread_mutex_t lock; /* protects all below */
  pthread_cond_t wake;  /* tells the thread that `ended` is set */
  bool ended, drawn;    /* drawn: a line is on the terminal */
  char what[40];        /* "planning"; "": nothing is done */
  double begin;         /* s, when it began */
  double fraction;      /* that is done; 0: not known */
  double told;          /* s, when that was told */
  double expected;      /* s that all of it takes; 0: not known */
  double flops;         /* of all of it; 0: none are counted */
  int tenths;           /* printed last */
} progress;

/* A row of an option table. */
#define PROGRESS_OPTION(target)                                             \
  {                                                                         \
    "progress", 0, OPTION_FLAG, target, NULL,                               \
        "if stderr is no terminal, print a line for each tenth of the work" \
  }

/* Begins to show what is done. asked: the user asks for lines where stderr is no terminal.
 * progress_close erases the line; a zeroed progress may be closed. */
void progress_open(progress *p, bool asked);
void progress_close(progress *p);

/* What begins now, "" for nothing. expected: s that it takes, or 0. */
void progress_phase(progress *p, const char *what, double expected);

/* A call of so many flops begins. Until it tells how far it is, `what` is shown. */
void progress_call(progress *p, const char *what, double flops);

/* The fraction of the call or the phase that is done. */
void progress_done(progress *p, double fraction);

/* Two functions of type tsr_progress whose user is a progress: of calls, for tsr_set_progress,
 * where copies before and after a call do not count; and of tsr_machine_probe, where `what` is
 * shown. */
void progress_tell(void *user, double fraction, const char *what);
void progress_probe(void *user, double fraction, const char *what);

#endif
