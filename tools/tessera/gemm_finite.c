/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "gemm_finite.h"

#include <math.h>
#include <stdlib.h>

/* ---- Which matrix has them ---- */

static bool is_zero(scalar value) {
  return value.re == 0 && value.im == 0;
}

/* Looks through an operand in the type in which it was multiplied. lines: the rows or columns of
 * the result that its elements reach. */
static nonfinite search_operand(const operand *o, bool lines_are_rows, bool *lines) {
  bool turned = o->op != TSR_NO_TRANS, rows = lines_are_rows != turned;
  return nonfinite_find(&o->view, rows ? lines : NULL, rows ? NULL : lines);
}

static int64_t count_true(const bool *lines, int64_t count) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; i++) sum += lines[i];
  return sum;
}

static int search_inputs(gemm_job *job) {
  reached_part *r = &job->reached;
  r->rows = calloc((size_t)job->m + 1, sizeof *r->rows);
  r->cols = calloc((size_t)job->n + 1, sizeof *r->cols);
  if (!r->rows || !r->cols) return tool_fail("out of memory");
  if (!is_zero(job->request.alpha)) {
    job->odd[ODD_A] = search_operand(&job->a, true, r->rows);
    job->odd[ODD_B] = search_operand(&job->b, false, r->cols);
  }
  if (job->has_c0 && !is_zero(job->request.beta)) {
    matrix_view c0 = npy_view(&job->c0_file);
    job->odd[ODD_C0] = nonfinite_find(&c0, r->rows, NULL);
  }
  r->row_count = count_true(r->rows, job->m);
  r->col_count = count_true(r->cols, job->n);
  return TOOL_OK;
}

/* ---- Messages ---- */

static void print_value(tsr_type type, double re, double im, char text[64]) {
  if (element_is_complex(type))
    snprintf(text, 64, "%g%+gj", re, im);
  else
    snprintf(text, 64, "%g", re);
}

/* Notes: "a.npy: nan at [3, 17], and 2 more elements that are not finite". The place is as NumPy
 * indexes it. A value that the file has but the type of the product cannot hold is named, too. */
static void tell(const char *path, const npy *file, tsr_type type, const nonfinite *odd) {
  char value[64], more[80] = "";
  double re, im;
  matrix_view view = npy_view(file);
  element_load(file->type, file->data, odd->row * view.row_stride + odd->col * view.col_stride, 1,
               &re, &im);
  bool exceeds = isfinite(re) && isfinite(im);
  print_value(file->type, re, im, value);
  if (odd->count > 1)
    snprintf(more, sizeof more, ", and %lld more elements that are not finite",
             (long long)odd->count - 1);
  tool_note("%s: %s at [%lld, %lld]%s%s%s", path, value, (long long)odd->row, (long long)odd->col,
            exceeds ? " is beyond the range of " : "", exceeds ? element_name(type) : "", more);
}

static void tell_reach(const gemm_job *job) {
  const reached_part *r = &job->reached;
  if (r->row_count + r->col_count == 0) return;
  tool_note("%s: NaN or infinities of the inputs reach %lld of %lld rows and %lld of %lld columns",
            job->request.c_path, (long long)r->row_count, (long long)job->m,
            (long long)r->col_count, (long long)job->n);
}

static void tell_all(const gemm_job *job) {
  const gemm_request *r = &job->request;
  const nonfinite *odd = job->odd;
  if (odd[ODD_A].count > 0) tell(r->a_path, job->a.file, job->type, &odd[ODD_A]);
  if (odd[ODD_B].count > 0 && job->b.file != job->a.file)
    tell(r->b_path, job->b.file, job->type, &odd[ODD_B]);
  if (odd[ODD_C0].count > 0) tell(r->c0_path, &job->c0_file, job->type, &odd[ODD_C0]);
  if (odd[ODD_C].count > 0)
    tool_note("%s: the sum at [%lld, %lld] is beyond the range of %s, though the inputs are finite",
              r->c_path, (long long)odd[ODD_C].row, (long long)odd[ODD_C].col,
              element_name(job->type));
  tell_reach(job);
}

/* ---- Examining ---- */

static bool inputs_are_finite(const gemm_job *job) {
  return job->odd[ODD_A].count + job->odd[ODD_B].count + job->odd[ODD_C0].count == 0;
}

int finite_examine(gemm_job *job) {
  matrix_view c = npy_view(&job->c_file);
  nonfinite edge = job->type == TSR_H ? nonfinite_find(&c, NULL, NULL) : nonfinite_find_edge(&c);
  bool has_c0 = job->has_c0 && !is_zero(job->request.beta);
  if (has_c0 && edge.count == 0) {
    matrix_view c0 = npy_view(&job->c0_file);
    edge = nonfinite_find(&c0, NULL, NULL);
  }
  if (edge.count == 0) return TOOL_OK;
  int code = search_inputs(job);
  if (code) return code;
  if (inputs_are_finite(job)) job->odd[ODD_C] = nonfinite_find(&c, NULL, NULL);
  tell_all(job);
  return TOOL_OK;
}

bool finite_is_exceeded(const gemm_job *job, nonfinite *first) {
  matrix_view c = npy_view(&job->c_file);
  *first = nonfinite_find(&c, NULL, NULL);
  return first->count > 0 && inputs_are_finite(job);
}

/* ---- JSON ---- */

static void add_entry(cJSON *array, const char *name, const char *path, const npy *file,
                      const nonfinite *odd) {
  char value[64];
  if (odd->count == 0) return;
  cJSON *o = cJSON_CreateObject();
  print_value(file->type, odd->re, odd->im, value);
  cJSON_AddStringToObject(o, "operand", name);
  cJSON_AddStringToObject(o, "file", path);
  cJSON_AddNumberToObject(o, "row", (double)odd->row);
  cJSON_AddNumberToObject(o, "col", (double)odd->col);
  cJSON_AddStringToObject(o, "value", value);
  cJSON_AddNumberToObject(o, "count", (double)odd->count);
  cJSON_AddItemToArray(array, o);
}

void finite_add_json(const gemm_job *job, cJSON *object) {
  const gemm_request *r = &job->request;
  cJSON *array = cJSON_AddArrayToObject(object, "nonfinite");
  add_entry(array, "A", r->a_path, job->a.file, &job->odd[ODD_A]);
  add_entry(array, "B", r->b_path, job->b.file, &job->odd[ODD_B]);
  add_entry(array, "C0", r->c0_path, &job->c0_file, &job->odd[ODD_C0]);
  add_entry(array, "C", r->c_path, &job->c_file, &job->odd[ODD_C]);
}
