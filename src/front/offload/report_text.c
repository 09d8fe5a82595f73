/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The report as text for people, in 80 columns. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/amounts.h"
#include "base/environment.h"
#include "blas/operation.h"
#include "front/offload/report.h"

enum { ROWS = 10 };

/* The reason in a sentence, and in the table's last column. */
static const struct {
  const char *sentence, *words;
} reasons[TSR_WHY_COUNT] = {
    [TSR_WHY_SMALL] = {"too small to gain", "too small to gain"},
    [TSR_WHY_EMPTY] = {"nothing to compute", "nothing to compute"},
    [TSR_WHY_NEVER] = {"TESSERA_OFFLOAD is never", "offload: never"},
    [TSR_WHY_NO_DEVICE] = {"no device can be used", "no device"},
    [TSR_WHY_FORKED] = {"the devices are the parent process's", "forked process"},
    [TSR_WHY_CPU_FASTER] = {"the CPU is faster", "faster there"},
    [TSR_WHY_NOT_STARTED] = {"starting devices did not pay yet", "start did not pay"},
    [TSR_WHY_STARTING] = {"while devices were started", "devices starting"},
    [TSR_WHY_NO_FACTORS] = {"the devices factor no matrix", "not on devices"},
    [TSR_WHY_FAILED] = {"the devices could not", "devices failed"},
    [TSR_WHY_FOREIGN] = {"arguments that its BLAS judges", "its arguments"},
    [TSR_WHY_ARGUMENTS] = {"arguments that ScaLAPACK judges", "its arguments"},
    [TSR_WHY_OTHER_MPI] = {"Tessera was built for another MPI", "another MPI"},
    [TSR_WHY_OTHER_BITS] = {"native products across processes are not reproducible",
                            "not reproducible"},
    [TSR_WHY_FASTER] = {"the devices are faster", "faster there"},
    [TSR_WHY_ON_DEVICE] = {"an operand is on a device", "operand is there"},
    [TSR_WHY_ALWAYS] = {"TESSERA_OFFLOAD is always", "offload: always"},
};

/* The words of the report for each family: one of its calls, the letter before a routine's name,
 * and where the calls are done that stay off the devices. */
static const struct {
  const char *what, *prefix, *where, *who;
} families[TSR_FAMILY_COUNT] = {
    [TSR_FAMILY_BLAS] = {"level-3 BLAS call", "", "on the CPU", "CPU"},
    [TSR_FAMILY_PBLAS] = {"PBLAS product", "p", "by ScaLAPACK", "CPUs"},
};

/* ---- Words ---- */

enum { SHORT = 24 };

static const char *seconds_in(double seconds, char words[SHORT]) {
  tsr_text text = TSR_TEXT_INIT;
  tsr_add_seconds(&text, seconds);
  snprintf(words, SHORT, "%s", text.broken ? "?" : text.bytes);
  tsr_text_free(&text);
  return words;
}

/* Appends sentences in lines of at most 80 columns. */
static void add_sentences(tsr_text *text, const char *sentences) {
  tsr_text_add_lines(text, "", 0, sentences);
}

/* ---- Sums ---- */

static int64_t sum(const tsr_report *report, tsr_offload_family family, bool on_devices) {
  int64_t calls = 0;
  for (int why = 0; why < TSR_WHY_COUNT; why++)
    if (tsr_report_is_on_devices((tsr_offload_why)why) == on_devices)
      calls += report->calls[family][why];
  return calls;
}

static int64_t total(const tsr_report *report, tsr_offload_family family) {
  return sum(report, family, true) + sum(report, family, false);
}

/* The noun for the calls of a family; several calls put an s behind it. */
static const char *calls_of(const tsr_report *report, tsr_offload_family family) {
  if (family != TSR_FAMILY_BLAS || report->of_lapack == 0) return families[family].what;
  return report->of_lapack < total(report, family) ? "BLAS and LAPACK call" : "LAPACK call";
}

static const char *work_of(const tsr_report *report) {
  if (report->of_lapack == 0) return "level-3 BLAS";
  return report->of_lapack < total(report, TSR_FAMILY_BLAS) ? "calls of level-3 BLAS and LAPACK"
                                                            : "calls of LAPACK";
}

static double seconds_of(const tsr_report *report, tsr_offload_family family, tsr_offload_why why) {
  double seconds = report->lost_seconds[family][why];
  for (int i = 0; report->kind != NULL && i < TSR_REPORT_SLOTS; i++)
    if (report->kind[i].family == family && report->kind[i].why == why)
      seconds += tsr_report_seconds(&report->kind[i]);
  return seconds;
}

static void add_reason(const tsr_report *report, tsr_offload_family family, tsr_offload_why why,
                       tsr_text *text) {
  char time[SHORT];
  double seconds = seconds_of(report, family, why);
  tsr_text_add(text, "  %lld %s: %s", (long long)report->calls[family][why],
               tsr_report_is_on_devices(why) ? "on devices" : families[family].where,
               reasons[why].sentence);
  if (seconds > 0) tsr_text_add(text, " (took %s)", seconds_in(seconds, time));
  tsr_text_add(text, "\n");
}

static void add_sums(const tsr_report *report, tsr_offload_family family,
                     const tsr_offload_state *state, tsr_text *text) {
  long long there = (long long)sum(report, family, true),
            here = (long long)sum(report, family, false);
  tsr_text_add(text, "tessera: %lld %s%s: %lld on devices, %lld %s\n", there + here,
               calls_of(report, family), there + here == 1 ? "" : "s", there, here,
               families[family].where);
  for (int why = 0; why < TSR_WHY_COUNT; why++)
    if (report->calls[family][why] > 0) add_reason(report, family, (tsr_offload_why)why, text);
  if (here == 0 || state->error[0] == '\0') return;
  char line[sizeof state->error + 40];
  snprintf(line, sizeof line, "No devices: %s (tessera doctor)", state->error);
  add_sentences(text, line);
}

/* ---- The verdict ---- */

/* The time of calls that were not timed. */
static double untimed(const tsr_report *report) {
  double seconds = 0;
  for (int i = 0; report->kind != NULL && i < TSR_REPORT_SLOTS; i++)
    seconds += tsr_report_seconds(&report->kind[i]) - report->kind[i].seconds;
  return seconds;
}

/* For how long at least one call was under way. Calls that were not timed count as if none was
 * beside them. */
static double busy(const tsr_report *report) {
  double seconds = report->busy + untimed(report);
  for (int i = 0; i < report->spans; i++) seconds += report->span[i].end - report->span[i].begin;
  return seconds;
}

/* The program's time, the calls' share of it, and what more could be gained: if the calls took no
 * time, the rest would be left (Amdahl's law). */
static void add_share(double all, double calls, const char *work, tsr_text *text) {
  char whole[SHORT], part[SHORT], rest[SHORT], line[320];
  snprintf(line, sizeof line, "tessera: %.64s took %s, %s of it (%.0f %%) in %s.",
           program_invocation_short_name, seconds_in(all, whole), seconds_in(calls, part),
           100 * calls / all, work);
  size_t length = strlen(line);
  if (calls >= all / 100 && calls < all)
    snprintf(line + length, sizeof line - length,
             " If those calls took no time, it would take %s: at most %.3g times as fast.",
             seconds_in(all - calls, rest), all / (all - calls));
  add_sentences(text, line);
}

/* The time that the devices have saved, against the prediction for the CPU. */
static void add_gain(const tsr_report *report, bool emulated, double all, tsr_text *text) {
  char time[SHORT], line[240];
  double without = all - report->on_devices + report->on_cpu;
  if (report->on_devices == 0 || report->on_cpu == 0) return;
  if (emulated) {
    add_sentences(text, "The devices are emulated: a rehearsal, whose times mean nothing.");
    return;
  }
  snprintf(line, sizeof line, "Without Tessera it would have taken about %s%s",
           seconds_in(without > 0 ? without : 0, time),
           without < all ? ": the devices did not pay." : ".");
  add_sentences(text, line);
}

/* Copies through pinned memory that could be spared. One percent of the calls' time is not worth a
 * sentence. */
static void add_staging(const tsr_report *report, tsr_text *text) {
  char time[SHORT], line[320];
  if (report->staged == 0 || report->staging < report->on_devices / 100) return;
  snprintf(line, sizeof line,
           "%lld of the calls on devices had matrices in ordinary memory, which cost about %s of "
           "copies: memory that is pinned once (tsr_malloc, tessera.empty in Python) spares them.",
           (long long)report->staged, seconds_in(report->staging, time));
  add_sentences(text, line);
}

/* If few calls came in, others may have stayed inside a library. A report of a program that spends
 * more than a tenth of its time in calls is about these. */
static void add_inside(double all, double calls, tsr_text *text) {
  char time[SHORT], line[1600];
  if (calls >= all / 10) return;
  tsr_report_inside((all - calls) / all, seconds_in(all - calls, time), line, sizeof line);
  if (line[0] != '\0') add_sentences(text, line);
}

static void add_verdict(const tsr_report *report, double now, bool emulated, tsr_text *text) {
  double all = now - report->began, calls = busy(report);
  if (calls > all) calls = all;
  add_share(all, calls, work_of(report), text);
  add_inside(all, calls, text);
  add_gain(report, emulated, all, text);
  if (!emulated) add_staging(report, text);
}

/* ---- The table ---- */

/* The routine's name and its flags, as in the BLAS: "dtrsm LLNU". */
static void name_routine(const tsr_report_kind *k, char *name, size_t room) {
  const tsr_level3 *w = &k->what;
  const char flags[] = {(char)w->side, (char)w->uplo, (char)w->transa, (char)w->transb,
                        (char)w->diag};
  int length = snprintf(name, room, "%s%c%s ", families[k->family].prefix, tolower((int)w->type),
                        tsr_operation_get(w->operation)->name);
  for (size_t i = 0; i < sizeof flags; i++)
    if (flags[i] != 0 && (size_t)length + 1 < room) name[length++] = flags[i];
  name[length] = '\0';
}

/* m, n and the extent that is summed over, as the program called the routine; before them the
 * number of products of a batch. A routine of LAPACK has its order alone, or the extents of its B.
 */
static void name_extents(const tsr_report_kind *kind, char *text, size_t room) {
  const tsr_level3 *w = &kind->what;
  const tsr_operation_info *info = tsr_operation_get(w->operation);
  if (tsr_is_of_lapack(w->operation)) {
    int order = info->has.m ? snprintf(text, room, "%lldx", (long long)w->m) : 0;
    snprintf(text + order, room - (size_t)order, "%lld", (long long)w->n);
    return;
  }
  int64_t m = info->has.m ? w->m : w->n;
  int64_t k = info->has.k ? w->k : w->side == TSR_LEFT ? w->m : w->n;
  int length = 0;
  if (kind->products > 0) length = snprintf(text, room, "%lld*", (long long)kind->products);
  snprintf(text + length, room - (size_t)length, "%lldx%lldx%lld", (long long)m, (long long)w->n,
           (long long)k);
}

static void name_place(const tsr_report_kind *k, bool emulated, char *text, size_t room) {
  if (!tsr_report_is_on_devices(k->why))
    snprintf(text, room, "%s", families[k->family].who);
  else if (emulated)
    snprintf(text, room, "%d emul.", k->devices);
  else
    snprintf(text, room, "%d GPU%s", k->devices, k->devices == 1 ? "" : "s");
}

static void add_row(const tsr_report_kind *k, bool emulated, tsr_text *text) {
  char name[20], extents[96], place[16], time[SHORT] = "", each[SHORT] = "";
  name_routine(k, name, sizeof name);
  name_extents(k, extents, sizeof extents);
  name_place(k, emulated, place, sizeof place);
  if (k->seconds > 0) {
    seconds_in(tsr_report_seconds(k), time);
    seconds_in(k->seconds / (double)k->timed, each);
  }
  tsr_text_add(text, "%6lld %-10s %-17s %-7s %8s %8s %s\n", (long long)k->calls, name, extents,
               place, time, each, reasons[k->why].words);
}

/* The prediction of a row, for experts: TESSERA_EXPLAIN. */
static void add_prices(const tsr_report_kind *k, tsr_text *text) {
  char cpu[SHORT], plan[SHORT];
  if (k->cpu_price == 0) return;
  tsr_text_add(text, "%6s predicted: %s %s", "", families[k->family].who,
               seconds_in(k->cpu_price, cpu));
  if (k->plan_price > 0) tsr_text_add(text, ", devices %s", seconds_in(k->plan_price, plan));
  tsr_text_add(text, "\n");
}

static int by_time(const void *a, const void *b) {
  const tsr_report_kind *x = *(const tsr_report_kind *const *)a,
                        *y = *(const tsr_report_kind *const *)b;
  double of_x = tsr_report_seconds(x), of_y = tsr_report_seconds(y);
  if (of_x != of_y) return of_x < of_y ? 1 : -1;
  return (x->calls < y->calls) - (x->calls > y->calls);
}

static void add_rows(const tsr_report *report, const tsr_report_kind **kinds, bool emulated,
                     tsr_text *text) {
  int rows = report->every || report->count < ROWS ? report->count : ROWS;
  tsr_text_add(text, "\n%6s %-10s %-17s %-7s %8s %8s %s\n", "calls", "routine", "m x n x k", "on",
               "time", "each", "why there");
  for (int i = 0; i < rows; i++) {
    add_row(kinds[i], emulated, text);
    if (report->every) add_prices(kinds[i], text);
  }
  if (rows < report->count)
    tsr_text_add(text,
                 "   ... and %d kinds of call more; --explain (TESSERA_EXPLAIN=1) lists all\n",
                 report->count - rows);
  if (report->lost > 0)
    tsr_text_add(text, "   ... and %d calls of kinds that found no place here\n", report->lost);
}

/* The kinds of call that took the most time. */
static void add_table(const tsr_report *report, bool emulated, tsr_text *text) {
  static const tsr_report_kind *kinds[TSR_REPORT_KINDS]; /* used by one thread, at exit */
  int count = 0;
  if (report->kind == NULL || report->count == 0) return;
  for (int i = 0; i < TSR_REPORT_SLOTS; i++)
    if (report->kind[i].calls > 0) kinds[count++] = &report->kind[i];
  qsort(kinds, (size_t)count, sizeof *kinds, by_time);
  add_rows(report, kinds, emulated, text);
}

/* ---- The whole ---- */

/* The process's number, if a launcher of MPI has started several: the variables are those of Open
 * MPI, Hydra and others with PMI, MVAPICH2, Flux, jsrun and Slurm's step (src/cluster/run). */
static void add_rank(tsr_text *text) {
  static const struct {
    const char *rank, *size;
  } launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                   {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                   {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
                   {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"},
                   {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
                   {"PMI_RANK", "PMI_SIZE"}};
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
    const char *rank = tsr_environment_get(launchers[i].rank);
    const char *size = tsr_environment_get(launchers[i].size);
    if (rank == NULL || size == NULL || strtol(size, NULL, 10) < 2) continue;
    tsr_text_add(text, "tessera: rank %ld of %ld processes:\n", strtol(rank, NULL, 10),
                 strtol(size, NULL, 10));
    return;
  }
}

static void add_why_none(tsr_text *text) {
  char sentences[1600];
  tsr_report_none(sentences, sizeof sentences);
  add_sentences(text, sentences);
}

void tsr_report_text(const tsr_report *report, double now, const tsr_offload_state *state,
                     tsr_text *text) {
  bool blas = total(report, TSR_FAMILY_BLAS) > 0, pblas = total(report, TSR_FAMILY_PBLAS) > 0;
  bool emulated = tsr_engine_emulates(state->options.engine);
  add_rank(text);
  if (blas) add_verdict(report, now, emulated, text);
  if (blas || report->always) add_sums(report, TSR_FAMILY_BLAS, state, text);
  if (pblas) add_sums(report, TSR_FAMILY_PBLAS, state, text);
  if (!blas && !pblas) add_why_none(text);
  add_table(report, emulated, text);
}
