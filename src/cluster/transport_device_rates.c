/* How fast panels come up to devices and go across, and C comes down: measured when a grid is made,
 * since no machine says what lies between the devices of two processes. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "cluster/model.h"
#include "cluster/transport_device.h"
#include "cluster/wait.h"

/* What a broadcast is done with in turn. */
enum { WARM, SMALL, LARGE };

static const size_t small_bytes = 8;

static tsr_status wait_for(tsr_device_transport *t, int queue) {
  tsr_wait wait = TSR_WAIT_INIT;
  bool passed = false;
  tsr_status status = TSR_OK;
  t->fabric->mark(t->carrier, queue, 0);
  while (!passed) {
    status = t->fabric->passed(t->carrier, queue, 0, &passed);
    if (!passed) tsr_wait_step(&wait, true);
  }
  return status;
}

/* The first failure. */
static tsr_status first_of(tsr_status status, tsr_status next) {
  return status != TSR_OK ? status : next;
}

static tsr_status wait_for_ways(tsr_device_transport *t, tsr_status status) {
  for (int way = 0; way < t->ways; way++)
    status = first_of(status, wait_for(t, TSR_FABRIC_UP + way));
  return status;
}

/* Piece number i of the sample, by one of the ways, between pinned memory and the devices. */
typedef tsr_status (*carry_piece)(tsr_device_transport *t, int way, size_t i);

static tsr_status raise_piece(tsr_device_transport *t, int way, size_t i) {
  size_t piece = t->fabric->piece;
  tsr_part part = {t->chunk[i % TSR_FABRIC_MARKS], piece, i * piece, piece, piece, 1};
  TSR_TRY(tsr_device_raise(t, way, t->sample, part.to, &part));
  return tsr_device_step_on(t, way, t->sample, part.to, piece);
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

/* All of it, even if something fails: others of the group would wait for the rest. */
static tsr_status send_sample(tsr_device_transport *t, int group, bool small) {
  size_t piece = small ? small_bytes : t->fabric->piece, sample = small ? piece : t->fabric->sample;
  tsr_status status = TSR_OK;
  for (size_t at = 0; at + piece <= sample; at += piece)
    status =
        first_of(status, t->fabric->across(t->carrier, group, (char *)t->sample + at, piece, 0));
  return first_of(status, wait_for(t, TSR_FABRIC_ACROSS));
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

static tsr_status time_across(tsr_device_transport *t, int group, double seconds[LARGE + 1]) {
  double begin = 0;
  for (int turn = WARM; turn <= LARGE; turn++) {
    TSR_TRY(begin_together(&t->grid->all, &begin));
    tsr_status status = TSR_OK;
    if (turn == WARM) status = send_sample(t, group, false); /* connects, and fills what there is */
    status = first_of(status, send_sample(t, group, turn != LARGE));
    seconds[turn] = tsr_now() - begin;
    TSR_TRY(tsr_agree(&t->grid->all, NULL, status));
  }
  return TSR_OK;
}

/* Two digits: what is noise should choose no cut. 0 is not known. */
static double rounded(double x) {
  if (x == 0) return 0;
  double unit = pow(10, floor(log10(x)) - 1);
  return unit * round(x / unit);
}

static void log_rates(const tsr_device_transport *t) {
  const tsr_host_rates *host = &t->host;
  char text[TSR_UP_RUNS * 32] = "";
  for (int i = 0, at = 0; i < TSR_UP_RUNS; i++)
    if (host->up_by_run[i] > 0 && host->up_by_run[i] < host->up)
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
  if (t->ways < tsr_device_count(t->grid->context))
    mine[DOWN] = 0; /* C has more links than these */
  TSR_TRY(tsr_agree(&t->grid->all, NULL, tsr_model_runs(t->grid->context, t->ways, &mine[RUNS])));
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
  for (int i = 0; i < TSR_UP_RUNS; i++)
    t->host.up_by_run[i] = fmin(rounded(all[RUNS + i]), t->host.up);
  if (t->grid->all.rank == 0) log_rates(t);
  return TSR_OK;
}
