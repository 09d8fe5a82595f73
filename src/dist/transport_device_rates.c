/* How fast panels come up to devices and go across, and C comes down: measured when a grid is made,
 * since no machine says what lies between the devices of two processes. */
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

/* Piece number i of the sample, by one of the ways, between pinned memory and the devices. */
typedef tsr_status (*carry_piece)(tsr_device_transport *t, int way, size_t i);

static tsr_status raise_piece(tsr_device_transport *t, int way, size_t i) {
  size_t piece = t->fabric->piece;
  tsr_part part = {t->chunk[i % TSR_FABRIC_MARKS], piece, i * piece, piece, piece, 1};
  return raise_one(t, way, &part);
}

static tsr_status lower_piece(tsr_device_transport *t, int way, size_t i) {
  size_t piece = t->fabric->piece;
  const char *from = way == 0 ? (char *)t->sample + i * piece : t->stone[way];
  return t->fabric->down(t->carrier, way, t->chunk[i % TSR_FABRIC_MARKS], from, piece);
}

/* By all ways in turn, as many by each; *bytes of them. */
static tsr_status carry_sample(tsr_device_transport *t, carry_piece carry, double *bytes) {
  size_t ways = (size_t)t->ways, pieces = t->fabric->sample / t->fabric->piece / ways * ways;
  tsr_status status = TSR_OK;
  for (size_t i = 0; i < pieces && status == TSR_OK; i++) status = carry(t, (int)(i % ways), i);
  *bytes = (double)(pieces * t->fabric->piece);
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

static tsr_status time_sample(tsr_device_transport *t, carry_piece carry, double *rate) {
  double begin = 0, bytes = 0;
  for (int turn = 0; turn < 2; turn++) { /* the first one warms up */
    TSR_TRY(begin_together(&t->grid->all, &begin));
    TSR_TRY(tsr_agree(&t->grid->all, NULL, carry_sample(t, carry, &bytes)));
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
  const tsr_host_rates *host = &t->host;
  char text[TSR_UP_RUNS * 32] = "";
  for (int i = 0, at = 0; i < TSR_UP_RUNS; i++)
    if (host->up_by_run[i] > 0)
      at += snprintf(text + at, sizeof text - (size_t)at, ", %.2g in runs of %d KB",
                     1e-9 * host->up_by_run[i], (TSR_UP_SHORTEST << i) / 1024);
  tsr_log(TSR_LOG_INFO,
          "panels come up at %.2g GB/s%s; across at %.2g after %.2g us; C down at %.2g",
          1e-9 * host->up, text, 1e-9 * t->bandwidth, 1e6 * t->latency, 1e-9 * host->down);
}

tsr_status tsr_device_measure(tsr_device_transport *t) {
  double sample = (double)t->fabric->sample;
  enum { UP, DOWN, ACROSS, LATENCY, RUNS, RATES = RUNS + TSR_UP_RUNS }; /* the least counts */
  double mine[RATES] = {[ACROSS] = INFINITY}, all[RATES];
  TSR_TRY(time_sample(t, raise_piece, &mine[UP]));
  TSR_TRY(time_sample(t, lower_piece, &mine[DOWN]));
  TSR_TRY(time_runs(t, &mine[RUNS]));
  for (int i = 0; i < TSR_FABRIC_GROUPS; i++) {
    double seconds[LARGE + 1];
    if (t->group[i].size == 1) continue;
    TSR_TRY(time_across(t, i, seconds));
    mine[ACROSS] = fmin(mine[ACROSS], sample / fmax(seconds[LARGE] - seconds[SMALL], 1e-9));
    mine[LATENCY] = fmin(mine[LATENCY], -seconds[SMALL]);
  }
  int code = MPI_Allreduce(mine, all, RATES, MPI_DOUBLE, MPI_MIN, t->grid->all.comm);
  TSR_TRY(tsr_mpi_check(code, "MPI_Allreduce"));
  t->host.up = rounded(all[UP]);
  t->host.down = rounded(all[DOWN]);
  t->bandwidth = rounded(all[ACROSS]);
  t->latency = rounded(fmax(-all[LATENCY], 1e-9));
  for (int i = 0; i < TSR_UP_RUNS; i++) {
    double rate = isinf(all[RUNS + i]) ? 0 : rounded(all[RUNS + i]);
    t->host.up_by_run[i] = rate < t->host.up ? rate : 0;
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
  double seen[TSR_UP_RUNS], *by_run = model->host.up_by_run;
  if (t->lessons == LESSONS) return TSR_OK;
  t->lessons++;
  TSR_TRY(share_seen(t, seen));
  for (int i = TSR_UP_RUNS - 1; i >= 0; i--) {
    double believed = tsr_model_up(&model->host, (double)(TSR_UP_SHORTEST << i));
    if (seen[i] > 0 && seen[i] < doubtful * believed) by_run[i] = rounded(seen[i]);
    if (i + 1 < TSR_UP_RUNS && by_run[i + 1] > 0 && (by_run[i] == 0 || by_run[i] > by_run[i + 1]))
      by_run[i] = by_run[i + 1]; /* shorter ones are no faster */
  }
  return TSR_OK;
}
