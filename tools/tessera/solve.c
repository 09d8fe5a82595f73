/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "solve.h"

#include "commands.h"
#include "operation.h"
#include "output.h"

/* ---- Options ---- */

/* Option values that are interpreted after all options are read. */
typedef struct solve_words {
  const char *triangular, *uplo, *trans;
} solve_words;

static int interpret_words(const solve_words *words, solve_request *r) {
  int code = TOOL_OK;
  r->uplo = TSR_LOWER;
  r->trans = TSR_NO_TRANS;
  if (!r->definite && !words->triangular) {
    return tool_usage(
        "give --spd if A is symmetric (Hermitian) positive definite, or --triangular lower or "
        "upper; general matrices are not solved yet");
  }
  if (words->triangular) code = parse_uplo("--triangular", words->triangular, &r->uplo);
  if (!code && words->uplo) code = parse_uplo("--uplo", words->uplo, &r->uplo);
  if (!code && words->trans) code = parse_op("--trans", words->trans, &r->trans);
  if (!code && !r->x_path) code = tool_usage("no file for the solution is given; give -o X.npy");
  return code;
}

static int parse_request(int argc, char **argv, solve_request *r) {
  solve_words words = {0};
  const option table[] = {
      {"output", 'o', OPTION_TEXT, &r->x_path, "X.npy", "where the solution goes (needed)"},
      {"spd", 0, OPTION_FLAG, &r->definite, NULL,
       "A is symmetric (complex: Hermitian) positive definite; one triangle is read"},
      {"triangular", 0, OPTION_TEXT, &words.triangular, "lower|upper",
       "A is this triangle; the other one is not read"},
      {"uplo", 0, OPTION_TEXT, &words.uplo, "lower|upper",
       "the triangle of a positive definite A that is read (default: lower)"},
      {"trans", 0, OPTION_TEXT, &words.trans, "N|T|C",
       "solve with a triangular A as it is, transposed or conjugate transposed (default: N)"},
      {"json", 0, OPTION_FLAG, &r->json, NULL, "print JSON"},
      OUTPUT_FORCE(&r->force),
      SETTINGS_ENGINE(&r->settings),
      SETTINGS_DEVICES(&r->settings),
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_MEMORY(&r->settings),
      SETTINGS_CHECK(&r->settings),
      {0}};
  static const option_mode modes[] = {
      {"triangular", NULL, "spd uplo", "A is one or the other; leave one of them out"},
      {"!triangular", NULL, "trans", "a positive definite A is its own conjugate transpose"},
      {"engine=cpu", NULL, "devices machine memory check", "there are no devices; leave it out"},
      {0}};
  const option_command command = {
      "A.npy B.npy -o X.npy --spd|--triangular lower|upper [options]",
      "Solves A X = B for X with matrices in NumPy files, A positive definite or triangular, and\n"
      "checks the solution. B is n x nrhs, or has one dimension of n.",
      "tessera solve A.npy B.npy -o X.npy --spd",
      table,
      2,
      2,
      .modes = modes};
  const char *paths[2];
  int code = options_parse(&command, argc, argv, paths, NULL);
  if (code != TOOL_OK) return code;
  r->a_path = paths[0];
  r->b_path = paths[1];
  return interpret_words(&words, r);
}

/* ---- Files ---- */

static int check_type(solve_job *job) {
  const npy *a = &job->a_file, *b = &job->b_file;
  if (a->type != b->type) {
    return tool_fail("%s is %s but %s is %s; convert one of them (b.astype(a.dtype))", a->path,
                     element_name(a->type), b->path, element_name(b->type));
  }
  job->type = a->type;
  if (job->type != TSR_H && job->type != TSR_B) return TOOL_OK;
  return tool_fail(
      "%s is %s; systems are solved in fp32, fp64 and their complex types (convert it "
      "with a.astype('f4'))",
      a->path, element_name(a->type));
}

static int check_shape(solve_job *job) {
  const npy *a = &job->a_file, *b = &job->b_file;
  if (a->rows != a->cols) {
    return tool_fail("%s is %lld x %lld; a system has a square matrix", a->path, (long long)a->rows,
                     (long long)a->cols);
  }
  if (b->rows != a->rows) {
    return tool_fail("%s has %lld rows, but %s is of order %lld", b->path, (long long)b->rows,
                     a->path, (long long)a->rows);
  }
  job->n = a->rows;
  job->nrhs = b->cols;
  return TOOL_OK;
}

static int open_inputs(solve_job *job) {
  file_reason reason;
  if (!npy_open(job->request.a_path, &job->a_file, &reason) ||
      !npy_open_columns(job->request.b_path, &job->b_file, &reason))
    return tool_fail("%s", reason.text);
  job->column_major = job->a_file.fortran;
  int code = check_type(job);
  return code ? code : check_shape(job);
}

/* Creates the file of X with all its bytes, so that it cannot turn out after the solve that the
 * solution has no place. */
static int make_output(solve_job *job) {
  const solve_request *r = &job->request;
  const output to = {"-o", r->x_path, OUTPUT_MAPPED};
  const char *inputs[] = {r->a_path, r->b_path, r->settings.machine, NULL};
  file_reason reason;
  int code = output_check(&to, 1, inputs, r->force);
  if (code) return code;
  bool made = job->b_file.vector
                  ? npy_create_vector(r->x_path, r->force, job->type, job->n, &job->x_file, &reason)
                  : npy_create(r->x_path, r->force, job->type, job->column_major, job->n, job->nrhs,
                               &job->x_file, &reason);
  return made ? TOOL_OK : tool_fail("-o %s", reason.text);
}

/* ---- The solve ---- */

/* X begins as B. posv puts the factor in the place of A, so it gets a copy. */
static int prepare(solve_job *job) {
  matrix_copy(npy_view(&job->x_file), npy_view(&job->b_file));
  int code = operand_create(&job->a_file, TSR_NO_TRANS, job->type, false, &job->a);
  return code || !job->request.definite ? code : operand_own(&job->a);
}

static tsr_status call_routine(solve_job *job, int64_t *info) {
  const solve_request *r = &job->request;
  tsr_layout layout = job->column_major ? TSR_COL_MAJOR : TSR_ROW_MAJOR;
  int64_t ld = job->column_major ? job->n : job->nrhs, lda = operand_ld(&job->a);
  void *x = job->x_file.data;
  if (ld < 1) ld = 1;
  if (r->definite) {
    return tsr_posv(job->context, job->type, layout, r->uplo, job->n, job->nrhs, job->a.converted,
                    lda, x, ld, info);
  }
  return tsr_trtrs(job->context, job->type, layout, r->uplo, r->trans, TSR_NON_UNIT, job->n,
                   job->nrhs, operand_pointer(&job->a), lda, x, ld, info);
}

static int refuse_matrix(const solve_request *r, int64_t info) {
  long long at = (long long)info;
  if (r->definite) {
    return tool_fail(
        "%s is not positive definite: in its %s triangle, the leading minor of order %lld is not "
        "positive; nothing written",
        r->a_path, r->uplo == TSR_LOWER ? "lower" : "upper", at);
  }
  return tool_fail("%s is singular: its element at [%lld, %lld] is 0; nothing written", r->a_path,
                   at - 1, at - 1);
}

static int solve(solve_job *job) {
  int64_t info = 0;
  progress_phase(&job->progress, "solving", 0);
  double begin = tool_now();
  int code = tool_status(call_routine(job, &info));
  job->seconds = tool_now() - begin;
  return code || info == 0 ? code : refuse_matrix(&job->request, info);
}

/* Puts the solution in its place, unless the check finds it wrong, and reports it. */
static int finish(solve_job *job) {
  file_reason reason;
  progress_phase(&job->progress, "checking the solution", 0);
  int code = solve_check(job);
  if (code) return code;
  progress_phase(&job->progress, "writing the solution to the disk", 0);
  bool written = npy_commit(&job->x_file, &reason);
  progress_close(&job->progress);
  if (!written) return tool_fail("-o %s", reason.text);
  if (job->request.json) return solve_report_json(job);
  solve_report_text(job);
  return TOOL_OK;
}

static int run(solve_job *job) {
  (void)tsr_memory_interleave();
  int code = open_inputs(job);
  if (!code) code = make_output(job);
  progress_open(&job->progress, false);
  progress_phase(&job->progress, "opening the devices", 0);
  if (!code) code = settings_open(&job->request.settings, &job->context);
  progress_phase(&job->progress, "reading the matrices", 0);
  if (!code) code = prepare(job);
  if (!code) code = solve(job);
  return code ? code : finish(job);
}

static void end(solve_job *job) {
  progress_close(&job->progress);
  operand_destroy(&job->a, job->context);
  tsr_context_destroy(job->context);
  npy_close(&job->a_file);
  npy_close(&job->b_file);
  npy_close(&job->x_file);
}

int command_solve(int argc, char **argv) {
  solve_job job = {0};
  int code = parse_request(argc, argv, &job.request);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code != TOOL_OK) return code;
  code = run(&job);
  end(&job);
  return code;
}
