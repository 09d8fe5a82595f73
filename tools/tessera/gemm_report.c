/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gemm_finite.h"

static double best_time(const gemm_job *job) {
  return job->median > 0 ? job->median : job->cold;
}

static double flops(const gemm_job *job) {
  return element_flops(job->type, job->m, job->n, job->k);
}

/* ---- Text ---- */

static void print_matrix(const char *name, const char *path, const npy *file, const operand *o) {
  static const char *const marks[] = {"", ", transposed", ", conjugate transposed"};
  int mark = o->op == TSR_NO_TRANS ? 0 : o->op == TSR_TRANS ? 1 : 2;
  printf("%-9s %s: %lld x %lld %s, %s-major, %s%s\n", name, path, (long long)file->rows,
         (long long)file->cols, element_name(file->type), file->fortran ? "column" : "row",
         o->converted ? "converted in memory" : "mapped", marks[mark]);
}

/* A line of text for people begins with a word of up to nine characters. */
static void print_result(const gemm_job *job) {
  double bytes = (double)job->m * (double)job->n * (double)element_size(job->type);
  printf("C         %s: %lld x %lld %s, %s\n", job->request.c_path, (long long)job->m,
         (long long)job->n, element_name(job->type), tool_bytes(bytes));
}

/* The first call on files touches their pages, which may take longer than the product. It is said
 * if the call took longer than the plan can explain (the verdict's MISSED, tessera tuning) and
 * touched more than 1 GB, which takes a tenth of a second or more. */
static bool took_for_pages(const gemm_job *job) {
  const double missed = 1.5, least = 1e9; /* of the predicted time; bytes */
  return job->plan && job->cold > missed * job->prediction.seconds && job->touched > least;
}

/* The rate of emulated devices would mean nothing. */
static void print_time(const gemm_job *job, const char *label, double seconds) {
  bool rated = !settings_emulated(&job->request.settings);
  printf("%-9s %s%s%s, ", label, tool_seconds(seconds), rated ? ", " : "",
         rated ? tool_rate(flops(job) / seconds) : "");
}

static void print_times(const gemm_job *job) {
  bool touched = took_for_pages(job);
  print_time(job, "time", job->cold);
  printf("the first call%s%s\n", touched ? ", touched first: " : "",
         touched ? tool_bytes(job->touched) : "");
  if (job->median <= 0) return;
  print_time(job, "warm", job->median);
  printf("median of %lld\n", (long long)job->request.repeat);
}

/* Whether no element of C could be checked. */
static bool is_unchecked(const gemm_job *job) {
  const reached_part *u = &job->reached;
  return (job->m > 0 && u->row_count == job->m) || (job->n > 0 && u->col_count == job->n);
}

static void print_check(const gemm_job *job) {
  const gemm_request *r = &job->request;
  if (!r->verify) return;
  const reached_part *u = &job->reached;
  if (is_unchecked(job)) {
    printf("residual  none: NaN or infinities of the inputs reach all of the result\n");
    return;
  }
  printf("residual  %.2g of |A||B|; rounding explains up to %.2g: %s\n", job->check.residual,
         job->check.bound, job->check.good ? "correct" : "WRONG");
  if (u->row_count + u->col_count > 0)
    printf("          but for %lld rows and %lld columns with NaN or infinities\n",
           (long long)u->row_count, (long long)u->col_count);
}

/* ---- The verdict ---- */

static bool is_empty(const gemm_job *job) {
  return job->m == 0 || job->n == 0 || job->k == 0;
}

/* Without an engine the CPU's BLAS does the call, and no plan is made. */
static void print_cpu_verdict(const gemm_job *job) {
  int count = tool_cores();
  if (is_empty(job)) {
    printf("There was nothing to multiply.\n");
    return;
  }
  printf("Bound by the CPU's BLAS: %s on %d core%s.\n", tool_rate(flops(job) / best_time(job)),
         count, count == 1 ? "" : "s");
  printf("No GPU is used (tessera doctor says why).\n");
}

static void print_verdict(const gemm_job *job) {
  if (job->plan)
    tool_print_plan(job->plan, TSR_VERDICT);
  else
    print_cpu_verdict(job);
}

/* ---- Details ---- */

static void print_machine(const gemm_job *job) {
  char *text = NULL;
  if (tsr_machine_print(job->context, TSR_TEXT, &text) == TSR_OK) {
    printf("machine   %.*s\n", (int)strcspn(text, "\n"), text);
  }
  free(text);
}

static void print_details(const gemm_job *job) {
  const gemm_request *r = &job->request;
  printf("\n");
  print_matrix("A", r->a_path, &job->a_file, &job->a);
  print_matrix("B", r->b_path, job->b.file, &job->b);
  printf("flops     %.3g GFLOP\n", flops(job) * 1e-9);
  print_machine(job);
  if (job->keeper) {
    printf("files     at most %s of them kept in memory; the process used %s at most\n",
           tool_bytes((double)job->resident), tool_bytes(pages_peak()));
  }
  if (!job->plan) return;
  printf("\n");
  tool_print_plan(job->plan, TSR_TEXT);
}

void gemm_report_text(const gemm_job *job) {
  const gemm_request *r = &job->request;
  print_result(job);
  print_times(job);
  print_check(job);
  if (r->timeline && job->plan) printf("timeline  %s\n", r->timeline);
  print_verdict(job);
  if (r->details) print_details(job);
}

/* ---- JSON ---- */

static void json_plan(cJSON *o, const tsr_prediction *p) {
  const int grid[] = {p->grid_rows, p->grid_cols};
  const double tile[] = {(double)p->tile_m, (double)p->tile_n, (double)p->tile_k};
  cJSON_AddNumberToObject(o, "devices", p->devices);
  cJSON_AddItemToObject(o, "grid", cJSON_CreateIntArray(grid, 2));
  cJSON_AddNumberToObject(o, "slices", p->slices);
  cJSON_AddItemToObject(o, "tile", cJSON_CreateDoubleArray(tile, 3));
  cJSON_AddNumberToObject(o, "commands", (double)p->commands);
  cJSON_AddNumberToObject(o, "plan_s", p->plan_seconds);
  cJSON_AddNumberToObject(o, "predicted_s", p->seconds);
  cJSON_AddNumberToObject(o, "floor_s", p->floor_seconds);
  cJSON *bytes = cJSON_AddObjectToObject(o, "bytes");
  cJSON_AddNumberToObject(bytes, "host_to_device", p->host_to_device);
  cJSON_AddNumberToObject(bytes, "device_to_host", p->device_to_host);
  cJSON_AddNumberToObject(bytes, "device_to_device", p->device_to_device);
}

/* Moves the verdict from the plan's own JSON; without memory for it there is none. */
static void json_verdict(cJSON *o, const tsr_plan *plan) {
  char *text = NULL;
  if (tsr_plan_print(plan, TSR_JSON, &text) != TSR_OK) return;
  cJSON *whole = cJSON_Parse(text);
  cJSON *verdict = cJSON_DetachItemFromObjectCaseSensitive(whole, "verdict");
  if (verdict) cJSON_AddItemToObject(o, "verdict", verdict);
  cJSON_Delete(whole);
  free(text);
}

static void json_check(cJSON *o, const gemm_job *job) {
  if (!job->request.verify || is_unchecked(job)) {
    cJSON_AddNullToObject(o, "verified");
    return;
  }
  /* JSON has no NaN or infinity: such a residual is left out. */
  if (isfinite(job->check.residual) && isfinite(job->check.bound)) {
    cJSON_AddNumberToObject(o, "residual", job->check.residual);
    cJSON_AddNumberToObject(o, "bound", job->check.bound);
  }
  cJSON_AddBoolToObject(o, "verified", job->check.good);
}

int gemm_report_json(const gemm_job *job) {
  const char type[2] = {(char)job->type, '\0'};
  cJSON *o = cJSON_CreateObject();
  cJSON_AddStringToObject(o, "op", "gemm");
  cJSON_AddStringToObject(o, "type", type);
  cJSON_AddNumberToObject(o, "m", (double)job->m);
  cJSON_AddNumberToObject(o, "n", (double)job->n);
  cJSON_AddNumberToObject(o, "k", (double)job->k);
  if (job->plan) json_plan(o, &job->prediction);
  cJSON_AddNumberToObject(o, "cold_s", job->cold);
  if (job->median > 0) cJSON_AddNumberToObject(o, "median_s", job->median);
  cJSON_AddNumberToObject(o, "tflops", flops(job) / best_time(job) * 1e-12);
  json_check(o, job);
  finite_add_json(job, o);
  if (job->plan) json_verdict(o, job->plan);
  cJSON_AddNumberToObject(o, "peak_resident_bytes", pages_peak());
  cJSON_AddStringToObject(o, "output", job->request.c_path);
  return tool_print_json(o, false);
}
