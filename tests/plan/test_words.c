/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the user forces is kept to, or refused with the reason. Every knob of the table is turned in
 * every kind of strategy, over calls of every family, beside some other words: its values make
 * other plans, or are refused by a message that names the knob, or the table says why they make the
 * same plan. Knobs, kinds and values come from the table, so that a new knob is turned at once.
 */
/* Slow: 22 s of a core. */
#include <stdbool.h>

#include "planning.h"

#include "plan/cache.h"
#include "plan/search/knobs.h"

/* ---- Calls ---- */

#define ONE "host:200 gpu*1:16 pcie:25 rate:19"
#define FOUR "host:60 gpu*4:16@nvswitch:300 pcie:25/pair rate:19"
#define SOCKETS "host*2:150 sockets:10 gpu*4:80@nvswitch:300 pcie:24 rate:50"

enum { ORDER = 2400 };
#define POTRF TSR_OPERATION_OF(TSR_POTRF)

typedef struct subject {
  const char *machine;
  tsr_operation operation;
  char type;
  const char *homes;
  int moduli;
  double part; /* the budget of a device, as a part of what A, B and C need; 0: all fits */
  bool unlike; /* device 0 has half of that */
} subject;

static const subject subjects[] = {
    {FOUR, TSR_GEMM, 'd', "ppp", 0, 0, 0},    {ONE, TSR_GEMM, 'd', "ppp", 0, 0, 0},
    {FOUR, TSR_GEMM, 'd', "ppp", 0, 0.15, 0}, {ONE, TSR_GEMM, 'd', "ppp", 0, 0.3, 0},
    {FOUR, TSR_GEMM, 'd', "ppp", 0, 0.2, 1},  {FOUR, TSR_GEMM, 'd', "000", 0, 0, 0},
    {FOUR, TSR_GEMM, 'd', "pp0", 0, 0.15, 0}, {FOUR, TSR_GEMM, 'z', "pp1", 0, 0, 0},
    {SOCKETS, TSR_GEMM, 'd', "ppp", 0, 0, 0}, {FOUR, TSR_GEMM, 'h', "ppp", 0, 0, 0},
    {FOUR, TSR_GEMM, 'd', "pp0", 14, 0, 0},   {ONE, TSR_GEMM, 'd', "ppp", 14, 0, 0},
    {FOUR, TSR_GEMM, 'z', "ppp", 14, 0.3, 0}, {SOCKETS, TSR_SYRK, 'd', "ppp", 0, 0, 0},
    {FOUR, TSR_SYRK, 'd', "ppp", 0, 0.2, 0},  {FOUR, TSR_SYRK, 'd', "pp0", 0, 0, 0},
    {FOUR, TSR_HERK, 'z', "0p0", 0, 0, 0},    {SOCKETS, TSR_SYRK, 'd', "ppp", 14, 0, 0},
    {FOUR, TSR_SYR2K, 'd', "0pp", 14, 0, 0},  {FOUR, TSR_SYMM, 'd', "012", 0, 0, 0},
    {FOUR, TSR_TRSM, 'd', "0p1", 0, 0, 0},    {FOUR, TSR_TRMM, 'd', "0p0", 0, 0, 0},
    {SOCKETS, TSR_SYMM, 'd', "ppp", 0, 0, 0}, {FOUR, TSR_SYMM, 'd', "0pp", 0, 0.2, 0},
    {FOUR, TSR_HEMM, 'z', "pp0", 0, 0, 0},    {FOUR, TSR_SYMM, 'd', "ppp", 14, 0, 0},
    {FOUR, TSR_TRSM, 'd', "ppp", 0, 0, 0},    {FOUR, TSR_TRSM, 'd', "ppp", 0, 0.3, 0},
    {ONE, TSR_TRSM, 'd', "ppp", 0, 0, 0},     {FOUR, TSR_TRMM, 'd', "0p1", 0, 0, 0},
    {FOUR, TSR_TRMM, 'd', "ppp", 14, 0, 0},   {FOUR, TSR_TRMM, 'd', "ppp", 0, 0.5, 1},
    {FOUR, TSR_SYRK, 'd', "ppp", 14, 0.5, 0}, {SOCKETS, POTRF, 'd', "ppp", 0, 0, 0},
    {FOUR, POTRF, 'z', "pp1", 0, 0.3, 0}};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* Other words, beside which a knob may count; words that a call refuses are passed over. */
static const char *const companions[] = {"",
                                         "kpanel=200,400",
                                         "kpanel=64,0 nblock=256,300,400",
                                         "kpanel=0 nblock=256,0,400",
                                         "kpanel=0 nblock=0,0,256",
                                         "c=last",
                                         "c=last kpanel=200",
                                         "rows=2 kpanel=0",
                                         "block=300",
                                         "block=300 kpanel=100 stripe=300",
                                         "inverses=shared block=300",
                                         "tile=600",
                                         "tile=600 cblock=2,2 depth=2 lookahead=50",
                                         "tile=1200 nblock=256,300,400",
                                         "tile=700",
                                         "tile=700 even=no",
                                         "grid=1x1 tile=700 even=no",
                                         "held=2 tile=300",
                                         "held=8 tile=300"};
enum { COMPANIONS = sizeof companions / sizeof *companions };

static const char *const kind_names[] = {"panels", "stripes", "slices", "tiles", "bands"};

static tsr_machine *machine_of(const subject *s) {
  static struct {
    const char *name;
    tsr_machine *machine;
  } kept[4];
  int at = 0;
  while (kept[at].name != NULL && strcmp(kept[at].name, s->machine) != 0) at++;
  if (kept[at].machine == NULL) kept[at].machine = planning_machine(s->machine);
  kept[at].name = s->machine;
  return kept[at].machine;
}

static tsr_call call_of(const subject *s) {
  const tsr_machine *machine = machine_of(s);
  tsr_call call = s->operation == POTRF
                      ? planning_factor(machine, TSR_POTRF, s->type, ORDER)
                      : planning_square(machine, s->operation, s->type, ORDER, 0.5);
  for (int x = 0; x < TSR_OPERANDS; x++) {
    tsr_operand *o = &call.operand[x];
    if (s->homes[x] == 'p' || o->rows == 0) continue;
    o->memory = TSR_DEVICE;
    o->location = s->homes[x] - '0';
    o->pinned_begin = o->pinned_end = 0;
  }
  call.arithmetic = s->moduli > 0 ? tsr_residues_of(s->moduli) : NULL;
  return call;
}

/* ---- Plans ---- */

/* What planning by some words came to. */
typedef struct outcome {
  tsr_status status;
  uint64_t digest;
  bool tight;
  int grid_rows, grid_cols, devices;
} outcome;

static uint64_t digest_of(const tsr_plan *plan) {
  const int64_t counts[] = {plan->devices, (int64_t)plan->commands.count};
  uint64_t digest = tsr_cache_digest(0, counts, sizeof counts);
  for (size_t i = 0; i < plan->commands.count; i++) {
    tsr_command c = plan->commands.items[i];
    c.begin = c.end = 0;
    digest = tsr_cache_digest(digest, &c, sizeof c);
  }
  return tsr_cache_digest(digest, plan->waits.items, plan->waits.count * sizeof(uint32_t));
}

static outcome plan_by(const subject *s, const char *words) {
  const tsr_machine *machine = machine_of(s);
  tsr_call call = call_of(s);
  tsr_plan_options options = planning_options(machine, 0);
  tsr_plan *plan = NULL;
  double all = 0;
  for (int x = 0; x < TSR_OPERANDS; x++)
    all += (double)tsr_operand_bytes(&call.operand[x], call.type);
  for (int d = 0; d < machine->devices && s->part > 0; d++)
    options.budget[d] = (size_t)(s->part * all / (s->unlike && d == 0 ? 2 : 1));
  options.strategy = words;
  options.search_seconds = 1e-9;
  outcome made = {.status = tsr_plan_make(machine, &call, &options, &plan)};
  if (made.status != TSR_OK) return made;
  made = (outcome){TSR_OK,          digest_of(plan), plan->blocking.rows > 0,
                   plan->grid_rows, plan->grid_cols, plan->devices};
  tsr_plan_free(plan);
  return made;
}

/* ---- Values ---- */

enum { VALUES = 5 };

static int values_of(const tsr_knob *knob, int64_t value[VALUES]) {
  static const struct {
    const char *unit;
    int64_t value[VALUES];
  } units[] = {{"bytes", {0, 200000, 1000000, -1}},
               {"percent", {0, 50, 150, 400, -1}},
               {"elements", {0, 100, 300, 400, 600}},
               {"columns", {0, 256, 300, 400, 600}},
               {"lines", {0, 100, 300, 400, -1}}};
  bool has_unit = false;
  int count = 0;
  for (int64_t i = 0; knob->words != NULL && i <= knob->most; i++) value[count++] = i;
  if (knob->words != NULL) return count;
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    if (strcmp(units[u].unit, knob->unit) != 0) continue;
    has_unit = true;
    for (int i = 0; i < VALUES; i++)
      if (units[u].value[i] >= knob->least) value[count++] = units[u].value[i];
  }
  for (int64_t i = knob->least; i < VALUES && !has_unit; i++) value[count++] = i; /* 0 to 4 */
  return count;
}

/* The words that set the knob to a value beside others. */
static void say(const tsr_knob *knob, int kind, const char *others, int64_t value, char *words,
                size_t size) {
  if (knob->words != NULL)
    snprintf(words, size, "%s %s %s=%s", kind_names[kind], others, knob->name, knob->words[value]);
  else
    snprintf(words, size, "%s %s %s=%lld", kind_names[kind], others, knob->name, (long long)value);
}

/* Whether the message names the knob, or its group. */
static bool is_named(const tsr_knob *knob) {
  char group[32];
  snprintf(group, sizeof group, "%.*s=", (int)strcspn(knob->name, "."), knob->name);
  return strstr(tsr_message(), knob->name) != NULL || strstr(tsr_message(), group) != NULL;
}

/* ---- Turning ---- */

/* What turning a knob of a kind for a call has shown. */
typedef struct turned {
  unsigned made, refused; /* values, as bits */
  bool differs;
  outcome last;
} turned;

static void turn_beside(const subject *s, int kind, const tsr_knob *knob, const char *others,
                        turned *t) {
  int64_t value[VALUES];
  char words[200];
  bool first = true;
  int count = values_of(knob, value);
  for (int i = 0; i < count; i++) {
    say(knob, kind, others, value[i], words, sizeof words);
    outcome o = plan_by(s, words);
    if (o.status == TSR_ERR_ARGUMENT) t->refused |= 1u << i;
    if (o.status == TSR_ERR_ARGUMENT && !is_named(knob))
      fail_msg("\"%s\": %s", words, tsr_message());
    if (o.status != TSR_OK) continue;
    t->differs |= !first && o.digest != t->last.digest;
    t->made |= 1u << i;
    t->last = o;
    first = false;
  }
}

static turned turn(const subject *s, int kind, const tsr_knob *knob) {
  turned t = {0};
  char others[200];
  for (int i = 0; i < COMPANIONS && !t.differs; i++) {
    snprintf(others, sizeof others, "%s %s", kind_names[kind], companions[i]);
    if (plan_by(s, others).status == TSR_OK) turn_beside(s, kind, knob, companions[i], &t);
  }
  return t;
}

static bool are_several(unsigned values) {
  return (values & (values - 1)) != 0;
}

static const char *reason_of(const subject *s, int kind, const tsr_knob *knob, const turned *t) {
  tsr_call call = call_of(s);
  const tsr_search_problem problem = {
      .call = &call, .machine = machine_of(s), .tight = t->last.tight};
  const tsr_strategy made = {
      .kind = (tsr_strategy_kind)kind, .grid_rows = 1, .grid_cols = t->last.devices};
  return tsr_knob_is_same(knob, &problem, &made);
}

/* How often each knob was seen to count: [row of the table][kind][family]. */
enum { MOST_KNOBS = 64 };
static int counts[MOST_KNOBS][TSR_STRATEGY_KINDS][TSR_FAMILIES];

/* Turns all knobs of a kind for a call. Returns how many of them changed nothing for no reason. */
static int turn_all(const subject *s, int kind) {
  int count, unsaid = 0;
  const tsr_knob *knobs = tsr_knobs(&count);
  assert_true(count <= MOST_KNOBS);
  for (int i = 0; i < count; i++) {
    turned t = turn(s, kind, &knobs[i]);
    counts[i][kind][tsr_family_of(s->operation)] += t.differs || (t.made && t.refused);
    bool idle = !t.differs && are_several(t.made);
    if (!idle || reason_of(s, kind, &knobs[i], &t) != NULL) continue;
    print_error("call %d (%d %c %s, %d moduli): %s of %s changes nothing, and nothing says why\n",
                (int)(s - subjects), (int)s->operation, s->type, s->homes, s->moduli, knobs[i].name,
                kind_names[kind]);
    unsaid++;
  }
  return unsaid;
}

/* Knobs that a kind of strategy has for a family, but no call shows to count there. */
static int count_idle(void) {
  int count, idle = 0;
  const tsr_knob *knobs = tsr_knobs(&count);
  for (int i = 0; i < count * TSR_STRATEGY_KINDS * TSR_FAMILIES; i++) {
    int row = i / (TSR_STRATEGY_KINDS * TSR_FAMILIES), kind = i / TSR_FAMILIES % TSR_STRATEGY_KINDS;
    int family = i % TSR_FAMILIES;
    bool has = tsr_knob_has(&knobs[row], (tsr_strategy_kind)kind, (tsr_family)family);
    if (!has || counts[row][kind][family] > 0) continue;
    print_error("%s of %s, family %d: no call shows that it counts\n", knobs[row].name,
                kind_names[kind], family);
    idle++;
  }
  return idle;
}

static void words_are_kept_to_or_refused(void **state) {
  (void)state;
  int unsaid = 0;
  for (int i = 0; i < SUBJECTS; i++)
    for (int kind = 0; kind < TSR_STRATEGY_KINDS; kind++)
      if (plan_by(&subjects[i], kind_names[kind]).status == TSR_OK)
        unsaid += turn_all(&subjects[i], kind);
  assert_int_equal(unsaid, 0);
  assert_int_equal(count_idle(), 0);
}

/* A grid is the plan's, or refused: strategies that lie side by side have one row. */
static void grids_are_kept_to(void **state) {
  (void)state;
  int made = 0, refused = 0;
  for (int i = 0; i < SUBJECTS * TSR_STRATEGY_KINDS; i++) {
    const subject *s = &subjects[i / TSR_STRATEGY_KINDS];
    char words[64];
    snprintf(words, sizeof words, "%s grid=2x2", kind_names[i % TSR_STRATEGY_KINDS]);
    outcome o = plan_by(s, words);
    made += o.status == TSR_OK;
    refused += o.status == TSR_ERR_ARGUMENT && strstr(tsr_message(), "side by side") != NULL;
    if (o.status == TSR_OK && (o.grid_rows != 2 || o.grid_cols != 2))
      fail_msg("call %d: %s: %d x %d", i / TSR_STRATEGY_KINDS, words, o.grid_rows, o.grid_cols);
  }
  assert_true(made > 20 && refused > 20);
}

/* ---- Words and settings ---- */

typedef struct together {
  const char *words;
  int64_t tile;
  bool reproducible;
  int moduli;
  char home;         /* of C */
  const char *named; /* what the message says; NULL: there is a plan */
} together;

/* Words beside what the context sets: both are kept to, or the call is refused. */
static void words_beside_settings(void **state) {
  (void)state;
  static const together cases[] = {{"tile=300", 600, false, 0, 'p', "TESSERA_TILE"},
                                   {"tile=600", 600, false, 0, 'p', NULL},
                                   {"any/tile=300", 600, false, 0, 'p', NULL},
                                   {"panels", 600, false, 0, 'p', "cut into tiles and bands"},
                                   {"slices", 600, false, 0, 'p', "cut into tiles and bands"},
                                   {"kpanel=100", 600, false, 0, 'p', "kpanel.first"},
                                   {"panels", 0, true, 0, 'p', "cut into tiles"},
                                   {"any/kind=panels", 0, true, 0, 'p', NULL},
                                   {"tiles", 0, false, 14, 'p', "cut into panels and bands"},
                                   {"depth=2", 0, false, 14, 'p', "depth"},
                                   {"any/kind=tiles", 0, false, 14, 'p', NULL},
                                   {"tiles", 0, true, 14, 'p', "cut into bands"},
                                   {"kpanel.most=300", 0, false, 14, 'p', "kpanel.most"},
                                   {"add=home", 0, false, 14, '1', "add=home"},
                                   {"add=home c=first", 0, false, 0, '1', "add=home"},
                                   {"add=home c=last", 0, false, 0, '1', NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const together *x = &cases[i];
    char homes[] = {'p', 'p', x->home, '\0'};
    const subject s = {FOUR, TSR_GEMM, 'd', homes, x->moduli, 0, false};
    tsr_call call = call_of(&s);
    tsr_plan_options options = planning_options(machine_of(&s), x->tile);
    tsr_plan *plan = NULL;
    options.strategy = x->words;
    options.reproducible = x->reproducible;
    options.search_seconds = 1e-9;
    tsr_status status = tsr_plan_make(machine_of(&s), &call, &options, &plan);
    if (status != (x->named == NULL ? TSR_OK : TSR_ERR_ARGUMENT) ||
        (x->named != NULL && strstr(tsr_message(), x->named) == NULL))
      fail_msg("%d: \"%s\": %s", (int)i, x->words, status == TSR_OK ? "taken" : tsr_message());
    tsr_plan_free(plan);
  }
}

/* C that is to be added at its home is fetched last, whatever else the search would choose. */
static void added_at_home(void **state) {
  (void)state;
  const subject s = {FOUR, TSR_GEMM, 'd', "pp1", 0, 0, false};
  static const char *const kinds[] = {"panels kpanel=0", "tiles tile=600", "bands tile=600"};
  char words[2][64];
  for (int i = 0; i < 3; i++) {
    snprintf(words[0], sizeof *words, "%s add=home", kinds[i]);
    snprintf(words[1], sizeof *words, "%s add=home c=last", kinds[i]);
    outcome free = plan_by(&s, words[0]), last = plan_by(&s, words[1]);
    assert_true(free.status == TSR_OK && last.status == TSR_OK && free.digest == last.digest);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_are_kept_to_or_refused),
      cmocka_unit_test(grids_are_kept_to),
      cmocka_unit_test(words_beside_settings),
      cmocka_unit_test(added_at_home),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
