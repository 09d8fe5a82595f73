/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A plan as lines of text that do not depend on what anything is called in the library. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blas/family.h"
#include "plan/golden_call.h"
#include "plan/residency.h"

/* ---- Words ---------------------------------------------------------------- */

static const char *kernel_word(int kernel) {
  switch (kernel) {
    case TSR_KERNEL_GEMM:
      return "gemm";
    case TSR_KERNEL_GEMMT:
      return "gemmt";
    case TSR_KERNEL_ADD:
      return "add";
    case TSR_KERNEL_SCALE:
      return "scale";
    case TSR_KERNEL_SYMM:
      return "symm";
    case TSR_KERNEL_HEMM:
      return "hemm";
    case TSR_KERNEL_SYRK:
      return "syrk";
    case TSR_KERNEL_HERK:
      return "herk";
    case TSR_KERNEL_SYR2K:
      return "syr2k";
    case TSR_KERNEL_HER2K:
      return "her2k";
    case TSR_KERNEL_TRMM:
      return "trmm";
    case TSR_KERNEL_TRSM:
      return "trsm";
    case TSR_KERNEL_INVERT:
      return "invert";
    case TSR_KERNEL_SOLVE:
      return "solve";
    case TSR_KERNEL_RESIDUES:
      return "residues";
    case TSR_KERNEL_RESIDUE_GEMM:
      return "residue_gemm";
    default:
      return "?";
  }
}

static char matrix_letter(int matrix) {
  switch (matrix) {
    case TSR_A:
      return 'A';
    case TSR_B_:
      return 'B';
    case TSR_C_:
      return 'C';
    case TSR_W:
      return 'W';
    case TSR_V:
      return 'V';
    default:
      return '?';
  }
}

static const char *role_word(int role) {
  switch (role) {
    case TSR_QUEUE_IN:
      return "in";
    case TSR_QUEUE_OUT:
      return "out";
    case TSR_QUEUE_PEER:
      return "peer";
    case TSR_QUEUE_COMPUTE:
      return "compute";
    case TSR_QUEUE_ADD:
      return "add";
    case TSR_QUEUE_STAGING:
      return "lane";
    default:
      return "?";
  }
}

/* Devices d0, d1 ..., host nodes h0, h1 ... */
static void add_location(const tsr_plan *plan, int location, tsr_text *text) {
  bool device = location < plan->machine_devices;
  tsr_text_add(text, "%c%d", device ? 'd' : 'h',
               device ? location : location - plan->machine_devices);
}

static void add_queue(const tsr_plan *plan, const tsr_plan_queue *q, tsr_text *text) {
  tsr_text_add(text, "%s ", role_word(q->role));
  add_location(plan, q->location, text);
  if (q->role == TSR_QUEUE_PEER && q->index == TSR_ANY_PEER)
    tsr_text_add(text, ">any");
  else
    tsr_text_add(text, "%s%d", q->role == TSR_QUEUE_PEER ? ">" : ".", q->index);
}

/* ---- Buffers -------------------------------------------------------------- */

static void add_buffer(const tsr_plan *plan, const tsr_buffer *b, tsr_text *text) {
  tsr_text_add(text, "%c ", matrix_letter(b->matrix));
  switch (b->role) {
    case TSR_BUFFER_HOME:
      tsr_text_add(text, "home ");
      break;
    case TSR_BUFFER_TILE:
      tsr_text_add(text, "+%zu ", b->offset);
      break;
    case TSR_BUFFER_STAGE:
      tsr_text_add(text, "stage+%zu ", b->offset);
      break;
    case TSR_BUFFER_CACHED:
      tsr_text_add(text, "room%zu ", b->offset);
      break;
    default:
      tsr_text_add(text, "? ");
  }
  add_location(plan, b->location, text);
  tsr_text_add(text, " [%" PRId64 ",%" PRId64 " %" PRId64 "x%" PRId64 " ld %" PRId64 " %zu B]",
               b->row, b->col, b->rows, b->cols, b->ld, b->bytes);
}

/* A sum of the digests of the lines: in any order. */
static uint64_t digest_of_buffers(const tsr_plan *plan) {
  uint64_t sum = 0;
  for (size_t i = 0; i < plan->buffers.count; i++) {
    tsr_text text = TSR_TEXT_INIT;
    add_buffer(plan, &plan->buffers.items[i], &text);
    sum += golden_digest(GOLDEN_BASIS, text.bytes, text.length);
    tsr_text_free(&text);
  }
  return sum;
}

static uint64_t digest_of_queues(const tsr_plan *plan) {
  uint64_t sum = 0;
  for (int i = 0; i < plan->queues; i++) {
    tsr_text text = TSR_TEXT_INIT;
    add_queue(plan, &plan->queue[i], &text);
    sum += golden_digest(GOLDEN_BASIS, text.bytes, text.length);
    tsr_text_free(&text);
  }
  return sum;
}

/* ---- Commands ------------------------------------------------------------- */

static void add_scalars(const tsr_command *c, tsr_text *text) {
  static const struct {
    int flag;
    const char *word;
  } words[] = {{TSR_FLAG_BETA, " beta"},
               {TSR_FLAG_BETA_ONE, " beta=1"},
               {TSR_FLAG_BETA_ALPHA, " beta=alpha"},
               {TSR_FLAG_ALPHA_ONE, " alpha=1"},
               {TSR_FLAG_ALPHA_MINUS, " alpha=-1"},
               {TSR_FLAG_ALPHA_CONJ, " alpha=conj"},
               {TSR_FLAG_WIDE, " wide"}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (c->flags & words[i].flag) tsr_text_add(text, "%s", words[i].word);
}

static void add_form(const tsr_command *c, tsr_text *text) {
  tsr_form form = tsr_form_unpack(c->form);
  tsr_text_add(text, " %c%c%c%c%c", form.transa, form.transb, form.side, form.uplo, form.diag);
}

static void add_operand(const tsr_plan *plan, const tsr_command *c, int i, tsr_text *text) {
  if (c->buffer[i] == TSR_NO_BUFFER) return;
  tsr_text_add(text, " | %" PRId64 ",%" PRId64 " of ", c->row[i], c->col[i]);
  add_buffer(plan, &plan->buffers.items[c->buffer[i]], text);
}

static int by_index(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* In ascending order, whatever theirs is. */
static void add_waits(const tsr_plan *plan, const tsr_command *c, tsr_text *text) {
  enum { MOST = UINT16_MAX };
  static uint32_t sorted[MOST];
  for (int i = 0; i < c->waits; i++) sorted[i] = plan->waits.items[c->wait + (uint32_t)i];
  qsort(sorted, c->waits, sizeof *sorted, by_index);
  for (int i = 0; i < c->waits; i++)
    tsr_text_add(text, "%s%u", i == 0 ? " | after " : " ", sorted[i]);
}

static void note_command(const tsr_plan *plan, const tsr_command *c, golden_lines *lines) {
  tsr_text *text = &lines->text;
  add_queue(plan, &plan->queue[c->queue], text);
  if (c->kind == TSR_COMMAND_COPY) {
    tsr_text_add(text, " copy %dx%d", c->m, c->n);
  } else {
    tsr_text_add(text, " %s %dx%dx%d", kernel_word(c->kernel), c->m, c->n, c->k);
    add_scalars(c, text);
  }
  add_form(c, text);
  for (int i = 0; i < 3; i++) add_operand(plan, c, i, text);
  add_waits(plan, c, text);
  if (c->flags & TSR_FLAG_EVENT) tsr_text_add(text, " | awaited");
  golden_line_end(lines);
}

/* ---- What stays on devices ------------------------------------------------ */

static int by_place(const void *a, const void *b) {
  const tsr_rect *x = &((const tsr_shape *)a)->rect, *y = &((const tsr_shape *)b)->rect;
  if (x->col0 != y->col0) return x->col0 < y->col0 ? -1 : 1;
  return x->row0 < y->row0 ? -1 : x->row0 > y->row0;
}

static void add_rects(const char *word, const tsr_rects *set, tsr_text *text) {
  tsr_rects sorted = {0};
  if (!tsr_rects_copy(set, &sorted)) golden_wrong("no host memory for rectangles");
  if (sorted.count > 0) qsort(sorted.items, sorted.count, sizeof *sorted.items, by_place);
  tsr_text_add(text, " %s", word);
  for (size_t i = 0; i < sorted.count; i++) {
    tsr_rect r = sorted.items[i].rect;
    tsr_text_add(text, " %" PRId64 ",%" PRId64 " %" PRId64 "x%" PRId64, r.row0, r.col0,
                 r.row1 - r.row0, r.col1 - r.col0);
    if (tsr_is_triangle(sorted.items[i])) tsr_text_add(text, "%c", (char)sorted.items[i].uplo);
  }
  tsr_rects_free(&sorted);
}

static void note_rooms(const tsr_residency *after, golden_lines *lines) {
  for (size_t i = 0; i < tsr_residency_count(after); i++) {
    const tsr_cached_block *r = &after->blocks.items[i];
    tsr_text_add(&lines->text,
                 "room%zu d%d %c [%" PRId64 ",%" PRId64 " to %" PRId64 ",%" PRId64 " ld %" PRId64
                 " %zu B]",
                 i, r->device, matrix_letter(r->matrix), r->rect.row0, r->rect.col0, r->rect.row1,
                 r->rect.col1, r->ld, r->bytes);
    add_rects("valid", &r->valid, &lines->text);
    add_rects("newer", &r->newer, &lines->text);
    golden_line_end(lines);
  }
}

/* ---- Counts --------------------------------------------------------------- */

typedef struct sums {
  int64_t copies, in, out, between, inside, at_host; /* copies by where they lead */
  int64_t kernels[TSR_KERNEL_COUNT];
  int64_t tasks[TSR_MACHINE_DEVICES]; /* kernels of a device */
  int64_t bytes_in[TSR_MACHINE_DEVICES], bytes_out[TSR_MACHINE_DEVICES], sent[TSR_MACHINE_DEVICES],
      got[TSR_MACHINE_DEVICES];
} sums;

static int64_t bytes_of(const tsr_plan *plan, const tsr_command *c, int matrix) {
  const tsr_type_info *info = tsr_type_get(plan->call.type);
  if (matrix == TSR_W) info = tsr_type_get(info->wide);
  return (int64_t)c->m * c->n * (int64_t)info->size;
}

static void count_copy(const tsr_plan *plan, const tsr_command *c, sums *s) {
  const tsr_buffer *from = &plan->buffers.items[c->buffer[0]],
                   *to = &plan->buffers.items[c->buffer[1]];
  bool from_device = from->location < plan->machine_devices,
       to_device = to->location < plan->machine_devices;
  int64_t bytes = bytes_of(plan, c, from->matrix);
  s->copies++;
  if (!from_device && !to_device) {
    s->at_host++;
  } else if (!from_device) {
    s->in++, s->bytes_in[to->location] += bytes;
  } else if (!to_device) {
    s->out++, s->bytes_out[from->location] += bytes;
  } else if (from->location == to->location) {
    s->inside++;
  } else {
    s->between++, s->sent[from->location] += bytes, s->got[to->location] += bytes;
  }
}

static sums count_commands(const tsr_plan *plan) {
  sums s = {0};
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind == TSR_COMMAND_COPY) {
      count_copy(plan, c, &s);
    } else {
      s.kernels[c->kernel]++;
      s.tasks[plan->queue[c->queue].location]++;
    }
  }
  return s;
}

/* The order of what is printed: not that of the library. */
static const tsr_kernel kernels[] = {
    TSR_KERNEL_GEMM, TSR_KERNEL_ADD,    TSR_KERNEL_SCALE, TSR_KERNEL_SYMM,  TSR_KERNEL_HEMM,
    TSR_KERNEL_SYRK, TSR_KERNEL_HERK,   TSR_KERNEL_SYR2K, TSR_KERNEL_HER2K, TSR_KERNEL_TRMM,
    TSR_KERNEL_TRSM, TSR_KERNEL_INVERT, TSR_KERNEL_SOLVE, TSR_KERNEL_GEMMT};
static const tsr_queue_role roles[] = {TSR_QUEUE_IN,      TSR_QUEUE_OUT, TSR_QUEUE_PEER,
                                       TSR_QUEUE_COMPUTE, TSR_QUEUE_ADD, TSR_QUEUE_STAGING};

static void add_each(const char *word, const int64_t *value, int count, tsr_text *text) {
  int64_t any = 0;
  for (int i = 0; i < count; i++) any |= value[i];
  if (any == 0) return;
  tsr_text_add(text, "  %s", word);
  for (int i = 0; i < count; i++) tsr_text_add(text, " %" PRId64, value[i]);
  tsr_text_add(text, "\n");
}

static void add_queues(const tsr_plan *plan, tsr_text *text) {
  tsr_text_add(text, "  queues %d:", plan->queues);
  for (size_t r = 0; r < sizeof roles / sizeof *roles; r++) {
    int count = 0;
    for (int i = 0; i < plan->queues; i++) count += plan->queue[i].role == roles[r];
    if (count > 0) tsr_text_add(text, " %s %d", role_word(roles[r]), count);
  }
  if (plan->staging_threads > 0) tsr_text_add(text, ", staging threads %d", plan->staging_threads);
  tsr_text_add(text, "\n");
}

static void add_buffers(const tsr_plan *plan, tsr_text *text) {
  int tiles = 0, stages = 0, blocks = 0, homes = 0;
  for (size_t i = 0; i < plan->buffers.count; i++) {
    int role = plan->buffers.items[i].role;
    homes += role == TSR_BUFFER_HOME, tiles += role == TSR_BUFFER_TILE;
    stages += role == TSR_BUFFER_STAGE, blocks += role == TSR_BUFFER_CACHED;
  }
  tsr_text_add(text, "  buffers %zu: homes %d tiles %d", plan->buffers.count, homes, tiles);
  if (stages > 0) tsr_text_add(text, " stages %d", stages);
  if (blocks > 0) tsr_text_add(text, " cached %d", blocks);
  if (plan->after != NULL)
    tsr_text_add(text, ", cached begun with %zu, left %zu", tsr_residency_count(plan->before),
                 tsr_residency_count(plan->after));
  tsr_text_add(text, "\n");
}

static void add_memory(const tsr_plan *plan, const tsr_machine *machine, tsr_text *text) {
  tsr_text_add(text, "  memory");
  for (int d = 0; d < machine->devices; d++) tsr_text_add(text, " %zu", plan->arena[d]);
  tsr_text_add(text, ", host");
  for (int n = 0; n < machine->nodes; n++)
    tsr_text_add(text, " %zu", plan->arena[machine->devices + n]);
  tsr_text_add(text, "\n");
}

static void note_counts(const tsr_plan *plan, const tsr_machine *machine, tsr_text *text) {
  sums s = count_commands(plan);
  int devices = machine->devices;
  tsr_text_add(text, "  devices %d of %d, grid %dx%d, commands %zu, waits %zu\n", plan->devices,
               devices, plan->grid_rows, plan->grid_cols, plan->commands.count, plan->waits.count);
  tsr_text_add(text,
               "  copies %" PRId64 ": in %" PRId64 " out %" PRId64 " between %" PRId64
               " inside %" PRId64 " at host %" PRId64 "\n",
               s.copies, s.in, s.out, s.between, s.inside, s.at_host);
  tsr_text_add(text, "  kernels:");
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (s.kernels[kernels[i]] > 0)
      tsr_text_add(text, " %s %" PRId64, kernel_word(kernels[i]), s.kernels[kernels[i]]);
  tsr_text_add(text, "\n");
  add_each("kernels of each", s.tasks, devices, text);
  add_queues(plan, text);
  add_buffers(plan, text);
  add_each("bytes in", s.bytes_in, devices, text);
  add_each("bytes out", s.bytes_out, devices, text);
  add_each("bytes sent to others", s.sent, devices, text);
  add_each("bytes got from others", s.got, devices, text);
  add_memory(plan, machine, text);
}

static const char *const families[TSR_FAMILIES] = {
    [TSR_PRODUCT] = "product", [TSR_RANK] = "rank", [TSR_TRIANGLE] = "triangle"};

/* What the plan says of its choice, without the runner-up. */
static void add_strategy(const tsr_plan *plan, tsr_text *text) {
  const char *end = strstr(plan->why, " (next best");
  size_t length = end != NULL ? (size_t)(end - plan->why) : strlen(plan->why);
  tsr_text_add(text, "%.*s", (int)length, plan->why);
}

void golden_plan_note(const tsr_plan *plan, const tsr_machine *machine, golden_result *result) {
  for (size_t i = 0; i < plan->commands.count; i++)
    note_command(plan, &plan->commands.items[i], &result->lines);
  note_rooms(plan->after, &result->lines);
  result->unordered = digest_of_buffers(plan) + 31 * digest_of_queues(plan);
  note_counts(plan, machine, &result->counts);
  result->predicted = plan->seconds;
  result->floor = plan->floor;
  result->family = plan->moves ? "moves" : families[tsr_family_of(plan->call.operation)];
  add_strategy(plan, &result->strategy);
}
