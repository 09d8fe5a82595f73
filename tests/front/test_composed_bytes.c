/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sequences of two and three routines, all of them in every order, with staging rings of several
 * sizes: the bytes that they move from and to the home of their matrices, against the least, and
 * their results.
 *
 * An element is `had` once a call has read or written it. A call brings in no element that is had,
 * and no other element twice. Nothing goes home before the program asks for it, and then once.
 * There are three exceptions, with bounds of their own: squares on the diagonal are copied whole,
 * also beside a triangle (near); a triangle that a later call uses otherwise, with the rest of its
 * squares, goes home and comes in again in small squares along the diagonal (small_squares); and
 * squares on the diagonal of C are cleared if beta is 0 (clears).
 */
/* Slow: 34 s of a core. */
#include "call/budget.h"
#include "front/context.h"
#include "level3.h"

enum { MATRICES = 3, ROUTINES = 10, LONGEST = 3, DEFAULT_RING = 0 };

static const tsr_operation routines[ROUTINES] = {TSR_GEMM, TSR_SYMM,  TSR_HEMM,  TSR_SYRK,
                                                 TSR_HERK, TSR_SYR2K, TSR_HER2K, TSR_TRMM,
                                                 TSR_TRSM, TSR_GEMMT};

typedef struct sequence {
  tsr_context *context;
  tsr_type type;
  int64_t n, tile;
  size_t size, ring;
  double beta;
  char *ours[MATRICES], *expected[MATRICES];
  bool *had[MATRICES], *counted[MATRICES], *newer[MATRICES];
  double in, most_in;     /* bytes of the calls made so far */
  char written[MATRICES]; /* 0: not; the triangle, or TSR_GENERAL */
  char updated[MATRICES]; /* 0: no triangle of it alone; the triangle, or TSR_GENERAL: both */
  tsr_traffic last;
  char text[200];
} sequence;

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

/* ---- Contexts ---- */

/* All devices reach each other, so that no byte leaves its home twice. */
static tsr_context *context_of(int devices, size_t ring, int64_t tile, bool check) {
  char machine[80], count[16];
  tsr_options options = front_options();
  tsr_context *context;
  snprintf(count, sizeof count, "%d", devices);
  snprintf(machine, sizeof machine, "host:200 gpu*%d@nvswitch:300 pcie:25 rate:19", devices);
  options.devices = count;
  options.machine = machine;
  options.check = check;
  assert_ok(front_create_tiled(&options, tile, &context));
  if (ring == DEFAULT_RING) return context;
  tsr_plans *plans = context->plans;
  int host = plans->budgets.devices;
  plans->planning.ring = plans->budgets.wanted[host] = plans->budgets.given[host] = ring;
  tsr_plans_note_settings(plans);
  return context;
}

/* ---- Matrices ---- */

static int reals_of(tsr_type type) {
  return type == TSR_C || type == TSR_Z ? 2 : 1;
}

static double get(tsr_type type, const char *x, int64_t i) {
  return type == TSR_D || type == TSR_Z ? ((const double *)x)[i] : ((const float *)x)[i];
}

static void set(tsr_type type, char *x, int64_t i, double value) {
  if (type == TSR_D || type == TSR_Z)
    ((double *)x)[i] = value;
  else
    ((float *)x)[i] = (float)value;
}

/* Small numbers beside a diagonal of about 1, so that every matrix can be a triangle to solve with.
 */
static void fill(const sequence *s, char *x, int seed) {
  int reals = reals_of(s->type);
  for (int64_t j = 0; j < s->n; ++j)
    for (int64_t i = 0; i < s->n * reals; ++i)
      set(s->type, x, i + j * s->n * reals,
          (double)((i * 7 + j * 5 + seed * 13) % 11 - 5) / (double)(16 * s->n));
  for (int64_t i = 0; i < s->n; ++i) set(s->type, x, i * (s->n + 1) * reals, 1.25);
}

static void begin(sequence *s) {
  size_t count = (size_t)(s->n * s->n);
  s->size = (size_t)reals_of(s->type) * (s->type == TSR_D || s->type == TSR_Z ? 8 : 4);
  for (int x = 0; x < MATRICES; ++x) {
    s->ours[x] = malloc(count * s->size);
    s->expected[x] = malloc(count * s->size);
    s->had[x] = calloc(count, sizeof *s->had[x]);
    s->counted[x] = calloc(count, sizeof *s->counted[x]);
    s->newer[x] = calloc(count, sizeof *s->newer[x]);
    s->written[x] = s->updated[x] = 0;
    assert_non_null(s->ours[x]);
    assert_non_null(s->expected[x]);
    assert_non_null(s->had[x]);
    assert_non_null(s->counted[x]);
    assert_non_null(s->newer[x]);
    fill(s, s->ours[x], x);
    memcpy(s->expected[x], s->ours[x], count * s->size);
  }
  s->in = s->most_in = 0;
  assert_ok(tsr_context_traffic(s->context, &s->last));
}

static void end(sequence *s) {
  assert_ok(tsr_release(s->context, 0, 0, NULL, 1, s->type));
  for (int x = 0; x < MATRICES; ++x) {
    free(s->ours[x]);
    free(s->expected[x]);
    free(s->had[x]);
    free(s->counted[x]);
    free(s->newer[x]);
  }
}

/* ---- The least ---- */

static bool in_triangle(tsr_uplo uplo, int64_t i, int64_t j) {
  return uplo == TSR_LOWER ? i >= j : uplo == TSR_UPPER ? i <= j : true;
}

/* Whether an element is in a square on the diagonal that devices may copy whole, or clear. */
static bool is_near(const sequence *s, int64_t i, int64_t j) {
  int64_t apart = i > j ? i - j : j - i;
  return s->tile == 0 || apart < s->tile;
}

/* Elements in the small squares along the diagonal, into which a triangle is cut. */
static double small_squares(const sequence *s) {
  int64_t tile = s->tile > 0 ? s->tile : s->n, order = tile / 4 > 128 ? tile / 4 : 128;
  return (double)(order < tile ? order : tile) * (double)s->n;
}

static bool is_sided(tsr_operation o) {
  return o == TSR_SYMM || o == TSR_HEMM || o == TSR_TRMM || o == TSR_TRSM;
}

static bool is_update(tsr_operation o) {
  return o == TSR_SYRK || o == TSR_HERK || o == TSR_SYR2K || o == TSR_HER2K || o == TSR_GEMMT;
}

static bool is_in_place(tsr_operation o) {
  return o == TSR_TRMM || o == TSR_TRSM;
}

static bool has_b(tsr_operation o) {
  return !is_in_place(o) && o != TSR_SYRK && o != TSR_HERK;
}

/* The most bytes that a call may move. */
typedef struct bounds {
  double in, out;
} bounds;

/* Elements that a call which uses this triangle of a matrix may bring in. They are counted, so that
 * they may not come in again. */
static double count_in(sequence *s, int x, tsr_uplo uplo) {
  int64_t used = 0, may = 0, fresh = 0;
  for (int64_t j = 0; j < s->n; ++j)
    for (int64_t i = 0; i < s->n; ++i) {
      int64_t at = i + j * s->n;
      bool uses = in_triangle(uplo, i, j);
      if (s->had[x][at] || !(uses || is_near(s, i, j))) continue;
      used += uses;
      may++;
      fresh += !s->counted[x][at];
      s->counted[x][at] = true;
    }
  s->most_in += (double)fresh * (double)s->size;
  return used > 0 ? (double)may : 0;
}

static void add_operand(sequence *s, int x, tsr_uplo uplo, bool reads, bounds *most) {
  bool cut = s->updated[x] && s->updated[x] != (char)uplo;
  double squares = cut ? small_squares(s) * (double)s->size : 0;
  if (reads) most->in += count_in(s, x, uplo) * (double)s->size;
  most->in += squares;
  most->out += 2 * squares; /* the two triangles may be newer on two devices */
  s->most_in += squares;
}

/* ---- Calls ---- */

typedef struct step {
  tsr_operation operation;
  int a, b, c;
  tsr_uplo uplo;
} step;

static tsr_level3 what_of(const sequence *s, const step *t) {
  bool sided = is_sided(t->operation);
  return (tsr_level3){.operation = t->operation,
                      .type = s->type,
                      .layout = TSR_COL_MAJOR,
                      .side = TSR_LEFT,
                      .uplo = t->operation == TSR_GEMM ? TSR_GENERAL : t->uplo,
                      .transa = TSR_NO_TRANS,
                      .transb = TSR_NO_TRANS,
                      .diag = TSR_NON_UNIT,
                      .m = s->n,
                      .n = s->n,
                      .k = sided ? 0 : s->n,
                      .lda = s->n,
                      .ldb = s->n,
                      .ldc = s->n};
}

/* Whether the call clears squares on the diagonal of C. What is newer beside the triangle goes home
 * before, and comes in again for a call that reads it. */
static bool clears(const sequence *s, const step *t) {
  return is_update(t->operation) && s->beta == 0;
}

/* Elements of C that the call clears. */
static double clear_near(sequence *s, const step *t) {
  int64_t newer = 0;
  for (int64_t j = 0; j < s->n; ++j)
    for (int64_t i = 0; i < s->n; ++i) {
      int64_t at = i + j * s->n;
      if (in_triangle(t->uplo, i, j) || !is_near(s, i, j)) continue;
      newer += s->newer[t->c][at];
      s->had[t->c][at] = s->counted[t->c][at] = false;
    }
  return (double)newer;
}

static bounds bounds_of(sequence *s, const step *t) {
  bounds most = {0, 0};
  bool reads_c = is_in_place(t->operation) || s->beta != 0;
  tsr_uplo of_c = is_update(t->operation) ? t->uplo : TSR_GENERAL;
  add_operand(s, t->a, is_sided(t->operation) ? t->uplo : TSR_GENERAL, true, &most);
  if (has_b(t->operation)) add_operand(s, t->b, TSR_GENERAL, true, &most);
  if (reads_c || of_c != TSR_GENERAL) add_operand(s, t->c, of_c, reads_c, &most);
  /* Copies home write whole squares of the triangle that is cleared. */
  if (clears(s, t)) most.out += 2 * clear_near(s, t) * (double)s->size;
  return most;
}

static void note(const sequence *s, int x, tsr_uplo uplo, bool writes) {
  for (int64_t j = 0; j < s->n; ++j)
    for (int64_t i = 0; i < s->n; ++i) {
      int64_t at = i + j * s->n;
      if (!in_triangle(uplo, i, j)) continue;
      s->had[x][at] = s->counted[x][at] = true;
      s->newer[x][at] |= writes;
    }
}

static char joined(char before, tsr_uplo uplo) {
  return before == 0 || before == (char)uplo ? (char)uplo : TSR_GENERAL;
}

static void note_step(sequence *s, const step *t) {
  tsr_uplo of_c = is_update(t->operation) ? t->uplo : TSR_GENERAL;
  note(s, t->a, is_sided(t->operation) ? t->uplo : TSR_GENERAL, false);
  if (has_b(t->operation)) note(s, t->b, TSR_GENERAL, false);
  note(s, t->c, of_c, true);
  s->updated[t->c] = of_c == TSR_GENERAL ? 0 : joined(s->updated[t->c], of_c);
  s->written[t->c] = joined(s->written[t->c], of_c);
}

static tsr_traffic moved(sequence *s) {
  tsr_traffic before = s->last;
  assert_ok(tsr_context_traffic(s->context, &s->last));
  return (tsr_traffic){.host_to_device = s->last.host_to_device - before.host_to_device,
                       .device_to_host = s->last.device_to_host - before.device_to_host};
}

static void assert_most(const sequence *s, const char *what, double is, double most) {
  if (is > most)
    fail_msg("%s: %s: %.0f bytes, at most %.0f (n^2 is %.0f)", s->text, what, is, most,
             (double)(s->n * s->n) * (double)s->size);
}

static void take(sequence *s, tsr_context *cpu, const step *t) {
  const double alpha[2] = {0.5, 0}, beta[2] = {s->beta, 0};
  const float alpha_s[2] = {0.5f, 0}, beta_s[2] = {(float)s->beta, 0};
  bool wide = s->type == TSR_D || s->type == TSR_Z;
  tsr_level3 what = what_of(s, t);
  bounds most = bounds_of(s, t);
  size_t length = strlen(s->text);
  snprintf(s->text + length, sizeof s->text - length, " %s(%d,%d,%d)%c",
           tsr_operation_name(t->operation), t->a, t->b, t->c, (char)what.uplo);
  const void *scalars[] = {wide ? (const void *)alpha : alpha_s,
                           wide ? (const void *)beta : beta_s};
  assert_ok(tsr_level3_run_async(s->context, &what, scalars[0], s->ours[t->a], s->ours[t->b],
                                 scalars[1], s->ours[t->c]));
  assert_ok(tsr_level3_run(cpu, &what, scalars[0], s->expected[t->a], s->expected[t->b], scalars[1],
                           s->expected[t->c]));
  tsr_traffic now = moved(s);
  s->in += now.host_to_device;
  assert_most(s, "in", now.host_to_device, most.in);
  assert_most(s, "in, with the calls before", s->in, s->most_in);
  assert_most(s, "out", now.device_to_host, most.out);
  note_step(s, t);
}

/* ---- Results ---- */

static void assert_same(const sequence *s, int x) {
  bool wide = s->type == TSR_D || s->type == TSR_Z;
  int64_t reals = s->n * s->n * reals_of(s->type);
  for (int64_t i = 0; i < reals; ++i) {
    double is = get(s->type, s->ours[x], i), must = get(s->type, s->expected[x], i);
    double bound = (wide ? 1e-12 : 1e-4) * (1 + (must < 0 ? -must : must));
    if (!(is - must <= bound && must - is <= bound))
      fail_msg("%s: matrix %d: number %lld is %g, must be %g", s->text, x, (long long)i, is, must);
  }
}

/* The most bytes of a result: a triangle leaves its device with the squares across the diagonal,
 * and their other triangle may leave another device so. */
static double most_home(const sequence *s, int x) {
  int64_t count = 0;
  for (int64_t j = 0; j < s->n; ++j)
    for (int64_t i = 0; i < s->n; ++i)
      count += s->newer[x][i + j * s->n] + (s->updated[x] && is_near(s, i, j));
  return (double)count * (double)s->size;
}

/* Each result goes home once. */
static void bring_home(sequence *s) {
  double most = 0;
  for (int x = 0; x < MATRICES; ++x) {
    if (!s->written[x]) continue;
    most += most_home(s, x);
    assert_ok(
        tsr_coherent(s->context, (tsr_uplo)s->written[x], s->n, s->n, s->ours[x], s->n, s->type));
  }
  tsr_traffic now = moved(s);
  assert_most(s, "home: in", now.host_to_device, 0);
  assert_most(s, "home: out", now.device_to_host, most);
  assert_ok(tsr_sync(s->context));
  for (int x = 0; x < MATRICES; ++x)
    if (s->written[x])
      assert_ok(tsr_coherent(s->context, TSR_GENERAL, s->n, s->n, s->ours[x], s->n, s->type));
  for (int x = 0; x < MATRICES; ++x) assert_same(s, x);
}

/* ---- Sequences ---- */

/* The matrices of the second and the third call: C is added to once more, is read, or becomes a
 * factor. */
static const int places[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};

static bool has_type(tsr_operation o, tsr_type type) {
  bool complex = reals_of(type) == 2;
  return complex || (o != TSR_HEMM && o != TSR_HERK && o != TSR_HER2K);
}

static void run(sequence *s, tsr_context *cpu, const int *which, int length, int number) {
  static const tsr_uplo uplos[] = {TSR_LOWER, TSR_UPPER};
  s->beta = number % 3 == 0 ? 0 : 1;
  snprintf(s->text, sizeof s->text, "%c n %d ring %zu beta %g:", (char)s->type, (int)s->n, s->ring,
           s->beta);
  begin(s);
  for (int i = 0; i < length; ++i) {
    const int *at = places[i == 0 ? 0 : (number + i) % 5];
    tsr_uplo uplo = uplos[i == 0 || number % 4 > 0 ? 0 : 1];
    take(s, cpu, &(step){routines[which[i]], at[0], at[1], at[2], uplo});
  }
  bring_home(s);
  end(s);
}

static tsr_context *cpu_of(void) {
  tsr_options options = front_options();
  tsr_context *context;
  options.engine = "cpu";
  options.devices = NULL;
  options.machine = NULL;
  assert_ok(tsr_context_create(&options, &context));
  return context;
}

/* All pairs of routines, and a third one. */
static void run_all(int devices, size_t ring, tsr_type type, int64_t n, int64_t tile) {
  sequence s = {.type = type, .n = n, .tile = tile, .ring = ring};
  tsr_context *cpu = cpu_of();
  s.context = context_of(devices, ring, tile, true);
  for (int i = 0; i < ROUTINES; ++i)
    for (int j = 0; j < ROUTINES; ++j) {
      int which[LONGEST] = {i, j, (3 * i + 7 * j + devices) % ROUTINES}, length = LONGEST;
      while (length > 0 && !has_type(routines[which[length - 1]], type)) --length;
      for (int k = 0; k < length; ++k)
        if (!has_type(routines[which[k]], type)) length = 0;
      if (length > 1) run(&s, cpu, which, length, 10 * i + j + devices);
    }
  tsr_context_destroy(s.context);
  tsr_context_destroy(cpu);
}

/* Rings so small that a matrix of these is to them as one of a thousand rows is to a mebibyte. */
static void test_all_sequences_with_small_rings(void **state) {
  (void)state;
  front_needs_emulated_devices();
  run_all(1, 32 << 10, TSR_Z, 96, 32);
  run_all(2, 32 << 10, TSR_D, 96, 32);
  run_all(4, 64 << 10, TSR_Z, 96, 24);
  run_all(2, 128 << 10, TSR_C, 96, 0);
  run_all(4, DEFAULT_RING, TSR_S, 96, 0);
  run_all(2, DEFAULT_RING, TSR_Z, 100, 32);
}

/* A triangle of large squares is read as a whole, used and changed as another triangle, and
 * overwritten. */
static void test_triangles_of_large_squares(void **state) {
  (void)state;
  front_needs_emulated_devices();
  static const step others[] = {{TSR_GEMM, 2, 1, 0, TSR_GENERAL}, {TSR_SYMM, 0, 2, 1, TSR_LOWER},
                                {TSR_TRSM, 2, 1, 1, TSR_UPPER},   {TSR_SYRK, 0, 0, 2, TSR_UPPER},
                                {TSR_GEMM, 0, 1, 2, TSR_GENERAL}, {TSR_TRMM, 0, 2, 2, TSR_LOWER}};
  tsr_context *cpu = cpu_of();
  for (int devices = 1; devices <= 2; ++devices)
    for (int i = 0; i < 2 * (int)(sizeof others / sizeof *others); ++i) {
      sequence s = {.type = TSR_S, .n = 1024, .tile = 512, .ring = 1 << 20, .beta = i % 2};
      s.context = context_of(devices, s.ring, s.tile, true);
      snprintf(s.text, sizeof s.text, "%d devices, beta %g:", devices, s.beta);
      begin(&s);
      take(&s, cpu, &(step){TSR_SYRK, 0, 1, 2, TSR_LOWER});
      take(&s, cpu, &others[i / 2]);
      take(&s, cpu, &others[i / 2]);
      bring_home(&s);
      end(&s);
      tsr_context_destroy(s.context);
    }
  tsr_context_destroy(cpu);
}

/* A triangular solve and an update of its result, as in a factorisation, and the same again. */
static void test_trsm_and_syrk(void **state) {
  static const size_t rings[] = {1 << 20, 2 << 20, 4 << 20, 16 << 20, DEFAULT_RING};
  (void)state;
  front_needs_emulated_devices();
  tsr_context *cpu = cpu_of();
  for (int devices = 1; devices <= 4; devices *= 2)
    for (size_t i = 0; i < sizeof rings / sizeof *rings; ++i) {
      sequence s = {.type = TSR_D, .n = 1024, .ring = rings[i], .beta = 1};
      s.context = context_of(devices, rings[i], 0, false);
      snprintf(s.text, sizeof s.text, "%d devices, ring %zu:", devices, rings[i]);
      begin(&s);
      for (int round = 0; round < 2; ++round) {
        take(&s, cpu, &(step){TSR_TRSM, 0, 1, 1, TSR_LOWER});
        take(&s, cpu, &(step){TSR_SYRK, 1, 1, 2, TSR_LOWER});
      }
      bring_home(&s);
      end(&s);
      tsr_context_destroy(s.context);
    }
  tsr_context_destroy(cpu);
}

/* ---- One triangle alone ---- */

/* Calls that leave C newer on devices: all of it, a triangle, or one on another diagonal. */
typedef struct producer {
  tsr_operation operation;
  tsr_uplo uplo;
  int64_t row, col, order; /* the part of C that the call changes */
} producer;

static bool in_part(const producer *p, int64_t i, int64_t j) {
  i -= p->row;
  j -= p->col;
  return i >= 0 && j >= 0 && i < p->order && j < p->order && in_triangle(p->uplo, i, j);
}

static void produce(tsr_context *context, const producer *p, double *const x[MATRICES], int64_t n,
                    bool async) {
  const double alpha = 0.5, beta = 1;
  tsr_level3 what = {.operation = p->operation,
                     .type = TSR_D,
                     .layout = TSR_COL_MAJOR,
                     .side = TSR_LEFT,
                     .uplo = p->uplo,
                     .transa = TSR_NO_TRANS,
                     .transb = TSR_NO_TRANS,
                     .diag = TSR_NON_UNIT,
                     .m = p->order,
                     .n = p->order,
                     .k = n,
                     .lda = n,
                     .ldb = n,
                     .ldc = n};
  double *c = x[2] + p->row + p->col * n;
  assert_ok(async ? tsr_level3_run_async(context, &what, &alpha, x[0], x[1], &beta, c)
                  : tsr_level3_run(context, &what, &alpha, x[0], x[1], &beta, c));
}

/* No call computes this. */
static const double marker = -77;

/* The parts of C that have come home are right; the others are as the program left them. */
static void assert_home(const sequence *s, const producer *p, int parts, const bool *asked,
                        const bool *before) {
  const double *ours = (const double *)s->ours[2], *expected = (const double *)s->expected[2];
  for (int64_t j = 0; j < s->n; ++j)
    for (int64_t i = 0; i < s->n; ++i) {
      bool newer = false;
      for (int k = 0; k < parts; ++k) newer |= in_part(&p[k], i, j);
      double is = ours[i + j * s->n], must = expected[i + j * s->n];
      if (!before[i + j * s->n] && (!newer || !asked[i + j * s->n])) must = marker;
      if (!(is - must <= 1e-12 && must - is <= 1e-12))
        fail_msg("%s: element %d, %d is %g, must be %g", s->text, (int)i, (int)j, is, must);
    }
}

static void ask(sequence *s, tsr_uplo uplo, tsr_rect r, bool *asked) {
  char *c = s->ours[2] + (size_t)(r.row0 + r.col0 * s->n) * s->size;
  assert_ok(tsr_coherent(s->context, uplo, r.row1 - r.row0, r.col1 - r.col0, c, s->n, s->type));
  for (int64_t j = r.col0; j < r.col1; ++j)
    for (int64_t i = r.row0; i < r.row1; ++i)
      asked[i + j * s->n] |= in_triangle(uplo, i - r.row0, j - r.col0);
}

/* Marks all of C at home that no call has brought there; *before: the rest. */
static void mark(sequence *s, const producer *p, int parts, bool *before) {
  double *ours = (double *)s->ours[2], *expected = (double *)s->expected[2];
  for (int64_t j = 0; j < s->n; ++j)
    for (int64_t i = 0; i < s->n; ++i) {
      bool newer = false;
      for (int k = 0; k < parts; ++k) newer |= in_part(&p[k], i, j);
      double apart = ours[i + j * s->n] - expected[i + j * s->n];
      before[i + j * s->n] = newer && apart < 1e-12 && apart > -1e-12;
      if (!before[i + j * s->n]) ours[i + j * s->n] = marker;
    }
}

/* Home memory has markers when a triangle of a region is asked for, then the rest of the region. */
static void bring_triangle(sequence *s, tsr_context *cpu, const producer *p, int parts,
                           tsr_uplo uplo, tsr_rect r) {
  bool *asked = calloc((size_t)(s->n * s->n), sizeof *asked);
  bool *before = calloc((size_t)(s->n * s->n), sizeof *before);
  assert_non_null(asked);
  assert_non_null(before);
  snprintf(s->text, sizeof s->text, "%s %c, then %c of %d,%d to %d,%d",
           tsr_operation_name(p[parts - 1].operation), (char)p[parts - 1].uplo, (char)uplo,
           (int)r.row0, (int)r.col0, (int)r.row1, (int)r.col1);
  begin(s);
  double *ours[] = {(double *)s->ours[0], (double *)s->ours[1], (double *)s->ours[2]};
  double *expected[] = {(double *)s->expected[0], (double *)s->expected[1],
                        (double *)s->expected[2]};
  for (int k = 0; k < parts; ++k) {
    produce(s->context, &p[k], ours, s->n, true);
    produce(cpu, &p[k], expected, s->n, false);
  }
  assert_ok(tsr_sync(s->context));
  mark(s, p, parts, before);
  ask(s, uplo, r, asked);
  assert_home(s, p, parts, asked, before);
  ask(s, TSR_GENERAL, (tsr_rect){0, 0, s->n, s->n}, asked);
  assert_home(s, p, parts, asked, before);
  end(s);
  free(asked);
  free(before);
}

/* A triangle comes home alone, whichever triangles are newer. */
static void test_a_triangle_comes_home_alone(void **state) {
  static const producer all[] = {
      {TSR_GEMM, TSR_GENERAL, 0, 0, 96}, {TSR_SYRK, TSR_LOWER, 0, 0, 96},
      {TSR_SYRK, TSR_UPPER, 0, 0, 96},   {TSR_SYRK, TSR_LOWER, 7, 0, 80},
      {TSR_SYR2K, TSR_UPPER, 0, 11, 70}, {TSR_SYRK, TSR_UPPER, 30, 30, 60}};
  static const tsr_rect regions[] = {
      {0, 0, 96, 96}, {5, 5, 96, 96}, {0, 3, 90, 93}, {9, 0, 96, 40}, {0, 0, 50, 96}};
  static const tsr_uplo uplos[] = {TSR_LOWER, TSR_UPPER};
  enum { PRODUCERS = sizeof all / sizeof *all, REGIONS = sizeof regions / sizeof *regions };
  (void)state;
  front_needs_emulated_devices();
  tsr_context *cpu = cpu_of();
  sequence s = {.type = TSR_D, .n = 96, .tile = 32, .ring = DEFAULT_RING};
  for (int devices = 1; devices <= 2; ++devices) {
    s.context = context_of(devices, DEFAULT_RING, 32, false);
    for (int i = 0; i < PRODUCERS * REGIONS * 2; ++i) {
      int first = i / (2 * REGIONS);
      producer parts[] = {all[first], all[(first + i) % PRODUCERS]};
      bring_triangle(&s, cpu, parts, 1 + i % 3 / 2, uplos[i % 2], regions[i / 2 % REGIONS]);
    }
    tsr_context_destroy(s.context);
  }
  tsr_context_destroy(cpu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_all_sequences_with_small_rings, clear),
      cmocka_unit_test_setup(test_triangles_of_large_squares, clear),
      cmocka_unit_test_setup(test_trsm_and_syrk, clear),
      cmocka_unit_test_setup(test_a_triangle_comes_home_alone, clear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
