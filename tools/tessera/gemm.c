/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "commands.h"
#include "gemm_blocks.h"
#include "gemm_finite.h"
#include "timeline.h"

/* ---- Options ---- */

/* Option values that are interpreted after all options are read. */
typedef struct gemm_words {
  const char *alpha, *beta, *transa, *transb, *type, *homes;
} gemm_words;

static int interpret_words(const gemm_words *words, gemm_request *r) {
  int code = TOOL_OK;
  tsr_format format;
  r->transa = r->transb = TSR_NO_TRANS;
  r->alpha = (scalar){1, 0};
  r->beta = (scalar){r->c0_path ? 1 : 0, 0};
  if (words->alpha) code = parse_scalar("--alpha", words->alpha, &r->alpha);
  if (!code && words->beta) code = parse_scalar("--beta", words->beta, &r->beta);
  if (!code && words->transa) code = parse_op("--transa", words->transa, &r->transa);
  if (!code && words->transb) code = parse_op("--transb", words->transb, &r->transb);
  if (!code && words->type) code = parse_type("--type", words->type, &r->type);
  if (!code) code = homes_parse(words->homes ? words->homes : "h", HOME_AS_IS, r->homes);
  if (!code && r->timeline) code = timeline_format(r->timeline, &format);
  if (!code && !r->c_path) code = tool_usage("no file for the result is given; give -o C.npy");
  if (!code && (r->beta.re != 0 || r->beta.im != 0) && !r->c0_path) {
    code = tool_usage("--beta needs --c C0.npy, the matrix that beta multiplies");
  }
  return code;
}

static int parse_request(int argc, char **argv, gemm_request *r) {
  gemm_words words = {0};
  const option table[] = {
      {"output", 'o', OPTION_TEXT, &r->c_path, "C.npy", "where the result goes (needed)"},
      {"alpha", 0, OPTION_TEXT, &words.alpha, "X", "factor of A B (default: 1; 1.5+2j if complex)"},
      {"beta", 0, OPTION_TEXT, &words.beta, "Y", "factor of C0 (default: 1 with --c, else 0)"},
      {"c", 0, OPTION_TEXT, &r->c0_path, "C0.npy", "the matrix to add to"},
      {"transa", 0, OPTION_TEXT, &words.transa, "N|T|C", "use A, transposed, conjugate transposed"},
      {"transb", 0, OPTION_TEXT, &words.transb, "N|T|C", "the same for B"},
      {"type", 0, OPTION_TEXT, &words.type, "s|d|c|z|h|b|t",
       "multiply as fp32, fp64, complex, complex fp64, fp16, bf16, TF32 (default: as A)"},
      {"home", 0, OPTION_TEXT, &words.homes, "h,h,h",
       "put A,B,C there first, or all: " HOMES_AS_IS " (default: h)"},
      {"repeat", 0, OPTION_WHOLE, &r->repeat, "N", "N more calls, for the warm time (default: 0)"},
      {"verify", 0, OPTION_FLAG, &r->verify, NULL, "check the result with random vectors, O(n^2)"},
      {"timeline", 0, OPTION_TEXT, &r->timeline, "FILE",
       "write queues over time: .svg a picture, .json for Perfetto"},
      PROGRESS_OPTION(&r->progress),
      {"resident", 0, OPTION_BYTES, &r->resident, "BYTES",
       "keep at most so many bytes of the files in memory (default: 3/4 of the available memory)"},
      {"details", 0, OPTION_FLAG, &r->details, NULL, "print the operands and the whole plan, too"},
      {"json", 0, OPTION_FLAG, &r->json, NULL, "print JSON"},
      OUTPUT_FORCE(&r->force),
      SETTINGS_ENGINE(&r->settings),
      SETTINGS_DEVICES(&r->settings),
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_MEMORY(&r->settings),
      SETTINGS_TILE(&r->settings),
      SETTINGS_ARITHMETIC(&r->settings),
      SETTINGS_REPRODUCIBLE(&r->settings),
      SETTINGS_CHECK(&r->settings),
      {0}};
  static const option_mode modes[] = {
      {"json", NULL, "details", "JSON has no more of them; leave it out"},
      {"engine=cpu", NULL, "devices machine memory tile arithmetic reproducible check",
       "there are no devices; leave it out"},
      {0}};
  const option_command command = {
      "A.npy B.npy -o C.npy [options]",
      "Computes C = alpha op(A) op(B) + beta C0 on matrices in NumPy files, which are mapped into\n"
      "memory, not read.",
      "tessera gemm X.npy X.npy --transb T -o gram.npy --verify --timeline timeline.svg",
      table,
      2,
      2,
      .modes = modes};
  const char *paths[2];
  int code = options_parse(&command, argc, argv, paths, NULL);
  if (code != TOOL_OK) return code;
  r->a_path = paths[0];
  r->b_path = paths[1];
  r->settings.trace = r->timeline != NULL;
  return interpret_words(&words, r);
}

/* ---- Files ---- */

static int open_file(const char *path, npy *file) {
  file_reason reason;
  return npy_open(path, file, &reason) ? TOOL_OK : tool_fail("%s", reason.text);
}

static int choose_type(gemm_job *job) {
  tsr_type asked = job->request.type, a = job->a_file.type, b = job->b_file.type;
  job->type = asked ? asked : a;
  if (!asked && a != b) {
    return tool_fail("%s is %s but %s is %s; choose with --type which one to multiply as",
                     job->request.a_path, element_name(a), job->request.b_path, element_name(b));
  }
  bool is_complex = element_is_complex(job->type);
  if (!is_complex && (job->request.alpha.im != 0 || job->request.beta.im != 0)) {
    return tool_fail("alpha and beta must be real for %s matrices", element_name(job->type));
  }
  return TOOL_OK;
}

static int choose_shape(gemm_job *job) {
  const npy *a = &job->a_file, *b = &job->b_file;
  bool turn_a = job->request.transa != TSR_NO_TRANS, turn_b = job->request.transb != TSR_NO_TRANS;
  job->m = turn_a ? a->cols : a->rows;
  job->k = turn_a ? a->rows : a->cols;
  job->n = turn_b ? b->rows : b->cols;
  int64_t inner = turn_b ? b->cols : b->rows;
  if (inner == job->k) return TOOL_OK;
  return tool_fail(
      "op(A) is %lld x %lld and op(B) is %lld x %lld: the inner extents differ (%lld and %lld); "
      "is --transa or --transb missing?",
      (long long)job->m, (long long)job->k, (long long)inner, (long long)job->n, (long long)job->k,
      (long long)inner);
}

static int check_c0(const gemm_job *job) {
  const npy *c0 = &job->c0_file;
  if (!job->has_c0) return TOOL_OK;
  if (c0->rows != job->m || c0->cols != job->n) {
    return tool_fail("%s is %lld x %lld, the product is %lld x %lld", c0->path, (long long)c0->rows,
                     (long long)c0->cols, (long long)job->m, (long long)job->n);
  }
  if (element_is_complex(c0->type) && !element_is_complex(job->type)) {
    return tool_fail("%s is %s, the product is %s", c0->path, element_name(c0->type),
                     element_name(job->type));
  }
  return TOOL_OK;
}

static int open_inputs(gemm_job *job) {
  const gemm_request *r = &job->request;
  int code = open_file(r->a_path, &job->a_file);
  if (!code) code = open_file(r->b_path, &job->b_file);
  if (!code && r->c0_path) {
    code = open_file(r->c0_path, &job->c0_file);
    job->has_c0 = code == TOOL_OK;
  }
  if (!code) code = choose_type(job);
  if (!code) code = choose_shape(job);
  if (!code) code = check_c0(job);
  job->column_major = job->a_file.fortran;
  return code;
}

/* ---- Results ---- */

static output timeline_of(const gemm_request *r) {
  return (output){"--timeline", r->timeline, OUTPUT_TEXT};
}

/* Checks all outputs, and creates the file of C with all its bytes, so that it cannot turn out
 * after the product that the result has no place. */
static int make_outputs(gemm_job *job) {
  const gemm_request *r = &job->request;
  const output outputs[] = {{"-o", r->c_path, OUTPUT_MAPPED}, timeline_of(r)};
  const char *inputs[5] = {r->a_path, r->b_path};
  int count = 2;
  file_reason reason;
  if (r->c0_path) inputs[count++] = r->c0_path;
  if (r->settings.machine) inputs[count++] = r->settings.machine;
  int code = output_check(outputs, 2, inputs, r->force);
  if (code) return code;
  if (npy_create(r->c_path, r->force, job->type, job->column_major, job->m, job->n, &job->c_file,
                 &reason))
    return TOOL_OK;
  return tool_fail("-o %s", reason.text);
}

/* ---- Operands ---- */

static int prepare_operand(gemm_job *job, const npy *file, tsr_op op, int index, operand *result,
                           tsr_op *blas_op) {
  bool has_flag = operand_op(file->fortran, job->column_major, op, job->type, blas_op);
  int code = operand_create(file, op, job->type, !has_flag, result);
  if (code == TOOL_OK) code = operand_place(result, job->request.homes[index], job->context);
  return code;
}

static size_t c_bytes(const gemm_job *job) {
  return (size_t)job->m * (size_t)job->n * element_size(job->type);
}

static int prepare(gemm_job *job) {
  const gemm_request *r = &job->request;
  int code = prepare_operand(job, &job->a_file, r->transa, 0, &job->a, &job->blas_transa);
  if (code != TOOL_OK) return code;
  if (strcmp(r->a_path, r->b_path) == 0 && r->homes[0].kind == HOME_AS_IS &&
      r->homes[1].kind == HOME_AS_IS) {
    /* Both operands use one mapping, so that the library sees one matrix and copies a tile once. */
    npy_close(&job->b_file);
    code = prepare_operand(job, &job->a_file, r->transb, 1, &job->b, &job->blas_transb);
  } else {
    code = prepare_operand(job, &job->b_file, r->transb, 1, &job->b, &job->blas_transb);
  }
  if (code == TOOL_OK) code = place_alloc(r->homes[2], c_bytes(job), job->context, &job->c_placed);
  return code;
}

static matrix_view view_of_c(const gemm_job *job) {
  return matrix_of(job->type, job->c_file.data, job->column_major, job->m, job->n);
}

/* Sets C to its value before a call, which is C0. */
static int reset_c(gemm_job *job) {
  if (!job->has_c0) return TOOL_OK;
  matrix_copy(view_of_c(job), npy_view(&job->c0_file));
  if (!job->c_placed || c_bytes(job) == 0) return TOOL_OK;
  return tool_status(tsr_memcpy(job->context, job->c_placed, job->c_file.data, c_bytes(job)));
}

/* ---- The product ---- */

static int multiply_whole(gemm_job *job) {
  scalar_value alpha = scalar_for(job->type, job->request.alpha);
  scalar_value beta = scalar_for(job->type, job->request.beta);
  int64_t ldc = job->column_major ? job->m : job->n;
  return tool_status(tsr_gemm(
      job->context, job->type, job->column_major ? TSR_COL_MAJOR : TSR_ROW_MAJOR, job->blas_transa,
      job->blas_transb, job->m, job->n, job->k, &alpha, operand_pointer(&job->a),
      operand_ld(&job->a), operand_pointer(&job->b), operand_ld(&job->b), &beta,
      job->c_placed ? job->c_placed : job->c_file.data, ldc > 1 ? ldc : 1));
}

static int multiply(gemm_job *job, double *seconds) {
  int code = reset_c(job);
  if (code != TOOL_OK) return code;
  progress_call(&job->progress, tsr_device_count(job->context) > 0 ? "planning" : "multiplying",
                element_flops(job->type, job->m, job->n, job->k));
  double begin = tool_now();
  code = blocks_wanted(job) ? blocks_multiply(job, job->resident) : multiply_whole(job);
  *seconds = tool_now() - begin;
  progress_phase(&job->progress, "", 0);
  return code;
}

/* Bytes of the pages that the process has touched for the first time. */
static double touched_bytes(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return (double)(usage.ru_minflt + usage.ru_majflt) * (double)sysconf(_SC_PAGESIZE);
}

static int time_product(gemm_job *job) {
  double before = touched_bytes();
  int code = multiply(job, &job->cold);
  job->touched = touched_bytes() - before;
  int repeat = (int)(job->request.repeat < 10000 ? job->request.repeat : 10000);
  if (code != TOOL_OK || repeat == 0) return code;
  double *times = malloc((size_t)repeat * sizeof *times);
  if (!times) return tool_fail("out of memory");
  for (int i = 0; i < repeat && code == TOOL_OK; i++) code = multiply(job, &times[i]);
  if (code == TOOL_OK) job->median = tool_median(times, repeat);
  free(times);
  return code;
}

/* Fetches the plan of the call and its prediction; plan stays NULL if the call needed none. */
static void fetch_plan(gemm_job *job) {
  if (tsr_plan_last(job->context, &job->plan) != TSR_OK) {
    job->plan = NULL;
    return;
  }
  if (tsr_plan_predict(job->plan, &job->prediction) != TSR_OK) {
    job->prediction = (tsr_prediction){0};
  }
}

/* Copies C from its home to the mapped file. */
static int copy_result(gemm_job *job) {
  if (!job->c_placed || c_bytes(job) == 0) return TOOL_OK;
  return tool_status(tsr_memcpy(job->context, job->c_file.data, job->c_placed, c_bytes(job)));
}

/* op(operand) as the user asked for it. The flags that the BLAS was given are not used, so that the
 * check finds a wrong flag. */
static matrix_view operand_as_asked(const operand *o) {
  matrix_view view = o->view;
  view.conj = o->conjugated; /* undoes a conjugation, so that the view has the file's values */
  return matrix_op(view, o->op);
}

static int verify(gemm_job *job) {
  if (!job->request.verify) return TOOL_OK;
  progress_phase(&job->progress, "checking the result", 0);
  const gemm_request *r = &job->request;
  verify_problem problem = {.a = operand_as_asked(&job->a),
                            .b = operand_as_asked(&job->b),
                            .c = view_of_c(job),
                            .type = job->type,
                            .alpha = r->alpha,
                            .beta = r->beta,
                            .skip_rows = job->reached.rows,
                            .skip_cols = job->reached.cols};
  if (job->has_c0) problem.c0 = npy_view(&job->c0_file);
  if (!verify_product(&problem, &job->check)) return tool_fail("out of memory for the check");
  return TOOL_OK;
}

/* Refuses a result that the check found wrong. */
static int judge(gemm_job *job) {
  const gemm_request *r = &job->request;
  if (r->verify && !job->check.good) progress_close(&job->progress);
  nonfinite first;
  if (r->verify && !job->check.good && finite_is_exceeded(job, &first)) {
    return tool_fail(
        "the sum at [%lld, %lld] and %lld more are beyond the range of %s; nothing written; choose "
        "a type with more range (--type), or leave out --verify",
        (long long)first.row, (long long)first.col, (long long)first.count - 1,
        element_name(job->type));
  }
  if (r->verify && !job->check.good) {
    return tool_fail("the result is wrong: residual %.3g, rounding explains %.3g; nothing written",
                     job->check.residual, job->check.bound);
  }
  return TOOL_OK;
}

static int write_timeline(const gemm_job *job) {
  const output timeline = timeline_of(&job->request);
  if (!timeline.path) return TOOL_OK;
  if (job->plan) return timeline_write(job->plan, &timeline, job->request.force);
  return tool_fail("--timeline %s: this product needed no plan, so there is nothing to draw",
                   timeline.path);
}

/* Without a device no plan is made: the user is told before the product takes its time. */
static int check_timeline(const gemm_job *job) {
  const gemm_request *r = &job->request;
  if (!r->timeline || tsr_device_count(job->context) > 0) return TOOL_OK;
  return tool_fail(
      "--timeline %s: without a GPU there is no plan to draw, since the CPU's BLAS does the "
      "product; "
      "leave it out, or give --engine host --devices 4, which rehearses the plan on emulated "
      "devices. 'tessera plan gemm %c %lld %lld %lld --machine h200x4 --timeline %s' draws what "
      "GPUs "
      "would do",
      r->timeline, (char)job->type, (long long)job->m, (long long)job->n, (long long)job->k,
      r->timeline);
}

/* Puts the result in its place before anything else is written, so that nothing that fails then
 * costs the result. */
static int finish(gemm_job *job) {
  file_reason reason;
  int code = judge(job);
  if (code) return code;
  progress_phase(&job->progress, "writing the result to the disk", 0);
  bool written = npy_commit(&job->c_file, &reason);
  progress_close(&job->progress);
  if (!written) return tool_fail("-o %s", reason.text);
  code = job->request.json ? gemm_report_json(job) : TOOL_OK;
  if (!job->request.json) gemm_report_text(job);
  int drawn = write_timeline(job);
  return code ? code : drawn;
}

/* Lets the library tell its progress and, if the files are larger than the limit, the threads that
 * keep their pages within it. */
static int watch(gemm_job *job) {
  const npy *const files[KEEPER_FILES] = {&job->a_file, &job->b_file, &job->c0_file, &job->c_file};
  job->resident = job->request.resident ? job->request.resident : pages_default_limit();
  int code = tool_status(tsr_set_progress(job->context, progress_tell, &job->progress));
  return code ? code : pages_keep(files, job->resident, &job->keeper);
}

/* On a computer with several host memory nodes the matrices, as far as they are read now, are
 * spread over all of them, so that no GPU takes all of its data over the link between the sockets.
 */
static int run(gemm_job *job) {
  (void)tsr_memory_interleave();
  int code = open_inputs(job);
  if (!code) code = make_outputs(job);
  progress_open(&job->progress, job->request.progress);
  progress_phase(&job->progress, "opening the devices", 0);
  if (!code) code = settings_open(&job->request.settings, &job->context);
  if (!code) code = check_timeline(job);
  progress_phase(&job->progress, "reading the matrices", 0);
  if (!code) code = prepare(job);
  if (!code) code = watch(job);
  if (!code) code = time_product(job);
  if (!code) code = copy_result(job);
  if (code) return code;
  fetch_plan(job);
  code = finite_examine(job);
  if (code) return code;
  code = verify(job);
  return code ? code : finish(job);
}

static void end(gemm_job *job) {
  progress_close(&job->progress);
  pages_stop(job->keeper);
  tsr_plan_destroy(job->plan);
  operand_destroy(&job->a, job->context);
  operand_destroy(&job->b, job->context);
  if (job->c_placed) tsr_free(job->context, job->c_placed);
  tsr_context_destroy(job->context);
  npy_close(&job->a_file);
  npy_close(&job->b_file);
  npy_close(&job->c0_file);
  npy_close(&job->c_file);
  free(job->reached.rows);
  free(job->reached.cols);
}

int command_gemm(int argc, char **argv) {
  gemm_job job = {0};
  int code = parse_request(argc, argv, &job.request);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code != TOOL_OK) return code;
  code = run(&job);
  end(&job);
  return code;
}
