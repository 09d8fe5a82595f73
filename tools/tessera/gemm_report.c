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

static void print_machine(const gemm_job *job) {
  char *text = NULL;
  if (tsr_machine_print(job->context, TSR_TEXT, &text) == TSR_OK) {
    const char *line = strncmp(text, "machine ", 8) == 0 ? text + 8 : text;
    printf("machine   %.*s\n", (int)strcspn(line, "\n"), line);
  }
  free(text);
  if (settings_emulated(&job->request.settings)) {
    printf(
        "          no GPU is used: threads emulate the devices, which shows the plan, not the "
        "speed\n");
  }
}

static void print_plan(const gemm_job *job) {
  const tsr_prediction *p = &job->prediction;
  if (!job->plan && (job->m == 0 || job->n == 0 || job->k == 0)) {
    printf("plan      none: there was nothing to multiply\n");
    return;
  }
  if (!job->plan || p->devices == 0) {
    printf("plan      the CPU's BLAS does all of it\n");
    return;
  }
  printf("plan      %d device%s, C in a %d x %d grid, kernels up to %lld x %lld x %lld\n",
         p->devices, p->devices == 1 ? "" : "s", p->grid_rows, p->grid_cols, (long long)p->tile_m,
         (long long)p->tile_n, (long long)p->tile_k);
  printf("          %lld commands: %lld kernels, %lld copies; planned in %s\n",
         (long long)p->commands, (long long)p->kernels, (long long)p->copies,
         tool_seconds(p->plan_seconds));
  printf("links     %s host to devices, %s devices to host, %s between devices\n",
         tool_bytes(p->host_to_device), tool_bytes(p->device_to_host),
         tool_bytes(p->device_to_device));
  printf("memory    %s on a device at most, %s for staging\n", tool_bytes((double)p->device_memory),
         tool_bytes((double)p->staging_memory));
}

static void print_times(const gemm_job *job) {
  const tsr_prediction *p = &job->prediction;
  printf("time      %s, the first call", tool_seconds(job->cold));
  if (job->median > 0) {
    printf("; %s warm (median of %lld)", tool_seconds(job->median), (long long)job->request.repeat);
  }
  printf("\nrate      %s\n", tool_rate(flops(job) / best_time(job)));
  if (!job->plan || p->floor_seconds <= 0) return;
  printf("floor     %s: no schedule is faster on this machine; the call reached %.2g of its rate\n",
         tool_seconds(p->floor_seconds), p->floor_seconds / best_time(job));
  printf("predicted %s\n", tool_seconds(p->seconds));
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

void gemm_report_text(const gemm_job *job) {
  const gemm_request *r = &job->request;
  print_matrix("A", r->a_path, &job->a_file, &job->a);
  print_matrix("B", r->b_path, job->b.file, &job->b);
  printf("C         %s: %lld x %lld %s; %.3g GFLOP\n", r->c_path, (long long)job->m,
         (long long)job->n, element_name(job->type), flops(job) * 1e-9);
  print_machine(job);
  print_plan(job);
  print_times(job);
  print_check(job);
  if (job->keeper) {
    printf("files     at most %s of them kept in memory; the process used %s at most\n",
           tool_bytes((double)job->resident), tool_bytes(pages_peak()));
  }
  if (r->timeline && job->plan) printf("timeline  %s\n", r->timeline);
  if (r->report && job->plan) {
    printf("\n");
    tool_print_plan(job->plan, TSR_TEXT);
  }
}

/* ---- JSON ---- */

static void json_plan(cJSON *o, const tsr_prediction *p) {
  const int grid[] = {p->grid_rows, p->grid_cols};
  const double tile[] = {(double)p->tile_m, (double)p->tile_n, (double)p->tile_k};
  cJSON_AddNumberToObject(o, "devices", p->devices);
  cJSON_AddItemToObject(o, "grid", cJSON_CreateIntArray(grid, 2));
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
  cJSON_AddNumberToObject(o, "peak_resident_bytes", pages_peak());
  cJSON_AddStringToObject(o, "output", job->request.c_path);
  return tool_print_json(o, false);
}
