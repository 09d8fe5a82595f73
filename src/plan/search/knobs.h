/*
 * Inside the planner: the table of knobs. Reading words, printing, comparing and digesting
 * strategies, the neighbours that the search tries, the help and the reference page all come from
 * it. A new knob is a field of tsr_strategy, a row of the table, and the code that honours it.
 */
#ifndef TSR_PLAN_SEARCH_KNOBS_H
#define TSR_PLAN_SEARCH_KNOBS_H

#include "base/descent.h"
#include "base/text.h"
#include "plan/search/strategy.h"

enum { TSR_KNOB_VALUES = 12, TSR_KNOB_TURNS = 24 };

typedef struct tsr_knob {
  /* name=value sets it. Knobs whose names agree up to a dot can be set together, in the order of
   * the table: grid=2x4, nblock=1024,4096,512. */
  const char *name;
  const char *unit;         /* of its values; NULL where they are words */
  const char *says;         /* one sentence: what it does */
  const char *phrase;       /* how a print says a value other than 0, %s the value; NULL: not */
  size_t field;             /* an int64_t of tsr_strategy */
  unsigned of;              /* bits: the kinds that have it, each for a family (knobs.c) */
  unsigned in_cuts;         /* of these, those of which the tiling's cuts say all about it */
  int64_t least, most;      /* values */
  const char *const *words; /* of the values 0, 1, ...; NULL: values are numbers */
  tsr_change change;
  int turn; /* its place in a round of a descent, from 1 on; kinds have turns of their own */
  int64_t value[TSR_KNOB_VALUES]; /* to try; -1 ends the list, a 0 at its end is all there is */
  /* Whether the search should try a value where it is at; NULL: always. */
  bool (*worth)(const tsr_problem *problem, const tsr_strategy *at, int64_t value);
  /* Why a problem cannot honour a value that the user forces, or NULL. NULL: any can. */
  const char *(*unmet)(const tsr_problem *problem, int64_t value);
} tsr_knob;

/* The table, and the number of its rows. */
const tsr_knob *tsr_knobs(int *count);

static inline int64_t *tsr_knob_in(const tsr_knob *knob, tsr_strategy *strategy) {
  return (int64_t *)((char *)strategy + knob->field);
}

static inline int64_t tsr_knob_value(const tsr_knob *knob, const tsr_strategy *strategy) {
  return *(const int64_t *)((const char *)strategy + knob->field);
}

/* Whether strategies of a kind have the knob, for operations of a family. */
bool tsr_knob_has(const tsr_knob *knob, tsr_strategy_kind kind, tsr_family family);

/* ---- All knobs of a strategy ---- */

bool tsr_strategy_same(const tsr_strategy *a, const tsr_strategy *b);

/* Of all about a strategy that the cuts of its tiling do not say. */
uint64_t tsr_strategy_digest(const tsr_strategy *strategy, tsr_family family);

/* "panels; k-panels from 512; n-blocks of 1024 at first; copies of 8 MB; C is added last" */
void tsr_strategy_print(const tsr_strategy *strategy, char *text, size_t room);

/* ---- Words ---- */

/* The knobs that the user set, for each kind of strategy. */
typedef struct tsr_forced {
  tsr_strategy value[TSR_STRATEGY_KINDS];
  uint64_t knobs[TSR_STRATEGY_KINDS]; /* bits by row of the table: those of value that count */
  uint64_t named;                     /* of these, the ones that are to be obeyed everywhere */
  unsigned kinds;                     /* bits by kind: the one that kind=... says, or all */
} tsr_forced;

/* Reads words such as "kind=panels grid=1x4 kpanel=512 nblock=1024,4096,512 c=last piece=8M"; NULL:
 * none. A knob that is not named stays free; of two words for one knob the later counts. A word
 * such as panels/kpanel=512 counts only where panels are the strategy, and can honour it;
 * any/kpanel=512 with any strategy that can.
 * TSR_ERR_ARGUMENT: a word names no knob, a value is none of its values, or no kind of strategy has
 * all of the knobs. */
tsr_status tsr_strategy_parse(const char *text, tsr_forced *forced);

/* TSR_ERR_ARGUMENT if the problem cannot honour a word; the message says why. *kinds: bits by kind,
 * the strategies to choose from. */
tsr_status tsr_forced_check(const tsr_forced *forced, const tsr_problem *problem, unsigned *kinds);

/* Sets the forced knobs of a strategy for a problem that can honour them. */
void tsr_forced_apply(const tsr_forced *forced, const tsr_problem *problem, tsr_strategy *strategy);

/* Whether a knob, by its field, is to be obeyed everywhere; its value, or NULL. */
const int64_t *tsr_forced_named(const tsr_forced *forced, size_t field);

/* Appends the table as the reference page has it: Markdown, a row for each knob. */
void tsr_knobs_print(tsr_text *text);

#endif
