/*
 * What a grid does over time: its messages, beside what its contexts keep of the devices. One trace
 * of all processes comes out.
 */
#ifndef TSR_CLUSTER_TRACE_H
#define TSR_CLUSTER_TRACE_H

#include "base/text.h"
#include "base/vec.h"
#include "cluster/fabric.h"

/* Tracks: packing and redistribution; pieces of panels on their way up to a device and across to
 * others'; and whole panels, for each slot of A and of B. */
enum {
  TSR_TRACK_PACK,
  TSR_TRACK_MOVE,
  TSR_TRACK_PIECES,
  TSR_TRACK_SLOTS = TSR_TRACK_PIECES + TSR_FABRIC_QUEUES
};

typedef struct tsr_trace_event {
  int track;
  int32_t panel, block;
  double begin, end; /* tsr_now */
} tsr_trace_event;

typedef struct tsr_grid_trace {
  bool keeping;
  double zero; /* when all began */
  TSR_VEC(tsr_trace_event) events;
} tsr_grid_trace;

/* Where there is no memory for it an event is missing, and nothing else. */
void tsr_grid_trace_add(tsr_grid_trace *trace, const tsr_trace_event *event);

/* Appends its events, a line each with a comma behind it. process: the number of this process's
 * messages in the trace; name: before its own. */
void tsr_grid_trace_write(const tsr_grid_trace *trace, int process, const char *name,
                          tsr_text *text);

/* Appends the events of a trace in the form of tsr_timeline_end, with `add` added to the numbers of
 * processes and `name` before their names. */
void tsr_grid_trace_adopt(const char *from, int add, const char *name, tsr_text *text);

#endif
