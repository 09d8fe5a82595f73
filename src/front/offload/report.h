/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The figures that the report of calls collects (report.c); report_text.c and report_none.c write
 * them out. */
#ifndef TSR_FRONT_OFFLOAD_REPORT_H
#define TSR_FRONT_OFFLOAD_REPORT_H

#include "base/text.h"
#include "front/offload/inside.h"

/* Calls that are equal in routine, type, flags and extents and went the same way. */
typedef struct tsr_report_kind {
  tsr_offload_family family;
  tsr_level3 what; /* as the program called it: extents and flags are the user's */
  tsr_offload_why why;
  int devices;
  int64_t products;     /* of a batch, of which `what` is the largest; 0: the call is none */
  int64_t calls, timed; /* all, and those whose time was measured */
  double seconds;       /* s, measured, of those */
  double cpu_price, plan_price; /* s, predicted for the last of them; 0: not computed */
} tsr_report_kind;

enum { TSR_REPORT_KINDS = 1 << 12, TSR_REPORT_SLOTS = 2 * TSR_REPORT_KINDS, TSR_REPORT_SPANS = 64 };

/* A time in which at least one call was under way. */
typedef struct tsr_report_span {
  double begin, end; /* s, tsr_now() */
} tsr_report_span;

typedef struct tsr_report {
  bool always, every; /* written even if no call was made; a row for each kind, not only for ten */
  double began;       /* s, tsr_now() when the library was loaded */
  int64_t calls[TSR_FAMILY_COUNT][TSR_WHY_COUNT];
  double lost_seconds[TSR_FAMILY_COUNT][TSR_WHY_COUNT]; /* s, measured, of calls without a kind */
  int64_t of_lapack;                      /* how many of the BLAS calls are LAPACK's */
  double on_devices;                      /* s, measured, of the BLAS calls that devices did; */
  double on_cpu;                          /* s, predicted for the same calls on the CPU */
  double staging;                         /* s, predicted: what pageable memory cost these calls */
  int64_t staged;                         /* how many of them had operands in pageable memory */
  tsr_report_span span[TSR_REPORT_SPANS]; /* the last ones, apart from each other, by their ends */
  int spans;
  double busy;           /* s, of the spans before those */
  tsr_report_kind *kind; /* a hash table of TSR_REPORT_SLOTS, open addressing; NULL: no memory */
  int count, lost;       /* kinds in the table; calls whose kind found no place there */
} tsr_report;

static inline bool tsr_report_is_on_devices(tsr_offload_why why) {
  return why == TSR_WHY_FASTER || why == TSR_WHY_ON_DEVICE || why == TSR_WHY_ALWAYS;
}

/* The time of all calls of a kind: those that were not timed took as long as the others. */
static inline double tsr_report_seconds(const tsr_report_kind *kind) {
  return kind->timed > 0 ? kind->seconds * ((double)kind->calls / (double)kind->timed) : 0;
}

/* Appends the report, as it is at the time now (s, tsr_now()). */
void tsr_report_text(const tsr_report *report, double now, const tsr_offload_state *state,
                     tsr_text *text);

/* Writes how much of the program's time may be LAPACK whose BLAS calls stay inside its library:
 * `share` of it, so many seconds. "": no such library is loaded. */
void tsr_report_inside(double share, const char *seconds, char *text, size_t room);

/* Writes why no BLAS call may have come in, from what the process has loaded, and what helps. */
void tsr_report_none(char *text, size_t room);

#endif
