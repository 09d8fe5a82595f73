/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/golden_sequence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/family.h"
#include "compose/store.h"
#include "plan/addresses.h"
#include "plan/axes.h"
#include "plan/golden_call.h"
#include "plan/schedule/moves.h"

enum { MOST_MATRICES = 4, MOST_WORDS = 12, MOST_LINE = 300, MOST_NAME = 400 };

typedef struct matrix {
  char name, home;
  tsr_region region; /* all of it */
  tsr_mapping map;   /* grid_rows 0: none */
} matrix;

typedef struct sequence {
  tsr_machine *machine;
  tsr_type type;
  tsr_plan_options options;
  tsr_store *store;
  matrix matrix[MOST_MATRICES];
  int matrices;
  uint64_t submitted;
} sequence;

static void must(tsr_status status) {
  if (status != TSR_OK) golden_wrong("%s", tsr_message());
}

static int split(char *line, char *word[MOST_WORDS]) {
  int words = 0;
  char *rest = NULL;
  for (char *w = strtok_r(line, " ", &rest); w != NULL; w = strtok_r(NULL, " ", &rest)) {
    if (words == MOST_WORDS) golden_wrong("%s: too many words", line);
    word[words++] = w;
  }
  return words;
}

/* ---- Matrices ------------------------------------------------------------- */

/* "X:16384x2048p". Addresses that nobody uses, far from each other. */
static void add_matrix(sequence *s, const char *word) {
  long long rows, cols;
  char name, home;
  if (s->matrices == MOST_MATRICES ||
      sscanf(word, "%c:%lldx%lld%c", &name, &rows, &cols, &home) != 4 || strchr("ph", home) == NULL)
    golden_wrong("%s: no matrix", word);
  char *base = (char *)((uintptr_t)(s->matrices + 1) << 42);
  s->matrix[s->matrices++] =
      (matrix){name, home, {base, rows, cols, rows, tsr_type_get(s->type)->size}, {0}};
}

static matrix *find_matrix(sequence *s, char name) {
  for (int i = 0; i < s->matrices; i++)
    if (s->matrix[i].name == name) return &s->matrix[i];
  golden_wrong("%c: no such matrix", name);
}

/* So many rows and columns from "X@1024,0" on. */
static tsr_region part(sequence *s, const char *at, int64_t rows, int64_t cols, matrix **of) {
  long long row, col;
  char name;
  if (sscanf(at, "%c@%lld,%lld", &name, &row, &col) != 3) golden_wrong("%s: no place", at);
  *of = find_matrix(s, name);
  tsr_rect rect = tsr_rect_make(row, col, rows, cols);
  if (!tsr_rect_contains(tsr_region_all(&(*of)->region), rect))
    golden_wrong("%s: outside of the matrix", at);
  return tsr_region_part(&(*of)->region, rect);
}

static tsr_region part_of(sequence *s, const char *at, const char *extents, matrix **of) {
  long long rows, cols;
  if (sscanf(extents, "%lldx%lld", &rows, &cols) != 2) golden_wrong("%s: no extents", extents);
  return part(s, at, rows, cols, of);
}

static tsr_operand operand_of(const sequence *s, const tsr_region *region, const matrix *of) {
  tsr_operand o = {.rows = region->rows,
                   .cols = region->cols,
                   .ld = region->ld,
                   .memory = of->home == 'p' ? TSR_PINNED : TSR_PAGEABLE,
                   .location = s->machine->devices};
  int64_t bits = (int64_t)(uintptr_t)region->base | region->ld * (int64_t)region->size;
  while (o.alignment < 4 && (bits >> o.alignment) % 2 == 0) o.alignment++;
  if (of->home == 'p') o.pinned_end = tsr_operand_bytes(&o, s->type);
  return o;
}

/* ---- Steps ---------------------------------------------------------------- */

/* What is kept already takes from the budgets, as in a context. */
static tsr_plan_options options_of(const sequence *s, const tsr_found *view) {
  tsr_plan_options options = s->options;
  for (int d = 0; d < s->machine->devices; d++) {
    size_t used = tsr_store_used(s->store, d);
    options.budget[d] = options.budget[d] > used ? options.budget[d] - used : 0;
  }
  options.residency = &view->seen;
  return options;
}

/* The plan is submitted after all before it are complete. */
static void submit(sequence *s, const tsr_found *view, const tsr_plan *plan) {
  tsr_allocation allocation;
  int short_of;
  tsr_store_reclaim(s->store, UINT64_MAX);
  must(tsr_store_take(s->store, view, plan, &allocation, &short_of));
  tsr_store_note(s->store, plan, &allocation, s->submitted++);
}

static void note(sequence *s, golden_book *book, const char *name, const tsr_found *view,
                 const tsr_plan *plan, const size_t *budget) {
  golden_result result = {.name = name};
  golden_plan_note(plan, s->machine, &result);
  if (plan->moves) result.floor = -1;
  result.wrong = tsr_plan_verify(plan, s->machine, budget) != TSR_OK;
  if (result.wrong) result.aside = tsr_message();
  golden_note(book, &result);
  golden_result_free(&result);
  submit(s, view, plan);
}

/* Of a region as an operand of the call that stands for its move; triangle: of those on its
 * diagonal that move, too; mapping: to devices, else home; name NULL: the plan is not noted. */
static void move_part(sequence *s, golden_book *book, const char *name, const tsr_region *region,
                      const matrix *of, tsr_uplo uplo, tsr_uplo triangle,
                      const tsr_mapping *mapping, bool alone, bool whole) {
  int as = mapping != NULL ? TSR_A : TSR_C_;
  tsr_operand operand = operand_of(s, region, of);
  tsr_call call = tsr_moves_call(as, &operand, region->size);
  tsr_region regions[TSR_OPERANDS] = {{0}};
  tsr_use use[TSR_OPERANDS] = {
      {TSR_READ_ONLY, TSR_GENERAL}, {TSR_READ_ONLY, TSR_GENERAL}, {TSR_MOVED, triangle}};
  tsr_found view;
  tsr_plan *plan = NULL;
  if (triangle != TSR_GENERAL) tsr_moves_triangle(triangle, &call);
  regions[as] = *region;
  must(tsr_store_look(s->store, regions, use, &view));
  if (alone) tsr_found_keep_triangles(&view, whole);
  tsr_plan_options options = options_of(s, &view);
  if (mapping != NULL)
    must(tsr_plan_distribute(s->machine, &call, mapping, &options, &plan));
  else
    must(tsr_plan_write_back(s->machine, &call, uplo, &options, &plan));
  if (name != NULL)
    note(s, book, name, &view, plan, options.budget);
  else
    submit(s, &view, plan);
  tsr_found_free(&view);
  tsr_plan_free(plan);
}

/* Brings triangles home that a look for this use does not find, as a context does. alone: nothing
 * else in their squares. Whether any were. */
static bool move_triangles(sequence *s, golden_book *book, const char *name,
                           const tsr_region *region, const matrix *of, const tsr_use *use,
                           bool alone) {
  tsr_region square;
  tsr_uplo is;
  bool any = false;
  if (alone) must(tsr_store_cut_triangles(s->store, region, use));
  for (;; any = true) {
    must(tsr_store_triangle(s->store, region, use, &square, &is));
    if (square.base == NULL) return any;
    bool whole = use->as == TSR_CHANGED && use->uplo != TSR_GENERAL && square.base != region->base;
    move_part(s, book, name, &square, of, TSR_GENERAL, is, NULL, alone, whole);
  }
}

static void settle(sequence *s, golden_book *book, const tsr_call *call,
                   const tsr_region region[TSR_OPERANDS], matrix *const of[TSR_OPERANDS],
                   const tsr_use use[TSR_OPERANDS]) {
  bool replaces = use[TSR_C_].uplo == TSR_GENERAL && call->beta == TSR_ZERO &&
                  !tsr_is_in_place(call->operation);
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (region[x].base != NULL && (x != TSR_C_ || !replaces))
      move_triangles(s, book, NULL, &region[x], of[x], &use[x], true);
}

/* A triangle that has come home takes the place of the region if nothing else of it is newer. */
static void move_step(sequence *s, golden_book *book, const char *name, const tsr_region *region,
                      const matrix *of, tsr_uplo uplo, const tsr_mapping *mapping) {
  bool deals = mapping != NULL;
  if (uplo != TSR_GENERAL) {
    move_part(s, book, name, region, of, uplo, uplo, NULL, false, false);
    return;
  }
  const tsr_use use = {deals ? TSR_READ_ONLY : TSR_MOVED, TSR_GENERAL};
  if (move_triangles(s, book, name, region, of, &use, deals) && !deals) return;
  move_part(s, book, name, region, of, uplo, TSR_GENERAL, mapping, false, false);
}

/* CALL A B C [WORD ...] */
static void call_step(sequence *s, golden_book *book, const char *name, char *const *word,
                      int words) {
  enum { OPERATION, LETTERS, EXTENTS, FIRST_PLACE, FIRST_WORD = FIRST_PLACE + TSR_OPERANDS };
  tsr_level3 what;
  tsr_call call;
  tsr_found view;
  tsr_plan *plan = NULL;
  tsr_region region[TSR_OPERANDS] = {{0}};
  matrix *of[TSR_OPERANDS] = {NULL};
  char alpha = 'r', beta = 'r';
  if (words < FIRST_WORD) golden_wrong("%s: too few words", name);
  tsr_plan_options own = s->options;
  for (int i = FIRST_WORD; i < words; i++) {
    if (sscanf(word[i], "alpha=%c", &alpha) == 1 || sscanf(word[i], "beta=%c", &beta) == 1)
      continue;
    if (!golden_option_read(word[i], s->machine, &own)) golden_wrong("%s: no word", word[i]);
  }
  golden_level3_read(word[OPERATION], word[LETTERS], word[EXTENTS], &what);
  int64_t *ld[] = {&what.lda, &what.ldb, &what.ldc};
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const char *at = word[FIRST_PLACE + x];
    *ld[x] = *at == '-' ? INT32_MAX : find_matrix(s, *at)->region.ld;
  }
  golden_level3_call(&what, alpha, beta, &call);
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const char *at = word[FIRST_PLACE + x];
    if (*at == '-') continue;
    region[x] = part(s, at, call.operand[x].rows, call.operand[x].cols, &of[x]);
    call.operand[x] = operand_of(s, &region[x], of[x]);
  }
  tsr_use use[TSR_OPERANDS];
  for (int x = 0; x < TSR_OPERANDS; x++)
    use[x] = (tsr_use){x == TSR_C_ ? TSR_CHANGED : TSR_READ_ONLY, tsr_call_triangle_of(&call, x)};
  settle(s, book, &call, region, of, use);
  must(tsr_store_look(s->store, region, use, &view));
  tsr_plan_options options = options_of(s, &view);
  options.search_seconds = own.search_seconds;
  tsr_mapping map = of[TSR_C_]->map;
  int64_t first = (region[TSR_C_].base - of[TSR_C_]->region.base) / (int64_t)region[TSR_C_].size;
  map.row = first % region[TSR_C_].ld;
  map.col = first / region[TSR_C_].ld;
  if (map.grid_rows > 0) options.mapping = &map;
  must(tsr_plan_make(s->machine, &call, &options, &plan));
  note(s, book, name, &view, plan, options.budget);
  tsr_found_free(&view);
  tsr_plan_free(plan);
}

static void take_step(sequence *s, golden_book *book, const char *name, const char *step) {
  char copy[MOST_LINE], *word[MOST_WORDS];
  tsr_mapping mapping;
  tsr_region region;
  matrix *of;
  snprintf(copy, sizeof copy, "%s", step);
  int words = split(copy, word);
  bool home = strcmp(word[0], "home") == 0, forget = strcmp(word[0], "forget") == 0,
       map = strcmp(word[0], "map") == 0, distribute = strcmp(word[0], "distribute") == 0;
  if (!home && !forget && !map && !distribute) {
    call_step(s, book, name, word, words);
  } else if (words != (home || distribute ? 4 : 3)) {
    golden_wrong("%s: too few words, or too many", step);
  } else if (map) {
    golden_mapping_read(word[2], &find_matrix(s, *word[1])->map);
  } else if (forget) {
    region = part_of(s, word[1], word[2], &of);
    must(tsr_store_forget(s->store, &region));
  } else if (home) {
    region = part_of(s, word[2], word[3], &of);
    move_step(s, book, name, &region, of, (tsr_uplo)*word[1], NULL);
  } else {
    region = part_of(s, word[1], word[2], &of);
    golden_mapping_read(word[3], &mapping);
    move_step(s, book, name, &region, of, TSR_GENERAL, &mapping);
  }
}

/* ---- Sequences ------------------------------------------------------------ */

static void begin(const char *line, sequence *s) {
  char copy[MOST_LINE], *word[MOST_WORDS];
  size_t limit[TSR_MAX_DEVICES + 1] = {0};
  snprintf(copy, sizeof copy, "%s", line);
  int words = split(copy, word);
  if (words < 3) golden_wrong("%s: MACHINE TYPE MATRIX ...", line);
  *s = (sequence){.machine = golden_machine(word[0]), .type = (tsr_type)*word[1]};
  s->options = golden_plan_options(s->machine);
  for (int i = 2; i < words; i++) {
    if (word[i][1] == ':')
      add_matrix(s, word[i]);
    else if (!golden_option_read(word[i], s->machine, &s->options))
      golden_wrong("%s: no such word", word[i]);
  }
  for (int d = 0; d < s->machine->devices; d++) limit[d] = s->options.budget[d];
  limit[s->machine->devices] = 4 * s->options.ring; /* as a context has it */
  must(tsr_store_create(&addresses, NULL, s->machine->devices, limit, 0, NULL, &s->store));
}

void golden_sequence_note(golden_book *book, const golden_sequence *sequence_) {
  sequence s;
  if (!golden_wants(sequence_->name)) return;
  begin(sequence_->line, &s);
  for (int i = 0; sequence_->steps[i] != NULL; i++) {
    char name[MOST_NAME];
    snprintf(name, sizeof name, "%s, step %d: %s", sequence_->name, i + 1, sequence_->steps[i]);
    take_step(&s, book, name, sequence_->steps[i]);
  }
  tsr_store_destroy(s.store);
  tsr_machine_destroy(s.machine);
}

/* ---- The list ------------------------------------------------------------- */

/* Two panels of a factorisation, as examples/cholesky.c has them. */
static const char *const cholesky[] = {
    "forget X@0,0 1024x1024",
    "dtrsm RLTN 7168x1024 X@0,0 - X@1024,0 alpha=1",
    "dsyrk LN 1024x1024 X@1024,0 - X@1024,1024 beta=1",
    "home L X@1024,1024 1024x1024",
    "dgemm NT 6144x1024x1024 X@2048,0 X@1024,0 X@2048,1024 beta=1",
    "dsyrk LN 6144x1024 X@2048,0 - X@2048,2048 beta=1",
    "forget X@1024,1024 1024x1024",
    "dtrsm RLTN 6144x1024 X@1024,1024 - X@2048,1024 alpha=1",
    "dsyrk LN 6144x1024 X@2048,1024 - X@2048,2048 beta=1",
    "home L X@0,0 8192x8192",
    NULL};

static const char *const cholesky_mapped[] = {
    "map X 1024x1024@2x2",
    "dtrsm RLTN 7168x1024 X@0,0 - X@1024,0 alpha=1",
    "dsyrk LN 7168x1024 X@1024,0 - X@1024,1024 beta=1",
    "home L X@1024,1024 1024x1024",
    "dtrsm RLTN 6144x1024 X@1024,1024 - X@2048,1024 alpha=1",
    NULL};

/* Solve, update, multiply: the first one's result is the input of the others. */
static const char *const solve_update_multiply[] = {
    "dtrsm LLNN 6144x6144 X@0,0 - Y@0,0",
    "dsyrk LT 6144x6144 Y@0,0 - Z@0,0 beta=0",
    "dgemm NN 6144x6144x6144 Z@0,0 Y@0,0 X@0,0 beta=1",
    "home G Z@0,0 6144x6144",
    "home G X@0,0 6144x3000",
    NULL};

static const char *const products[] = {"sgemm NN 8000x8000x8000 X@0,0 Y@0,0 Z@0,0 beta=0",
                                       "sgemm TN 4000x4000x4000 Z@0,0 Z@4000,4000 X@1000,500",
                                       "sgemm NN 8000x3000x8000 Z@0,0 X@0,0 Y@0,2000 beta=1",
                                       "home U Y@0,0 8000x8000", NULL};

static const char *const distributed[] = {"distribute X@0,0 8192x8192 1024x1024@4x2",
                                          "distribute Y@0,0 8192x8192 2048x512@2x4",
                                          "map Z 1024x1024@4x2",
                                          "dgemm NN 8192x8192x8192 X@0,0 Y@0,0 Z@0,0 beta=0",
                                          "distribute Z@0,0 8192x8192 1024x1024@2x4",
                                          "home G Z@0,0 8192x8192",
                                          NULL};

/* Each takes from what the next one has room for. */
static const char *const with_little_room[] = {
    "dgemm NN 6144x6144x6144 X@0,0 Y@0,0 Z@0,0 beta=0", "dsymm LL 6144x2000 X@0,0 Y@0,0 Z@0,4000",
    "dtrmm LUNN 6144x2000 X@0,0 - Z@0,0", "home G Z@0,0 6144x6144", NULL};

static const char *const hermitian[] = {"zherk LN 4000x3001 Y@0,0 - X@0,0 beta=0",
                                        "zhemm LL 4000x2000 X@0,0 Y@0,0 Z@0,0 beta=0",
                                        "zher2k UC 2000x4000 Y@0,0 Z@0,0 X@1000,1000",
                                        "ztrsm LUCU 4000x1000 X@0,0 - Z@0,500",
                                        "home G Z@0,0 4000x4000",
                                        NULL};

const golden_sequence golden_sequences[] = {
    {"cholesky on h200x4", "h200x4 d X:8192x8192p", cholesky},
    {"mapped cholesky on h200x4", "h200x4 d X:8192x8192p", cholesky_mapped},
    {"solve, update, multiply on h200x4", "h200x4 d X:6144x6144p Y:6144x6144p Z:6144x6144p",
     solve_update_multiply},
    {"solve, update, multiply on a100x8", "a100x8 d X:6144x6144h Y:6144x6144p Z:6144x6144h",
     solve_update_multiply},
    {"products on pairs", "pairs s X:8000x8000p Y:8000x8000p Z:8000x8000h", products},
    {"products on unlike", "unlike s X:8000x8000p Y:8000x8000h Z:8000x8000p", products},
    {"distributed on a100x8", "a100x8 d X:8192x8192p Y:8192x8192h Z:8192x8192p", distributed},
    {"with little room on h200x4", "h200x4 d X:6144x6144p Y:6144x6144p Z:6144x6144p budget=620",
     with_little_room},
    {"hermitian on v100x3", "v100x3 z X:4000x4000p Y:4000x4000p Z:4000x4000h", hermitian},
    {0}};
