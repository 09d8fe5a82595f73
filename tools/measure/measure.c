/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "measure.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TOGETHER = 16, WARM_UPS = 2, REPEATS = 10, PEER_REPEATS = 3 };
enum { MOST_CALLS = 100000 }; /* in a sample */

/* A case that is being measured. */
typedef struct trial {
  bench_case work;
  bench_side *side;
  bench_peer *peer; /* the side's; NULL: none */
  bench_row row;
  int calls;    /* in a sample */
  double spent; /* s, on samples so far */
} trial;

static int64_t number_or(int64_t given, int64_t otherwise) {
  return given >= 0 ? given : otherwise;
}

/* ---- Predictions of a plan ---- */

static void read_plan(const tsr_plan *plan, double rate, bench_row *row) {
  tsr_prediction p;
  char *text = NULL;
  if (tsr_plan_predict(plan, &p) != TSR_OK) return;
  row->predicted = p.seconds;
  row->floor = p.floor_seconds;
  row->plan = p.plan_seconds;
  /* Only for floors above 3 ms: in shorter calls devices are cooler, and faster, than when the rate
   * was measured under steady load. */
  if (rate > 0 && p.floor_seconds > 3e-3) (void)tsr_plan_floor(plan, rate, &row->floor);
  if (row->devices == 0) row->devices = p.devices;
  if (tsr_plan_print(plan, TSR_JSON, &text) == TSR_OK) row->facts = cJSON_Parse(text);
  free(text);
}

static void fill_prediction(trial *t) {
  tsr_plan *plan = NULL;
  bool known = t->work.line->by != BENCH_DOOR && !t->work.line->composed;
  if (t->work.plan) {
    read_plan(t->work.plan, t->side->rate, &t->row);
  } else if (known && tsr_plan_last(t->work.context, &plan) == TSR_OK) {
    read_plan(plan, t->side->rate, &t->row);
  }
  tsr_plan_destroy(plan);
}

/* ---- Calls ---- */

/* The energy that the context's devices have used [J]; 0: it is not known. */
static double energy_of(const trial *t) {
  double sum = 0, one;
  for (int d = 0; d < tsr_device_count(t->work.context); d++) {
    if (tsr_device_energy(t->work.context, d, &one) != TSR_OK) return 0;
    sum += one;
  }
  return sum;
}

/* Takes one sample; *seconds: s per call. The exit code. */
static int take_sample(trial *t, double *seconds) {
  double returned = 0;
  int code = bench_case_turn_to(&t->work);
  double begin = tool_now();
  for (int i = 0; i < t->calls && !code; i++) code = bench_case_call(&t->work, &returned);
  double elapsed = tool_now() - begin;
  *seconds = elapsed / t->calls;
  if (t->row.count < BENCH_MOST_REPEATS) t->row.returns[t->row.count] = returned;
  t->spent += elapsed;
  return code;
}

static double take_peer_sample(trial *t) {
  double begin = tool_now();
  for (int i = 0; i < t->calls; i++)
    if (!bench_peer_run(t->peer, &t->work.product)) return -1;
  return (tool_now() - begin) / t->calls;
}

/* Chooses the peer's fastest block extent. One call warms up. Since the peer's calls are slow, the
 * time of the best extent counts as its first sample. False: the peer cannot do the product. */
static bool choose_block(trial *t) {
  const int *blocks = bench_peer_blocks(t->peer);
  double least = -1;
  if (!blocks) return take_peer_sample(t) >= 0;
  bench_peer_set_block(t->peer, *blocks);
  if (take_peer_sample(t) < 0) return false;
  for (; *blocks; blocks++) {
    bench_peer_set_block(t->peer, *blocks);
    double seconds = take_peer_sample(t);
    if (seconds < 0) return false;
    if (least >= 0 && seconds >= least) continue;
    least = seconds;
    t->row.peer_block = *blocks;
  }
  bench_peer_set_block(t->peer, t->row.peer_block);
  t->row.peer_times[t->row.peer_count++] = least;
  return true;
}

static void find_peer(trial *t) {
  const bench_line *line = t->work.line;
  t->peer = bench_side_peer(t->side, line);
  if (!t->peer || choose_block(t)) return;
  tool_note("note: %s cannot do %s of this type", line->peer, bench_line_op(line));
  t->peer = NULL;
}

/* Whether the peer is measured after all of our samples: after a call the CPU's BLAS's threads wait
 * busily on every core for some time and delay the threads that serve devices. */
static bool comes_last(const trial *t) {
  return strcmp(t->work.line->peer, "blas") == 0 && t->work.line->by != BENCH_DOOR &&
         tsr_device_count(t->work.context) > 0;
}

static int peer_samples(const trial *t) {
  const bench_words *w = &t->work.line->words;
  bool xt = t->work.line->peer && strcmp(t->work.line->peer, "cublasxt") == 0;
  return (int)number_or(w->peer_repeat, xt ? PEER_REPEATS : number_or(w->repeat, REPEATS));
}

/* ---- Rounds of samples ---- */

/* Makes the calls before the samples: the first call (which plans, allocates and loads kernels),
 * warm-up calls, those of --settle. Sets the number of calls in a sample and finds the peer. */
static int start(trial *t) {
  const bench_words *w = &t->work.line->words;
  double once, begin;
  t->calls = 1;
  if (w->repeat == 0) return TOOL_OK; /* finish() makes the only call and checks it */
  int code = take_sample(t, &t->row.cold);
  if (code) return code;
  fill_prediction(t);
  for (int64_t i = 0; i < number_or(w->warm_up, WARM_UPS) && !code; i++)
    code = take_sample(t, &once);
  for (begin = tool_now(); !code && tool_now() - begin < w->settle;) code = take_sample(t, &once);
  if (!code && w->sample > 0) {
    code = take_sample(t, &once);
    double calls = w->sample / (once > 1e-9 ? once : 1e-9);
    t->calls = calls < 1 ? 1 : calls > MOST_CALLS ? MOST_CALLS : (int)calls;
  }
  find_peer(t);
  t->spent = 0;
  return code;
}

/* Whether the trial takes a sample in this round: all but the last one, which finish() takes,
 * unless its time (--seconds) is spent. */
static bool is_due(const trial *t, int round) {
  const bench_words *w = &t->work.line->words;
  return round < number_or(w->repeat, REPEATS) - 1 && (w->seconds < 0 || t->spent < w->seconds);
}

static int take_round(trial *t, int round) {
  bool in_turn = t->peer && !comes_last(t);
  int code = TOOL_OK;
  /* We and the peer go first in alternate rounds, so that drift cancels. */
  for (int i = 0; i < 2 && !code; i++) {
    if ((i + round) % 2 == 0 && is_due(t, round)) {
      code = take_sample(t, &t->row.times[t->row.count]);
      t->row.count += code == TOOL_OK;
    } else if ((i + round) % 2 == 1 && in_turn && t->row.peer_count < peer_samples(t)) {
      t->row.peer_times[t->row.peer_count++] = take_peer_sample(t);
    }
  }
  return code;
}

static int read_traffic(const trial *t, double factor, tsr_traffic *moved, tsr_traffic *loads) {
  int devices = tsr_device_count(t->work.context);
  int code = TOOL_OK;
  for (int d = -1; d < devices && !code; d++) {
    tsr_traffic now, *sum = d < 0 ? moved : &loads[d];
    code = tool_status(d < 0 ? tsr_context_traffic(t->work.context, &now)
                             : tsr_device_traffic(t->work.context, d, &now));
    if (code) break;
    sum->host_to_device += factor * now.host_to_device;
    sum->device_to_host += factor * now.device_to_host;
    sum->device_to_device += factor * now.device_to_device;
    sum->within_devices += factor * now.within_devices;
    sum->plans += (int64_t)factor * now.plans;
  }
  return code;
}

/* Takes the last sample, of one call, whose traffic is recorded and whose result is checked. Then
 * takes the peer's missing samples. */
static int finish(trial *t) {
  bench_row *row = &t->row;
  const bench_words *words = &t->work.line->words;
  bench_check check;
  int devices = tsr_device_count(t->work.context), left = t->calls;
  row->loads = calloc((size_t)devices + 1, sizeof *row->loads);
  if (!row->loads) return tool_fail("out of memory");
  row->load_count = devices;
  int code = bench_check_begin(&t->work, &check);
  t->calls = 1;
  if (!code && words->digest) code = bench_store_renew(&t->side->store, 2, t->work.line->homes[2]);
  if (!code) code = read_traffic(t, -1, &row->moved, row->loads);
  if (!code) code = take_sample(t, &row->times[row->count]);
  if (!code) code = read_traffic(t, 1, &row->moved, row->loads);
  if (!code) code = bench_check_compare(&check, &row->good);
  if (!code && words->digest) code = bench_check_digest(&t->work, &row->digest);
  bench_check_end(&check);
  row->checked = code == TOOL_OK;
  t->calls = left;
  /* The last sample does not count if the others have several calls each. */
  if (!code && (left == 1 || row->count == 0)) row->count++;
  if (!code && row->cold == 0) row->cold = row->times[0];
  if (!code && !row->facts) fill_prediction(t);
  while (!code && t->peer && row->peer_count < peer_samples(t))
    row->peer_times[row->peer_count++] = take_peer_sample(t);
  for (int d = 0; d < devices && !code; d++) {
    size_t bytes;
    code = tool_status(tsr_get_budget(t->work.context, d, &bytes));
    if (d == 0 || bytes < row->budget) row->budget = bytes;
  }
  return code;
}

/* The median of values, whose order is kept. */
static double median_of(const double *values, int count) {
  double sorted[BENCH_MOST_REPEATS];
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  return tool_median(sorted, count);
}

static void fill_medians(trial *t) {
  bench_row *row = &t->row;
  row->rate = t->side->rate;
  row->median = median_of(row->times, row->count);
  row->returned = median_of(row->returns, row->count);
  row->peer_s = t->peer ? median_of(row->peer_times, row->peer_count) : 0;
}

static void close_trial(trial *t) {
  bench_case_destroy(&t->work);
  cJSON_Delete(t->row.facts);
  free(t->row.loads);
}

static int open_trial(bench_sides *sides, int index, trial *t) {
  const bench_line *line = &sides->lines[index];
  t->row = (bench_row){.line = line, .devices = line->devices};
  int code = bench_sides_get(sides, index, &t->side);
  return code ? code : bench_case_create(line, &t->side->store, &t->work);
}

/* Takes all samples but the last ones. The energy is known where nothing but samples of one case
 * comes between two readings; a reading before each sample would let the devices cool down. */
static int take_rounds(trial *trials, int count, int rounds) {
  trial *only = count == 1 && !(trials->peer && !comes_last(trials)) ? trials : NULL;
  double before = only ? energy_of(only) : 0;
  int code = TOOL_OK;
  for (int r = 0; r < rounds && !code; r++)
    for (int i = 0; i < count && !code; i++) code = take_round(&trials[(i + r) % count], r);
  if (only && only->row.count > 0)
    only->row.joules = (energy_of(only) - before) / (only->row.count * only->calls);
  return code;
}

static int measure(bench_sides *sides, int first, trial *trials, int count) {
  int code = TOOL_OK, rounds = 0;
  bench_sides_turn_to(sides, first, first + count);
  for (int i = 0; i < count && !code; i++) code = open_trial(sides, first + i, &trials[i]);
  for (int i = 0; i < count && !code; i++) code = start(&trials[i]);
  for (int i = 0; i < count; i++) {
    int64_t repeat = number_or(sides->lines[first + i].words.repeat, REPEATS);
    if (repeat - 1 > rounds) rounds = (int)repeat - 1;
  }
  if (!code) code = take_rounds(trials, count, rounds);
  for (int i = 0; i < count && !code; i++) code = finish(&trials[i]);
  for (int i = 0; i < count && !code; i++) fill_medians(&trials[i]);
  return code;
}

/* ---- Timelines ---- */

static int draw(const bench_run *run, const trial *t) {
  double ignored;
  char *text = NULL;
  int code = tool_status(tsr_timeline_begin(t->work.context));
  if (!code) code = bench_case_run(&t->work, &ignored);
  if (!code) code = tool_status(tsr_timeline_end(t->work.context, &text));
  if (!code) code = output_write(&run->timeline, text, run->force);
  free(text);
  return code;
}

/* ---- Predictions ---- */

/* Plans in a new context, where no plan is cached, so that the time of planning is measured. */
static int plan_once(const bench_line *line, bench_row *row) {
  settings with = line->words.settings;
  tsr_context *context = NULL;
  tsr_plan *plan = NULL;
  with.engine = "cpu"; /* opens no devices, since nothing is run */
  int code = settings_open(&with, &context);
  if (!code) code = bench_case_plan(line, context, &plan);
  cJSON_Delete(row->facts);
  row->facts = NULL;
  if (!code) read_plan(plan, 0, row);
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
  return code;
}

static int predict(const bench_line *line, bench_row *row) {
  int64_t repeat = number_or(line->words.repeat, 1);
  int code = TOOL_OK;
  *row = (bench_row){.line = line, .devices = line->devices};
  for (int64_t i = 0; i < repeat && !code; i++) {
    code = plan_once(line, row);
    row->times[row->count++] = row->plan;
  }
  row->plan = median_of(row->times, row->count);
  row->count = 0;
  return code;
}

/* ---- All cases ---- */

/* The number of lines from `first` on that are measured in turn (--turn with one name). */
static int count_together(const bench_run *run, int first) {
  const char *turn = run->lines[first].words.turn;
  int count = 1;
  while (turn && first + count < run->count && run->lines[first + count].words.turn &&
         strcmp(run->lines[first + count].words.turn, turn) == 0)
    count++;
  return count;
}

static int check_turn(const bench_line *lines, int count) {
  for (int i = 1; i < count; i++)
    if (lines[i].what.type != lines[0].what.type)
      return tool_usage("--turn %s: cases that are measured in turn must have the same type",
                        lines[0].words.turn);
  if (count <= MOST_TOGETHER) return TOOL_OK;
  return tool_usage("--turn %s: at most %d cases in turn", lines[0].words.turn, MOST_TOGETHER);
}

static int note_all(const bench_run *run, const trial *trials, int count) {
  int code = TOOL_OK;
  for (int i = 0; i < count && !code; i++) {
    code = run->note(run->user, &trials[i].row);
    if (!code && trials[i].row.checked && !trials[i].row.good)
      code = tool_fail("the result is wrong");
  }
  return code;
}

static int do_turn(const bench_run *run, bench_sides *sides, int first, int count) {
  trial *trials = calloc((size_t)count, sizeof *trials);
  if (!trials) return tool_fail("out of memory");
  int code = check_turn(&run->lines[first], count);
  if (!code && run->predict) {
    code = predict(&run->lines[first], &trials[0].row);
  } else if (!code) {
    code = measure(sides, first, trials, count);
  }
  if (!code) code = note_all(run, trials, count);
  if (!code && run->timeline.path && first + count == run->count)
    code = draw(run, &trials[count - 1]);
  for (int i = 0; i < count; i++) close_trial(&trials[i]);
  free(trials);
  return code;
}

int bench_run_all(const bench_run *run) {
  bench_sides *sides = calloc(1, sizeof *sides);
  int worst = TOOL_OK;
  if (!sides) return tool_fail("out of memory");
  *sides =
      (bench_sides){.lines = run->lines, .count = run->count, .rate_seconds = run->rate_seconds};
  for (int i = 0, count; i < run->count; i += count) {
    count = run->predict ? 1 : count_together(run, i);
    tool_set_place(run->lines[i].place);
    int code = do_turn(run, sides, i, count);
    tool_set_place(NULL);
    if (code > worst) worst = code;
  }
  bench_sides_close(sides);
  free(sides);
  return worst;
}
