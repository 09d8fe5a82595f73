/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the tests of the public interface share: contexts on a machine that needs no probing, and a
 * small product with a plain reference.
 */
#ifndef TSR_TESTS_FRONT_H
#define TSR_TESTS_FRONT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "tessera_model.h"

#define TWO_DEVICES "host:200 gpu*2@nvswitch:300 pcie:25/pair rate:19"
/* Beside a fast CPU: no delay of a call on the CPU, whose time counts, makes up for devices as slow
 * as these. */
#define SLOW_DEVICES "host:200 gpu*2@nvswitch:300 pcie:1e-6 rate:1e-9 cpu:100000"

#define assert_ok(call)                                                                            \
  do {                                                                                             \
    tsr_status status_ = (call);                                                                   \
    if (status_ != TSR_OK) fail_msg("%s: %s: %s", #call, tsr_status_name(status_), tsr_message()); \
  } while (0)

/* The status, and a message that mentions the text. */
#define assert_refused(call, expected, mention)                                                   \
  do {                                                                                            \
    tsr_status status_ = (call);                                                                  \
    if (status_ != (expected))                                                                    \
      fail_msg("%s: %s, not %s (%s)", #call, tsr_status_name(status_), #expected, tsr_message()); \
    if (!strstr(tsr_message(), mention))                                                          \
      fail_msg("%s: \"%s\" does not mention \"%s\"", #call, tsr_message(), mention);              \
  } while (0)

/* TSR_TEST_ENGINE names the engine; the emulated devices otherwise. */
static inline const char *front_engine(void) {
  const char *name = getenv("TSR_TEST_ENGINE");
  return name && *name ? name : "host";
}

static inline bool front_is_emulated(void) {
  return tsr_engine_emulates(front_engine());
}

/* Skips the test on real devices. For the test itself, not for a set-up: cmocka counts a set-up
 * that skips as failed. */
static inline void front_needs_emulated_devices(void) {
  if (!front_is_emulated()) skip();
}

/* TSR_TEST_DEVICES: how many real devices there are, of which two are used (1). */
static inline bool front_has_two_devices(void) {
  const char *count = getenv("TSR_TEST_DEVICES");
  return front_is_emulated() || (count && atoi(count) >= 2);
}

static inline tsr_options front_options(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  bool two = front_has_two_devices();
  options.engine = front_engine();
  options.devices = two ? "2" : "1";
  options.machine = two ? TWO_DEVICES : "host:200 gpu*1@nvswitch:300 pcie:25 rate:19";
  options.check = 1;
  options.reproducible = 0;
  return options;
}

/* A context with tiles of an extent; 0: the model's. */
static inline tsr_status front_create_tiled(const tsr_options *options, int64_t tile,
                                            tsr_context **context) {
  tsr_status status = tsr_context_create(options, context);
  return status == TSR_OK ? tsr_set_tile(*context, tile) : status;
}

/* With tiles so small that small products have many. */
static inline tsr_status front_create(const tsr_options *options, tsr_context **context) {
  return front_create_tiled(options, 16, context);
}

static inline tsr_context *front_context(void) {
  tsr_options options = front_options();
  tsr_context *context = NULL;
  assert_ok(front_create(&options, &context));
  return context;
}

/* Whole numbers, so that small products are exact. */
static inline void front_fill(double *x, int64_t count, int seed) {
  for (int64_t i = 0; i < count; ++i) x[i] = (double)((i * 7 + seed * 13) % 11 - 5);
}

static inline double *front_matrix(int64_t count, int seed) {
  double *x = malloc((size_t)(count > 0 ? count : 1) * sizeof *x);
  assert_non_null(x);
  front_fill(x, count, seed);
  return x;
}

/* c = alpha a b + beta c, square and column-major. */
static inline void front_reference(int64_t n, double alpha, const double *a, const double *b,
                                   double beta, double *c) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t l = 0; l < n; ++l) sum += a[i + l * n] * b[l + j * n];
      c[i + j * n] = alpha * sum + (beta == 0 ? 0 : beta * c[i + j * n]);
    }
}

static inline tsr_status front_dgemm(tsr_context *context, int64_t n, double alpha, const double *a,
                                     const double *b, double beta, double *c) {
  return tsr_dgemm(context, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n, alpha, a, n, b, n,
                   beta, c, n);
}

static inline tsr_status front_dgemm_async(tsr_context *context, int64_t n, double alpha,
                                           const double *a, const double *b, double beta,
                                           double *c) {
  return tsr_gemm_async(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n, &alpha,
                        a, n, b, n, &beta, c, n);
}

static inline void front_assert_equal(const double *got, const double *expected, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!(got[i] == expected[i]))
      fail_msg("element %lld is %g, must be %g", (long long)i, got[i], expected[i]);
}

/* One small product that must come out right: "it still works". */
static inline void front_assert_works(tsr_context *context) {
  enum { N = 24 };
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3);
  assert_ok(front_dgemm(context, N, 2, a, b, -1, c));
  front_reference(N, 2, a, b, -1, expected);
  front_assert_equal(c, expected, N * N);
  free(a), free(b), free(c), free(expected);
}

/* Whether the machine's devices reach each other: TSR_TEST_PEER may keep them from that. */
static inline bool front_has_peers(void) {
  const char *peer = getenv("TSR_TEST_PEER");
  return !peer || strcmp(peer, "0") != 0;
}

/* Skips a test whose machine's devices must reach each other. */
static inline void front_needs_peers(void) {
  if (!front_has_peers()) skip();
}

/* Whether a plan's verdict, with its lines joined by spaces, has these words. */
static inline bool front_verdict_says(const tsr_plan *plan, const char *words) {
  char *text = NULL;
  assert_ok(tsr_plan_print(plan, TSR_VERDICT, &text));
  for (char *c = text; *c != '\0'; c++)
    if (*c == '\n') *c = ' ';
  bool says = strstr(text, words) != NULL;
  free(text);
  return says;
}

/* The same of the verdict on the context's last call. */
static inline bool front_last_says(tsr_context *context, const char *words) {
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_last(context, &plan));
  bool says = front_verdict_says(plan, words);
  tsr_plan_destroy(plan);
  return says;
}

/* The settings of whoever runs the tests must not change them, but for TSR_TEST_PEER, which is
 * TESSERA_PEER of all of them. */
static inline void front_clear_environment(void) {
  const char *peer = getenv("TSR_TEST_PEER");
  for (const tsr_setting *s = tsr_settings(); s->name; ++s) unsetenv(s->name);
  if (peer && *peer) setenv("TESSERA_PEER", peer, 1);
}

/* Leaves nothing of count doubles on devices: a result is brought home, and its memory may become
 * something else once it is there. */
static inline tsr_status front_take_home(tsr_context *context, const void *at, int64_t count) {
  tsr_status status = tsr_coherent_async(context, TSR_GENERAL, count, 1, at, count, TSR_D);
  return status == TSR_OK ? tsr_release(context, count, 1, at, count, TSR_D) : status;
}

#endif
