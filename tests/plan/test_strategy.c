/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Strategies in words: which are understood, that each part is found again in the plan, and that
 * plans made by random words are right.
 */
#include <math.h>
#include <stddef.h>

#include "planning.h"

#include "plan/search/knobs.h"

static const char *const host_4 = "host:200 gpu*4@nvswitch:300 pcie:25 rate:19";

/* ---- Words ---- */

static const tsr_strategy *of_kind(const tsr_forced *forced, tsr_strategy_kind kind) {
  assert_true(forced->kinds >> kind & 1);
  return &forced->value[kind];
}

static void good_words(void **state) {
  (void)state;
  tsr_forced forced;
  assert_int_equal(tsr_strategy_parse(NULL, &forced), TSR_OK);
  assert_true(forced.named == 0 && forced.kinds == (1 << TSR_STRATEGY_KINDS) - 1);
  assert_int_equal(tsr_strategy_parse("  ", &forced), TSR_OK);
  assert_true(forced.named == 0 && forced.kinds == (1 << TSR_STRATEGY_KINDS) - 1);
  assert_int_equal(tsr_strategy_parse("grid=2x3 kpanel=512,4096  kind=panels nblock=1,2,3 taper=64 "
                                      "c=last piece=8M relay=no route=bandwidth "
                                      "channels=ignore rows=4 a=whole b=whole leading=yes ",
                                      &forced),
                   TSR_OK);
  assert_int_equal(forced.kinds, 1 << TSR_PANELS);
  const tsr_strategy *strategy = of_kind(&forced, TSR_PANELS);
  assert_true(strategy->grid_rows == 2 && strategy->grid_cols == 3);
  assert_true(strategy->k_panel == 512 && strategy->k_panel_most == 4096);
  assert_true(strategy->n_block_first == 1 && strategy->n_block == 2 &&
              strategy->n_block_last == 3);
  assert_int_equal(strategy->n_block_least, 64);
  assert_true(strategy->lazy && !strategy->relay && strategy->ignore_channels);
  assert_int_equal(strategy->piece, 8000000);
  assert_int_equal(strategy->routing, TSR_ROUTE_BANDWIDTH);
  assert_true(strategy->row_parts == 4 && strategy->whole_a && strategy->whole_b &&
              strategy->leading);
  assert_int_equal(tsr_strategy_parse("tile=64 order=eta cblock.cols=3", &forced), TSR_OK);
  strategy = of_kind(&forced, TSR_TILES);
  assert_true(strategy->tile == 64 && strategy->by_eta && strategy->c_block_cols == 3);
  assert_int_equal(tsr_strategy_parse("bands tile=64 held=2", &forced), TSR_OK);
  assert_int_equal(forced.kinds, 1 << TSR_BANDS);
  strategy = of_kind(&forced, TSR_BANDS);
  assert_true(strategy->tile == 64 && strategy->held == 2);
}

/* Words of one kind say nothing of another, nor which kind it is to be. */
static void words_of_kinds(void **state) {
  (void)state;
  tsr_forced forced;
  assert_int_equal(
      tsr_strategy_parse("panels/kpanel=64 stripes/kpanel=16 any/piece=4096 c=first", &forced),
      TSR_OK);
  assert_int_equal(forced.kinds, (1 << TSR_STRATEGY_KINDS) - 1);
  assert_int_equal(of_kind(&forced, TSR_PANELS)->k_panel, 64);
  assert_int_equal(of_kind(&forced, TSR_STRIPES)->k_panel, 16);
  assert_int_equal(of_kind(&forced, TSR_TILES)->piece, 4096);
  assert_non_null(tsr_forced_named(&forced, offsetof(tsr_strategy, lazy)));
  assert_null(tsr_forced_named(&forced, offsetof(tsr_strategy, piece)));
}

static void later_words_win(void **state) {
  (void)state;
  tsr_forced forced;
  tsr_machine *machine = planning_machine(host_4);
  planning_case what = {'d', 'N', 'N', 100, 100, 100, 1, 0.5, "ppp", 0};
  tsr_call call = planning_call(machine, &what);
  const tsr_search_problem problem = {.call = &call, .machine = machine};
  assert_int_equal(tsr_strategy_parse("route=home piece=8M route=eta piece=0", &forced), TSR_OK);
  tsr_strategy strategy = {.routing = TSR_ROUTE_HOME, .piece = 1, .k_panel = 5};
  tsr_forced_apply(&forced, &problem, &strategy);
  assert_int_equal(strategy.routing, TSR_ROUTE_ETA);
  assert_int_equal(strategy.piece, 0);
  assert_int_equal(strategy.k_panel, 5); /* not named: stays */
  tsr_machine_destroy(machine);
}

static void bad_words(void **state) {
  (void)state;
  static const char *const bad[] = {"kpanel",         "kpanel=",
                                    "kpanel=x",       "kpanel=-1",
                                    "kpanels=1",      "=1",
                                    "grid=0x2",       "grid=2x",
                                    "grid=2x99",      "grid=1x1x1",
                                    "tile=1.5",       "tile=0",
                                    "nblock=,,",      "c=middle",
                                    "nblock=1,2,3,",  "piece=much",
                                    "piece=-1",       "piece=9G",
                                    "order=",         "order=other",
                                    "relay=2",        "route=fast",
                                    "route=",         "taper=x",
                                    "channels=2",     "channels=",
                                    "kpanel=512,",    "kpanel =5",
                                    "rows=0",         "rows=65",
                                    "a=k_panels",     "b=k_panels",
                                    "leading=1",      "leading=",
                                    "kind=columns",   "kind=",
                                    "columns/c=last", "panels/kind=tiles",
                                    "tile=8 rows=2",  "kind=panels tile=8",
                                    "bands kpanel=8", "held=2 depth=1",
                                    "band",           "order=eta kpanel=16",
                                    "block=16 rows=2"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tsr_forced forced;
    char text[64];
    snprintf(text, sizeof text, "relay=yes %s", bad[i]);
    if (tsr_strategy_parse(text, &forced) != TSR_ERR_ARGUMENT) fail_msg("\"%s\" is taken", text);
    assert_non_null(strstr(tsr_message(), "strategy"));
  }
}

/* Words that a call cannot honour are refused, with the word and the reason. */
static void words_without_effect(void **state) {
  (void)state;
  static const struct {
    const char *words, *named;
    tsr_operation operation;
    char type;
    size_t budget;
  } cases[] = {{"block=64", "block", TSR_GEMM, 'd', 0},
               {"kind=stripes", "panels, slices, tiles and bands", TSR_GEMM, 'd', 0},
               {"share=200", "no operand is at home", TSR_GEMM, 'd', 0},
               {"add=home", "C is not at home", TSR_GEMM, 'd', 0},
               {"rows=2", "rows", TSR_SYRK, 'd', 0},
               {"bands", "panels and tiles", TSR_SYRK, 'd', 0},
               {"held=2", "held belongs to strategies of other operations", TSR_TRSM, 'd', 0},
               {"nblock=64", "nblock.first", TSR_HERK, 'z', 0},
               {"kind=tiles nblock.last=64", "nblock.last", TSR_SYRK, 'd', 0},
               {"a=whole", "a belongs", TSR_TRSM, 'd', 0},
               {"c=last", "overwrite", TSR_TRSM, 'd', 0},
               {"c=first kpanel=64", "c=first", TSR_GEMM, 'h', 0}};
  tsr_machine *machine = planning_machine(host_4);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsr_call call = planning_square(machine, cases[i].operation, cases[i].type, 512, 0.5);
    tsr_plan_options options = planning_options(machine, 0);
    tsr_plan *plan = NULL;
    options.strategy = cases[i].words;
    for (int d = 0; d < machine->devices && cases[i].budget > 0; d++)
      options.budget[d] = cases[i].budget;
    if (tsr_plan_make(machine, &call, &options, &plan) != TSR_ERR_ARGUMENT)
      fail_msg("\"%s\" is taken", cases[i].words);
    if (strstr(tsr_message(), cases[i].named) == NULL)
      fail_msg("\"%s\": %s", cases[i].words, tsr_message());
    /* Where it can be honoured, and only there. */
    char any[64];
    snprintf(any, sizeof any, "any/%s", cases[i].words);
    if (strchr(any, ' ') != NULL || strstr(any, "kind") != NULL) continue;
    options.strategy = any;
    assert_int_equal(tsr_plan_make(machine, &call, &options, &plan), TSR_OK);
    tsr_plan_free(plan);
  }
  tsr_machine_destroy(machine);
}

/* A block of 0 is the triangle's whole order. */
static void one_block(void **state) {
  (void)state;
  static const tsr_operation operations[] = {TSR_SYMM, TSR_TRMM, TSR_TRSM};
  tsr_machine *machine = planning_machine(host_4);
  for (int i = 0; i < 3; i++) {
    tsr_call call = planning_square(machine, operations[i], 'd', 700, 0.5);
    tsr_plan_options options = planning_options(machine, 0);
    tsr_plan *plan = NULL;
    options.strategy = "block=0";
    must(tsr_plan_make(machine, &call, &options, &plan));
    must(tsr_plan_verify(plan, machine, options.budget));
    tsr_plan_free(plan);
  }
  tsr_machine_destroy(machine);
}

/* ---- Each part in the plan ---- */

static tsr_plan *plan_by(const tsr_machine *machine, const char *homes, int64_t n,
                         const char *words) {
  planning_case what = {'d', 'N', 'N', n, n, n, 1, 0.5, homes, 0};
  tsr_call call = planning_call(machine, &what);
  tsr_plan_options options = planning_options(machine, 0);
  tsr_plan *plan = NULL;
  options.strategy = words;
  options.search_seconds = 1e-9;
  tsr_status status = tsr_plan_make(machine, &call, &options, &plan);
  if (status == TSR_OK) status = tsr_plan_verify(plan, machine, options.budget);
  if (status != TSR_OK) fail_msg("%s: %s", words, tsr_message());
  return plan;
}

/* What a plan consists of. */
typedef struct facts {
  int64_t m, n, k;                    /* largest kernel */
  int64_t first_k;                    /* of the first product */
  int64_t columns;                    /* of the narrowest product */
  double largest_copy;                /* bytes */
  double from_host, to_host, between; /* bytes of copies */
  int products, additions;
} facts;

static void note_copy(const tsr_plan *plan, const tsr_command *c, facts *f) {
  const tsr_buffer *from = &plan->buffers.items[c->buffer[0]];
  const tsr_buffer *to = &plan->buffers.items[c->buffer[1]];
  double bytes = 8.0 * c->m * c->n;
  f->largest_copy = fmax(f->largest_copy, bytes);
  if (from->location >= plan->machine_devices)
    f->from_host += bytes;
  else if (to->location >= plan->machine_devices)
    f->to_host += bytes;
  else
    f->between += bytes;
}

static void note_product(const tsr_command *c, facts *f) {
  f->products++;
  if (f->first_k == 0) f->first_k = c->k;
  if (f->columns == 0 || c->n < f->columns) f->columns = c->n;
  if (c->m > f->m) f->m = c->m;
  if (c->n > f->n) f->n = c->n;
  if (c->k > f->k) f->k = c->k;
}

static facts facts_of(const tsr_plan *plan) {
  facts f = {0};
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind == TSR_COMMAND_COPY)
      note_copy(plan, c, &f);
    else if (c->kernel == TSR_KERNEL_GEMM)
      note_product(c, &f);
    else
      f.additions += c->kernel == TSR_KERNEL_ADD;
  }
  return f;
}

/* The facts of the plan that words make. */
static facts by(const char *homes, int64_t n, const char *words) {
  tsr_machine *machine = planning_machine(host_4);
  tsr_plan *plan = plan_by(machine, homes, n, words);
  facts f = facts_of(plan);
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
  return f;
}

static void shapes_are_obeyed(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine(host_4);
  tsr_plan *plan = plan_by(machine, "ppp", 2048, "grid=4x1");
  assert_int_equal(plan->grid_rows, 4);
  assert_int_equal(plan->grid_cols, 1);
  tsr_plan_free(plan);
  plan = plan_by(machine, "ppp", 2048, "grid=1x2");
  assert_int_equal(plan->devices, 2);
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
  facts f = by("ppp", 2048, "tile=256 nblock=0,0,0 taper=0");
  assert_true(f.m == 256 && f.n == 256 && f.k == 256 && f.columns == 256);
  f = by("ppp", 2048, "kind=panels kpanel=128");
  assert_true(f.first_k == 128 && f.k > 256);
  f = by("ppp", 2048, "kpanel=0");
  assert_true(f.first_k == 2048);
  f = by("ppp", 2048, "grid=1x4 kpanel=0 nblock=0,0,128 taper=0");
  assert_true(f.n == 128 && f.columns == 128);
  f = by("ppp", 2048, "grid=1x4 kpanel=0 nblock=0,0,128 taper=32");
  assert_true(f.n == 128 && f.columns >= 32 && f.columns < 128);
  f = by("ppp", 2048, "grid=1x2 kpanel=0 nblock=128,0,512 taper=0"); /* 128, 128, 256, 512 */
  assert_true(f.products == 2 * 4 && f.n == 512 && f.columns == 128);
  f = by("ppp", 2048, "grid=1x2 kpanel=0 nblock=512,0,128 taper=0");
  assert_true(f.products == 2 * 8 && f.n == 128);
  f = by("ppp", 2048, "grid=1x2 rows=4");
  assert_true(f.m == 512);
}

/* k-panels of 128: each is multiplied with the columns of B that are there, and then the next 128
 * columns, all of which came at once, with all k-panels so far. */
static void leading_blocks_grow(void **state) {
  (void)state;
  facts f = by("ppp", 512, "grid=1x1 leading=yes kpanel=128 nblock=0,0,0 taper=0 c=last piece=0");
  assert_true(f.products == 1 + 2 + 2 + 2 && f.first_k == 128 && f.columns == 128);
  assert_true(f.k == 512 && f.n == 384 && f.additions == 1);
  f = by("ppp", 512, "grid=1x1 leading=yes kpanel=128,256 nblock=0,0,0 taper=0 c=first piece=0");
  assert_true(f.products == 1 + 2 + 2 && f.k == 512 && f.n == 256 && f.additions == 0);
  f = by("ppp", 512, "grid=1x1 leading=yes kpanel=0 rows=4 nblock=0,0,0 taper=0 c=last piece=0");
  assert_true(f.products == 1 + 3 + 4 + 5 && f.first_k == 512 && f.m == 128 && f.columns == 128);
  f = by("ppp", 512, "grid=1x1 leading=yes kpanel=128 piece=64K"); /* B in whole columns */
  assert_true(f.largest_copy <= 64e3 && f.largest_copy >= 8.0 * 512 * 8);
}

/* What is added at once several kernels on several queues may have written: here the first columns,
 * and those after them, which the leading block grows by. */
static void additions_wait_for_all_queues(void **state) {
  (void)state;
  facts f = by("pp0", 300,
               "grid=1x2 rows=2 leading=yes kpanel=32 nblock=64,0,48 taper=0 c=last add=home");
  assert_true(f.additions > 0);
}

/* Long columns of tiles begin at lines of a cache, short ones at loads. */
static void columns_are_aligned(void **state) {
  (void)state;
  static const int64_t orders[] = {1003, 35};
  for (int i = 0; i < 2; i++) {
    int64_t n = orders[i], step = i == 0 ? 128 / 8 : 16 / 8;
    tsr_machine *machine = planning_machine(host_4);
    tsr_plan *plan = plan_by(machine, "ppp", n, "grid=1x1 kind=panels kpanel=0");
    int tiles = 0;
    for (size_t b = 0; b < plan->buffers.count; b++) {
      const tsr_buffer *buffer = &plan->buffers.items[b];
      if (buffer->role != TSR_BUFFER_TILE) continue;
      assert_true(buffer->ld % step == 0 && buffer->ld - buffer->rows < step);
      tiles++;
    }
    assert_true(tiles >= 3);
    tsr_plan_free(plan);
    tsr_machine_destroy(machine);
  }
}

static void copies_are_obeyed(void **state) {
  (void)state;
  facts f = by("ppp", 2048, "tile=512 nblock=0,0,0 piece=256K");
  assert_true(f.largest_copy <= 256e3);
  f = by("ppp", 2048, "tile=512 nblock=0,0,0 piece=0");
  assert_true(f.largest_copy == 8.0 * 512 * 512);
  f = by("ppp", 1024, "c=last");
  assert_true(f.additions > 0);
  f = by("ppp", 1024, "c=first");
  assert_true(f.additions == 0);
}

/* On a grid of 2 x 2 each device needs half of A and half of B, and a quarter of C. */
static void routes_are_obeyed(void **state) {
  (void)state;
  double matrix = 8.0 * 1024 * 1024;
  facts f = by("ppp", 1024, "grid=2x2 tile=256 c=first route=home relay=no");
  assert_true(f.between == 0 && f.from_host == 5 * matrix && f.to_host == matrix);
  f = by("ppp", 1024, "grid=2x2 tile=256 c=first route=home relay=yes");
  assert_true(f.between == 0 && f.from_host == 5 * matrix);
  f = by("ppp", 1024, "grid=2x2 tile=256 c=first route=bandwidth relay=no");
  assert_true(f.between == 2 * matrix && f.from_host == 3 * matrix);
  f = by("ppp", 1024, "grid=2x2 tile=256 c=first route=eta relay=yes");
  assert_true(f.between == 2 * matrix && f.from_host == 3 * matrix);
  /* Side by side both need all of A, and each half of B, unless it is to have all of it. */
  f = by("ppp", 1024, "grid=1x2 kpanel=0 c=first b=parts");
  assert_true(f.between == matrix && f.from_host == 3 * matrix);
  f = by("ppp", 1024, "grid=1x2 kpanel=0 c=first b=whole");
  assert_true(f.between == 2 * matrix && f.from_host == 3 * matrix);
  /* All on device 0: no link is faster than the home's. */
  f = by("000", 1024, "grid=2x2 tile=256 c=first route=bandwidth relay=no");
  double others = f.between;
  f = by("000", 1024, "grid=2x2 tile=256 c=first route=home relay=no");
  assert_true(f.between == others);
}

static bool same_commands(const tsr_plan *a, const tsr_plan *b) {
  if (a->commands.count != b->commands.count) return false;
  for (size_t i = 0; i < a->commands.count; i++) {
    const tsr_command *x = &a->commands.items[i], *y = &b->commands.items[i];
    if (x->queue != y->queue || memcmp(x->row, y->row, sizeof x->row) != 0 ||
        memcmp(x->col, y->col, sizeof x->col) != 0)
      return false;
  }
  return true;
}

static bool make_a_difference(const char *machine_string, const char *homes, const char *one,
                              const char *other) {
  tsr_machine *machine = planning_machine(machine_string);
  tsr_plan *a = plan_by(machine, homes, 2048, one), *b = plan_by(machine, homes, 2048, other);
  bool differ = !same_commands(a, b);
  tsr_plan_free(a);
  tsr_plan_free(b);
  tsr_machine_destroy(machine);
  return differ;
}

/* By the order of arrival the kernels of a tile of C come in another order than in the graph; all
 * of them come, and the plan is right, also where tiles share memory. */
static void order_of_arrival(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:60 gpu*4@nvswitch:300 pcie:25/pair rate:19");
  static const size_t budgets[] = {0, 3000000};
  static const char *const homes[] = {"ppp", "pp0", "012"};
  for (int i = 0; i < 6; i++) {
    planning_case what = {'d', 'N', 'T', 1000, 900, 1100, 1.5, 0.5, homes[i % 3], 0};
    tsr_call call = planning_call(machine, &what);
    tsr_plan_options options = planning_options(machine, 0);
    tsr_plan *plan[2] = {NULL, NULL};
    for (int d = 0; d < 4 && budgets[i / 3] > 0; d++) options.budget[d] = budgets[i / 3];
    for (int eta = 0; eta < 2; eta++) {
      options.strategy = eta ? "tile=128 grid=2x2 c=last order=eta lookahead=200"
                             : "tile=128 grid=2x2 c=last order=given lookahead=200";
      assert_int_equal(tsr_plan_make(machine, &call, &options, &plan[eta]), TSR_OK);
      assert_int_equal(tsr_plan_verify(plan[eta], machine, options.budget), TSR_OK);
    }
    assert_true(!same_commands(plan[0], plan[1]));
    assert_int_equal(plan[0]->blocking.rows > 0, i / 3 > 0);
    tsr_plan_free(plan[0]);
    tsr_plan_free(plan[1]);
    options.reproducible = true;
    options.strategy = "order=eta";
    assert_int_equal(tsr_plan_make(machine, &call, &options, &plan[0]), TSR_ERR_ARGUMENT);
    assert_non_null(strstr(tsr_message(), "order of sums"));
  }
  tsr_machine_destroy(machine);
}

/* With C on a device and A and B in host memory, kernels can start much earlier. */
static void order_of_arrival_pays(void **state) {
  (void)state;
  tsr_machine *machine =
      planning_machine("host:96 gpu*8:40@nvswitch:300 pcie:24/pair rate:17.2 hbm:1560");
  tsr_plan *given = plan_by(machine, "pp0", 6144, "tile=1024 grid=2x4 c=last order=given");
  tsr_plan *eta = plan_by(machine, "pp0", 6144, "tile=1024 grid=2x4 c=last order=eta");
  assert_true(eta->seconds < 0.95 * given->seconds);
  tsr_plan_free(given);
  tsr_plan_free(eta);
  tsr_machine_destroy(machine);
}

static void orders_and_channels_matter(void **state) {
  (void)state;
  const char *pairs = "host:60 gpu*4@nvswitch:300 pcie:25/pair rate:19";
  assert_true(make_a_difference(pairs, "ppp", "tile=128 relay=no channels=ignore",
                                "tile=128 relay=no channels=count"));
  assert_true(make_a_difference(pairs, "p0p", "grid=2x2 tile=128 order=given",
                                "grid=2x2 tile=128 order=eta"));
}

/* ---- Random words on random calls ---- */

static uint64_t seed;

static int below(int n) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int)((seed >> 33) % (uint64_t)n);
}

static const char *const choices[][5] = {
    {"", "grid=1x2", "grid=3x1", "grid=1x1", "grid=1x3"},
    {"", "kind=panels", "any/tile=40", "any/tile=97", "any/bands"},
    {"", "any/held=1", "any/held=2", "any/tile=300", "any/tile=64"},
    {"", "any/kpanel=0", "any/kpanel=33", "any/kpanel=128", ""},
    {"", "any/nblock=0,0,0", "any/nblock=16,64,48", "any/nblock=7,0,5", ""},
    {"", "any/taper=0", "any/taper=8", "", ""},
    {"", "any/c=first", "any/c=last", "any/c=last", ""},
    {"", "piece=0", "piece=1000", "piece=64K", "piece=8M"},
    {"", "any/order=given", "any/order=eta", "any/order=eta", ""},
    {"", "relay=no", "relay=yes", "", ""},
    {"", "route=home", "route=bandwidth", "route=eta", ""},
    {"", "channels=ignore", "channels=count", "", ""},
    {"", "any/leading=yes", "any/leading=no", "", ""},
};
enum { PARTS = sizeof choices / sizeof *choices };

static void random_words(char *text, size_t room) {
  text[0] = '\0';
  for (int i = 0; i < PARTS; i++) {
    size_t used = strlen(text);
    snprintf(text + used, room - used, "%s ", choices[i][below(5)]);
  }
}

static planning_case random_case(void) {
  static const char *const homes[] = {"ppp", "hhh", "000", "012", "p1h", "h0p", "22p"};
  static const char types[] = "sdczhb", ops[] = "NTC";
  return (planning_case){.type = types[below(6)],
                         .ta = ops[below(3)],
                         .tb = ops[below(3)],
                         .m = 1 + below(500),
                         .n = 1 + below(500),
                         .k = 1 + below(500),
                         .alpha = below(8) ? 1.5 : 1,
                         .beta = below(3) * 0.5,
                         .homes = homes[below(7)]};
}

static void check_forced(const tsr_machine *machine, int number) {
  char words[320];
  planning_case what = random_case();
  random_words(words, sizeof words);
  tsr_call call = planning_call(machine, &what);
  tsr_plan_options options = planning_options(machine, 0);
  tsr_plan *plan = NULL;
  options.strategy = words;
  options.search_seconds = 1e-9;
  for (int d = 0; d < machine->devices; d++)
    if (below(4) == 0) options.budget[d] = 2000000;
  tsr_status status = tsr_plan_make(machine, &call, &options, &plan);
  if (status == TSR_ERR_MEMORY) return; /* words leave nothing smaller to try */
  if (status == TSR_OK) status = tsr_plan_verify(plan, machine, options.budget);
  if (status != TSR_OK)
    fail_msg("%d: %c %c%c %d x %d x %d beta %g %s \"%s\": %s", number, what.type, what.ta, what.tb,
             (int)what.m, (int)what.n, (int)what.k, what.beta, what.homes, words, tsr_message());
  tsr_plan_free(plan);
}

static void random_strategies(void **state) {
  (void)state;
  static const char *const machines[] = {"host:200 gpu*4@nvswitch:300 pcie:25/pair rate:19",
                                         "host:20 gpu*3 pcie:10 rate:1"};
  for (int i = 0; i < 1000; i++) {
    seed = (uint64_t)i;
    for (int j = 0; j < 4; j++) (void)below(2);
    tsr_machine *machine = planning_machine(machines[i % 2]);
    check_forced(machine, i);
    tsr_machine_destroy(machine);
  }
}

/* ---- Strategies that come to the same ---- */

/* With nothing else free the first candidate is the plan. */
static tsr_plan *plan_of(const tsr_machine *machine, const planning_case *what,
                         const tsr_strategy *strategy) {
  char words[320];
  snprintf(words, sizeof words,
           "kind=panels grid=%dx%d kpanel=%d,%d nblock=%d,%d,%d taper=%d any/share=%d",
           (int)strategy->grid_rows, (int)strategy->grid_cols, (int)strategy->k_panel,
           (int)strategy->k_panel_most, (int)strategy->n_block_first, (int)strategy->n_block,
           (int)strategy->n_block_last, (int)strategy->n_block_least, (int)strategy->home_share);
  tsr_call call = planning_call(machine, what);
  tsr_plan_options options = planning_options(machine, 0);
  tsr_plan *plan = NULL;
  options.strategy = words;
  options.search_seconds = 1e-9;
  if (tsr_plan_make(machine, &call, &options, &plan) != TSR_OK)
    fail_msg("%s: %s", words, tsr_message());
  return plan;
}

static int64_t any_extent(void) {
  return below(4) ? (int64_t)1 << (4 + below(10)) : below(3) ? 1 + below(9000) : 0;
}

static tsr_strategy any_panels(void) {
  int rows = 1 << below(3);
  tsr_strategy strategy = {.grid_rows = rows,
                           .grid_cols = 4 / rows,
                           .k_panel = any_extent(),
                           .n_block_first = any_extent(),
                           .n_block = any_extent(),
                           .n_block_last = any_extent(),
                           .n_block_least = below(2) * 128,
                           .home_share = 100 + 50 * below(3)};
  strategy.k_panel_most = strategy.k_panel > 0 ? any_extent() : 0;
  return strategy;
}

/* The search passes over a strategy that comes to the same as one it has tried. */
static void simple_strategies_make_the_same_plan(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:200 gpu*4@nvswitch:300 pcie:25/pair rate:19");
  int changed = 0;
  for (int i = 0; i < 400; i++) {
    seed = (uint64_t)i;
    for (int j = 0; j < 4; j++) (void)below(2);
    int64_t m = 500 + below(6000), n = 500 + below(6000), k = 500 + below(6000);
    planning_case what = {'d', 'N', 'N', m, n, k, 1, 1, below(2) ? "ppp" : "0pp", 0};
    tsr_call call = planning_call(machine, &what);
    tsr_strategy strategy = any_panels(), simple = strategy;
    tsr_strategy_simplify(&call, machine, &simple);
    changed += !tsr_strategy_same(&strategy, &simple);
    tsr_plan *plan = plan_of(machine, &what, &strategy), *other = plan_of(machine, &what, &simple);
    if (!same_commands(plan, other)) fail_msg("%d: another plan", i);
    tsr_plan_free(plan), tsr_plan_free(other);
  }
  assert_true(changed > 100);
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_words),
      cmocka_unit_test(simple_strategies_make_the_same_plan),
      cmocka_unit_test(words_of_kinds),
      cmocka_unit_test(later_words_win),
      cmocka_unit_test(bad_words),
      cmocka_unit_test(words_without_effect),
      cmocka_unit_test(one_block),
      cmocka_unit_test(shapes_are_obeyed),
      cmocka_unit_test(copies_are_obeyed),
      cmocka_unit_test(routes_are_obeyed),
      cmocka_unit_test(orders_and_channels_matter),
      cmocka_unit_test(order_of_arrival),
      cmocka_unit_test(order_of_arrival_pays),
      cmocka_unit_test(random_strategies),
      cmocka_unit_test(leading_blocks_grow),
      cmocka_unit_test(additions_wait_for_all_queues),
      cmocka_unit_test(columns_are_aligned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
