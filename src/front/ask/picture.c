/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "front/ask/picture.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/amounts.h"
#include "plan/names.h"
#include "plan/print/trace.h"

/* The colour of each kind of command (tsr_trace_kind). Residues are made where they are used, not
 * copied, so that their copies need no colours of their own. */
static const char *const colours[TSR_TRACE_KINDS] = {[TSR_A] = "#3b6fc4",
                                                     [TSR_B_] = "#e09a1a",
                                                     [TSR_C_] = "#2f9e5b",
                                                     [TSR_W] = "#8a5bd1",
                                                     [TSR_RA] = "#7f95bf",
                                                     [TSR_RB] = "#c9a96a",
                                                     [TSR_RA2] = "#7f95bf",
                                                     [TSR_RB2] = "#c9a96a",
                                                     [TSR_V] = "#7f95bf",
                                                     [TSR_TRACE_GEMM] = "#c46ba8",
                                                     [TSR_TRACE_ADD] = "#1f9fb4",
                                                     [TSR_TRACE_SCALE] = "#a0522d",
                                                     [TSR_TRACE_ROUTINE] = "#3d3f8f",
                                                     [TSR_TRACE_RESIDUES] = "#d6455d",
                                                     [TSR_TRACE_RESIDUE_GEMM] = "#5b6470",
                                                     [TSR_TRACE_INVERT] = "#1f8a99"};

typedef struct span {
  double begin, end; /* s */
} span;

/* Whether queue a is drawn above queue b: devices first, each with its queues in the order of their
 * roles, then the host's staging queues. */
static bool goes_before(const tsr_plan_queue *a, const tsr_plan_queue *b) {
  if (a->location != b->location) return a->location < b->location;
  return a->role != b->role ? a->role < b->role : a->index < b->index;
}

/* ---- The picture ---- */

enum {
  PICTURE_WIDTH = 1200,
  PICTURE_LEFT = 150,
  PICTURE_RIGHT = 24,
  PICTURE_TOP = 84, /* titles and legend */
  AXIS_HEIGHT = 40,
  GROUP_GAP = 8,
  MANY_COMMANDS = 20000, /* above this number of commands, bars below 0.5 pixels are merged */
  HINTED_COMMANDS = 5000 /* up to this number of commands, each bar has a title */
};

/* Adjacent bars below 0.5 pixels that are drawn as one, in the colour of the kind that covers most
 * of it. */
typedef struct cluster {
  double begin, end;             /* pixels */
  double width[TSR_TRACE_KINDS]; /* pixels of each kind */
  bool any;
} cluster;

typedef struct picture {
  const tsr_plan *plan;
  const tsr_machine *machine;
  tsr_text *text;
  tsr_measured last; /* the plan's last traced run; times is NULL without one */
  double floor;      /* s; 0: none is shown */
  bool rehearsal;    /* the devices are emulated */
  bool merge;
  bool seen[TSR_TRACE_KINDS];
  int rows, queue[TSR_PLAN_QUEUES]; /* queue[r]: the first queue in row r */
  int drawn_as[TSR_PLAN_QUEUES];    /* the first queue in the row of queue q */
  int folded[TSR_PLAN_QUEUES];      /* the number of queues in the row of its first queue */
  double top[TSR_PLAN_QUEUES];      /* pixels; upper edge of the row of its first queue */
  double height, bottom;            /* pixels: height of a row; lower edge of the last row */
  double seconds, scale;            /* s shown; pixels per second */
  cluster clusters[TSR_PLAN_QUEUES];
} picture;

static double x_of(const picture *p, double seconds) {
  return PICTURE_LEFT + seconds * p->scale;
}

static span span_shown(const picture *p, size_t command, bool measured) {
  const float *times = p->last.times;
  const tsr_command *planned = &p->plan->commands.items[command];
  return measured ? (span){times[2 * command], times[2 * command + 1]}
                  : (span){planned->begin, planned->end};
}

static void insert_row(picture *p, int queue) {
  int at = p->rows++;
  const tsr_plan_queue *queues = p->plan->queue;
  for (; at > 0 && goes_before(&queues[queue], &queues[p->queue[at - 1]]); at--)
    p->queue[at] = p->queue[at - 1];
  p->queue[at] = queue;
}

static bool is_staging(const picture *p, int queue) {
  return p->plan->queue[queue].role == TSR_QUEUE_STAGING;
}

/* The share of the shown time in which the used staging queues of a location are busy. */
static double staging_busy(const picture *p, int location, bool measured) {
  const tsr_plan *plan = p->plan;
  double busy = 0;
  int queues = 0;
  for (int q = 0; q < plan->queues; q++)
    queues += p->folded[q] > 0 && is_staging(p, q) && plan->queue[q].location == location;
  for (size_t i = 0; i < plan->commands.count; i++) {
    int q = plan->commands.items[i].queue;
    span when = span_shown(p, i, measured);
    bool counts = is_staging(p, q) && plan->queue[q].location == location;
    if (counts && isfinite(when.begin) && when.end > when.begin) busy += when.end - when.begin;
  }
  return queues > 0 ? busy / (queues * p->seconds) : 0;
}

/* Whether the staging queues of a location share a row: with rows of their own they would fill most
 * of the picture and be empty, since they are idle for more than nine tenths of the time. */
static bool is_idle(const picture *p, int location) {
  const double busy = 0.1; /* of the shown time */
  if (staging_busy(p, location, false) >= busy) return false;
  return p->last.times == NULL || staging_busy(p, location, true) < busy;
}

static void fold_staging(picture *p, int location) {
  int first = -1;
  for (int q = 0; q < p->plan->queues; q++) {
    if (p->folded[q] == 0 || !is_staging(p, q) || p->plan->queue[q].location != location) continue;
    if (first < 0) {
      first = q;
      continue;
    }
    p->drawn_as[q] = first;
    p->folded[first]++;
    p->folded[q] = 0;
  }
}

/* Gives a row to each queue that has commands, but one to all staging queues of a location that are
 * idle. */
static void assign_rows(picture *p) {
  for (int q = 0; q < p->plan->queues; q++) p->drawn_as[q] = q;
  for (size_t i = 0; i < p->plan->commands.count; i++)
    p->folded[p->plan->commands.items[i].queue] = 1;
  for (int location = p->plan->machine_devices; location < TSR_MACHINE_LOCATIONS; location++)
    if (is_idle(p, location)) fold_staging(p, location);
  for (int q = 0; q < p->plan->queues; q++)
    if (p->folded[q] > 0) insert_row(p, q);
}

static void lay_out(picture *p) {
  assign_rows(p);
  p->height = p->rows <= 24 ? 24 : p->rows <= 48 ? 18 : 14;
  double y = PICTURE_TOP;
  for (int row = 0; row < p->rows; row++) {
    bool new_group = row > 0 && p->plan->queue[p->queue[row]].location !=
                                    p->plan->queue[p->queue[row - 1]].location;
    if (new_group) y += GROUP_GAP;
    p->top[p->queue[row]] = y;
    y += p->height;
  }
  p->bottom = y;
}

/* Finds the kinds that occur and the time to show. */
static void survey(picture *p) {
  p->seconds = fmax(isfinite(p->plan->seconds) ? p->plan->seconds : 0, p->floor);
  for (size_t i = 0; i < p->plan->commands.count; i++) {
    p->seen[tsr_trace_kind(p->plan, &p->plan->commands.items[i])] = true;
    p->seconds = fmax(p->seconds, span_shown(p, i, false).end);
    if (p->last.times) p->seconds = fmax(p->seconds, span_shown(p, i, true).end);
  }
  if (!(p->seconds > 0)) p->seconds = 1e-3;
  p->seconds *= 1.02;
  p->scale = (PICTURE_WIDTH - PICTURE_LEFT - PICTURE_RIGHT) / p->seconds;
}

/* ---- Bars ---- */

static void add_bar(picture *p, int queue, bool measured, double begin, double end, int kind,
                    const char *hint) {
  double inner = p->height - 4, half = p->last.times ? inner / 2 : inner;
  double y = p->top[queue] + 2 + (measured ? half : 0);
  /* At least 0.3 pixels, so that the shortest command is visible. */
  tsr_text_add(p->text,
               "<rect class=\"k%d%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"", kind,
               p->last.times && !measured ? " p" : "", begin, y, fmax(end - begin, 0.3), half);
  if (hint == NULL) {
    tsr_text_add(p->text, "/>\n");
    return;
  }
  tsr_text_add(p->text, "><title>");
  tsr_text_add_xml(p->text, hint);
  tsr_text_add(p->text, "</title></rect>\n");
}

static void flush_cluster(picture *p, int queue, bool measured) {
  cluster *tiny = &p->clusters[queue];
  int most = 0;
  for (int kind = 1; kind < TSR_TRACE_KINDS; kind++)
    if (tiny->width[kind] > tiny->width[most]) most = kind;
  if (tiny->any) add_bar(p, queue, measured, tiny->begin, tiny->end, most, NULL);
  *tiny = (cluster){.any = false};
}

static void add_tiny(picture *p, int queue, bool measured, double begin, double end, int kind) {
  cluster *tiny = &p->clusters[queue];
  if (tiny->any && (begin - tiny->end >= 0.5 || tiny->end - tiny->begin >= 2))
    flush_cluster(p, queue, measured);
  if (!tiny->any) tiny->begin = begin;
  tiny->any = true;
  tiny->end = end;
  /* A bar of width 0 still counts for its kind. */
  tiny->width[kind] += end - begin + 1e-6;
}

static void add_command(picture *p, size_t index, bool measured) {
  const tsr_command *command = &p->plan->commands.items[index];
  int queue = p->drawn_as[command->queue];
  span when = span_shown(p, index, measured);
  double begin = x_of(p, when.begin), end = x_of(p, when.end);
  int kind = tsr_trace_kind(p->plan, command);
  if (p->merge && end - begin < 0.5) {
    add_tiny(p, queue, measured, begin, end, kind);
    return;
  }
  flush_cluster(p, queue, measured);
  char hint[200];
  tsr_name name;
  const tsr_call *call = &p->plan->call;
  const char *unit;
  double scale = tsr_seconds_scale(when.end, &unit);
  snprintf(hint, sizeof hint, "%zu: %s, %lld x %lld x %d, %s %.4g-%.4g %s", index,
           tsr_command_describe(p->plan, command, &name),
           (long long)tsr_asked_rows(call, command->m, command->n),
           (long long)tsr_asked_cols(call, command->m, command->n), command->k,
           measured ? "measured" : "predicted", when.begin * scale, when.end * scale, unit);
  bool hinted = p->plan->commands.count <= HINTED_COMMANDS;
  add_bar(p, queue, measured, begin, end, kind, hinted ? hint : NULL);
}

static void add_bars(picture *p, bool measured) {
  for (size_t i = 0; i < p->plan->commands.count; i++) {
    span when = span_shown(p, i, measured);
    if (isfinite(when.begin) && isfinite(when.end) && when.end >= when.begin)
      add_command(p, i, measured);
  }
  for (int q = 0; q < p->plan->queues; q++) flush_cluster(p, q, measured);
}

/* ---- Titles, legend, axes ---- */

static void add_style(picture *p) {
  tsr_text_add(p->text,
               "<style>text{font:12px sans-serif;fill:#333}.t{font-size:15px;font-weight:bold}"
               ".s{font-size:11px;fill:#667}.r{text-anchor:end}.m{text-anchor:middle}"
               ".b{font-weight:bold}.p{opacity:.45}.f{stroke:#c00;stroke-dasharray:5 3;fill:none}"
               ".g{stroke:#ccd;fill:none}");
  for (int kind = 0; kind < TSR_TRACE_KINDS; kind++)
    tsr_text_add(p->text, ".k%d{fill:%s}", kind, colours[kind]);
  tsr_text_add(p->text, "</style>\n");
}

static void add_rate(picture *p, const char *what, double seconds) {
  if (!(seconds > 0) || !isfinite(seconds)) return;
  tsr_text_add(p->text, "%s ", what);
  tsr_add_seconds(p->text, seconds);
  tsr_text_add(p->text, ", ");
  tsr_add_rate(p->text, tsr_call_flops(&p->plan->call) / seconds);
  tsr_text_add(p->text, ". ");
}

/* Of emulated devices no time and no rate is said. */
static void add_rates(picture *p) {
  if (p->rehearsal) {
    tsr_text_add(p->text, "A rehearsal: the devices are emulated, and their times mean nothing.");
    return;
  }
  add_rate(p, "Predicted", p->plan->seconds);
  add_rate(p, "Measured", p->last.seconds);
  add_rate(p, "Floor", p->floor);
}

static void add_titles(picture *p) {
  const tsr_call *call = &p->plan->call;
  tsr_name name;
  tsr_text_add(p->text, "<text class=\"t\" x=\"12\" y=\"24\">%s %lld x %lld x %lld",
               tsr_call_name(call, &name), (long long)tsr_asked_rows(call, call->m, call->n),
               (long long)tsr_asked_cols(call, call->m, call->n), (long long)call->k);
  if (p->machine != NULL) {
    tsr_text_add(p->text, " on ");
    tsr_text_add_xml(p->text, p->machine->name);
  }
  tsr_text_add(p->text, "</text>\n<text x=\"12\" y=\"44\">");
  add_rates(p);
  tsr_text_add(p->text, "</text>\n");
}

static void add_legend(picture *p) {
  double x = 12;
  for (int kind = 0; kind < TSR_TRACE_KINDS; kind++) {
    if (!p->seen[kind]) continue;
    tsr_text_add(p->text,
                 "<rect class=\"k%d\" x=\"%.0f\" y=\"55\" width=\"14\" height=\"12\"/>"
                 "<text x=\"%.0f\" y=\"65\">%s</text>\n",
                 kind, x, x + 19, tsr_trace_kind_name(kind));
    x += 100;
  }
  if (p->last.times)
    tsr_text_add(p->text,
                 "<text class=\"s\" x=\"%.0f\" y=\"65\">upper half, light: predicted; "
                 "lower half, strong: measured</text>\n",
                 x + 10);
}

/* The distance of ticks for about eight of them in the range: 1, 2 or 5 times a power of ten. */
static double tick_step(double range) {
  double power = pow(10, floor(log10(range / 8)));
  double digit = range / 8 / power;
  return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void add_axis(picture *p) {
  const char *unit;
  double scale = tsr_seconds_scale(p->seconds, &unit), step = tick_step(p->seconds * scale);
  for (int i = 0; i * step <= p->seconds * scale; i++) {
    double x = x_of(p, i * step / scale);
    tsr_text_add(p->text,
                 "<path class=\"g\" d=\"M%.2f %d V%.1f\"/><text class=\"s m\" x=\"%.2f\" "
                 "y=\"%.1f\">%.6g%s%s</text>\n",
                 x, PICTURE_TOP - 4, p->bottom + 5, x, p->bottom + 19, i * step, i == 0 ? " " : "",
                 i == 0 ? unit : "");
  }
}

static void add_row_label(picture *p, int row) {
  int queue = p->queue[row];
  const tsr_plan_queue *drawn = &p->plan->queue[queue];
  double y = p->top[queue], middle = y + p->height / 2 + 4;
  bool first = row == 0 || p->plan->queue[p->queue[row - 1]].location != drawn->location;
  tsr_name name;
  tsr_text_add(p->text, "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"/>\n",
               PICTURE_LEFT, y, PICTURE_WIDTH - PICTURE_LEFT - PICTURE_RIGHT, p->height,
               row % 2 == 0 ? "#f3f4f7" : "#fafbfc");
  if (first)
    tsr_text_add(p->text, "<text class=\"b\" x=\"12\" y=\"%.1f\">%s</text>\n", middle,
                 tsr_plan_location_name(p->plan, drawn->location, &name));
  if (p->folded[queue] > 1)
    snprintf(name.text, sizeof name.text, "staging, %d", p->folded[queue]);
  else
    tsr_queue_name(drawn, &name);
  tsr_text_add(p->text, "<text class=\"s r\" x=\"%d\" y=\"%.1f\">%s</text>\n", PICTURE_LEFT - 8,
               middle, name.text);
}

static void add_floor(picture *p) {
  if (!(p->floor > 0)) return;
  double x = x_of(p, p->floor);
  bool left = x > PICTURE_WIDTH / 2; /* the label stays inside */
  tsr_text_add(p->text,
               "<path class=\"f\" d=\"M%.2f %d V%.1f\"/><text class=\"s%s\" x=\"%.2f\" y=\"%.1f\" "
               "style=\"fill:#c00\">floor</text>\n",
               x, PICTURE_TOP - 8, p->bottom + 24, left ? " r" : "", x + (left ? -4 : 4),
               p->bottom + 33);
}

static void draw(picture *p) {
  double height = p->bottom + AXIS_HEIGHT;
  tsr_text_add(p->text,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
               "viewBox=\"0 0 %d %.0f\">\n",
               PICTURE_WIDTH, height, PICTURE_WIDTH, height);
  add_style(p);
  tsr_text_add(p->text, "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n");
  add_titles(p);
  add_legend(p);
  for (int row = 0; row < p->rows; row++) add_row_label(p, row);
  add_axis(p);
  add_bars(p, false);
  if (p->last.times) add_bars(p, true);
  add_floor(p);
  tsr_text_add(p->text, "</svg>\n");
}

tsr_status tsr_picture_draw(const tsr_plan *plan, const tsr_machine *machine,
                            const tsr_known *known, tsr_text *text) {
  picture *p = tsr_alloc_zero(1, sizeof *p);
  if (p == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to draw a timeline");
  p->plan = plan;
  p->machine = machine;
  p->text = text;
  p->last = known->measured;
  p->rehearsal = known->rehearsal;
  p->floor = known->rehearsal ? 0 : plan->floor;
  p->merge = plan->commands.count > MANY_COMMANDS;
  survey(p);
  lay_out(p);
  draw(p);
  tsr_dealloc(p);
  return TSR_OK;
}
