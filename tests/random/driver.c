/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The random-problem driver: the level-3 BLAS through the public interface, against a plain
 * reference. Every problem is one line, printed when it fails, that replays it:
 *
 *   random_driver --seed 1 --count 2000
 *   random_driver --op trsm --engine cpu
 *   random_driver --case "op=gemm type=d m=37 ..."
 *   random_driver --placements --engine cuda --devices 1,2,4
 *   random_driver --engine hip --modelled   (no device is measured)
 *   random_driver --count 200 --turns 200   (each turn has the next 200: turn.h)
 *
 * random_refusals is the same program, but others take devices' memory while problems run:
 *
 *   random_refusals --seed 1 --count 2000
 *   random_refusals --refuse 3,1 --case "op=gemm type=d m=37 ..."
 */
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "refusals.h"
#include "run.h"
#include "turn.h"

enum { MAX_COUNTS = 8 };

static unsigned patience = 120; /* seconds for one problem */

typedef struct arguments {
  const char *engine;
  uint64_t seed;
  int64_t first, count;
  int devices[MAX_COUNTS], counts; /* --devices: numbers of devices; the last is the most */
  int operation;                   /* --op: no other; PROBLEM_ANY: all */
  const char *line, *cases;
  refusals refuse; /* --refuse, for a case */
  bool placements, verbose;
  bool modelled; /* devices are those of a machine string, not measured */
} arguments;

static int64_t passed, failed;
static int64_t short_of_memory, declined; /* problems that met a refusal, and that ended with one */
static runner contexts;
static refusals refused; /* by this problem's calls */
static atomic_long met;

/* ---- When a problem hangs or crashes, its line is what is wanted ---- */

static char current[PROBLEM_LINE + 64], with[64]; /* the line, and --refuse */
static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
enum { FATALS = sizeof fatal / sizeof *fatal };
static struct sigaction before[FATALS];

static void say(const char *text) {
  ssize_t written = write(STDOUT_FILENO, text, strlen(text));
  (void)written;
}

static void on_fatal(int number) {
  say("\nFAIL (crashed) "), say(with), say(current), say("\n");
  for (int i = 0; i < FATALS; ++i) /* to what was there before: a sanitizer's report, or the end */
    if (fatal[i] == number) sigaction(number, &before[i], NULL);
  if (number == SIGABRT) raise(number);
}

static void on_alarm(int number) {
  (void)number;
  char total[64];
  say("\nFAIL (hangs) "), say(with), say(current);
  snprintf(total, sizeof total, "\n%" PRId64 " passed, %" PRId64 " failed\n", passed, failed + 1);
  say(total);
  _exit(1);
}

static void watch(void) {
  struct sigaction action = {.sa_handler = on_fatal};
  for (int i = 0; i < FATALS; ++i) sigaction(fatal[i], &action, &before[i]);
  signal(SIGALRM, on_alarm);
}

/* ---- Running ---- */

/* Memory that earlier calls have left would spare these from asking for any. */
static void refuse(tsr_context *context, bool begins) {
  if (begins) (void)tsr_trim(context);
  met += refusals_set(begins ? refused : (refusals){0, 0});
}

/* What the CPU cannot do, or not with the same bits, has to have its memory. */
static bool may_decline(const problem *p) {
  bool on_device = false;
  for (int i = 0; i < 3; ++i) on_device |= p->home[i] >= '0' && p->home[i] <= '9';
  return on_device || p->repro;
}

static bool is_declined(const problem *p, const char *why) {
  return met > 0 && may_decline(p) && strncmp(why, "too little memory", 17) == 0;
}

/* A matrix on a device without the vendor's solver: the call says what is missing, and touches
 * nothing. */
static bool lacks_solver(const problem *p, const char *why) {
  return p->operation == (tsr_operation)PROBLEM_POTRF && strcmp(p->engine, "host") != 0 &&
         p->home[2] >= '0' && p->home[2] <= '9' && strstr(why, "TSR_ERR_UNSUPPORTED") != NULL;
}

static void run(const problem *p, bool verbose) {
  char why[RUN_WHY] = "";
  problem_print(p, current);
  if (REFUSES) snprintf(with, sizeof with, "--refuse %ld,%ld ", refused.nth, refused.count);
  if (verbose) printf("%s%s\n", with, current), fflush(stdout);
  met = 0;
  alarm(patience);
  bool ok = run_problem(&contexts, p, why);
  alarm(0);
  short_of_memory += met > 0;
  if (ok || is_declined(p, why) || lacks_solver(p, why)) {
    ++passed;
    declined += !ok;
    return;
  }
  ++failed;
  printf("FAIL %s%s\n     %s\n", with, current, why);
  fflush(stdout);
}

/* Calls that may be declined come alone: what those before did would be there, and operands on
 * devices are made while nothing is refused. A plan is for the memory that it was made for. */
static void draw_refusals(const arguments *args, int64_t index, problem *p) {
  rng random = {args->seed * 0x9fb21c651e98df25u + (uint64_t)index};
  rng_next(&random);
  refused = refusals_draw(&random);
  if (p->mode == MODE_PLAN) p->mode = MODE_BLOCKING;
  if (!may_decline(p)) return;
  p->calls = p->sets = 1;
  p->threads = THREADS_ONE;
}

static void run_random(const arguments *args) {
  problem_range range = {args->engine, args->devices[args->counts - 1], args->operation};
  for (int64_t i = 0; i < args->count; ++i) {
    problem p;
    problem_draw(args->seed, args->first + i, &range, &p);
    if (args->modelled && p.devices > 0 && p.machine == PROBLEM_NO_MACHINE)
      p.machine = (int)(i % problem_machines());
    if (REFUSES) draw_refusals(args, args->first + i, &p);
    run(&p, args->verbose);
  }
}

/* Every mixture of three homes, on a product of many tiles and on a ragged, thin one. */
static const struct {
  int64_t m, n, k, tile;
  char ta, tb, alpha, beta;
} shapes[] = {{150, 130, 170, 64, 'N', 'T', 'r', 'r'}, {97, 3, 83, 32, 'T', 'N', '1', '0'}};

/* The problem of a mixture, but for its homes: types and layouts in turn. */
static problem placed(const arguments *args, int devices, size_t shape, int mixture) {
  problem p = problem_plain();
  snprintf(p.engine, sizeof p.engine, "%s", args->engine);
  p.devices = devices;
  p.machine = args->modelled || strcmp(args->engine, "host") == 0 ? 0 : PROBLEM_NO_MACHINE;
  p.operation = args->operation == PROBLEM_ANY ? TSR_GEMM : (tsr_operation)args->operation;
  p.type = "dszc"[mixture % 4], p.layout = "CR"[mixture / 4 % 2];
  p.side = "LR"[mixture / 3 % 2], p.uplo = "LU"[mixture / 5 % 2];
  p.tile = shapes[shape].tile;
  p.ta = shapes[shape].ta, p.tb = shapes[shape].tb;
  p.m = shapes[shape].m, p.n = shapes[shape].n, p.k = shapes[shape].k;
  p.alpha = shapes[shape].alpha, p.beta = shapes[shape].beta;
  p.seed = args->seed + (uint64_t)mixture;
  problem_settle(&p);
  return p;
}

static void run_placements_on(const arguments *args, int devices) {
  char homes[16] = {HOME_HOST, HOME_PINNED, HOME_PART, HOME_PART_REGISTERED};
  int count = 4;
  for (int d = 0; d < devices; ++d) homes[count++] = (char)('0' + d);
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; ++s)
    for (int i = 0; i < count * count * count; ++i) {
      problem p = placed(args, devices, s, i);
      p.home[0] = homes[i / count / count];
      p.home[1] = homes[i / count % count];
      p.home[2] = homes[i % count];
      run(&p, args->verbose);
    }
}

static bool run_line(const arguments *args, const char *line) {
  problem p;
  const char *wrong;
  if (!problem_parse(line, &p, &wrong)) {
    fprintf(stderr, "random_driver: cannot understand the case at \"%.40s\"\n", wrong);
    return false;
  }
  refused = args->refuse;
  run(&p, true);
  return true;
}

/* Cases that once failed, one a line; lines that begin with # say why. */
static bool run_cases(const arguments *args) {
  static char line[PROBLEM_LINE];
  FILE *file = fopen(args->cases, "r");
  bool good = file != NULL;
  if (!good) fprintf(stderr, "random_driver: cannot read %s\n", args->cases);
  while (good && fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (line[0] != '\0' && line[0] != '#') good = run_line(args, line);
  }
  if (file != NULL) fclose(file);
  return good;
}

/* ---- Arguments ---- */

static int usage(void) {
  fputs(
      "usage: random_driver [--engine cuda|hip|host|cpu] [--op NAME] [--seed S] [--first I] "
      "[--count "
      "N] [--turns N]\n"
      "                     [--devices N,N...] [--modelled] [--patience SECONDS] [--verbose]\n"
      "                     [--placements | --case LINE | --cases FILE]\n",
      stderr);
  return 2;
}

static bool parse_devices(const char *text, arguments *args) {
  char *end;
  for (args->counts = 0; args->counts < MAX_COUNTS; text = end + 1) {
    long value = strtol(text, &end, 10);
    if (end == text || value < 0 || value > 8) return false;
    args->devices[args->counts++] = (int)value;
    if (*end != ',') return *end == 0;
  }
  return false;
}

static bool parse_operation(const char *name, arguments *args) {
  tsr_operation operation;
  if (!problem_operation(name, &operation)) return false;
  return args->operation = (int)operation, true;
}

static bool parse_arguments(int argc, char **argv, arguments *args) {
  for (int i = 1; i < argc; ++i) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(name, "--placements") == 0) {
      args->placements = true;
      continue;
    }
    if (strcmp(name, "--modelled") == 0) {
      args->modelled = true;
      continue;
    }
    if (strcmp(name, "--verbose") == 0) {
      args->verbose = true;
      continue;
    }
    if (!value) return false;
    ++i;
    if (strcmp(name, "--engine") == 0)
      args->engine = value;
    else if (strcmp(name, "--seed") == 0)
      args->seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "--first") == 0)
      args->first = strtoll(value, NULL, 10);
    else if (strcmp(name, "--turns") == 0)
      args->first += turn_of_samples() * strtoll(value, NULL, 10);
    else if (strcmp(name, "--count") == 0)
      args->count = strtoll(value, NULL, 10);
    else if (strcmp(name, "--case") == 0)
      args->line = value;
    else if (strcmp(name, "--cases") == 0)
      args->cases = value;
    else if (strcmp(name, "--patience") == 0)
      patience = (unsigned)strtoul(value, NULL, 10);
    else if (strcmp(name, "--refuse") == 0) {
      if (sscanf(value, "%ld,%ld", &args->refuse.nth, &args->refuse.count) != 2) return false;
    } else if (!(strcmp(name, "--devices") == 0 && parse_devices(value, args)) &&
               !(strcmp(name, "--op") == 0 && parse_operation(value, args)))
      return false;
  }
  return true;
}

/* Without --devices: as many as there are, or eight emulated ones. */
static bool find_devices(arguments *args) {
  if (args->counts > 0) return true;
  args->counts = 1;
  args->devices[0] = strcmp(args->engine, "host") == 0 ? 8 : 0;
  if (args->devices[0] > 0 || strcmp(args->engine, "cpu") == 0) return true;
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context;
  options.engine = args->engine;
  if (tsr_context_create(&options, &context) != TSR_OK) {
    fprintf(stderr, "random_driver: %s\n", tsr_message());
    return false;
  }
  args->devices[0] = tsr_device_count(context);
  tsr_context_destroy(context);
  return true;
}

int main(int argc, char **argv) {
  arguments args = {.engine = "host", .seed = 1, .count = 200, .operation = PROBLEM_ANY};
  if (!parse_arguments(argc, argv, &args)) return usage();
  if (strlen(args.engine) >= sizeof((problem *)0)->engine) return usage();
  watch();
  if (REFUSES) run_beside_calls = refuse;
  if (args.line) {
    if (!run_line(&args, args.line)) return 2;
  } else if (args.cases) {
    if (!run_cases(&args)) return 2;
  } else {
    if (!find_devices(&args)) return 1;
    if (args.placements)
      for (int i = 0; i < args.counts; ++i) run_placements_on(&args, args.devices[i]);
    else
      run_random(&args);
  }
  runner_close(&contexts);
  if (contexts.raised > 0)
    printf("%" PRId64 " were refused for memory and passed with the least budget named\n",
           contexts.raised);
  if (REFUSES)
    printf("%" PRId64 " met refusals, %" PRId64 " of them were declined, untouched\n",
           short_of_memory, declined);
  printf("%" PRId64 " passed, %" PRId64 " failed\n", passed, failed);
  return failed > 0;
}
