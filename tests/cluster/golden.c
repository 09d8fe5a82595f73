/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Goldens of plans across processes: the steps of schedules on model-only grids.
 * tests/plan/golden.h says how goldens are kept; cluster_golden --write writes the file anew.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/plan/pplan.h"
#include "plan/golden.h"

#define SUMMIT "machines/v100x3-summit.json"
#define H200 "machines/h200x4.json"
#define STRING "host:150 gpu*3:16@nvlink:50 pcie:50 rate:7.2 net:12.5"

/* A product and settings of its plan; 0: the model chooses. */
typedef struct case_ {
  const char *machine;
  int rows, cols; /* of the grid */
  char type;
  const char *ops;              /* "NN" */
  int64_t m, n, k, block;       /* block: of the matrices' block-cyclic layouts */
  int64_t k_block_of_b, offset; /* block of B's rows, 0: block; first row and column of all parts */
  char beta;                    /* '0', '1' or 'r', another value; 0: '0' */
  int64_t depth, c_block;
  int lookahead;
  double network, up, down; /* GB/s */
  double memory;            /* GB of a device; 0: 80 % of what it has */
} case_;

static const case_ cases[] = {
    {SUMMIT, 2, 2, 'd', "NN", 20000, 20000, 20000, 256},
    {SUMMIT, 4, 1, 'd', "NN", 20000, 20000, 20000, 256, .beta = 'r'},
    {SUMMIT, 1, 4, 's', "NT", 16384, 16384, 8192, 512, .beta = '1'},
    {SUMMIT, 2, 2, 'z', "CN", 9001, 7003, 8005, 100, .beta = 'r'},
    {SUMMIT, 2, 2, 'd', "TT", 12000, 12000, 12000, 128},
    {SUMMIT, 6, 6, 'd', "NN", 120000, 120000, 120000, 1024},
    {SUMMIT, 4, 4, 'd', "NN", 60000, 60000, 60000, 512, .up = 20, .down = 10},
    {SUMMIT, 2, 3, 'd', "NN", 30000, 30000, 30000, 256, .depth = 700, .c_block = 4000,
     .lookahead = 3},
    {H200, 2, 2, 'd', "NN", 32768, 32768, 32768, 512, .network = 25},
    {H200, 2, 2, 's', "NN", 40000, 30000, 50000, 512, .network = 50, .up = 50, .beta = 'r'},
    {H200, 4, 1, 'd', "NN", 65536, 4096, 16384, 256, .network = 12},
    {H200, 2, 2, 'c', "NN", 16384, 16384, 16384, 1024, .k_block_of_b = 384, .network = 25},
    {H200, 2, 2, 'd', "NN", 50000, 50000, 50000, 512, .network = 25, .memory = 4},
    {STRING, 2, 2, 'd', "NN", 10000, 12000, 14000, 64, .offset = 130, .beta = '1'},
    {STRING, 3, 2, 'd', "NN", 60000, 60000, 1000, 256},
    {STRING, 2, 2, 'd', "NN", 5000, 5000, 100000, 256},
    {STRING, 3, 3, 'd', "NN", 3000, 3000, 3000, 128, .network = 1},
    {"host:100 cpu:900 net:10", 2, 2, 'd', "NN", 8000, 8000, 8000, 256},
    {0}};

/* ---- Plans ---------------------------------------------------------------- */

static void must(tsr_status status) {
  if (status == TSR_OK) return;
  fprintf(stderr, "%s\n", tsr_message());
  exit(1);
}

static void name_of(const case_ *c, char *name, size_t room) {
  const char *slash = strrchr(c->machine, '/');
  char beta = c->beta != 0 ? c->beta : '0';
  int used =
      snprintf(name, room,
               "%dx%d of %s %cgemm %s %" PRId64 "x%" PRId64 "x%" PRId64 " in %" PRId64 " beta=%c",
               c->rows, c->cols, slash != NULL ? slash + 1 : c->machine, c->type, c->ops, c->m,
               c->n, c->k, c->block, beta);
  const struct {
    const char *word;
    double value;
  } words[] = {{"rows of B in", (double)c->k_block_of_b},
               {"from", (double)c->offset},
               {"depth", (double)c->depth},
               {"blocks", (double)c->c_block},
               {"lookahead", c->lookahead},
               {"network", c->network},
               {"up", c->up},
               {"down", c->down},
               {"memory", c->memory}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i].value != 0)
      used += snprintf(name + used, room - (size_t)used, " %s %g", words[i].word, words[i].value);
}

static tsr_context *planner(const case_ *c) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  bool is_file = strchr(c->machine, '/') != NULL;
  options.engine = "cpu";
  options.machine = is_file ? golden_path(c->machine) : c->machine;
  options.memory = (size_t)(1e9 * c->memory);
  must(tsr_context_create(&options, &context));
  return context;
}

static tsr_grid *grid_of(const case_ *c, tsr_context *context) {
  tsr_grid *grid = NULL;
  must(tsr_grid_imagine(context, c->rows, c->cols, &grid));
  must(tsr_grid_set_panels(grid, c->depth, c->lookahead));
  must(tsr_grid_set_blocks(grid, c->c_block, c->c_block));
  if (c->network > 0) must(tsr_grid_set_network(grid, 1e9 * c->network, 2e-6));
  must(tsr_grid_imagine_transport(grid, 1e9 * c->up, 1e9 * c->down));
  return grid;
}

static tsr_pmatrix matrix_of(const case_ *c, tsr_grid *grid, char op, int64_t rows, int64_t cols) {
  int64_t m = op == 'N' ? rows : cols, n = op == 'N' ? cols : rows, nb = c->block;
  return (tsr_pmatrix){grid, (tsr_type)c->type, m + c->offset, n + c->offset, nb, nb, 0, 0, 0, 0, 1,
                       NULL};
}

static tsr_pplan *plan_of(const case_ *c, tsr_grid *grid) {
  static const double values[3][2] = {{0, 0}, {1, 0}, {0.5, 0}};
  static const float narrow[3][2] = {{0, 0}, {1, 0}, {0.5F, 0}};
  bool wide = c->type == 'd' || c->type == 'z';
  int which = c->beta == '1' ? 1 : c->beta == 'r' ? 2 : 0;
  const void *alpha = wide ? (const void *)values[2] : narrow[2];
  const void *beta = wide ? (const void *)values[which] : narrow[which];
  tsr_pmatrix a = matrix_of(c, grid, c->ops[0], c->m, c->k),
              b = matrix_of(c, grid, c->ops[1], c->k, c->n),
              x = matrix_of(c, grid, 'N', c->m, c->n);
  if (c->k_block_of_b > 0) b.mb = c->k_block_of_b;
  tsr_pplan *plan = NULL;
  int64_t at = c->offset;
  must(tsr_pgemm_plan(grid, (tsr_op)c->ops[0], (tsr_op)c->ops[1], c->m, c->n, c->k, alpha, &a, at,
                      at, &b, at, at, beta, &x, at, at, &plan));
  return plan;
}

/* ---- Lines ---------------------------------------------------------------- */

static const char *step_word(int kind) {
  switch (kind) {
    case TSR_SUMMA_MOVE:
      return "move";
    case TSR_SUMMA_SEND:
      return "send";
    case TSR_SUMMA_MULTIPLY:
      return "multiply";
    case TSR_SUMMA_WRITE_BACK:
      return "home";
    default:
      return "?";
  }
}

static void note_step(const tsr_summa_step *s, golden_lines *lines) {
  tsr_text *text = &lines->text;
  bool moves = s->kind == TSR_SUMMA_MOVE, sends = s->kind == TSR_SUMMA_SEND,
       multiplies = s->kind == TSR_SUMMA_MULTIPLY;
  tsr_text_add(text, "%s", step_word(s->kind));
  if (moves || sends) tsr_text_add(text, " %c", s->operand == TSR_SUMMA_A ? 'A' : 'B');
  if (sends || multiplies) tsr_text_add(text, " panel %d", s->panel);
  if (sends) tsr_text_add(text, " block %d to slot %d", s->block[s->operand], s->slot[0]);
  if (!moves && !sends) tsr_text_add(text, " block %d,%d", s->block[0], s->block[1]);
  if (multiplies)
    tsr_text_add(text, " slots %d,%d%s", s->slot[0], s->slot[1], s->first ? " first" : "");
  for (int i = 0; i < TSR_SUMMA_WAITS; i++)
    if (s->after[i] != TSR_NO_SUMMA_STEP) tsr_text_add(text, " | after %d", s->after[i]);
  golden_line_end(lines);
}

static void note_lines(const tsr_summa_schedule *s, golden_lines *lines) {
  for (size_t i = 0; i < s->panels.count; i++) {
    const tsr_panel *p = &s->panels.items[i];
    tsr_text_add(&lines->text, "panel %zu from %" PRId64 " depth %" PRId64 " of row %d column %d",
                 i, p->at, p->depth, p->row, p->col);
    golden_line_end(lines);
  }
  for (size_t i = 0; i < s->steps.count; i++) note_step(&s->steps.items[i], lines);
}

static void note_counts(const tsr_pprediction *p, tsr_text *text) {
  tsr_text_add(text,
               "  steps %" PRId64 " products %" PRId64 " panels %" PRId64 " moved first:%s%s\n",
               p->steps, p->products, p->panels, p->moves_a ? " A" : "", p->moves_b ? " B" : "");
  tsr_text_add(text,
               "  blocks %dx%d, the first %" PRId64 "x%" PRId64 ", later ones %" PRId64 "x%" PRId64
               ", at once %d\n",
               p->blocks_down, p->blocks_across, p->block_rows, p->block_cols, p->later_rows,
               p->later_cols, p->together + 1);
  tsr_text_add(text, "  depth %" PRId64 " lookahead %d slots %d and %d bytes %zu\n", p->depth,
               p->lookahead, p->held[0], p->held[1], p->slots);
  tsr_text_add(text, "  bytes received %.0f sent %.0f\n", p->received, p->sent);
}

static void note_strategy(const tsr_pprediction *p, tsr_text *text) {
  tsr_text_add(text, "blocks %dx%d of %" PRId64 "x%" PRId64 ", depth %" PRId64 ", lookahead %d%s%s",
               p->blocks_down, p->blocks_across, p->block_rows, p->block_cols, p->depth,
               p->lookahead, p->moves_a ? ", A moved first" : "",
               p->moves_b ? ", B moved first" : "");
}

static void note_case(golden_book *book, const case_ *c) {
  char name[300];
  name_of(c, name, sizeof name);
  if (!golden_wants(name)) return;
  golden_result result = {.name = name, .family = "pgemm", .floor = -1};
  tsr_pprediction p;
  tsr_context *context = planner(c);
  tsr_grid *grid = grid_of(c, context);
  tsr_pplan *plan = plan_of(c, grid);
  must(tsr_pplan_predict(plan, &p));
  note_lines(&plan->schedule, &result.lines);
  note_strategy(&p, &result.strategy);
  note_counts(&p, &result.counts);
  result.predicted = p.seconds;
  golden_note(book, &result);
  golden_result_free(&result);
  tsr_pplan_destroy(plan);
  tsr_grid_destroy(grid);
  tsr_context_destroy(context);
}

static int note_all(void) {
  golden_book *book = golden_open("tests/plan/golden/processes.txt");
  for (const case_ *c = cases; c->machine != NULL; c++) note_case(book, c);
  return golden_close(book);
}

/* ---- As a test, and as a program ------------------------------------------ */

static void test_processes(void **state) {
  (void)state;
  if (note_all() > 0)
    fail_msg("plans are not what they were; if that is meant: sh tests/plan/golden.sh BUILD");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_processes)};
  if (!golden_interpret(argc, argv)) return 2;
  if (golden_asked.mode != GOLDEN_COMPARE || golden_asked.only != NULL) return note_all() > 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
