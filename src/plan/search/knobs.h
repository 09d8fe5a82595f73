/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Inside the planner: the table of knobs. These all read it: parsing, printing, comparing and
 * digesting of strategies, the neighbours that the search tries, the help, and the reference page
 * (docs/reference/knobs.md). A new knob is a field of tsr_strategy, a row of the table, and the
 * code that honours it.
 */
#ifndef TSR_PLAN_SEARCH_KNOBS_H
#define TSR_PLAN_SEARCH_KNOBS_H

#include "base/descent.h"
#include "base/text.h"
#include "plan/search/strategy.h"

enum { TSR_KNOB_VALUES = 12, TSR_KNOB_TURNS = 24, TSR_KNOB_FACTS = 3 };

/* Where values of a knob may make the same plan although each is kept to, and why, in words that
 * follow "where". made: the kind and the grid of the plan. */
typedef struct tsr_knob_fact {
  bool (*where)(const tsr_search_problem *problem, const tsr_strategy *made);
  const char *why;
} tsr_knob_fact;

typedef struct tsr_knob {
  /* NAME=VALUE sets the knob. Knobs whose names agree up to a dot can be set together, in the order
   * of the table: grid=2x4, nblock=1024,4096,512. */
  const char *name;
  const char *unit;   /* unit of the values; NULL: the values are words */
  const char *says;   /* what the knob does, in one sentence */
  const char *phrase; /* how a value above `least` is printed, with %s for the value; NULL: it is
                         not printed */
  size_t field;       /* offset in tsr_strategy of an int64_t */
  unsigned of;      /* bits of the pairs (kind of strategy, family of operations) that have the knob
                       (knobs.c) */
  unsigned in_cuts; /* those pairs whose tiling's cuts show all that the knob does, so that digests
                       leave it out */
  int64_t least, most; /* the range of values */
  const char *const
      *words; /* names of the values 0, 1, ..., NULL at the end; NULL: the values are numbers */
  tsr_change change;
  int turn; /* the knob's place in a round of a descent, from 1 on, 0: the search leaves it. Knobs
               of different kinds may have the same place */
  int64_t value[TSR_KNOB_VALUES]; /* the values to try, -1 at the end; a 0 as the last one stands
                                     for "all there is" */
  /* Whether the search should try `value` in place of the one in `at`; NULL: always. */
  bool (*worth)(const tsr_search_problem *problem, const tsr_strategy *at, int64_t value);
  /* Why the problem cannot honour a value that the user forces; returns NULL if it can. A NULL
   * pointer: every problem can. */
  const char *(*unmet)(const tsr_search_problem *problem, int64_t value);
  unsigned least_of;     /* those pairs that have the least value alone; another one is refused */
  const char *least_why; /* why they do */
  tsr_knob_fact same[TSR_KNOB_FACTS]; /* where NULL: no more */
} tsr_knob;

/* The table; *count: the number of its rows. */
const tsr_knob *tsr_knobs(int *count);

static inline int64_t *tsr_knob_in(const tsr_knob *knob, tsr_strategy *strategy) {
  return (int64_t *)((char *)strategy + knob->field);
}

static inline int64_t tsr_knob_value(const tsr_knob *knob, const tsr_strategy *strategy) {
  return *(const int64_t *)((const char *)strategy + knob->field);
}

/* Whether strategies of a kind have the knob for operations of a family. */
bool tsr_knob_has(const tsr_knob *knob, tsr_strategy_kind kind, tsr_family family);

/* Why values of the knob may make the same plan of a problem; NULL: the table knows no reason. */
const char *tsr_knob_is_same(const tsr_knob *knob, const tsr_search_problem *problem,
                             const tsr_strategy *made);

/* ---- All knobs of a strategy ---- */

bool tsr_strategy_same(const tsr_strategy *a, const tsr_strategy *b);

/* A digest of all knobs that the cuts of the strategy's tiling do not show. */
uint64_t tsr_strategy_digest(const tsr_strategy *strategy, tsr_family family);

/* The strategy for people, such as "panels; k-panels from 512; n-blocks of 1024 at first; copies of
 * 8 MB; C is added last". */
void tsr_strategy_print(const tsr_strategy *strategy, char *text, size_t size);

/* ---- Words: knobs that the user sets ---- */

/* The knobs that the user set, for each kind of strategy. */
typedef struct tsr_forced {
  tsr_strategy value[TSR_STRATEGY_KINDS];
  uint64_t
      knobs[TSR_STRATEGY_KINDS]; /* bits by row of the table: the knobs of `value` that are set */
  uint64_t named;  /* of these, the knobs that were named without a kind: a call that cannot honour
                      one is refused */
  unsigned kinds;  /* bits by kind: the kind that kind=... names, or all */
  bool kind_named; /* kind=..., not any/kind=...: a call that has no such strategy is refused */
} tsr_forced;

/* Reads words such as "kind=panels grid=1x4 kpanel=512 nblock=1024,4096,512 c=last piece=8M"; text
 * NULL: none. The name of a kind alone, such as "bands", is short for kind=bands. A knob that no
 * word names stays free. If two words name one knob, the later counts. A word such as
 * panels/kpanel=512 counts only for strategies of that kind that can honour it; any/kpanel=512
 * counts for strategies of any kind that can, and any/kind=slices for calls that have such
 * strategies. TSR_ERR_ARGUMENT: a word names no knob, a value is not one of the knob's, or no kind
 * of strategy has all of the named knobs. */
tsr_status tsr_strategy_parse(const char *text, tsr_forced *forced);

/* TSR_ERR_ARGUMENT if the problem cannot honour a named knob; the message says why. *kinds: the
 * kinds of strategies to choose from, as bits. */
tsr_status tsr_forced_check(const tsr_forced *forced, const tsr_search_problem *problem,
                            unsigned *kinds);

/* Sets in the strategy those forced knobs that the problem can honour. */
void tsr_forced_apply(const tsr_forced *forced, const tsr_search_problem *problem,
                      tsr_strategy *strategy);

/* The value of the knob at offset `field` of tsr_strategy if a word names it without a kind; NULL:
 * none does. */
const int64_t *tsr_forced_named(const tsr_forced *forced, size_t field);

/* Appends the table of the reference page: Markdown, one row for each knob. */
void tsr_knobs_print(tsr_text *text);

#endif
