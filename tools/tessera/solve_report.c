/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "solve.h"

static const char *routine(const solve_job *job) {
  return job->request.definite ? "posv" : "trtrs";
}

/* A complex multiplication and addition has the flops of four real ones. */
static double flops(const solve_job *job) {
  double n = (double)job->n, nrhs = (double)job->nrhs;
  double real = job->request.definite ? n * n * n / 3 + 2 * n * n * nrhs : n * n * nrhs;
  return element_is_complex(job->type) ? 4 * real : real;
}

static double rate(const solve_job *job) {
  return job->seconds > 0 ? flops(job) / job->seconds : 0;
}

/* ---- Text ---- */

/* A line of text for people begins with a word of up to nine characters. */
static void print_result(const solve_job *job) {
  double bytes = (double)job->n * (double)job->nrhs * (double)element_size(job->type);
  printf("X         %s: %lld x %lld %s, %s\n", job->request.x_path, (long long)job->n,
         (long long)job->nrhs, element_name(job->type), tool_bytes(bytes));
}

/* The rate of emulated devices would mean nothing. */
static void print_time(const solve_job *job) {
  bool rated = !settings_emulated(&job->request.settings);
  printf("time      %s%s%s, %s of order %lld with %lld right-hand side%s\n",
         tool_seconds(job->seconds), rated ? ", " : "", rated ? tool_rate(rate(job)) : "",
         routine(job), (long long)job->n, (long long)job->nrhs, job->nrhs == 1 ? "" : "s");
}

static void print_residual(const solve_job *job) {
  const solve_residual *r = &job->residual;
  printf("residual  %.2g n u of ||A|| ||X|| + ||B||; rounding explains up to %.2g n u: correct\n",
         r->units, r->bound);
}

static void print_devices(const solve_job *job) {
  int count = tsr_device_count(job->context);
  if (count == 0)
    printf("No GPU is used (tessera doctor says why).\n");
  else if (settings_emulated(&job->request.settings))
    printf("On %d emulated device%s: a rehearsal, its times mean nothing.\n", count,
           count == 1 ? "" : "s");
}

void solve_report_text(const solve_job *job) {
  print_result(job);
  print_time(job);
  print_residual(job);
  print_devices(job);
}

/* ---- JSON ---- */

int solve_report_json(const solve_job *job) {
  const char type[2] = {(char)job->type, '\0'};
  cJSON *o = cJSON_CreateObject();
  cJSON_AddStringToObject(o, "op", routine(job));
  cJSON_AddStringToObject(o, "type", type);
  cJSON_AddNumberToObject(o, "n", (double)job->n);
  cJSON_AddNumberToObject(o, "nrhs", (double)job->nrhs);
  cJSON_AddNumberToObject(o, "devices", tsr_device_count(job->context));
  cJSON_AddNumberToObject(o, "solve_s", job->seconds);
  cJSON_AddNumberToObject(o, "tflops", rate(job) * 1e-12);
  cJSON_AddNumberToObject(o, "residual", job->residual.value);
  cJSON_AddNumberToObject(o, "residual_nu", job->residual.units);
  cJSON_AddNumberToObject(o, "bound_nu", job->residual.bound);
  cJSON_AddBoolToObject(o, "verified", job->residual.good);
  cJSON_AddStringToObject(o, "output", job->request.x_path);
  return tool_print_json(o, false);
}
