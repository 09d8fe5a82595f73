/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "sides.h"

#include <string.h>

/* ---- Which cases share a side ---- */

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether two cases can use one context. Budgets may differ, since they can be changed later. */
static bool same_opening(const bench_line *a, const bench_line *b) {
  const settings *x = &a->words.settings, *y = &b->words.settings;
  return same_text(x->engine, y->engine) && same_text(x->devices, y->devices) &&
         same_text(x->machine, y->machine) && x->tile == y->tile &&
         same_text(x->arithmetic, y->arithmetic) && x->reproducible == y->reproducible &&
         x->check == y->check;
}

static bool serves(const bench_side *side, const bench_line *line) {
  return side->context && side->line->what.type == line->what.type &&
         same_opening(side->line, line);
}

/* ---- Rates ---- */

static double rate_of(bench_sides *s, const bench_side *side) {
  const bench_line *line = side->line;
  if (s->rate_seconds <= 0 || tsr_device_count(side->context) == 0) return 0;
  for (int i = 0; i < s->rate_count; i++) {
    const bench_line *known = s->rates[i].line;
    if (known->what.type == line->what.type && same_opening(known, line)) return s->rates[i].rate;
  }
  double rate = bench_sustained_rate(line, s->rate_seconds);
  if (rate > 0)
    tool_note("note: kernels sustain %s per device on this data (%d at once, for %s)",
              tool_rate(rate), line->devices > 1 ? line->devices : 1,
              tool_seconds(s->rate_seconds));
  if (s->rate_count < BENCH_RATES) {
    s->rates[s->rate_count].line = line;
    s->rates[s->rate_count++].rate = rate;
  }
  return rate;
}

/* ---- Peers ---- */

static void close_peer(bench_side *side) {
  bench_peer_close(side->peer);
  side->peer = NULL;
  side->peer_name = NULL;
}

bench_peer *bench_side_peer(bench_side *side, const bench_line *line) {
  if (!line->peer || same_text(side->peer_name, line->peer)) return line->peer ? side->peer : NULL;
  int devices = line->devices > 0 ? line->devices : tsr_device_count(side->context);
  close_peer(side);
  side->peer_name = line->peer;
  side->peer = bench_peer_open(line->peer, devices);
  return side->peer;
}

/* ---- Opening and closing ---- */

static void close_side(bench_side *side) {
  close_peer(side);
  if (side->context) bench_store_close(&side->store);
  tsr_context_destroy(side->context);
  *side = (bench_side){0};
}

void bench_sides_close(bench_sides *s) {
  for (int i = BENCH_SIDES - 1; i >= 0; i--) close_side(&s->side[i]); /* side 0, the lender, last */
}

/* Frees the device memory of sides that serve no case at hand: closes them, but of side 0, the
 * lender, keeps the context and the host memory. */
static void clear_others(bench_sides *s) {
  for (int i = BENCH_SIDES - 1; i >= 0; i--) {
    bench_side *side = &s->side[i];
    if (side->busy || !side->context) continue;
    if (i > 0) {
      close_side(side);
    } else {
      close_peer(side);
      bench_store_drop_devices(&side->store);
      (void)tsr_trim(side->context);
    }
  }
}

void bench_sides_turn_to(bench_sides *s, int first, int behind) {
  const bench_side *lender = &s->side[0];
  bool other = lender->context && lender->line->what.type != s->lines[first].what.type;
  if (other) bench_sides_close(s);
  for (int i = 0; i < BENCH_SIDES; i++) {
    s->side[i].busy = false;
    for (int j = first; j < behind && !s->side[i].busy; j++)
      s->side[i].busy = serves(&s->side[i], &s->lines[j]);
  }
  clear_others(s);
}

/* Announces to the side's store the matrices of all its cases from `index` on, up to a case of
 * another type; to the lender's store also the host matrices of all other sides. */
static int expect_all(const bench_sides *s, int index, bench_side *side) {
  int code = TOOL_OK;
  for (int i = index; i < s->count && !code; i++) {
    const bench_line *line = &s->lines[i];
    bool own = same_opening(line, side->line);
    if (line->what.type != side->line->what.type) break;
    if (own || side == &s->side[0]) code = bench_case_expect(line, !own, &side->store);
  }
  return code;
}

static int open_side(bench_sides *s, int index, bench_side *side) {
  const bench_line *line = &s->lines[index];
  settings with = line->words.settings;
  *side = (bench_side){.line = line};
  with.memory = NULL; /* set_memory sets budgets for each case */
  int code = settings_open(&with, &side->context);
  if (code) return code;
  bench_side *lender = &s->side[0];
  side->rate = rate_of(s, side);
  side->store = (bench_store){.type = line->what.type,
                              .context = side->context,
                              .lender = side == lender ? NULL : &lender->store};
  code = expect_all(s, index, side);
  if (code) close_side(side);
  return code;
}

/* Sets the budgets: "16G" for each device, "16G,4G" one by one, the last one also for all further
 * devices. */
static int set_memory(bench_side *side, const char *memory) {
  const char *at = memory ? memory : "";
  int code = TOOL_OK;
  if (same_text(side->memory, memory)) return code;
  for (int d = 0; d < tsr_device_count(side->context) && !code; d++) {
    char one[64];
    size_t length = strcspn(at, ","), bytes = 0;
    snprintf(one, sizeof one, "%.*s", (int)length, at);
    if (memory && !options_bytes(one, &bytes))
      return tool_usage("--memory %s: must be bytes such as 16G, 500M or 1.5GiB", memory);
    code = tool_status(tsr_set_budget(side->context, d, bytes));
    if (at[length]) at += length + 1;
  }
  side->memory = memory;
  return code;
}

int bench_sides_get(bench_sides *s, int index, bench_side **found) {
  const bench_line *line = &s->lines[index];
  bench_side *side = NULL;
  int code = TOOL_OK;
  for (int i = 0; i < BENCH_SIDES && !side; i++)
    if (serves(&s->side[i], line)) side = &s->side[i];
  bool opened = side != NULL;
  for (int i = 0; i < BENCH_SIDES && !side; i++)
    if (!s->side[i].context) side = &s->side[i];
  if (!side)
    return tool_fail("cases in one turn need more than %d different contexts", BENCH_SIDES);
  if (!opened) code = open_side(s, index, side);
  if (code) return code;
  side->busy = true;
  *found = side;
  return set_memory(side, line->words.settings.memory);
}
