/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The text of the report of an unmodified program's calls, from figures that are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "front/offload/report.h"

static tsr_offload_state state = {.options = {.engine = "cuda"}};

/* Adds a kind of call to the table and to the sums. */
static void add(tsr_report *r, const tsr_level3 *what, tsr_offload_why why, int devices,
                int64_t calls, double seconds) {
  r->kind[r->count++] = (tsr_report_kind){.what = *what,
                                          .why = why,
                                          .devices = devices,
                                          .calls = calls,
                                          .timed = calls,
                                          .seconds = seconds};
  r->calls[TSR_FAMILY_BLAS][why] += calls;
}

/* When each program ends, s: any time does. */
enum { END = 1000 };

/* The report of a program that has run for this long at its end, s. */
static tsr_report begin(double seconds) {
  tsr_report r = {.began = END - seconds};
  r.kind = calloc(TSR_REPORT_SLOTS, sizeof *r.kind);
  assert_non_null(r.kind);
  return r;
}

static char *text_of(tsr_report *r) {
  tsr_text text = TSR_TEXT_INIT;
  char *bytes = NULL;
  tsr_report_text(r, END, &state, &text);
  assert_int_equal(tsr_text_take(&text, &bytes), TSR_OK);
  free(r->kind);
  for (const char *line = bytes; *line != '\0'; line += strcspn(line, "\n") + 1)
    assert_true(strcspn(line, "\n") <= 80);
  return bytes;
}

static void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) fail_msg("no \"%s\" in:\n%s", part, text);
}

static const tsr_level3 syrk = {.operation = TSR_SYRK,
                                .type = TSR_S,
                                .layout = TSR_ROW_MAJOR,
                                .uplo = TSR_UPPER,
                                .transa = TSR_NO_TRANS,
                                .n = 8192,
                                .k = 100000};
static const tsr_level3 gemm = {.operation = TSR_GEMM,
                                .type = TSR_D,
                                .layout = TSR_ROW_MAJOR,
                                .transa = TSR_NO_TRANS,
                                .transb = TSR_TRANS,
                                .m = 64,
                                .n = 32,
                                .k = 16};
static const tsr_level3 trsm = {.operation = TSR_TRSM,
                                .type = TSR_Z,
                                .layout = TSR_COL_MAJOR,
                                .side = TSR_RIGHT,
                                .uplo = TSR_LOWER,
                                .transa = TSR_NO_TRANS,
                                .diag = TSR_UNIT,
                                .m = 500,
                                .n = 70};

static const tsr_level3 potrs = {.operation = TSR_OPERATION_OF_SOLVER(TSR_POTRS),
                                 .type = TSR_Z,
                                 .layout = TSR_COL_MAJOR,
                                 .uplo = TSR_UPPER,
                                 .m = 500,
                                 .n = 70};

static const tsr_level3 potrf = {.operation = TSR_OPERATION_OF(TSR_POTRF),
                                 .type = TSR_D,
                                 .layout = TSR_COL_MAJOR,
                                 .uplo = TSR_LOWER,
                                 .n = 5000};

/* 2 s of 8 s; without Tessera 8 - 2 + 12. */
static void the_share_and_the_gain(void **unused) {
  (void)unused;
  tsr_report r = begin(8);
  add(&r, &gemm, TSR_WHY_SMALL, 0, 210, 0);
  add(&r, &syrk, TSR_WHY_FASTER, 4, 6, 2);
  r.busy = 2;
  r.on_devices = 2;
  r.on_cpu = 12;
  r.staging = 0.3;
  r.staged = 6;
  char *text = text_of(&r);
  assert_has(text, "took 8.00 s, 2.00 s of it (25 %) in level-3");
  assert_has(text, "it would take 6.00 s: at most 1.33 times as");
  assert_has(text, "Without Tessera it would have taken about 18.0 s.\n");
  assert_has(text,
             "6 of the calls on devices had matrices in ordinary memory, which cost about 300\nms");
  assert_has(text, "tessera: 216 level-3 BLAS calls: 6 on devices, 210 on the CPU\n");
  free(text);
}

static void devices_that_did_not_pay(void **unused) {
  (void)unused;
  tsr_report r = begin(8);
  add(&r, &syrk, TSR_WHY_ALWAYS, 4, 1, 2);
  r.busy = r.on_devices = 2;
  r.on_cpu = 1;
  char *text = text_of(&r);
  assert_has(text, "Without Tessera it would have taken about 7.00 s: the devices did not pay.\n");
  assert_null(strstr(text, "ordinary memory"));
  free(text);
}

/* By time, as the program called them, whatever the order of storage. */
static void the_table(void **unused) {
  (void)unused;
  tsr_report r = begin(8);
  add(&r, &gemm, TSR_WHY_SMALL, 0, 210, 0.0105);
  add(&r, &trsm, TSR_WHY_CPU_FASTER, 0, 1, 0.5);
  add(&r, &syrk, TSR_WHY_FASTER, 4, 6, 1.5);
  char *text = text_of(&r);
  const char *rows =
      strstr(text, " calls routine    m x n x k         on          time     each why there\n");
  assert_non_null(rows);
  assert_string_equal(
      strchr(rows, '\n') + 1,
      "     6 ssyrk UN   8192x8192x100000  4 GPUs    1.50 s   250 ms faster there\n"
      "     1 ztrsm RLNU 500x70x70         CPU       500 ms   500 ms faster there\n"
      "   210 dgemm NT   64x32x16          CPU      10.5 ms  50.0 us too small to gain\n");
  free(text);
}

/* By their order; the sums and the share say that they are among the calls. */
static void factorisations_are_named(void **unused) {
  (void)unused;
  for (int products = 0; products <= 6; products += 6) {
    tsr_report r = begin(8);
    add(&r, &potrf, TSR_WHY_FASTER, 2, 3, 1.5);
    if (products > 0) add(&r, &syrk, TSR_WHY_FASTER, 4, products, 0.5);
    r.of_lapack = 3;
    if (products > 0) add(&r, &potrs, TSR_WHY_FASTER, 1, 1, 0.1), r.of_lapack++;
    r.busy = 2;
    char *text = text_of(&r);
    assert_has(text,
               "     3 dpotrf L   5000              2 GPUs    1.50 s   500 ms faster there\n");
    assert_has(text, products > 0 ? "tessera: 10 BLAS and LAPACK calls: 10 on devices, 0"
                                  : "tessera: 3 LAPACK calls: 3 on devices, 0");
    assert_has(text, products > 0 ? "in calls of\nlevel-3 BLAS and LAPACK. If"
                                  : "(25 %) in calls of\nLAPACK. If");
    if (products > 0)
      assert_has(text,
                 "     1 zpotrs U   500x70            1 GPU     100 ms   100 ms faster there\n");
    free(text);
  }
}

static void ten_rows_or_all(void **unused) {
  (void)unused;
  for (int every = 0; every < 2; every++) {
    tsr_report r = begin(8);
    tsr_level3 what = gemm;
    r.every = every;
    for (int i = 0; i < 12; i++, what.m++) add(&r, &what, TSR_WHY_SMALL, 0, 1, 0.001 * i);
    char *text = text_of(&r);
    assert_int_equal(strstr(text, "... and 2 kinds of call more; --explain") != NULL, !every);
    assert_int_equal(strstr(text, "64x32x16 ") != NULL, every); /* it took the least time */
    free(text);
  }
}

static void emulated_times_mean_nothing(void **unused) {
  (void)unused;
  tsr_report r = begin(8);
  add(&r, &syrk, TSR_WHY_ALWAYS, 2, 1, 2);
  r.on_devices = 2;
  r.on_cpu = 12;
  state.options.engine = "host";
  char *text = text_of(&r);
  state.options.engine = "cuda";
  assert_has(text, "a rehearsal, whose times mean nothing.\n");
  assert_has(text, " 2 emul. ");
  assert_null(strstr(text, "Without Tessera"));
  free(text);
}

/* Processes that one launcher has started say which of them they are; a single one does not. */
static void ranks_are_named(void **state_) {
  (void)state_;
  setenv("OMPI_COMM_WORLD_RANK", "2", 1);
  for (int size = 4; size >= 1; size -= 3) {
    setenv("OMPI_COMM_WORLD_SIZE", size == 4 ? "4" : "1", 1);
    tsr_report r = begin(10);
    add(&r, &syrk, TSR_WHY_SMALL, 0, 3, 9);
    char *text = text_of(&r);
    assert_int_equal(strstr(text, "tessera: rank 2 of 4 processes:\n") == text, size == 4);
    assert_int_equal(strstr(text, "rank") != NULL, size == 4);
    free(text);
  }
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("OMPI_COMM_WORLD_SIZE");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_are_named),          cmocka_unit_test(the_share_and_the_gain),
      cmocka_unit_test(devices_that_did_not_pay), cmocka_unit_test(the_table),
      cmocka_unit_test(ten_rows_or_all),          cmocka_unit_test(emulated_times_mean_nothing),
      cmocka_unit_test(factorisations_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
