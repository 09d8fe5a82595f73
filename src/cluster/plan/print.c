/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Prints plans across processes: as text, as JSON, as a list of steps, and as a timeline. */
#include "base/amounts.h"
#include "base/thread.h"
#include "base/types.h"
#include "cluster/plan/pplan.h"
#include "cluster/tuning.h"

#define GIGA 1e9
#define TERA 1e12

/* ---- The verdict ------------------------------------------------------------------- */

/* What a product across processes may wait for. */
typedef struct part {
  const char *what, *kind;
  double seconds;
} part;

enum { PARTS = 4 };

static double flops_of(const tsr_product *p) {
  double factor = tsr_type_get(p->c.matrix.type)->flop_factor;
  return factor * (double)p->m * (double)p->n * (double)p->k;
}

static double network_time(const tsr_pplan *plan, const tsr_pprediction *x) {
  double most = x->received > x->sent ? x->received : x->sent;
  return plan->costs.bandwidth > 0 ? most / plan->costs.bandwidth : 0;
}

/* The parts, the longest first. */
static void list_parts(const tsr_pplan *plan, const tsr_pprediction *x, part list[PARTS]) {
  bool devices = plan->product.grid->model.facts.devices > 0;
  const part unsorted[PARTS] = {
      {devices ? "kernels" : "the CPU's BLAS", devices ? "kernels" : "cpu", x->kernels},
      {"the network", "link", network_time(plan, x)},
      {x->moduli > 0 ? "the way of lines to processes"
                     : "the start, until the first panels have come",
       "latency", x->fill},
      {"the exchange of blocks of C", "link", x->changing}};
  for (int i = 0; i < PARTS; i++) {
    int at = i;
    for (; at > 0 && list[at - 1].seconds < unsorted[i].seconds; at--) list[at] = list[at - 1];
    list[at] = unsorted[i];
  }
}

static double busy_of(const part *p, const tsr_pprediction *x) {
  double busy = x->seconds > 0 ? p->seconds / x->seconds : 0;
  return busy < 1 ? busy : 1;
}

/* Whether the prediction has messages in it at rates that nobody said. */
static bool is_assumed(const tsr_pplan *plan, const tsr_pprediction *x) {
  return plan->product.grid->model.facts.network_assumed && network_time(plan, x) > 0;
}

static void add_verdict(const tsr_pplan *plan, const tsr_pprediction *x, tsr_text *text) {
  part list[PARTS];
  list_parts(plan, x, list);
  bool mostly = busy_of(&list[0], x) < TSR_TUNE_PROCESS_BINDS;
  double rate = flops_of(&plan->product) / x->seconds;
  const int *extent = plan->product.grid->extent;
  int processes = extent[0] * extent[1];
  tsr_text_add(text, "%s by %s (%.0f %% of the time", mostly ? "Mostly bound" : "Bound",
               list[0].what, 100 * busy_of(&list[0], x));
  if (mostly) tsr_text_add(text, "; %s %.0f %%", list[1].what, 100 * busy_of(&list[1], x));
  tsr_text_add(text, "): ");
  tsr_add_rate(text, rate);
  tsr_text_add(text, " predicted");
  if (processes > 1) tsr_text_add(text, ", ");
  if (processes > 1) tsr_add_rate(text, rate / processes);
  tsr_text_add(text, "%s.", processes > 1 ? " a process" : "");
  if (is_assumed(plan, x) && network_time(plan, x) > TSR_TUNE_NETWORK_MATTERS * x->seconds)
    tsr_text_add(text,
                 " The network is assumed (%.3g GB/s each way a process); --network, or net: in a "
                 "machine string, says what it is.",
                 plan->costs.bandwidth / GIGA);
  if (x->moduli == 0) return;
  tsr_text_add(text, " It is emulated with %d moduli; natively ", x->moduli);
  tsr_add_seconds(text, x->native);
  tsr_text_add(text, " instead of ");
  tsr_add_seconds(text, x->seconds);
  tsr_text_add(text, ".");
}

static void add_json_verdict(const tsr_pplan *plan, const tsr_pprediction *x, tsr_text *text) {
  part list[PARTS];
  list_parts(plan, x, list);
  tsr_text_add(text, "  \"verdict\": {\"text\": \"");
  add_verdict(plan, x, text);
  tsr_text_add(text,
               "\",\n    \"seconds\": %.9g, \"rate\": %.9g,\n"
               "    \"limit\": {\"what\": \"%s\", \"kind\": \"%s\", \"busy\": %.4f},\n"
               "    \"busy\": [",
               x->seconds, flops_of(&plan->product) / x->seconds, list[0].what, list[0].kind,
               busy_of(&list[0], x));
  for (int i = 0; i < PARTS; i++)
    tsr_text_add(text, "%s{\"what\": \"%s\", \"kind\": \"%s\", \"busy\": %.4f}", i > 0 ? ", " : "",
                 list[i].what, list[i].kind, busy_of(&list[i], x));
  tsr_text_add(text, "],\n    \"network_assumed\": %s, \"instead\": []},\n",
               is_assumed(plan, x) ? "true" : "false");
}

static void write_verdict(const tsr_pplan *plan, tsr_text *text) {
  tsr_pprediction x = tsr_pplan_summary(plan);
  tsr_text said = TSR_TEXT_INIT;
  add_verdict(plan, &x, &said);
  text->broken |= said.broken;
  if (!said.broken) tsr_text_add_lines(text, "", 0, said.bytes);
  tsr_text_free(&said);
}

/* ---- For people ---------------------------------------------------------------- */

static int devices_of(const tsr_pplan *plan) {
  int devices = plan->product.grid->model.facts.devices;
  return devices > 0 ? devices : 1;
}

static void add_head(const tsr_pplan *plan, tsr_text *text) {
  const tsr_product *p = &plan->product;
  const int *extent = p->grid->extent;
  int devices = p->grid->model.facts.devices;
  tsr_text_add(text, "%cgemm %c%c %lld x %lld x %lld on a grid of %d x %d processes, ",
               (char)p->c.matrix.type, (char)p->a.op, (char)p->b.op, (long long)p->m,
               (long long)p->n, (long long)p->k, extent[0], extent[1]);
  if (devices == 0)
    tsr_text_add(text, "the CPU's BLAS in each\n");
  else
    tsr_text_add(text, "%d device%s each\n", devices, devices == 1 ? "" : "s");
}

static void add_times(const tsr_pplan *plan, const tsr_pprediction *x, tsr_text *text) {
  const int *extent = plan->product.grid->extent;
  double rate = flops_of(&plan->product) / x->seconds / TERA;
  int devices = extent[0] * extent[1] * devices_of(plan);
  tsr_text_add(text, "predicted   %.6g s: %.4g TFLOP/s, %.4g per device\n", x->seconds, rate,
               rate / devices);
  tsr_text_add(text,
               "devices     compute %.4g s; begin after %.4g s, wait %.4g s for panels and %.4g s "
               "for blocks of C\n",
               x->kernels, x->fill, x->starved, x->changing);
}

static void add_network(const tsr_pplan *plan, const tsr_pprediction *x, tsr_text *text) {
  const tsr_costs *costs = &plan->costs;
  double most = x->received > x->sent ? x->received : x->sent;
  tsr_text_add(
      text, "network     %.4g GB in and %.4g GB out per process, at %.4g GB/s each way: %.4g s\n",
      x->received / GIGA, x->sent / GIGA, costs->bandwidth / GIGA, most / costs->bandwidth);
  if (x->moves_a || x->moves_b)
    tsr_text_add(text, "first       %s redistributed\n",
                 !x->moves_b   ? "A is"
                 : !x->moves_a ? "B is"
                               : "A and B are");
}

static void add_cut(const tsr_pplan *plan, const tsr_pprediction *x, tsr_text *text) {
  tsr_text_add(text, "C           %d x %d block%s of %lld x %lld per process", x->blocks_down,
               x->blocks_across, x->blocks_down * x->blocks_across == 1 ? "" : "s",
               (long long)x->block_rows, (long long)x->block_cols);
  if (x->later_rows < x->block_rows || x->later_cols < x->block_cols)
    tsr_text_add(text, ", later ones of %lld x %lld", (long long)x->later_rows,
                 (long long)x->later_cols);
  tsr_text_add(text, "%s\n", x->together ? ", two at a time" : "");
  tsr_text_add(
      text,
      "panels      %lld of depth %lld at most, lookahead %d; slots for %d of A and %d of B, "
      "%.4g GB of %s memory per process\n",
      (long long)x->panels, (long long)x->depth, x->lookahead, x->held[0], x->held[1],
      (double)x->slots / GIGA, plan->product.grid->model.host.up > 0 ? "device" : "host");
  tsr_text_add(text, "steps       %lld, with %lld products\n", (long long)x->steps,
               (long long)x->products);
  if (x->moduli > 0)
    tsr_text_add(text, "arithmetic  emulated, %d moduli; panels natively %.4g s\n", x->moduli,
                 x->native);
}

static void write_text(const tsr_pplan *plan, tsr_text *text) {
  tsr_pprediction x = tsr_pplan_summary(plan);
  add_head(plan, text);
  add_times(plan, &x, text);
  add_network(plan, &x, text);
  add_cut(plan, &x, text);
}

/* ---- For programs ----------------------------------------------------------------- */

static void write_json(const tsr_pplan *plan, tsr_text *text) {
  tsr_pprediction x = tsr_pplan_summary(plan);
  const tsr_product *p = &plan->product;
  tsr_text_add(text,
               "{\n  \"m\": %lld, \"n\": %lld, \"k\": %lld, \"type\": \"%c\",\n"
               "  \"grid\": [%d, %d], \"devices\": %d,\n",
               (long long)p->m, (long long)p->n, (long long)p->k, (char)p->c.matrix.type,
               p->grid->extent[0], p->grid->extent[1], p->grid->model.facts.devices);
  add_json_verdict(plan, &x, text);
  tsr_text_add(text,
               "  \"seconds\": %.9g, \"flops\": %.9g,\n"
               "  \"kernels\": %.9g, \"fill\": %.9g, \"starved\": %.9g, \"changing\": %.9g,\n"
               "  \"received\": %.9g, \"sent\": %.9g,\n",
               x.seconds, flops_of(p) / x.seconds, x.kernels, x.fill, x.starved, x.changing,
               x.received, x.sent);
  tsr_text_add(text,
               "  \"block\": [%lld, %lld], \"later\": [%lld, %lld], \"blocks\": [%d, %d], "
               "\"together\": %s,\n"
               "  \"depth\": %lld, \"lookahead\": %d, \"panels\": %lld, \"products\": %lld,\n",
               (long long)x.block_rows, (long long)x.block_cols, (long long)x.later_rows,
               (long long)x.later_cols, x.blocks_down, x.blocks_across,
               x.together ? "true" : "false", (long long)x.depth, x.lookahead, (long long)x.panels,
               (long long)x.products);
  tsr_text_add(text,
               "  \"steps\": %lld, \"moves\": [%s, %s], \"held\": [%d, %d], "
               "\"slots\": %zu,\n"
               "  \"moduli\": %d, \"native\": %.9g\n}\n",
               (long long)x.steps, x.moves_a ? "true" : "false", x.moves_b ? "true" : "false",
               x.held[0], x.held[1], x.slots, x.moduli, x.native);
}

/* ---- As a list of steps ------------------------------------------------------------- */

/* The steps of an emulated product, one after the other. Returns their number. */
static int list_lines(const tsr_pplan *plan, const char *what[3], tsr_interval times[3]) {
  const tsr_lines_forecast *f = &plan->lines;
  double multiplied = f->before + f->product;
  what[0] = "rows of op(A) and columns of op(B) go to the processes";
  times[0] = (tsr_interval){0, f->before};
  what[1] = "products in residues";
  times[1] = (tsr_interval){f->before, multiplied};
  what[2] = "C goes back";
  times[2] = (tsr_interval){multiplied, f->seconds};
  return tsr_emulation_judges(&plan->how) ? 3 : 2;
}

static void write_lines(const tsr_pplan *plan, tsr_text *text) {
  const char *what[3];
  tsr_interval times[3];
  int count = list_lines(plan, what, times);
  for (int i = 0; i < count; i++)
    tsr_text_add(text, "%6d  %8.3f  %8.3f  %s\n", i, 1e3 * times[i].begin, 1e3 * times[i].end,
                 what[i]);
}

static void write_steps(const tsr_pplan *plan, tsr_text *text) {
  const tsr_summa_schedule *s = &plan->schedule;
  tsr_text_add(text, "  step     begin       end  of process (%d, %d), ms\n", plan->me[0],
               plan->me[1]);
  if (plan->how.products != NULL) {
    write_lines(plan, text);
    return;
  }
  for (size_t i = 0; i < s->steps.count; i++) {
    tsr_text_add(text, "%6zu  %8.3f  %8.3f  ", i, 1e3 * plan->times[i].begin,
                 1e3 * plan->times[i].end);
    tsr_summa_step_print(s, &s->steps.items[i], text);
    tsr_text_add(text, "\n");
  }
}

/* ---- As a timeline ------------------------------------------------------------------ */

/* The tracks of the timeline ("threads" in its JSON): the work in each may overlap the others'. */
static const char *const tracks[] = {"redistribution", "panels of A", "panels of B", "products",
                                     "write-back of C"};
enum { TRACKS = sizeof tracks / sizeof *tracks };

static int track_of(const tsr_summa_step *step) {
  switch ((tsr_summa_step_kind)step->kind) {
    case TSR_SUMMA_MOVE:
      return 0;
    case TSR_SUMMA_SEND:
      return 1 + step->operand;
    case TSR_SUMMA_MULTIPLY:
      return 3;
    default:
      return 4;
  }
}

static void name_step(const tsr_summa_step *step, tsr_text *text) {
  switch ((tsr_summa_step_kind)step->kind) {
    case TSR_SUMMA_MOVE:
      tsr_text_add(text, "%s is redistributed", step->operand == TSR_SUMMA_A ? "A" : "B");
      break;
    case TSR_SUMMA_SEND:
      tsr_text_add(text, "panel %d, block %d", (int)step->panel, (int)step->block[step->operand]);
      break;
    case TSR_SUMMA_MULTIPLY:
      tsr_text_add(text, "panel %d onto (%d, %d)", (int)step->panel, (int)step->block[0],
                   (int)step->block[1]);
      break;
    case TSR_SUMMA_WRITE_BACK:
      tsr_text_add(text, "block (%d, %d)", (int)step->block[0], (int)step->block[1]);
      break;
  }
}

static void trace_steps(const tsr_pplan *plan, tsr_text *text) {
  const tsr_summa_schedule *s = &plan->schedule;
  for (size_t i = 0; i < s->steps.count; i++) {
    const tsr_summa_step *step = &s->steps.items[i];
    const tsr_interval *t = &plan->times[i];
    tsr_text_add(text, ",\n{\"ph\": \"X\", \"pid\": 0, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, ",
                 track_of(step), 1e6 * t->begin, 1e6 * (t->end - t->begin));
    tsr_text_add(text, "\"name\": \"");
    name_step(step, text);
    tsr_text_add(text, "\"}");
  }
}

static void trace_lines(const tsr_pplan *plan, tsr_text *text) {
  const char *what[3];
  tsr_interval times[3];
  int count = list_lines(plan, what, times);
  for (int i = 0; i < count; i++)
    tsr_text_add(text,
                 ",\n{\"ph\": \"X\", \"pid\": 0, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, "
                 "\"name\": \"%s\"}",
                 i == 1 ? 3 : 0, 1e6 * times[i].begin, 1e6 * (times[i].end - times[i].begin),
                 what[i]);
}

static void write_trace(const tsr_pplan *plan, tsr_text *text) {
  tsr_text_add(text, "{\"traceEvents\": [\n");
  tsr_text_add(text,
               "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0, \"args\": {\"name\": "
               "\"process (%d, %d), predicted\"}}",
               plan->me[0], plan->me[1]);
  for (int i = 0; i < TRACKS; i++)
    tsr_text_add(text,
                 ",\n{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 0, \"tid\": %d, "
                 "\"args\": {\"name\": \"%s\"}}",
                 i, tracks[i]);
  if (plan->how.products != NULL)
    trace_lines(plan, text);
  else
    trace_steps(plan, text);
  tsr_text_add(text, "\n]}\n");
}
static tsr_status write_as(const tsr_pplan *plan, tsr_format format, tsr_text *text) {
  switch (format) {
    case TSR_TEXT:
      write_text(plan, text);
      return TSR_OK;
    case TSR_JSON:
      write_json(plan, text);
      return TSR_OK;
    case TSR_COMMANDS:
      write_steps(plan, text);
      return TSR_OK;
    case TSR_VERDICT:
      write_verdict(plan, text);
      return TSR_OK;
    case TSR_TIMELINE_JSON:
      write_trace(plan, text);
      return TSR_OK;
    default:
      return tsr_fail(TSR_ERR_ARGUMENT,
                      "format is %d; give TSR_TEXT, TSR_JSON, TSR_COMMANDS, TSR_TIMELINE_JSON or "
                      "TSR_VERDICT",
                      (int)format);
  }
}

TSR_ENTRY(tsr_pplan_print, (plan, format, text), const tsr_pplan *plan, tsr_format format,
          char **text) {
  tsr_text written = TSR_TEXT_INIT;
  TSR_TRY(tsr_pplan_check(plan));
  if (text == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "text is NULL; give the address of a char pointer");
  tsr_status status = write_as(plan, format, &written);
  if (status == TSR_OK) status = tsr_text_take(&written, text);
  tsr_text_free(&written);
  return status;
}
