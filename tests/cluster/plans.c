/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Plans across processes on model-only grids: compared with bounds and with each other; prints;
 * wrong arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tessera_mpi_model.h"

#define SUMMIT "host:150 gpu*3:16@nvlink:50 pcie:50 rate:7.2 net:12.5"

#define assert_ok(call)                                             \
  do {                                                              \
    if ((call) != TSR_OK) fail_msg("%s: %s", #call, tsr_message()); \
  } while (0)

static tsr_context *planner(const char *machine) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  options.engine = "cpu";
  options.machine = machine;
  assert_ok(tsr_context_create(&options, &context));
  return context;
}

/* A product and settings of its plan; 0: the model chooses. */
typedef struct wish {
  int rows, cols;
  int64_t m, n, k, block;         /* block: of the matrices' block-cyclic layouts */
  int64_t depth, c_block, c_cols; /* c_cols 0: blocks of C are square */
  int lookahead;
  double network, up, down; /* GB/s */
  tsr_op transa;
  int64_t k_block_of_b; /* the block of B's rows; 0: block */
} wish;

static tsr_status make(tsr_context *context, const wish *w, tsr_grid **grid, tsr_pplan **plan) {
  static const double one = 1, zero = 0;
  bool turned = w->transa != 0 && w->transa != TSR_NO_TRANS;
  assert_ok(tsr_grid_imagine(context, w->rows, w->cols, grid));
  assert_ok(tsr_grid_set_panels(*grid, w->depth, w->lookahead));
  assert_ok(tsr_grid_set_blocks(*grid, w->c_block, w->c_cols > 0 ? w->c_cols : w->c_block));
  if (w->network > 0) assert_ok(tsr_grid_set_network(*grid, 1e9 * w->network, 2e-6));
  assert_ok(tsr_grid_imagine_transport(*grid, 1e9 * w->up, 1e9 * w->down));
  int64_t nb = w->block;
  tsr_pmatrix a = {*grid, TSR_D, turned ? w->k : w->m, turned ? w->m : w->k, nb, nb, 0, 0, 0, 0,
                   1,     NULL};
  tsr_pmatrix b = {*grid, TSR_D, w->k, w->n, nb, nb, 0, 0, 0, 0, 1, NULL};
  tsr_pmatrix c = {*grid, TSR_D, w->m, w->n, nb, nb, 0, 0, 0, 0, 1, NULL};
  if (w->k_block_of_b > 0) b.mb = w->k_block_of_b;
  return tsr_pgemm_plan(*grid, turned ? w->transa : TSR_NO_TRANS, TSR_NO_TRANS, w->m, w->n, w->k,
                        &one, &a, 0, 0, &b, 0, 0, &zero, &c, 0, 0, plan);
}

static tsr_pprediction predict(tsr_context *context, const wish *w) {
  tsr_grid *grid = NULL;
  tsr_pplan *plan = NULL;
  tsr_pprediction p;
  assert_ok(make(context, w, &grid, &plan));
  assert_ok(tsr_pplan_predict(plan, &p));
  tsr_pplan_destroy(plan);
  tsr_grid_destroy(grid);
  return p;
}

static wish square(int rows, int cols, int64_t n) {
  return (wish){.rows = rows, .cols = cols, .m = n, .n = n, .k = n, .block = 256};
}

/* ---- Bounds -------------------------------------------------------------------- */

static void no_faster_than_parts_allow(void **state) {
  (void)state;
  static const int64_t extents[] = {3000, 20000, 60000, 130000};
  static const int shapes[][2] = {{1, 2}, {2, 2}, {3, 2}, {4, 4}};
  tsr_context *context = planner(SUMMIT);
  for (size_t i = 0; i < 4; i++)
    for (size_t j = 0; j < 4; j++) {
      wish w = square(shapes[j][0], shapes[j][1], extents[i]);
      tsr_pprediction p = predict(context, &w);
      double n = (double)w.m, processes = w.rows * w.cols;
      double floor = 2 * n * n * n / processes / (3 * 7.2e12);
      assert_true(p.seconds >= floor && p.kernels >= floor);
      assert_true(p.seconds >= p.kernels + p.fill + p.starved + p.changing - 1e-9);
      assert_true(p.seconds >= p.received / 12.5e9 && p.seconds >= p.sent / 12.5e9);
      assert_true(p.starved >= 0 && p.changing >= 0 && p.fill > 0);
      /* A process receives the parts of A and B that the others of its row and column own. */
      double volume = 8 * n * n * ((1 - 1.0 / w.cols) / w.rows + (1 - 1.0 / w.rows) / w.cols);
      if (p.blocks_down * p.blocks_across == 1)
        assert_true(p.received > 0.7 * volume && p.received < 1.5 * volume);
    }
  tsr_context_destroy(context);
}

/* With a slow network a product takes at least bytes / bandwidth; with an infinitely fast one at
 * least the time of the kernels; and a slower network never makes it faster. */
static void the_network_binds_or_not(void **state) {
  (void)state;
  tsr_context *context = planner(SUMMIT);
  wish w = square(4, 4, 40000);
  w.depth = 1024, w.lookahead = 2, w.network = 0.5;
  tsr_pprediction slow = predict(context, &w);
  assert_true(slow.seconds >= slow.received / 0.5e9 && slow.starved > slow.kernels);
  w.network = 1e6;
  tsr_pprediction fast = predict(context, &w);
  assert_true(fast.seconds >= fast.kernels && fast.starved < slow.starved);
  double last = fast.seconds;
  for (w.network = 100; w.network > 0.2; w.network /= 2) {
    tsr_pprediction p = predict(context, &w);
    assert_true(p.seconds >= last * (1 - 1e-9));
    last = p.seconds;
  }
  tsr_context_destroy(context);
}

/* Herault et al., Figure 3: when C is cut into blocks and the network is nearly saturated,
 * lookahead 2 is faster than 1 (bench/choices.py says by how much). With one block of C it makes no
 * difference. */
static void lookahead_helps_where_blocks_are_small(void **state) {
  (void)state;
  tsr_context *context = planner(SUMMIT);
  wish w = square(6, 6, 362496);
  w.block = 1024, w.c_block = 30720, w.depth = 8192, w.network = 5;
  w.lookahead = 1;
  tsr_pprediction one = predict(context, &w);
  w.lookahead = 2;
  tsr_pprediction two = predict(context, &w);
  assert_int_equal(one.blocks_down * one.blocks_across, 4);
  assert_true(one.seconds > two.seconds && one.starved > two.starved);
  w.c_block = 59392, w.depth = 1024, w.m = w.n = w.k = 356352;
  tsr_pprediction whole = predict(context, &w);
  assert_int_equal(whole.blocks_down * whole.blocks_across, 1);
  w.lookahead = 1;
  tsr_pprediction whole_one = predict(context, &w);
  assert_true(whole_one.starved - whole.starved < one.starved - two.starved);
  tsr_context_destroy(context);
}

/* ---- Choices -------------------------------------------------------------------- */

static void what_is_set_is_kept(void **state) {
  (void)state;
  tsr_context *context = planner(SUMMIT);
  wish w = square(2, 3, 30000);
  w.depth = 700, w.lookahead = 3, w.c_block = 4000;
  tsr_pprediction p = predict(context, &w);
  assert_true(p.depth <= 700 && p.depth > 600 && p.lookahead == 3);
  assert_true(p.block_rows == 4000 && p.block_cols == 4000);
  assert_true(p.blocks_down == 4 && p.blocks_across == 3);
  assert_true(p.products == p.panels * 12);
  tsr_context_destroy(context);
}

/* If the user sets the values that the model chose, the plan is not faster than the model's own.
 * (bench/choices.py compares other depths and lookaheads.) */
static void a_choice_can_be_set(void **state) {
  (void)state;
  static const int64_t extents[] = {8000, 40000, 160000};
  tsr_context *context = planner(SUMMIT);
  for (size_t i = 0; i < 3; i++) {
    wish w = square(3, 3, extents[i]);
    tsr_pprediction chosen = predict(context, &w);
    w.depth = chosen.depth, w.lookahead = chosen.lookahead;
    w.c_block = chosen.block_rows, w.c_cols = chosen.block_cols;
    tsr_pprediction set = predict(context, &w);
    assert_true(set.depth == chosen.depth && set.lookahead == chosen.lookahead);
    assert_true(chosen.seconds <= (1 + 1e-9) * set.seconds);
  }
  tsr_context_destroy(context);
}

/* The device memory suffices for the blocks of C and the panels of three products. */
static void blocks_fit(void **state) {
  (void)state;
  tsr_context *context = planner(SUMMIT);
  for (int64_t n = 100000; n <= 400000; n += 50000) {
    wish w = square(2, 2, n);
    tsr_pprediction p = predict(context, &w);
    double b = (double)p.block_rows, c = (double)p.block_cols, d = (double)p.depth;
    double bytes = 8 * ((p.together ? 2 : 1) * b * c / 3 + 3 * (b + c / 3) * d);
    assert_true(bytes <= 0.8 * 16e9);
    assert_true(b * p.blocks_down >= (double)n / 2 && c * p.blocks_across >= (double)n / 2);
  }
  tsr_context_destroy(context);
}

static void transposed_operands_move(void **state) {
  (void)state;
  tsr_context *context = planner(SUMMIT);
  wish w = square(2, 2, 10000);
  tsr_pprediction straight = predict(context, &w);
  w.transa = TSR_TRANS;
  tsr_pprediction turned = predict(context, &w);
  assert_true(!straight.moves_a && !straight.moves_b && turned.moves_a && !turned.moves_b);
  assert_true(turned.seconds > straight.seconds && turned.received > straight.received);
  tsr_context_destroy(context);
}

/* If k has other blocks in B than in A, the panels of each pair of owners are shallow.
 * Redistributing a matrix pays for some products and not for others. */
static void moving_is_weighed(void **state) {
  (void)state;
  int moved = 0, kept = 0;
  tsr_context *context = planner(SUMMIT);
  for (int64_t k = 2000; k <= 50000; k *= 5)
    for (int64_t m = 5000; m <= 125000; m *= 5) {
      wish w = {.rows = 8, .cols = 8, .m = m, .n = m, .k = k, .block = 64, .k_block_of_b = 48};
      tsr_pprediction p = predict(context, &w);
      if (p.moves_a || p.moves_b)
        moved++;
      else
        kept++;
    }
  assert_true(moved > 0 && kept > 0);
  tsr_context_destroy(context);
}

#define HOSTED(close)                                                                       \
  "{\"tessera_machine\": 1, \"nodes\": 1, "                                                 \
  "\"devices\": [{\"name\": \"g\", \"memory\": 1e11, \"memory_rate\": 1e12}], \"links\": [" \
  "{\"from\": \"host0\", \"to\": \"gpu0\", \"bandwidth\": 2e10, "                           \
  "\"shape\": [[1024, 1e9], [65536, 2e10]]" close                                           \
  "}, "                                                                                     \
  "{\"from\": \"gpu0\", \"to\": \"host0\", \"bandwidth\": 2e10}], \"rates\": {\"d\": "      \
  "{\"sustained\": 1e14, \"area\": [512], \"k\": [512], \"flops\": [[1e14]]}}, "            \
  "\"staging\": {\"threads\": 2, \"thread_rate\": 1e10, \"rate\": 2e10}}"

/* Panels of B in short runs are uploaded faster if B's columns are close together, 16 KiB here; not
 * if they are 128 KiB apart. */
static void columns_close_together_are_uploaded_faster(void **state) {
  (void)state;
  tsr_context *with = planner(HOSTED(", \"close\": {\"pitch\": 32768, \"shape\": [[1024, 1e10]]}")),
              *without = planner(HOSTED(""));
  wish w = {.rows = 4, .cols = 4, .m = 8192, .n = 8192, .k = 8192, .block = 256, .depth = 256};
  w.lookahead = 2, w.network = 1000, w.up = 20, w.down = 20, w.k_block_of_b = 128;
  assert_true(predict(with, &w).seconds < 0.8 * predict(without, &w).seconds);
  w.m = w.k = 65536;
  assert_true(predict(with, &w).seconds == predict(without, &w).seconds);
  tsr_context_destroy(with);
  tsr_context_destroy(without);
}

static void shapes(void **state) {
  (void)state;
  tsr_context *context = planner(SUMMIT);
  int rows, cols;
  for (int processes = 1; processes <= 36; processes++) {
    assert_ok(tsr_grid_suggest(context, processes, TSR_D, 50000, 50000, 50000, &rows, &cols));
    assert_true(rows * cols == processes && rows <= cols);
    for (int r = rows + 1; r * r <= processes; r++) assert_true(processes % r != 0);
  }
  assert_ok(tsr_grid_suggest(context, 16, TSR_D, 200000, 2000, 50000, &rows, &cols));
  assert_true(rows > cols);
  assert_ok(tsr_grid_suggest(context, 16, TSR_D, 2000, 200000, 50000, &rows, &cols));
  assert_true(rows < cols);
  assert_int_equal(tsr_grid_suggest(context, 0, TSR_D, 1, 1, 1, &rows, &cols), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_grid_suggest(context, 1, TSR_D, -1, 1, 1, &rows, &cols), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_grid_suggest(NULL, 1, TSR_D, 1, 1, 1, &rows, &cols), TSR_ERR_ARGUMENT);
  tsr_context_destroy(context);
}

/* ---- Arithmetic ------------------------------------------------------------------ */

/* The plan of an emulated product has two steps, and every format prints that it is emulated. */
static void print_emulated(tsr_context *context, const wish *w) {
  static const struct {
    tsr_format format;
    const char *has;
  } prints[] = {{TSR_TEXT, "arithmetic  emulated, 14 moduli"},
                {TSR_VERDICT, "emulated with 14 moduli"},
                {TSR_JSON, "\"moduli\": 14"},
                {TSR_COMMANDS, "products in residues"},
                {TSR_TIMELINE_JSON, "\"tid\": 3"}};
  tsr_grid *grid = NULL;
  tsr_pplan *plan = NULL;
  assert_ok(make(context, w, &grid, &plan));
  for (size_t i = 0; i < sizeof prints / sizeof *prints; i++) {
    char *text = NULL;
    assert_ok(tsr_pplan_print(plan, prints[i].format, &text));
    assert_non_null(strstr(text, prints[i].has));
    assert_null(strstr(text, "panel 0"));
    free(text);
  }
  tsr_pplan_destroy(plan);
  tsr_grid_destroy(grid);
}

/* Lines go over the network before one product in residues; auto takes what takes less, if the
 * lines are not larger than twice the matrices. */
static void arithmetics(void **state) {
  static const double network[] = {0.2, 400};
  (void)state;
  for (int i = 0; i < 2; i++) {
    tsr_context *context = planner("host:200 gpu*1:80@none pcie:50 rate:1 rate.h:700 net:10");
    wish w = square(2, 2, 20480), wide = square(4, 4, 20480);
    w.network = wide.network = network[i];
    tsr_pprediction native = predict(context, &w);
    assert_ok(tsr_set_arithmetic(context, "emulated"));
    tsr_pprediction emulated = predict(context, &w);
    double lines = 2.0 * 10240 * 20480 * 8;
    assert_int_equal(native.moduli, 0);
    assert_int_equal(emulated.moduli, 14);
    assert_true(emulated.native == native.seconds && native.native == native.seconds);
    assert_true(emulated.slots == (size_t)lines && emulated.received == lines / 2);
    assert_true(emulated.fill > emulated.received / (1e9 * network[i]));
    assert_true(emulated.seconds > emulated.fill + 0.99 * emulated.kernels);
    assert_true(emulated.kernels < native.kernels / 4);
    assert_true((emulated.seconds < native.seconds) == (i == 1));
    print_emulated(context, &w);
    assert_ok(tsr_set_arithmetic(context, "auto"));
    tsr_pprediction faster = predict(context, &w);
    assert_int_equal(faster.moduli, i == 1 ? 14 : 0);
    assert_true(faster.seconds == (i == 1 ? emulated.seconds : native.seconds));
    assert_int_equal(predict(context, &wide).moduli, 0); /* 4 x (A + B) */
    tsr_context_destroy(context);
  }
}

/* ---- Prints, and wrong arguments -------------------------------------------------- */

static void prints(void **state) {
  (void)state;
  static const struct {
    tsr_format format;
    const char *part;
  } formats[] = {{TSR_TEXT, "dgemm NN 9000 x 9000 x 9000 on a grid of 2 x 2"},
                 {TSR_JSON, "\"lookahead\":"},
                 {TSR_COMMANDS, "write     block (0, 0) back"},
                 {TSR_TIMELINE_JSON, "\"panels of A\""}};
  tsr_context *context = planner(SUMMIT);
  tsr_grid *grid = NULL;
  tsr_pplan *plan = NULL;
  wish w = square(2, 2, 9000);
  assert_ok(make(context, &w, &grid, &plan));
  for (size_t i = 0; i < 4; i++) {
    char *text = NULL;
    assert_ok(tsr_pplan_print(plan, formats[i].format, &text));
    if (strstr(text, formats[i].part) == NULL) fail_msg("no \"%s\" in %s", formats[i].part, text);
    free(text);
  }
  char *text = NULL;
  assert_int_equal(tsr_pplan_print(plan, TSR_TIMELINE_SVG, &text), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_pplan_print(NULL, TSR_TEXT, &text), TSR_ERR_ARGUMENT);
  assert_null(text);
  tsr_pplan_destroy(plan);
  tsr_pplan_destroy(NULL);
  tsr_grid_destroy(grid);
  tsr_context_destroy(context);
}

/* No product hides the write-back of the last block, so it should be small: if C is cut, later
 * blocks are smaller, and the product takes no longer than with one block. (bench/choices.py says
 * how much less.) */
static void the_last_block_is_small(void **state) {
  (void)state;
  tsr_context *context = planner("host:200 gpu*1:141@nvlink:300 pcie:55 rate:60 net:12");
  wish w = square(4, 1, 16384);
  w.network = 200, w.up = 41, w.depth = 1024;
  for (w.down = 55; w.down > 20; w.down -= 12) {
    tsr_pprediction p = predict(context, &w);
    assert_true(p.blocks_across > 1 && p.later_cols < p.block_cols && p.later_cols > 0);
    assert_true(p.block_cols + (p.blocks_across - 1) * p.later_cols >= 16384);
    assert_true(p.seconds >= p.kernels + p.fill);
    wish one = w;
    one.c_block = 16384;
    assert_true(p.seconds <= predict(context, &one).seconds);
  }
  w.up = w.down = 0; /* panels by MPI; blocks that the user set are all of one size */
  w.c_block = 2048;
  tsr_pprediction set = predict(context, &w);
  assert_true(set.block_cols == 2048 && set.later_cols == 2048 && set.blocks_across == 8);
  tsr_context_destroy(context);
}

/* Panels from device to device: a product takes at least the time of its uploads; slower uploads
 * never make it faster; slots and blocks of C fit the devices' memory. */
static void panels_in_device_memory(void **state) {
  (void)state;
  tsr_context *context = planner("host:200 gpu*1:141@nvlink:300 pcie:55 rate:60 net:12");
  wish w = square(2, 2, 32768);
  tsr_pprediction by_mpi = predict(context, &w);
  w.network = 200, w.up = 50;
  tsr_pprediction by_nccl = predict(context, &w);
  assert_true(by_nccl.seconds < by_mpi.seconds);
  assert_true(by_nccl.seconds >= by_nccl.kernels + by_nccl.fill + by_nccl.starved - 1e-9);
  double n = (double)w.m, uploaded = 8 * n * n * 2 / 4, last = 0;
  for (w.up = 40; w.up > 1; w.up /= 2)
    assert_true(predict(context, &w).seconds >= uploaded / (1e9 * w.up));
  w.up = 2;
  assert_true(predict(context, &w).starved > by_nccl.kernels);
  w.depth = 1024, w.lookahead = 2, w.c_block = 8192; /* the same cut for all rates */
  for (w.up = 50; w.up > 1; w.up /= 2) {
    tsr_pprediction p = predict(context, &w);
    assert_true(p.seconds >= last * (1 - 1e-9));
    last = p.seconds;
  }
  w.depth = w.lookahead = 0, w.c_block = 0, w.up = 2;
  tsr_context_destroy(context);
  context = planner("host:200 gpu*1:1@nvlink:300 pcie:55 rate:60 net:12");
  tsr_pprediction tight = predict(context, &w);
  double c = 8.0 * (double)tight.block_rows * (double)tight.block_cols;
  assert_true(tight.blocks_down * tight.blocks_across > 1);
  assert_true((tight.together ? 2 : 1) * c + (double)tight.slots < 1e9);
  tsr_context_destroy(context);
}

static void refuse(tsr_status status, const char *part) {
  assert_int_equal(status, TSR_ERR_ARGUMENT);
  if (strstr(tsr_message(), part) == NULL) fail_msg("\"%s\" is not in: %s", part, tsr_message());
}

static void what_is_wrong(void **state) {
  (void)state;
  static const double one = 1, zero = 0;
  tsr_context *context = planner(SUMMIT);
  tsr_grid *grid = NULL;
  tsr_pplan *plan = NULL;
  refuse(tsr_grid_imagine(NULL, 2, 2, &grid), "context");
  refuse(tsr_grid_imagine(context, 0, 2, &grid), "0 x 2");
  refuse(tsr_grid_imagine(context, 2, 2, NULL), "grid");
  assert_ok(tsr_grid_imagine(context, 2, 2, &grid));
  refuse(tsr_grid_set_network(grid, 0, 0), "network");
  refuse(tsr_grid_imagine_transport(grid, -1, 0), "up is -1");
  refuse(tsr_grid_imagine_transport(grid, 1e9, -1), "down is -1");
  refuse(tsr_grid_imagine_transport(grid, 0, 1e9), "up is 0");
  refuse(tsr_grid_set_blocks(grid, -1, 0), "blocks");
  assert_ok(tsr_grid_set_cut(grid, TSR_CUT_PARSEC));
  refuse(tsr_grid_set_blocks(grid, 0, 64), "blocks 0 x 64");
  refuse(tsr_grid_set_panels(grid, 64, 0), "TSR_CUT_PARSEC");
  assert_ok(tsr_grid_set_cut(grid, TSR_CUT_MODEL));
  assert_ok(tsr_grid_set_panels(grid, 64, 0));
  refuse(tsr_grid_set_cut(grid, TSR_CUT_PARSEC), "depth 64");
  assert_ok(tsr_grid_set_panels(grid, 0, 0));
  tsr_pmatrix x = {grid, TSR_D, 10, 10, 3, 3, 0, 0, 0, 0, 10, (void *)1};
#define PLAN(k, alpha, matrix)                                                               \
  tsr_pgemm_plan(grid, TSR_NO_TRANS, TSR_NO_TRANS, 10, 10, k, alpha, matrix, 0, 0, &x, 0, 0, \
                 &zero, &x, 0, 0, &plan)
  refuse(PLAN(0, &one, &x), "nothing");
  refuse(PLAN(10, &zero, &x), "nothing");
  refuse(PLAN(11, &one, &x), "part of a");
  refuse(PLAN(10, NULL, &x), "alpha");
  refuse(PLAN(10, &one, NULL), "a is NULL");
  refuse(tsr_pgemm(grid, TSR_NO_TRANS, TSR_NO_TRANS, 10, 10, 10, &one, &x, 0, 0, &x, 0, 0, &zero,
                   &x, 0, 0),
         "no processes");
  refuse(tsr_grid_sync(grid), "no processes");
  assert_null(plan);
  tsr_grid_destroy(grid);
  assert_ok(tsr_grid_imagine(context, 1, 1, &grid));
  x.grid = grid;
  refuse(PLAN(10, &one, &x), "tsr_plan_gemm");
  tsr_grid_destroy(grid);
  tsr_context_destroy(context);
}

/* A model-only grid refuses what processes would: native products that are to be reproducible, and
 * cuts of emulated ones. */
static void what_processes_refuse(void **state) {
  (void)state;
  static const char *const arithmetics[] = {"native", "auto", "emulated"};
  static const double one = 1;
  for (int i = 0; i < 6; i++) {
    tsr_options options = TSR_OPTIONS_DEFAULT;
    tsr_context *context = NULL;
    tsr_grid *grid = NULL;
    tsr_pplan *plan = NULL;
    options.engine = "cpu";
    options.machine = SUMMIT;
    options.reproducible = i < 3;
    options.arithmetic = arithmetics[i % 3];
    assert_ok(tsr_context_create(&options, &context));
    assert_ok(tsr_grid_imagine(context, 2, 2, &grid));
    if (i >= 3) assert_ok(tsr_grid_set_panels(grid, 64, 2));
    const tsr_pmatrix x = {grid, TSR_D, 300, 300, 32, 32, 0, 0, 0, 0, 300, NULL};
    tsr_status status = tsr_pgemm_plan(grid, TSR_NO_TRANS, TSR_NO_TRANS, 300, 300, 300, &one, &x, 0,
                                       0, &x, 0, 0, &one, &x, 0, 0, &plan);
    tsr_status wanted = i < 2 ? TSR_ERR_UNSUPPORTED : i == 5 ? TSR_ERR_ARGUMENT : TSR_OK;
    assert_int_equal(status, wanted);
    if (i < 2) assert_non_null(strstr(tsr_message(), "TESSERA_ARITHMETIC=emulated"));
    if (i == 5) assert_non_null(strstr(tsr_message(), "depth 64"));
    tsr_pplan_destroy(plan);
    tsr_grid_destroy(grid);
    tsr_context_destroy(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_faster_than_parts_allow),
      cmocka_unit_test(what_processes_refuse),
      cmocka_unit_test(the_network_binds_or_not),
      cmocka_unit_test(lookahead_helps_where_blocks_are_small),
      cmocka_unit_test(panels_in_device_memory),
      cmocka_unit_test(the_last_block_is_small),
      cmocka_unit_test(what_is_set_is_kept),
      cmocka_unit_test(a_choice_can_be_set),
      cmocka_unit_test(blocks_fit),
      cmocka_unit_test(transposed_operands_move),
      cmocka_unit_test(moving_is_weighed),
      cmocka_unit_test(columns_close_together_are_uploaded_faster),
      cmocka_unit_test(shapes),
      cmocka_unit_test(arithmetics),
      cmocka_unit_test(prints),
      cmocka_unit_test(what_is_wrong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
