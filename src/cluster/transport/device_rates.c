/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Measures how fast panels are uploaded and broadcast, and C is downloaded. This is done when a
 * grid is made, because no machine file says what connects the devices of two processes. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "cluster/plan/model.h"
#include "cluster/transport/device.h"
#include "cluster/transport/wait.h"

/* The turns in which broadcasts are timed. */
enum { WARM, SMALL, LARGE };

static const size_t small_bytes = 8;

/* Waits until a queue is empty. */
static tsr_status wait_for(tsr_device_transport *t, int queue) {
  tsr_wait wait = TSR_WAIT_INIT;
  bool complete = false;
  tsr_status status = TSR_OK;
  t->fabric->record(t->carrier, queue, 0);
  while (!complete) {
    status = t->fabric->query(t->carrier, queue, 0, &complete);
    if (!complete) tsr_wait_step(&wait, true);
  }
  return status;
}

/* The first failure of two statuses. */
static tsr_status first_of(tsr_status status, tsr_status next) {
  return status != TSR_OK ? status : next;
}

static tsr_status wait_for_ways(tsr_device_transport *t, tsr_status status) {
  for (int way = 0; way < t->ways; way++)
    status = first_of(status, wait_for(t, TSR_FABRIC_UP + way));
  return status;
}

/* Copies piece number i of the sample by a way, between pinned memory and devices. */
typedef tsr_status (*carry_piece)(tsr_device_transport *t, int way, size_t i);

static tsr_status upload_piece(tsr_device_transport *t, int way, size_t i) {
  size_t piece = t->fabric->piece;
  tsr_panel_part part = {t->buffer[i % TSR_FABRIC_EVENTS], piece, i * piece, piece, piece, 1};
  TSR_TRY(tsr_device_upload(t, way, t->sample, part.to, &part));
  return tsr_device_forward(t, way, t->sample, part.to, piece);
}

static tsr_status download_piece(tsr_device_transport *t, int way, size_t i) {
  size_t piece = t->fabric->piece;
  const char *from = way == 0 ? (char *)t->sample + i * piece : t->relay[way];
  return t->fabric->down(t->carrier, way, t->buffer[i % TSR_FABRIC_EVENTS], from, piece);
}

/* Copies the sample by all ways in turn, as many pieces by each, and waits. *bytes: of these. */
static tsr_status carry_sample(tsr_device_transport *t, carry_piece carry, double *bytes) {
  size_t ways = (size_t)t->ways, pieces = t->fabric->sample / t->fabric->piece / ways * ways;
  tsr_status status = TSR_OK;
  for (size_t i = 0; i < pieces && status == TSR_OK; i++) status = carry(t, (int)(i % ways), i);
  *bytes = (double)(pieces * t->fabric->piece);
  return wait_for_ways(t, status);
}

/* Broadcasts the sample (small: 8 bytes) from rank 0 of the group, and waits. It goes on after an
 * error, because the others of the group wait for the rest. */
static tsr_status send_sample(tsr_device_transport *t, int group, bool small) {
  size_t piece = small ? small_bytes : t->fabric->piece, sample = small ? piece : t->fabric->sample;
  tsr_status status = TSR_OK;
  for (size_t at = 0; at + piece <= sample; at += piece)
    status =
        first_of(status, t->fabric->across(t->carrier, group, (char *)t->sample + at, piece, 0));
  return first_of(status, wait_for(t, TSR_FABRIC_ACROSS));
}

/* Makes all processes begin at the same time, as in a product. *begin: that time. */
static tsr_status begin_together(const tsr_peers *peers, double *begin) {
  tsr_status status = tsr_mpi_check(MPI_Barrier(peers->comm), "MPI_Barrier");
  *begin = tsr_now();
  return status;
}

/* *rate: bytes/s of copies of the sample on all processes at once. */
static tsr_status time_sample(tsr_device_transport *t, carry_piece carry, double *rate) {
  double begin = 0, bytes = 0;
  for (int turn = 0; turn < 2; turn++) { /* the first turn warms up */
    TSR_TRY(begin_together(&t->grid->all, &begin));
    TSR_TRY(tsr_agree(&t->grid->all, NULL, carry_sample(t, carry, &bytes)));
    *rate = bytes / (tsr_now() - begin);
  }
  return TSR_OK;
}

/* seconds[]: the time of each turn's broadcasts in a group. */
static tsr_status time_across(tsr_device_transport *t, int group, double seconds[LARGE + 1]) {
  double begin = 0;
  for (int turn = WARM; turn <= LARGE; turn++) {
    TSR_TRY(begin_together(&t->grid->all, &begin));
    tsr_status status = TSR_OK;
    if (turn == WARM) status = send_sample(t, group, false); /* NCCL connects and allocates */
    status = first_of(status, send_sample(t, group, turn != LARGE));
    seconds[turn] = tsr_now() - begin;
    TSR_TRY(tsr_agree(&t->grid->all, NULL, status));
  }
  return TSR_OK;
}

/* Rounds to two digits, so that noise in a rate does not change the choice of a cut. 0 (not known)
 * stays 0. */
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
  tsr_log(
      TSR_LOG_INFO,
      "panels: uploaded at %.2g GB/s%s; broadcast at %.2g GB/s, latency %.2g us; C downloaded at "
      "%.2g GB/s",
      1e-9 * host->up, text, 1e-9 * t->bandwidth, 1e6 * t->latency, 1e-9 * host->down);
}

tsr_status tsr_device_measure(tsr_device_transport *t) {
  double sample = (double)t->fabric->sample;
  /* The least value of all processes counts, so latency is negative here. */
  enum { UP, DOWN, ACROSS, LATENCY, RUNS, CLOSE = RUNS + TSR_UP_RUNS, RATES = CLOSE + TSR_UP_RUNS };
  double mine[RATES] = {[ACROSS] = INFINITY}, all[RATES];
  TSR_TRY(time_sample(t, upload_piece, &mine[UP]));
  TSR_TRY(time_sample(t, download_piece, &mine[DOWN]));
  /* C is downloaded from all devices; with fewer ways than devices the rate says too little. */
  if (t->ways < tsr_device_count(t->grid->context)) mine[DOWN] = 0;
  tsr_status status = tsr_model_runs(t->grid->context, t->ways, 0, &mine[RUNS]);
  if (status == TSR_OK)
    status = tsr_model_runs(t->grid->context, t->ways, TSR_UP_CLOSE, &mine[CLOSE]);
  TSR_TRY(tsr_agree(&t->grid->all, NULL, status));
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
    t->host.up_by_run[i] = fmin(rounded(all[RUNS + i]), t->host.up);
    t->host.up_close_by_run[i] = fmin(rounded(all[CLOSE + i]), t->host.up);
  }
  if (t->grid->all.rank == 0) log_rates(t);
  return TSR_OK;
}
