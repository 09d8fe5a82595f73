/* How fast panels come up to devices, and go across: measured when a grid is made, since no machine
 * says what lies between the devices of two processes. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "dist/model.h"
#include "dist/transport_device.h"
#include "dist/wait.h"

/* What a broadcast is done with in turn. */
enum { WARM, SMALL, LARGE };

static const size_t small_bytes = 8;

static tsr_status wait_for(tsr_device_transport *t, int queue) {
  tsr_wait wait = TSR_WAIT_INIT;
  bool passed = false;
  tsr_status status = t->fabric->mark(t->carrier, queue, 0);
  while (status == TSR_OK && !passed) {
    status = t->fabric->passed(t->carrier, queue, 0, &passed);
    if (!passed) tsr_wait_step(&wait, true);
  }
  return status;
}

static tsr_status wait_for_ways(tsr_device_transport *t, tsr_status status) {
  for (int way = 0; way < t->ways; way++) {
    tsr_status waited = wait_for(t, TSR_FABRIC_UP + way);
    if (status == TSR_OK) status = waited;
  }
  return status;
}

/* One part, which begins where the piece does. */
static tsr_status raise_one(tsr_device_transport *t, int way, const tsr_part *part) {
  TSR_TRY(tsr_device_raise(t, way, t->sample, part->to, part));
  return tsr_device_step_on(t, way, t->sample, part->to, part->width * part->height);
}

/* Pieces of the sample, from pinned memory, by all ways in turn, as many by each; *bytes of them.
 */
static tsr_status raise_sample(tsr_device_transport *t, double *bytes) {
  size_t piece = t->fabric->piece, ways = (size_t)t->ways;
  size_t pieces = t->fabric->sample / piece / ways * ways;
  tsr_status status = TSR_OK;
  for (size_t i = 0; i < pieces && status == TSR_OK; i++) {
    tsr_part part = {t->chunk[i % TSR_FABRIC_MARKS], piece, i * piece, piece, piece, 1};
    status = raise_one(t, (int)(i % ways), &part);
  }
  *bytes = (double)(pieces * piece);
  return wait_for_ways(t, status);
}

/* As many runs as a piece has, each in pages of its own as those of a large matrix are, out of all
 * the memory that there is for pieces; *bytes of them. */
static tsr_status raise_runs(tsr_device_transport *t, size_t run, double *bytes) {
  enum { TIMES = 4, MOST_RUNS = 1024 };
  size_t piece = t->fabric->piece, height = piece / run < MOST_RUNS ? piece / run : MOST_RUNS;
  tsr_part part = {.from = t->chunk[0],
                   .from_pitch = TSR_FABRIC_MARKS * piece / height,
                   .to_pitch = run,
                   .width = run,
                   .height = height};
  tsr_status status = TSR_OK;
  for (int i = 0; i < TIMES * t->ways && status == TSR_OK; i++) {
    part.to = (size_t)(i % t->ways) * piece;
    status = raise_one(t, i % t->ways, &part);
  }
  *bytes = (double)((size_t)(TIMES * t->ways) * run * height);
  return wait_for_ways(t, status);
}

static tsr_status send_sample(tsr_device_transport *t, int group, bool small) {
  size_t piece = small ? small_bytes : t->fabric->piece, sample = small ? piece : t->fabric->sample;
  tsr_status status = TSR_OK;
  for (size_t at = 0; at + piece <= sample && status == TSR_OK; at += piece)
    status = t->fabric->across(t->carrier, group, (char *)t->sample + at, piece, 0);
  tsr_status waited = wait_for(t, TSR_FABRIC_ACROSS);
  return status != TSR_OK ? status : waited;
}

/* All at the same time, as they would be in a product. */
static tsr_status begin_together(const tsr_peers *peers, double *begin) {
  tsr_status status = tsr_mpi_check(MPI_Barrier(peers->comm), "MPI_Barrier");
  *begin = tsr_now();
  return status;
}

static tsr_status time_up(tsr_device_transport *t, double *rate) {
  double begin = 0, bytes = 0;
  for (int turn = 0; turn < 2; turn++) { /* the first one warms up */
    TSR_TRY(begin_together(&t->grid->all, &begin));
    TSR_TRY(tsr_agree(&t->grid->all, NULL, raise_sample(t, &bytes)));
    *rate = bytes / (tsr_now() - begin);
  }
  return TSR_OK;
}

/* Rates for runs that are shorter than a piece. */
static tsr_status time_runs(tsr_device_transport *t, double rate[TSR_UP_RUNS]) {
  for (int i = 0; i < TSR_UP_RUNS; i++) {
    size_t run = (size_t)TSR_UP_SHORTEST << i;
    double begin = 0, bytes = 0;
    rate[i] = INFINITY;
    if (run >= t->fabric->piece) continue;
    TSR_TRY(begin_together(&t->grid->all, &begin));
    TSR_TRY(tsr_agree(&t->grid->all, NULL, raise_runs(t, run, &bytes)));
    rate[i] = bytes / (tsr_now() - begin);
  }
  return TSR_OK;
}

static tsr_status time_across(tsr_device_transport *t, int group, double seconds[LARGE + 1]) {
  double begin = 0;
  for (int turn = WARM; turn <= LARGE; turn++) {
    TSR_TRY(begin_together(&t->grid->all, &begin));
    tsr_status status = TSR_OK;
    if (turn == WARM) status = send_sample(t, group, false); /* connects, and fills what there is */
    if (status == TSR_OK) status = send_sample(t, group, turn != LARGE);
    seconds[turn] = tsr_now() - begin;
    TSR_TRY(tsr_agree(&t->grid->all, NULL, status));
  }
  return TSR_OK;
}

/* Two digits: what is noise should choose no cut. */
static double rounded(double x) {
  double unit = pow(10, floor(log10(x)) - 1);
  return unit * round(x / unit);
}

static void log_rates(const tsr_device_transport *t) {
  char text[TSR_UP_RUNS * 32] = "";
  for (int i = 0, at = 0; i < TSR_UP_RUNS; i++)
    if (t->up_by_run[i] > 0)
      at += snprintf(text + at, sizeof text - (size_t)at, ", %.2g in runs of %d KB",
                     1e-9 * t->up_by_run[i], (TSR_UP_SHORTEST << i) / 1024);
  tsr_log(TSR_LOG_INFO, "panels come up at %.2g GB/s%s; across at %.2g after %.2g us",
          1e-9 * t->up_rate, text, 1e-9 * t->bandwidth, 1e6 * t->latency);
}

tsr_status tsr_device_measure(tsr_device_transport *t) {
  double sample = (double)t->fabric->sample;
  enum { RATES = 3 }; /* up, across, - latency; and up by runs: the least counts */
  double mine[RATES + TSR_UP_RUNS] = {INFINITY, INFINITY, 0}, all[RATES + TSR_UP_RUNS];
  TSR_TRY(time_up(t, &mine[0]));
  TSR_TRY(time_runs(t, &mine[RATES]));
  for (int i = 0; i < TSR_FABRIC_GROUPS; i++) {
    double seconds[LARGE + 1];
    if (t->group[i].size == 1) continue;
    TSR_TRY(time_across(t, i, seconds));
    mine[1] = fmin(mine[1], sample / fmax(seconds[LARGE] - seconds[SMALL], 1e-9));
    mine[2] = fmin(mine[2], -seconds[SMALL]);
  }
  int code = MPI_Allreduce(mine, all, RATES + TSR_UP_RUNS, MPI_DOUBLE, MPI_MIN, t->grid->all.comm);
  TSR_TRY(tsr_mpi_check(code, "MPI_Allreduce"));
  t->up_rate = rounded(all[0]);
  t->bandwidth = rounded(all[1]);
  t->latency = rounded(fmax(-all[2], 1e-9));
  for (int i = 0; i < TSR_UP_RUNS; i++) {
    double rate = isinf(all[RATES + i]) ? 0 : rounded(all[RATES + i]);
    t->up_by_run[i] = rate < t->up_rate ? rate : 0;
  }
  if (t->grid->all.rank == 0) log_rates(t);
  return TSR_OK;
}

/* ---- What matrices show ------------------------------------------------------ */

/* Of the shorter runs; -1: as good as none. */
static int place_of(size_t run) {
  for (int i = 0; i < TSR_UP_RUNS; i++)
    if (run < (size_t)TSR_UP_SHORTEST << (i + 1)) return run < TSR_UP_SHORTEST ? -1 : i;
  return -1;
}

void tsr_device_note(tsr_device_transport *t, size_t run, double rate) {
  int i = place_of(run);
  if (i >= 0 && (long long)rate > atomic_load(&t->seen[i]))
    atomic_store(&t->seen[i], (long long)rate);
}

/* The least of all processes; nothing where some have seen none. */
static tsr_status share_seen(tsr_device_transport *t, double all[TSR_UP_RUNS]) {
  double mine[TSR_UP_RUNS];
  for (int i = 0; i < TSR_UP_RUNS; i++)
    mine[i] = (double)t->ways * (double)atomic_exchange(&t->seen[i], 0);
  int code = MPI_Allreduce(mine, all, TSR_UP_RUNS, MPI_DOUBLE, MPI_MIN, t->grid->all.comm);
  return tsr_mpi_check(code, "MPI_Allreduce");
}

/* What was measured with little memory is believed until a matrix shows otherwise: its pages may be
 * harder to find (on H200 runs of 8 KB came up at 49 GB/s from 64 MB, at 32 from a matrix). */
tsr_status tsr_device_learn(void *opened, tsr_model *model) {
  enum { LESSONS = 4 };
  static const double doubtful = 0.85;
  tsr_device_transport *t = opened;
  double seen[TSR_UP_RUNS];
  if (t->lessons == LESSONS) return TSR_OK;
  t->lessons++;
  TSR_TRY(share_seen(t, seen));
  for (int i = TSR_UP_RUNS - 1; i >= 0; i--) {
    double believed =
        tsr_model_up(model->up_rate, model->up_by_run, (double)(TSR_UP_SHORTEST << i));
    if (seen[i] > 0 && seen[i] < doubtful * believed) model->up_by_run[i] = rounded(seen[i]);
    if (i + 1 < TSR_UP_RUNS && model->up_by_run[i + 1] > 0 &&
        (model->up_by_run[i] == 0 || model->up_by_run[i] > model->up_by_run[i + 1]))
      model->up_by_run[i] = model->up_by_run[i + 1]; /* shorter ones are no faster */
  }
  return TSR_OK;
}
