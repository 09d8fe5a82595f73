/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/plan/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/tuning.h"

/* ---- Facts ------------------------------------------------------------------ */

enum { FACTS = 8 };

/* The facts as numbers of which the least is the least favourable, for MPI_MIN. */
static void to_numbers(const tsr_context_facts *f, double numbers[FACTS]) {
  numbers[0] = f->devices;
  numbers[1] = -f->reproducible;
  numbers[2] = (double)f->memory;
  numbers[3] = f->staging_rate;
  numbers[4] = f->network_bandwidth;
  numbers[5] = -f->network_latency;
  numbers[6] = f->residues;
  numbers[7] = -f->network_assumed;
}

static void from_numbers(const double numbers[FACTS], tsr_context_facts *f) {
  f->devices = (int)numbers[0];
  f->reproducible = numbers[1] < 0;
  f->memory = (size_t)numbers[2];
  f->staging_rate = numbers[3];
  f->network_bandwidth = numbers[4];
  f->network_latency = -numbers[5];
  f->residues = numbers[6] > 0;
  f->network_assumed = numbers[7] < 0;
}

/* The facts of a context. Network rates that the machine does not say are set here, before
 * processes compare facts, so that a missing rate does not win as the least. */
static tsr_status describe(tsr_context *context, tsr_context_facts *facts) {
  TSR_TRY(tsr_context_describe(context, facts));
  if (facts->network_bandwidth > 0) return TSR_OK;
  facts->network_bandwidth = TSR_TUNE_NETWORK_BANDWIDTH;
  facts->network_latency = TSR_TUNE_NETWORK_LATENCY;
  facts->network_assumed = 1;
  return TSR_OK;
}

/* Replaces each fact by the least favourable one of all processes. Collective. */
static tsr_status reduce_facts(const tsr_peers *peers, tsr_context_facts *facts) {
  double mine[FACTS], all[FACTS];
  to_numbers(facts, mine);
  int code = MPI_Allreduce(mine, all, FACTS, MPI_DOUBLE, MPI_MIN, peers->comm);
  TSR_TRY(tsr_mpi_check(code, "MPI_Allreduce"));
  from_numbers(all, facts);
  return TSR_OK;
}

/* ---- The planner ------------------------------------------------------------ */

/* *alike: whether the contexts of all processes have the same digest `plans`, so that they make the
 * same plans. Collective. */
static tsr_status all_plan_alike(const tsr_peers *peers, uint64_t plans, bool *alike) {
  uint64_t mine[2] = {plans, ~plans}, all[2];
  int code = MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_MIN, peers->comm);
  TSR_TRY(tsr_mpi_check(code, "MPI_Allreduce"));
  *alike = all[0] == ~all[1];
  return TSR_OK;
}

/* *rank: the first process with the fewest devices. Collective. */
static tsr_status find_weakest(const tsr_peers *peers, int devices, int *rank) {
  struct {
    int value, rank;
  } mine = {devices, peers->rank}, all;
  int code = MPI_Allreduce(&mine, &all, 1, MPI_2INT, MPI_MINLOC, peers->comm);
  TSR_TRY(tsr_mpi_check(code, "MPI_Allreduce"));
  *rank = all.rank;
  return TSR_OK;
}

/* Broadcasts the text of process `from`; on the others *text is freed and replaced. The caller
 * frees *text with free(). Collective. */
static tsr_status share_text(const tsr_peers *peers, int from, char **text) {
  int length = *text != NULL ? (int)strlen(*text) + 1 : 0;
  TSR_TRY(tsr_mpi_check(MPI_Bcast(&length, 1, MPI_INT, from, peers->comm), "MPI_Bcast"));
  tsr_status status = TSR_OK;
  if (length > 0 && peers->rank != from) {
    free(*text);
    *text = NULL;
    tsr_text buffer = TSR_TEXT_INIT;
    tsr_text_add(&buffer, "%*s", length - 1, "");
    status = tsr_text_take(&buffer, text);
    tsr_text_free(&buffer);
  }
  TSR_TRY(tsr_agree(peers, NULL, status));
  if (length == 0) return TSR_OK;
  return tsr_mpi_check(MPI_Bcast(*text, length, MPI_CHAR, from, peers->comm), "MPI_Bcast");
}

/* A context that only plans, for all devices of a machine: `devices` is set, so that
 * TESSERA_DEVICES, which may differ between processes, is not read. */
static tsr_status make_planner(const char *machine, tsr_model *model) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  options.devices = "";
  options.engine = "cpu"; /* it only plans */
  options.machine = machine;
  options.memory = model->facts.memory;
  options.reproducible = model->facts.reproducible;
  options.check = 0;
  TSR_TRY(tsr_context_create(&options, &model->planner));
  model->owned = true;
  return tsr_set_strategy(model->planner, NULL);
}

static tsr_status share_planner(const tsr_peers *peers, tsr_context *context, int devices,
                                tsr_model *model) {
  char *text = NULL;
  int weakest;
  TSR_TRY(find_weakest(peers, devices, &weakest));
  tsr_status status = TSR_OK;
  if (peers->rank == weakest) status = tsr_machine_print(context, TSR_JSON, &text);
  status = tsr_agree(peers, NULL, status);
  if (status == TSR_OK) status = share_text(peers, weakest, &text);
  if (status == TSR_OK) status = tsr_agree(peers, NULL, make_planner(text, model));
  free(text);
  return status;
}

/* ---- The model -------------------------------------------------------------- */

tsr_status tsr_model_agree(const tsr_peers *peers, tsr_context *context, tsr_model *model) {
  tsr_model m = {.planner = context};
  bool alike;
  TSR_TRY(tsr_agree(peers, NULL, describe(context, &m.facts)));
  int devices = m.facts.devices;
  uint64_t plans = m.facts.plans;
  TSR_TRY(reduce_facts(peers, &m.facts));
  TSR_TRY(all_plan_alike(peers, plans, &alike));
  tsr_status status = alike ? TSR_OK : share_planner(peers, context, devices, &m);
  if (status == TSR_OK)
    *model = m;
  else
    tsr_model_free(&m);
  return status;
}

tsr_status tsr_model_alone(tsr_context *context, tsr_model *model) {
  *model = (tsr_model){.planner = context};
  return describe(context, &model->facts);
}

tsr_status tsr_model_runs(tsr_context *context, int ways, size_t pitch, double rate[TSR_UP_RUNS]) {
  for (int i = 0; i < TSR_UP_RUNS; i++) {
    TSR_TRY(tsr_copy_rate(context, TSR_HOST, 0, (size_t)TSR_UP_SHORTEST << i, pitch, &rate[i]));
    rate[i] *= ways;
  }
  return TSR_OK;
}

double tsr_model_up(const tsr_host_rates *rates, double run, double pitch) {
  const double *by_run = pitch > TSR_UP_CLOSE ? rates->up_by_run : rates->up_close_by_run;
  double place = log2(fmax(run, TSR_UP_SHORTEST) / TSR_UP_SHORTEST), below = floor(place);
  int i = (int)below;
  if (i >= TSR_UP_RUNS || by_run[i] == 0) return rates->up;
  double next = i + 1 < TSR_UP_RUNS && by_run[i + 1] > 0 ? by_run[i + 1] : rates->up;
  return by_run[i] + (place - below) * (next - by_run[i]);
}

void tsr_model_free(tsr_model *model) {
  if (model->owned) tsr_context_destroy(model->planner);
  *model = (tsr_model){0};
}
