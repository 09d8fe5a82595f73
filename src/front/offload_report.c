/*
 * The report of where calls went and why. With TESSERA_REPORT the process prints sums when it ends,
 * with TESSERA_EXPLAIN also a line for each distinct call. If neither is set, nothing is recorded.
 */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "base/text.h"
#include "blas/operation.h"
#include "front/offload_inside.h"

/* Calls that are equal in routine, type, flags and extents and went the same way. */
typedef struct kind {
  tsr_offload_family family;
  tsr_level3 what;
  tsr_offload_why why;
  int devices;
  int64_t calls;
  double cpu_price, plan_price; /* s, predicted for the last of them */
} kind;

enum { MOST_KINDS = 1 << 12, SLOTS = 2 * MOST_KINDS, OUT_OF_THE_WAY = 200 };

static struct {
  bool sums, kinds, always; /* always: the report is written even if no call was made */
  const char *path;         /* NULL: stderr */
  int error;                /* our own descriptor of stderr: programs close theirs before exit */
  pthread_mutex_t lock;
  int64_t calls[TSR_FAMILY_COUNT][TSR_WHY_COUNT];
  double seconds[TSR_FAMILY_COUNT][TSR_WHY_COUNT]; /* s, measured */
  double planned[TSR_FAMILY_COUNT];                /* s, predicted for the calls on devices */
  double saved[TSR_FAMILY_COUNT]; /* s, predicted on the CPU minus predicted on devices */
  kind *kind; /* a hash table of SLOTS kinds, open addressing; NULL: no memory, or not wanted */
  int count, lost; /* kinds in the table; calls whose kind found no place there */
} report = {.error = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const reasons[TSR_WHY_COUNT] = {
    [TSR_WHY_SMALL] = "too small to gain",
    [TSR_WHY_EMPTY] = "nothing to compute",
    [TSR_WHY_NEVER] = "TESSERA_OFFLOAD is never",
    [TSR_WHY_NO_DEVICE] = "no device can be used",
    [TSR_WHY_FORKED] = "the devices are the parent process's",
    [TSR_WHY_CPU_FASTER] = "the CPU is faster",
    [TSR_WHY_NOT_STARTED] = "starting devices did not pay yet",
    [TSR_WHY_STARTING] = "while devices were started",
    [TSR_WHY_FAILED] = "the devices could not",
    [TSR_WHY_ARGUMENTS] = "arguments that ScaLAPACK judges",
    [TSR_WHY_OTHER_MPI] = "Tessera was built for another MPI",
    [TSR_WHY_FASTER] = "the devices are faster",
    [TSR_WHY_ON_DEVICE] = "an operand is on a device",
    [TSR_WHY_ALWAYS] = "TESSERA_OFFLOAD is always",
};

/* The words of the report for each family: its calls, the letter before a routine's name, and who
 * does the calls that stay off the devices. */
static const struct {
  const char *what, *prefix, *where, *who;
} families[TSR_FAMILY_COUNT] = {
    [TSR_FAMILY_BLAS] = {"level-3 BLAS calls", "", "on the CPU", "CPU"},
    [TSR_FAMILY_PBLAS] = {"PBLAS products", "p", "by ScaLAPACK", "ScaLAPACK"},
};

static bool is_on_devices(tsr_offload_why why) {
  return why == TSR_WHY_FASTER || why == TSR_WHY_ON_DEVICE || why == TSR_WHY_ALWAYS;
}

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
  const char *where = tsr_setting_text("TESSERA_REPORT");
  report.kinds = is_set("TESSERA_EXPLAIN");
  report.sums = is_set("TESSERA_REPORT");
  const char *run = tsr_setting_text("TESSERA_RUN_PID");
  report.always = run != NULL && strtol(run, NULL, 10) == (long)getpid();
  report.path = report.sums && strcmp(where, "1") != 0 ? where : NULL;
  if (report.sums || report.kinds) report.error = keep_stderr();
  if (report.kinds) report.kind = tsr_alloc_zero(SLOTS, sizeof *report.kind);
}

bool tsr_offload_report_wanted(void) {
  return report.sums || report.kinds;
}

static bool is_kind(const kind *k, tsr_offload_family family, const tsr_level3 *what,
                    const tsr_offload_visit *visit) {
  const tsr_level3 *w = &k->what;
  return k->family == family && w->operation == what->operation && w->type == what->type &&
         w->layout == what->layout && w->side == what->side && w->uplo == what->uplo &&
         w->transa == what->transa && w->transb == what->transb && w->diag == what->diag &&
         w->m == what->m && w->n == what->n && w->k == what->k && k->why == visit->why &&
         k->devices == visit->devices;
}

static unsigned slot_of(tsr_offload_family family, const tsr_level3 *what,
                        const tsr_offload_visit *visit) {
  int64_t words[] = {what->operation, what->type, what->transa, what->transb,
                     what->side,      what->uplo, what->m,      what->n,
                     what->k,         visit->why, family};
  return (unsigned)(tsr_cache_digest(0, words, sizeof words) % SLOTS);
}

/* The kind of the call in the table, added if it is new; NULL: the table is full. */
static kind *find_kind(tsr_offload_family family, const tsr_level3 *what,
                       const tsr_offload_visit *visit) {
  unsigned slot = slot_of(family, what, visit);
  while (report.kind[slot].calls > 0 && !is_kind(&report.kind[slot], family, what, visit))
    slot = (slot + 1) % SLOTS;
  kind *found = &report.kind[slot];
  if (found->calls > 0) return found;
  if (report.count == MOST_KINDS) return NULL;
  report.count++;
  *found = (kind){.family = family, .what = *what, .why = visit->why, .devices = visit->devices};
  return found;
}

static void add_kind(tsr_offload_family family, const tsr_level3 *what,
                     const tsr_offload_visit *visit) {
  kind *of = find_kind(family, what, visit);
  if (of == NULL) {
    report.lost++;
    return;
  }
  of->calls++;
  of->cpu_price = visit->cpu_price;
  of->plan_price = visit->plan_price;
}

void tsr_offload_report_add(tsr_offload_family family, const tsr_level3 *what,
                            const tsr_offload_visit *visit) {
  pthread_mutex_lock(&report.lock);
  report.calls[family][visit->why]++;
  report.seconds[family][visit->why] += visit->seconds;
  if (is_on_devices(visit->why)) {
    report.planned[family] += visit->plan_price;
    report.saved[family] += visit->cpu_price - visit->plan_price;
  }
  if (report.kind != NULL) add_kind(family, what, visit);
  pthread_mutex_unlock(&report.lock);
}

void tsr_offload_report_lock(void) {
  pthread_mutex_lock(&report.lock);
}

void tsr_offload_report_unlock(bool child) {
  if (child) {
    memset(report.calls, 0, sizeof report.calls);
    memset(report.seconds, 0, sizeof report.seconds);
    memset(report.planned, 0, sizeof report.planned);
    memset(report.saved, 0, sizeof report.saved);
    report.always = false;
    report.count = report.lost = 0;
    if (report.kind != NULL) memset(report.kind, 0, SLOTS * sizeof *report.kind);
  }
  pthread_mutex_unlock(&report.lock);
}

/* ---- Writing ---- */

static void write_seconds(tsr_text *text, double seconds) {
  if (seconds >= 1)
    tsr_text_add(text, "%.3g s", seconds);
  else if (seconds >= 1e-3)
    tsr_text_add(text, "%.3g ms", seconds * 1e3);
  else
    tsr_text_add(text, "%.3g us", seconds * 1e6);
}

static void write_flags(tsr_text *text, const tsr_level3 *w) {
  tsr_signature signature = tsr_operation_get(w->operation)->signature;
  if (w->layout == TSR_ROW_MAJOR) tsr_text_add(text, " row-major");
  if ((int)w->side != 0) tsr_text_add(text, " side %c", (char)w->side);
  if ((int)w->uplo != 0) tsr_text_add(text, " uplo %c", (char)w->uplo);
  if ((int)w->transa != 0) tsr_text_add(text, " trans %c", (char)w->transa);
  if ((int)w->transb != 0) tsr_text_add(text, "%c", (char)w->transb);
  if ((int)w->diag != 0) tsr_text_add(text, " diag %c", (char)w->diag);
  if (signature != TSR_SIGNATURE_RANK_K && w->operation != TSR_GEMMT)
    tsr_text_add(text, " m %lld", (long long)w->m);
  tsr_text_add(text, " n %lld", (long long)w->n);
  if (signature == TSR_SIGNATURE_PRODUCT || signature == TSR_SIGNATURE_RANK_K)
    tsr_text_add(text, " k %lld", (long long)w->k);
}

static void write_kind(tsr_text *text, const kind *k) {
  tsr_text_add(text, "tessera:   %s%c%s", families[k->family].prefix, (char)k->what.type,
               tsr_operation_name(k->what.operation));
  write_flags(text, &k->what);
  tsr_text_add(text, ", %lld times: ", (long long)k->calls);
  if (is_on_devices(k->why))
    tsr_text_add(text, "%d devices", k->devices);
  else
    tsr_text_add(text, "%s", families[k->family].who);
  tsr_text_add(text, ", %s", reasons[k->why]);
  if (k->cpu_price > 0) {
    tsr_text_add(text, " (%s ", families[k->family].who);
    write_seconds(text, k->cpu_price);
    if (k->plan_price > 0) tsr_text_add(text, ", devices ");
    if (k->plan_price > 0) write_seconds(text, k->plan_price);
    tsr_text_add(text, ")");
  }
  tsr_text_add(text, "\n");
}

/* The sum of the calls' times; it may exceed the process's time if threads made calls at once. */
static void write_measured(tsr_text *text, double seconds) {
  if (!(seconds > 0)) return;
  tsr_text_add(text, " (took ");
  write_seconds(text, seconds);
  tsr_text_add(text, ")");
}

static int64_t sum(tsr_offload_family family, bool on_devices) {
  int64_t calls = 0;
  for (int why = 0; why < TSR_WHY_COUNT; why++)
    if (is_on_devices((tsr_offload_why)why) == on_devices) calls += report.calls[family][why];
  return calls;
}

static bool saw(tsr_offload_family family) {
  return sum(family, true) + sum(family, false) > 0;
}

static void write_sums(tsr_text *text, tsr_offload_family family, const tsr_offload_state *state) {
  long long there = (long long)sum(family, true), here = (long long)sum(family, false);
  const char *where = families[family].where;
  tsr_text_add(text, "tessera: %lld %s: %lld on devices, %lld %s\n", there + here,
               families[family].what, there, here, where);
  for (int why = 0; why < TSR_WHY_COUNT; why++)
    if (report.calls[family][why] > 0) {
      tsr_text_add(text, "tessera:   %lld %s: %s", (long long)report.calls[family][why],
                   is_on_devices((tsr_offload_why)why) ? "on devices" : where, reasons[why]);
      write_measured(text, report.seconds[family][why]);
      tsr_text_add(text, "\n");
    }
  if (state->error[0] != '\0') tsr_text_add(text, "tessera:   no devices: %s\n", state->error);
  tsr_text_add(text, "tessera: saved by the model: ");
  if (report.saved[family] < 0) tsr_text_add(text, "-"); /* forced calls may be slower */
  write_seconds(text, fabs(report.saved[family]));
  if (there > 0) {
    tsr_text_add(text, ", where devices take the planned ");
    write_seconds(text, report.planned[family]);
  }
  tsr_text_add(text, "\n");
}

/* The BLAS is listed even without a call if report.always is set. */
static void write_all_sums(tsr_text *text, const tsr_offload_state *state) {
  bool blas = report.always || saw(TSR_FAMILY_BLAS), pblas = saw(TSR_FAMILY_PBLAS);
  if (blas) write_sums(text, TSR_FAMILY_BLAS, state);
  if (pblas) write_sums(text, TSR_FAMILY_PBLAS, state);
}

static void write_kinds(tsr_text *text) {
  tsr_text_add(text, "tessera: %d distinct calls%s\n", report.count,
               report.lost > 0 ? " (and more, not kept)" : "");
  for (int i = 0; i < SLOTS; i++)
    if (report.kind[i].calls > 0) write_kind(text, &report.kind[i]);
}

/* Writes the report to the file that TESSERA_REPORT names, or to stderr; if neither is writable,
 * the report is lost. One write, so that the reports of several processes do not mix. */
static void print(const char *bytes) {
  int file = report.error;
  if (report.path != NULL)
    file = open(report.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 || write(file, bytes, strlen(bytes)) < 0) return;
  if (report.path != NULL) close(file);
}

void tsr_offload_report_write(const tsr_offload_state *state) {
  tsr_text text = TSR_TEXT_INIT;
  char *bytes = NULL;
  if (!tsr_offload_report_wanted()) return;
  pthread_mutex_lock(&report.lock);
  bool seen = report.always || saw(TSR_FAMILY_BLAS) || saw(TSR_FAMILY_PBLAS);
  if (seen && report.sums) write_all_sums(&text, state);
  if (seen && report.kind != NULL) write_kinds(&text);
  pthread_mutex_unlock(&report.lock);
  if (seen && tsr_text_take(&text, &bytes) == TSR_OK) print(bytes);
  tsr_dealloc(bytes);
  tsr_text_free(&text);
}
