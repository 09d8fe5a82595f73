/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The timeline of a grid: each process notes its messages here, and its context notes the work of
 * its devices. Both become one trace of all processes.
 */
#ifndef TSR_CLUSTER_RUN_TRACE_H
#define TSR_CLUSTER_RUN_TRACE_H

#include "base/text.h"
#include "base/vec.h"
#include "cluster/transport/fabric.h"

/* The tracks of a process: packing; redistribution; pieces of panels, one track for each queue of
 * the fabric; whole panels, one track for each slot of A and of B. */
enum {
  TSR_TRACK_PACK,
  TSR_TRACK_MOVE,
  TSR_TRACK_PIECES,
  TSR_TRACK_SLOTS = TSR_TRACK_PIECES + TSR_FABRIC_QUEUES
};

typedef struct tsr_trace_event {
  int track;
  int32_t panel, block;
  double begin, end; /* s, tsr_now */
} tsr_trace_event;

typedef struct tsr_grid_trace {
  bool keeping; /* events are noted */
  double zero;  /* s, tsr_now when all processes began the timeline */
  TSR_VEC(tsr_trace_event) events;
} tsr_grid_trace;

/* Notes an event if the trace is being kept. Without memory the event is missing; no error. */
void tsr_grid_trace_add(tsr_grid_trace *trace, const tsr_trace_event *event);

/* Appends the events as JSON objects, one a line, each followed by a comma. process: the "pid" that
 * stands for this process's messages in the trace; name: put before its name. */
void tsr_grid_trace_write(const tsr_grid_trace *trace, int process, const char *name,
                          tsr_text *text);

/* Appends the events of `from`, a trace as tsr_timeline_end makes it, with `add` added to each
 * "pid" and `name` put before the names of processes. */
void tsr_grid_trace_adopt(const char *from, int add, const char *name, tsr_text *text);

#endif
