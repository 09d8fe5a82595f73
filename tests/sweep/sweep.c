/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "sweep.h"

#include "chance.h"
#include "float_modes.h"
#include "turn.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  PATIENCE = 120 /* s; a trial that takes longer hangs */,
  MOST_TRIALS = 100000,
  MOST_VISITS = 8,
  FUNCTIONS = 400
};

/* What the arguments ask for. */
typedef struct request {
  const char *visits[MOST_VISITS]; /* --visit, several times; none: all */
  const char *way;                 /* NULL: all */
  const char *setup;               /* "": nothing */
  long n;                          /* 0: all */
  long stride;                     /* trial n is followed by n + 1 + some n / stride; 0: by n + 1 */
  bool list;
} request;

/* ---- The trial that is under way ------------------------------------------- */

static char trial[240], came[80], why[900]; /* what it is, what came of it, what is wrong */
static bool armed;

static void say(const char *text) {
  ssize_t written = write(STDOUT_FILENO, text, strlen(text));
  (void)written;
}

/* A sanitizer reports what else there is to say. */
static void on_fatal(int number) {
  say("\nFAIL (crashed) "), say(trial), say("\n");
  signal(number, SIG_DFL);
  raise(number);
}

static void on_alarm(int number) {
  (void)number;
  say("\nFAIL (hangs) "), say(trial), say("\n0 passed, 1 failed\n");
  _exit(1);
}

static void watch(void) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) signal(fatal[i], on_fatal);
#else
  (void)on_fatal;
#endif
  signal(SIGALRM, on_alarm);
}

bool sweep_hold(bool right, const char *what, const char *file, int line) {
  const char *name = strrchr(file, '/');
  if (!right && why[0] == '\0')
    snprintf(why, sizeof why, "%s:%d: %s (%s)", name != NULL ? name + 1 : file, line, what,
             tsr_message());
  return right;
}

/* ---- Which functions were called ------------------------------------------- */

static const char *called[FUNCTIONS];
static int called_count;

static bool was_called(const char *name) {
  for (int i = 0; i < called_count; i++)
    if (strcmp(called[i], name) == 0) return true;
  return false;
}

/* Only what is called while something may fail counts. */
void sweep_note(const char *function) {
  if (!armed || was_called(function) || called_count == FUNCTIONS) return;
  called[called_count++] = function;
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  long length = ftell(file);
  rewind(file);
  char *text = calloc((size_t)length + 1, 1);
  if (text != NULL && fread(text, 1, (size_t)length, file) != (size_t)length) text[0] = '\0';
  fclose(file);
  return text;
}

/* The name before the next "(" of a declaration. */
static void name_of(const char *declaration, char name[80]) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
  const char *end = strchr(declaration, '('), *begin = end;
  while (begin > declaration && strchr(letters, begin[-1]) != NULL) begin--;
  snprintf(name, 80, "%.*s", (int)(end - begin), begin);
}

static bool is_hook(const char *name) {
  static const char *const hooks[] = {"tsr_alloc_fail_at", "tsr_alloc_fail_from", "tsr_host_delay",
                                      "tsr_host_pace"};
  for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
    if (strcmp(name, hooks[i]) == 0) return true;
  return false;
}

/* Functions that the header declares with TSR_API and that were not called: each is told. */
static int find_missing(const char *header) {
  char *text = read_text(header), name[80];
  int declared = 0, missing = 0;
  for (const char *at = text; at != NULL && (at = strstr(at, "\nTSR_API ")) != NULL; at += 9) {
    name_of(at + 9, name);
    declared++;
    if (was_called(name) || is_hook(name)) continue;
    printf("FAIL %s of %s is called by no visit: give it one\n", name, header);
    missing++;
  }
  free(text);
  if (declared == 0) printf("FAIL %s declares nothing\n", header);
  printf("%d functions of %s, %d of them visited\n", declared, header, declared - missing);
  return declared == 0 ? 1 : missing;
}

/* ---- Trials ----------------------------------------------------------------- */

static bool is_expected(tsr_status status) {
  return status == TSR_OK || status == TSR_ERR_MEMORY || status == TSR_ERR_DEVICE;
}

static void check_status(const sweep_outcome *o) {
  HOLD(is_expected(o->status) && is_expected(o->synced));
  HOLD(o->failed || sweep_done(o));
  HOLD(sweep_done(o) || tsr_message()[0] != '\0');
}

/* ---- The floating-point environment ----------------------------------------- */

static const float_modes all_modes[] = {
    {'u', 1, 0, 1}, {'n', 0, 0, 31}, {'z', 0, 1, 0}, {'d', 1, 1, 3}, {'n', 1, 0, 0}};
enum { MODES = sizeof all_modes / sizeof *all_modes };

/* The call of a trial, and what it began. A visit's own arithmetic is of whole numbers. */
static void make_call(const sweep *s, const sweep_visit *v, void *world, long n, sweep_outcome *o) {
  char changed[300] = "";
  float_modes_set(&all_modes[n % MODES]);
  float_state before = float_state_get();
  o->status = v->call(world);
  snprintf(o->said, sizeof o->said, "%s", o->status != TSR_OK ? tsr_message() : "");
  o->synced = s->rig->settle(world);
  if (!float_state_is(&before, FE_INEXACT | FE_UNDERFLOW, changed, sizeof changed))
    sweep_hold(false, changed, __FILE__, __LINE__);
}

static long ended_right; /* trials in which something failed */

/* Whether something failed in it. */
static bool run_trial(const sweep *s, const sweep_visit *v, const sweep_way *way, const char *setup,
                      long n) {
  sweep_outcome o = {.midway = way->midway};
  snprintf(trial, sizeof trial, "--setup \"%s\" --visit \"%s\" --way %s --n %ld", setup, v->name,
           way->name, n);
  why[0] = '\0';
  alarm(PATIENCE);
  void *world = s->rig->open(v, setup);
  if (v->before != NULL) v->before(world);
  (void)way->arm(n);
  armed = true;
  make_call(s, v, world, n, &o);
  armed = false;
  o.failed = way->arm(0) > 0;
  o.dead = way->lasting && o.failed && !sweep_done(&o);
  snprintf(came, sizeof came, "%s, then %s", tsr_status_name(o.status), tsr_status_name(o.synced));
  check_status(&o);
  if (v->after != NULL) v->after(world, &o);
  s->rig->close(world, &o);
  alarm(0);
  ended_right += o.failed && sweep_done(&o);
  return o.failed;
}

typedef struct tally {
  long trials, failures, passed, failed;
} tally;

static void count(tally *t, bool failure) {
  t->trials++;
  t->failures += failure;
  if (why[0] == '\0') {
    t->passed++;
    return;
  }
  t->failed++;
  if (t->failed <= 5) printf("FAIL %s\n     %s: %s\n", trial, came, why);
  fflush(stdout);
}

/* A sample of another turn has other trials, as many. */
static long next_of(const sweep_visit *v, const request *r, long n) {
  long part = r->stride > 0 ? n / r->stride : 0, rough = v->coarse > 0 ? n / v->coarse : 0;
  long step = part > rough ? part : rough;
  if (r->stride == 0) return n + 1 + step;
  chance_seed((uint64_t)(turn_of_samples() * MOST_TRIALS + n));
  return n + 1 + between(step / 2, step + step / 2);
}

static void run_visit(const sweep *s, const sweep_visit *v, const sweep_way *way, const request *r,
                      tally *total) {
  tally t = {0};
  bool failure = true;
  for (long n = r->n > 0 ? r->n : 1; failure; n = next_of(v, r, n)) {
    failure = run_trial(s, v, way, r->setup, n);
    count(&t, failure);
    failure = failure && n < MOST_TRIALS && r->n == 0;
  }
  printf("%-44s %-7s %6ld trials, %6ld failures%s\n", v->name, way->name, t.trials, t.failures,
         t.failed > 0 ? "  <-- FAILED" : "");
  fflush(stdout);
  total->trials += t.trials, total->failures += t.failures;
  total->passed += t.passed, total->failed += t.failed;
}

/* ---- The program ------------------------------------------------------------ */

static void add_visit(const char *name, request *r) {
  int i = 0;
  while (r->visits[i] != NULL) i++;
  r->visits[i] = name;
}

static bool parse(int argc, char **argv, request *r) {
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(argv[i], "--list") == 0) {
      r->list = true;
      continue;
    }
    if (value == NULL) return false;
    if (strcmp(argv[i], "--visit") == 0 && r->visits[MOST_VISITS - 1] == NULL)
      add_visit(value, r);
    else if (strcmp(argv[i], "--way") == 0)
      r->way = value;
    else if (strcmp(argv[i], "--setup") == 0)
      r->setup = value;
    else if (strcmp(argv[i], "--n") == 0)
      r->n = strtol(value, NULL, 10);
    else if (strcmp(argv[i], "--stride") == 0)
      r->stride = strtol(value, NULL, 10);
    else
      return false;
    i++;
  }
  return true;
}

static bool is_wanted(const request *r, const sweep_visit *v) {
  for (int i = 0; i < MOST_VISITS && r->visits[i] != NULL; i++)
    if (strcmp(r->visits[i], v->name) == 0) return true;
  return r->visits[0] == NULL;
}

int sweep_main(int argc, char **argv, const sweep *s) {
  request r = {.setup = ""};
  tally total = {0};
  int visits = 0;
  if (!parse(argc, argv, &r)) {
    fputs("usage: [--stride S] [--setup WORDS] [--visit NAME] [--way NAME] [--n N] [--list]\n",
          stderr);
    return 2;
  }
  watch();
  for (const sweep_visit *const *table = s->tables; *table != NULL; table++)
    for (const sweep_visit *v = *table; v->name != NULL; v++) {
      if (!is_wanted(&r, v)) continue;
      visits++;
      if (r.list) printf("%s\n", v->name);
      for (int w = 0; w < s->way_count && !r.list; w++)
        if (r.way == NULL || strcmp(r.way, s->ways[w].name) == 0)
          run_visit(s, v, &s->ways[w], &r, &total);
    }
  if (r.list) return 0;
  printf("%d visits, %ld trials, %ld with failures, of which %ld ended right\n", visits,
         total.trials, total.failures, ended_right);
  for (int i = 0; s->headers[i] != NULL && r.visits[0] == NULL && r.n == 0; i++)
    total.failed += find_missing(s->headers[i]);
  printf("%ld passed, %ld failed\n", total.passed, total.failed);
  return total.failed > 0 || total.passed == 0;
}
