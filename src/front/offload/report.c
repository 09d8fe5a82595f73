/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collects which calls were made, where they went and how long they took. With TESSERA_REPORT the
 * process writes a report of that when it ends, with TESSERA_EXPLAIN the same with all kinds of
 * call in its table. If neither is set, nothing is recorded.
 */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/open.h"
#include "base/settings/settings.h"
#include "front/offload/report.h"

enum { OUT_OF_THE_WAY = 200 };

static tsr_report report;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects `report` */
static bool wanted;
static const char *path; /* NULL: stderr */
static int error = -1;   /* our own descriptor of stderr: programs close theirs before exit */

/* ---- Collecting ---- */

static bool is_set(const char *name) {
  const char *text = tsr_setting_text(name);
  return text != NULL && strcmp(text, "0") != 0;
}

/* Duplicates stderr to a high descriptor, where programs do not expect one: OUT_OF_THE_WAY, or
 * lower if the process may not have so many. -1: no descriptor. */
static int keep_stderr(void) {
  int kept = -1;
  for (int least = OUT_OF_THE_WAY; kept < 0 && least > STDERR_FILENO; least /= 2)
    kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, least);
  return kept;
}

void tsr_offload_report_init(void) {
  const char *where = tsr_setting_text("TESSERA_REPORT"),
             *run = tsr_setting_text("TESSERA_RUN_PID");
  bool sums = is_set("TESSERA_REPORT");
  report.began = tsr_now();
  report.every = is_set("TESSERA_EXPLAIN");
  report.always = run != NULL && strtol(run, NULL, 10) == (long)getpid();
  path = sums && strcmp(where, "1") != 0 ? where : NULL;
  wanted = sums || report.every;
  if (!wanted) return;
  error = keep_stderr();
  report.kind = tsr_alloc_zero(TSR_REPORT_SLOTS, sizeof *report.kind);
}

bool tsr_offload_report_wanted(void) {
  return wanted;
}

/* Adds the time of a call that has just ended. Calls may overlap, on several threads: spans that
 * the new one covers or touches become one with it. Spans before the last TSR_REPORT_SPANS are only
 * summed up; a call that began before those counts a little twice. */
static void add_span(const tsr_offload_visit *visit) {
  double end = visit->began > 0 ? visit->began + visit->seconds : tsr_now();
  double begin = end - visit->seconds;
  while (report.spans > 0 && report.span[report.spans - 1].end >= begin)
    begin = fmin(begin, report.span[--report.spans].begin);
  if (report.spans == TSR_REPORT_SPANS) {
    report.busy += report.span[0].end - report.span[0].begin;
    memmove(&report.span[0], &report.span[1], (TSR_REPORT_SPANS - 1) * sizeof report.span[0]);
    report.spans--;
  }
  report.span[report.spans++] = (tsr_report_span){begin, end};
}

static bool is_kind(const tsr_report_kind *k, tsr_offload_family family, const tsr_level3 *what,
                    const tsr_offload_visit *visit) {
  const tsr_level3 *w = &k->what;
  return k->family == family && w->operation == what->operation && w->type == what->type &&
         w->layout == what->layout && w->side == what->side && w->uplo == what->uplo &&
         w->transa == what->transa && w->transb == what->transb && w->diag == what->diag &&
         w->m == what->m && w->n == what->n && w->k == what->k && k->why == visit->why &&
         k->devices == visit->devices && k->products == visit->products;
}

static unsigned slot_of(tsr_offload_family family, const tsr_level3 *what,
                        const tsr_offload_visit *visit) {
  const uint64_t factor = 0x9e3779b97f4a7c15u; /* of the Fibonacci hash: the high bits are best */
  uint64_t word = (uint64_t)what->operation << 8 ^ (uint64_t)what->type << 16 ^
                  (uint64_t)what->transa << 24 ^ (uint64_t)what->transb << 32 ^
                  (uint64_t)what->side << 40 ^ (uint64_t)what->uplo << 48 ^
                  (uint64_t)visit->why << 56 ^ (uint64_t)family;
  word = word * factor ^ (uint64_t)what->m;
  word = word * factor ^ (uint64_t)what->n;
  word = word * factor ^ (uint64_t)what->k ^ (uint64_t)visit->products << 32;
  return (unsigned)((word * factor >> 32) % TSR_REPORT_SLOTS);
}

/* The kind of the call in the table, added if it is new; NULL: the table is full. */
static tsr_report_kind *find_kind(tsr_offload_family family, const tsr_level3 *what,
                                  const tsr_offload_visit *visit) {
  unsigned slot = slot_of(family, what, visit);
  while (report.kind[slot].calls > 0 && !is_kind(&report.kind[slot], family, what, visit))
    slot = (slot + 1) % TSR_REPORT_SLOTS;
  tsr_report_kind *found = &report.kind[slot];
  if (found->calls > 0) return found;
  if (report.count == TSR_REPORT_KINDS) return NULL;
  report.count++;
  *found = (tsr_report_kind){.family = family,
                             .what = *what,
                             .why = visit->why,
                             .devices = visit->devices,
                             .products = visit->products};
  return found;
}

/* The kind of the call, whose calls are one more. NULL: it finds no place, and is lost. */
static tsr_report_kind *count(tsr_offload_family family, const tsr_level3 *what,
                              const tsr_offload_visit *visit) {
  report.calls[family][visit->why]++;
  report.of_lapack += tsr_is_of_lapack(what->operation);
  tsr_report_kind *kind = report.kind != NULL ? find_kind(family, what, visit) : NULL;
  if (kind != NULL)
    kind->calls++;
  else
    report.lost++;
  return kind;
}

/* Adds the measured time of a call to its kind; NULL: the call is lost. */
static void add_time(tsr_offload_family family, tsr_report_kind *kind,
                     const tsr_offload_visit *visit) {
  if (kind == NULL) {
    report.lost_seconds[family][visit->why] += visit->seconds;
  } else {
    kind->timed++;
    kind->seconds += visit->seconds;
  }
  if (visit->seconds > 0) add_span(visit);
}

void tsr_offload_report_add(tsr_offload_family family, const tsr_level3 *what,
                            const tsr_offload_visit *visit) {
  pthread_mutex_lock(&lock);
  if (family == TSR_FAMILY_BLAS && tsr_report_is_on_devices(visit->why)) {
    report.on_devices += visit->seconds;
    report.on_cpu += visit->cpu_price;
    report.staging += visit->staging;
    report.staged += visit->staging > 0;
  }
  tsr_report_kind *kind = count(family, what, visit);
  add_time(family, kind, visit);
  if (kind != NULL) {
    kind->cpu_price = visit->cpu_price;
    kind->plan_price = visit->plan_price;
  }
  pthread_mutex_unlock(&lock);
}

/* Small calls of a kind are timed up to this number, and after that each that is a multiple of it.
 */
enum { TIMED = 16 };

bool tsr_offload_report_count(const tsr_level3 *what, const tsr_offload_visit *visit) {
  pthread_mutex_lock(&lock);
  const tsr_report_kind *kind = count(TSR_FAMILY_BLAS, what, visit);
  bool timed = kind == NULL || kind->calls <= TIMED || kind->calls % TIMED == 0;
  pthread_mutex_unlock(&lock);
  return timed;
}

void tsr_offload_report_time(const tsr_level3 *what, const tsr_offload_visit *visit) {
  pthread_mutex_lock(&lock);
  tsr_report_kind *kind = report.kind != NULL ? find_kind(TSR_FAMILY_BLAS, what, visit) : NULL;
  add_time(TSR_FAMILY_BLAS, kind, visit);
  pthread_mutex_unlock(&lock);
}

void tsr_offload_report_lock(void) {
  pthread_mutex_lock(&lock);
}

/* A child has its own calls and its own time. */
void tsr_offload_report_unlock(bool child) {
  if (child) {
    tsr_report_kind *kind = report.kind;
    report = (tsr_report){.began = tsr_now(), .every = report.every, .kind = kind};
    if (kind != NULL) memset(kind, 0, TSR_REPORT_SLOTS * sizeof *kind);
  }
  pthread_mutex_unlock(&lock);
}

/* ---- Writing ---- */

/* Writes the report to the file that TESSERA_REPORT names, or to stderr; if neither is writable,
 * the report is lost. One write, so that the reports of several processes do not mix. */
static void print(const char *bytes) {
  int file = error;
  if (path != NULL) file = tsr_open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (file < 0 || write(file, bytes, strlen(bytes)) < 0) return;
  if (path != NULL) close(file);
}

static bool saw_calls(void) {
  int64_t calls = 0;
  for (int family = 0; family < TSR_FAMILY_COUNT; family++)
    for (int why = 0; why < TSR_WHY_COUNT; why++) calls += report.calls[family][why];
  return calls > 0;
}

void tsr_offload_report_write(const tsr_offload_state *state) {
  tsr_text text = TSR_TEXT_INIT;
  char *bytes = NULL;
  if (!wanted) return;
  pthread_mutex_lock(&lock);
  bool told = report.always || saw_calls();
  if (told) tsr_report_text(&report, tsr_now(), state, &text);
  pthread_mutex_unlock(&lock);
  if (told && tsr_text_take(&text, &bytes) == TSR_OK) print(bytes);
  tsr_dealloc(bytes);
  tsr_text_free(&text);
}
