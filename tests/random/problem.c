#include "problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The generator (splitmix64) ---- */

uint64_t rng_next(rng *r) {
  uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int64_t rng_between(rng *r, int64_t least, int64_t most) {
  return least + (int64_t)(rng_next(r) % (uint64_t)(most - least + 1));
}

double rng_unit(rng *r) {
  return (double)(rng_next(r) >> 11) * 0x1p-53;
}

static bool chance(rng *r, double p) {
  return rng_unit(r) < p;
}

static char pick(rng *r, const char *letters) {
  return letters[rng_between(r, 0, (int64_t)strlen(letters) - 1)];
}

/* Each power of two as likely as the next. */
static int64_t log_between(rng *r, int64_t least, int64_t most) {
  int64_t top = least;
  int steps = 0, step;
  for (int64_t v = least; v < most; v *= 2) ++steps;
  step = (int)rng_between(r, 0, steps > 0 ? steps - 1 : 0);
  for (int i = 0; i <= step; ++i) top = top * 2 < most ? top * 2 : most;
  return rng_between(r, step == 0 ? least : top / 2, top);
}

/* ---- Machines ---- */

/* Before and after the number of devices. Rates differ so that links bind in some, kernels in
 * others; the third has no links between devices. */
static const char *const machines[][2] = {
    {"host:200 gpu*", "@nvswitch:300 pcie:25/pair rate:19"},
    {"host:200 gpu*", "@nvswitch:300 pcie:25 rate:0.5"},
    {"host:40 gpu*", " pcie:12 rate:5"},
    {"host:50 gpu*", "@nvswitch:20 pcie:12/pair rate:60"},
};

int problem_machines(void) {
  return (int)(sizeof machines / sizeof machines[0]);
}

const char *problem_machine(const problem *p, char *text, size_t room) {
  if (p->machine < 0) return NULL;
  const char *const *parts = machines[p->machine % problem_machines()];
  snprintf(text, room, "%s%d%s", parts[0], p->devices > 0 ? p->devices : 1, parts[1]);
  return text;
}

/* ---- Drawing ---- */

enum { KERNELS_FEW = 1500, KERNELS_MANY = 20000 };

static int64_t draw_extent(rng *r) {
  static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 31, 61, 67, 127, 131, 251, 257, 331};
  double u = rng_unit(r);
  if (u < 0.04) return 0;
  if (u < 0.12) return 1;
  if (u < 0.34) return primes[rng_between(r, 0, (int64_t)(sizeof primes / sizeof *primes) - 1)];
  if (u < 0.48) return 8 * rng_between(r, 1, 24);
  return log_between(r, 2, 300);
}

static void draw_shape(rng *r, problem *p) {
  int64_t *extent[3] = {&p->m, &p->n, &p->k};
  for (int i = 0; i < 3; ++i) *extent[i] = draw_extent(r);
  if (chance(r, 0.1)) { /* skinny: one long, one short */
    int longest = (int)rng_between(r, 0, 2);
    *extent[longest] = rng_between(r, 300, 900);
    *extent[(longest + 1) % 3] = rng_between(r, 1, 4);
  }
  /* Small tiles make many kernels: shrink the longest extent until there are few enough. */
  int64_t limit = chance(r, 0.02) ? KERNELS_MANY : KERNELS_FEW;
  int64_t tile = p->tile > 0 ? p->tile : 1 << 20;
  for (;;) {
    int64_t kernels = 1;
    int longest = 0;
    for (int i = 0; i < 3; ++i) {
      kernels *= (*extent[i] + tile - 1) / tile;
      if (*extent[i] > *extent[longest]) longest = i;
    }
    if (kernels <= limit) break;
    *extent[longest] = *extent[longest] * 3 / 4;
  }
}

/* Ways of cutting and ordering that the model would not choose for products this small. What only
 * works with memory to spare is drawn only there. */
static void draw_recipe(rng *r, problem *p) {
  static const char *const slabs[] = {"0", "16", "32", "8,32", "64"};
  static const char *const chunks[] = {"0,0,0", "16,32,8", "7,64,33", "64,0,16", "1,5,2"};
  snprintf(p->recipe, sizeof p->recipe, "-");
  if (p->tile > 0 || p->repro || p->devices == 0 || chance(r, 0.3)) return;
  snprintf(p->recipe, sizeof p->recipe,
           "slab:%s;chunk:%s;taper:%d;c:%s;add:%s;share:%d;piece:%d;streams:%d;relay:%d",
           slabs[rng_between(r, 0, 4)], chunks[rng_between(r, 0, 4)], chance(r, 0.5) ? 4 : 0,
           chance(r, 0.5) ? "first" : "last", p->memory == 0 && chance(r, 0.5) ? "home" : "owner",
           (int)rng_between(r, 50, 300), (int)log_between(r, 512, 65536), (int)rng_between(r, 1, 3),
           chance(r, 0.7));
}

const char *problem_recipe(const problem *p, char text[PROBLEM_RECIPE]) {
  if (strcmp(p->recipe, "-") == 0 || p->recipe[0] == 0) return NULL;
  snprintf(text, PROBLEM_RECIPE, "%s", p->recipe);
  for (char *c = text; *c; ++c) *c = *c == ':' ? '=' : *c == ';' ? ' ' : *c;
  return text;
}

static void draw_context(rng *r, const problem_range *range, problem *p) {
  bool emulated = strcmp(range->engine, "host") == 0;
  snprintf(p->engine, sizeof p->engine, "%s", range->engine);
  p->devices = range->devices > 0 ? (int)rng_between(r, 1, range->devices) : 0;
  /* Where the hardware is real its measured machine is used half the time. */
  p->machine = range->devices > 0 && (emulated || chance(r, 0.5))
                   ? (int)rng_between(r, 0, problem_machines() - 1)
                   : PROBLEM_NO_MACHINE;
  p->tile = chance(r, 0.4) ? 0 : log_between(r, 1, 64);
  p->memory = chance(r, 0.5) ? 0 : (size_t)log_between(r, 2048, 4 << 20);
  p->check = chance(r, 0.85);
  p->repro = chance(r, 0.15);
  p->delay = emulated && chance(r, 0.5) ? 1 + rng_next(r) % 100000 : 0;
  draw_recipe(r, p);
}

static char draw_home(rng *r, const problem *p) {
  double u = rng_unit(r);
  if (u < 0.3 || p->devices == 0) return HOME_HOST;
  if (u < 0.55) return HOME_PINNED;
  if (u < 0.65) return HOME_PART;
  return (char)('0' + rng_between(r, 0, p->devices - 1));
}

static void draw_call(rng *r, problem *p) {
  p->type = pick(r, "ssddddcczzhbt");
  p->layout = pick(r, "CCR");
  p->ta = pick(r, "NTC");
  p->tb = pick(r, "NTC");
  draw_shape(r, p);
  p->alpha = pick(r, "01-rrcccc11");
  p->beta = pick(r, "001-rrcc");
  p->alias = chance(r, 0.08);
  for (int i = 0; i < 3; ++i) {
    p->pad[i] = chance(r, 0.4) ? rng_between(r, 1, 9) : 0;
    p->home[i] = draw_home(r, p);
    p->offset[i] = chance(r, 0.3) ? rng_between(r, 1, 7) : 0;
  }
  if (p->alias) p->home[1] = p->home[0], p->offset[1] = p->offset[0];
}

static void draw_manner(rng *r, problem *p) {
  double u = rng_unit(r);
  p->mode = u < 0.66 ? MODE_BLOCKING : u < 0.83 ? MODE_ASYNC : MODE_PLAN;
  p->calls = p->sets = 1;
  if (p->mode == MODE_ASYNC) {
    p->calls = (int)rng_between(r, 2, 5);
    p->sets = (int)rng_between(r, 1, 2);
  } else if (p->mode == MODE_PLAN) {
    p->calls = p->sets = 2;
    /* A plan made without pointers knows pageable and pinned, but nothing between. */
    for (int i = 0; i < 3; ++i)
      if (p->home[i] == HOME_PART) p->home[i] = HOME_HOST;
  } else if (chance(r, 0.1)) {
    p->calls = 3; /* the same call again: the cached plan */
  }
  u = rng_unit(r);
  p->threads = u < 0.85 ? THREADS_ONE : u < 0.94 ? THREADS_SHARED : THREADS_OWN;
  p->seed = rng_next(r) % 1000000;
}

void problem_draw(uint64_t seed, int64_t index, const problem_range *range, problem *p) {
  rng group = {seed * 0x100000001b3u + (uint64_t)(index / PROBLEM_GROUP)};
  rng own = {(seed + 1) * 0xd1342543de82ef95u + (uint64_t)index};
  memset(p, 0, sizeof *p);
  rng_next(&group), rng_next(&own);
  draw_context(&group, range, p);
  draw_call(&own, p);
  draw_manner(&own, p);
}

/* ---- Lines ---- */

static const char *const mode_names[] = {"blocking", "async", "plan"};
static const char *const thread_names[] = {"one", "shared", "own"};

void problem_print(const problem *p, char line[PROBLEM_LINE]) {
  snprintf(line, PROBLEM_LINE,
           "op=gemm engine=%s devices=%d machine=%d memory=%zu tile=%" PRId64
           " recipe=%s check=%d repro=%d delay=%" PRIu64 " type=%c layout=%c ta=%c tb=%c m=%" PRId64
           " n=%" PRId64 " k=%" PRId64 " lda=+%" PRId64 " ldb=+%" PRId64 " ldc=+%" PRId64
           " alpha=%c beta=%c home=%c,%c,%c offset=%" PRId64 ",%" PRId64 ",%" PRId64
           " alias=%d mode=%s calls=%d sets=%d threads=%s seed=%" PRIu64,
           p->engine, p->devices, p->machine, p->memory, p->tile, p->recipe[0] ? p->recipe : "-",
           p->check, p->repro, p->delay, p->type, p->layout, p->ta, p->tb, p->m, p->n, p->k,
           p->pad[0], p->pad[1], p->pad[2], p->alpha, p->beta, p->home[0], p->home[1], p->home[2],
           p->offset[0], p->offset[1], p->offset[2], p->alias, mode_names[p->mode], p->calls,
           p->sets, thread_names[p->threads], p->seed);
}

static bool parse_name(const char *text, const char *const *names, int count, int *value) {
  for (int i = 0; i < count; ++i)
    if (strcmp(text, names[i]) == 0) return *value = i, true;
  return false;
}

static bool parse_letter(const char *text, const char *letters, char *value) {
  if (!text[0] || text[1] || !strchr(letters, text[0])) return false;
  return *value = text[0], true;
}

static bool parse_number(const char *text, int64_t least, int64_t *value) {
  char *end;
  *value = strtoll(text, &end, 10);
  return end != text && !*end && *value >= least;
}

static bool parse_three(const char *text, int64_t value[3]) {
  return sscanf(text, "%" SCNd64 ",%" SCNd64 ",%" SCNd64, &value[0], &value[1], &value[2]) == 3;
}

static bool parse_homes(const char *text, char home[3]) {
  return strlen(text) == 5 && sscanf(text, "%c,%c,%c", &home[0], &home[1], &home[2]) == 3;
}

static bool parse_word(const char *key, const char *text, problem *p) {
  const struct {
    const char *key;
    int64_t *value;
  } extents[] = {{"tile", &p->tile},  {"m", &p->m},        {"n", &p->n},       {"k", &p->k},
                 {"lda", &p->pad[0]}, {"ldb", &p->pad[1]}, {"ldc", &p->pad[2]}};
  const struct {
    const char *key;
    int *value;
  } numbers[] = {{"devices", &p->devices}, {"machine", &p->machine}, {"check", &p->check},
                 {"repro", &p->repro},     {"alias", &p->alias},     {"calls", &p->calls},
                 {"sets", &p->sets}};
  const struct {
    const char *key, *letters;
    char *value;
  } letters[] = {{"type", "sdczhbt", &p->type}, {"layout", "CR", &p->layout},
                 {"ta", "NTC", &p->ta},         {"tb", "NTC", &p->tb},
                 {"alpha", "01-rc", &p->alpha}, {"beta", "01-rc", &p->beta}};
  int64_t number;
  for (size_t i = 0; i < sizeof extents / sizeof *extents; ++i)
    if (strcmp(key, extents[i].key) == 0) return parse_number(text, 0, extents[i].value);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
    if (strcmp(key, numbers[i].key) == 0)
      return parse_number(text, -1, &number) && (*numbers[i].value = (int)number, true);
  for (size_t i = 0; i < sizeof letters / sizeof *letters; ++i)
    if (strcmp(key, letters[i].key) == 0)
      return parse_letter(text, letters[i].letters, letters[i].value);
  if (strcmp(key, "memory") == 0)
    return parse_number(text, 0, &number) && (p->memory = (size_t)number, true);
  if (strcmp(key, "delay") == 0)
    return parse_number(text, 0, &number) && (p->delay = (uint64_t)number, true);
  if (strcmp(key, "seed") == 0)
    return parse_number(text, 0, &number) && (p->seed = (uint64_t)number, true);
  if (strcmp(key, "home") == 0) return parse_homes(text, p->home);
  if (strcmp(key, "offset") == 0) return parse_three(text, p->offset);
  if (strcmp(key, "recipe") == 0)
    return strlen(text) < sizeof p->recipe && strcpy(p->recipe, text) != NULL;
  if (strcmp(key, "engine") == 0)
    return strlen(text) < sizeof p->engine && strcpy(p->engine, text) != NULL;
  int name = 0;
  if (strcmp(key, "mode") == 0)
    return parse_name(text, mode_names, 3, &name) && (p->mode = (problem_mode)name, true);
  if (strcmp(key, "threads") == 0)
    return parse_name(text, thread_names, 3, &name) && (p->threads = (problem_threads)name, true);
  return strcmp(key, "op") == 0 && strcmp(text, "gemm") == 0;
}

bool problem_parse(const char *line, problem *p, const char **wrong) {
  *p = (problem){.engine = "host",
                 .devices = 2,
                 .check = 1,
                 .type = 'd',
                 .layout = 'C',
                 .ta = 'N',
                 .tb = 'N',
                 .m = 10,
                 .n = 10,
                 .k = 10,
                 .alpha = '1',
                 .beta = '0',
                 .home = {HOME_HOST, HOME_HOST, HOME_HOST},
                 .calls = 1,
                 .sets = 1,
                 .seed = 1};
  char word[128], *equals;
  int length;
  for (const char *at = line; sscanf(at, " %127s%n", word, &length) == 1; at += length) {
    *wrong = at;
    equals = strchr(word, '=');
    if (!equals) return false;
    *equals = 0;
    if (!parse_word(word, equals + 1, p)) return false;
  }
  *wrong = line;
  return p->calls >= 1 && p->sets >= 1 && p->sets <= p->calls && p->devices >= 0;
}

bool problem_same_context(const problem *a, const problem *b) {
  return strcmp(a->engine, b->engine) == 0 && a->devices == b->devices &&
         a->machine == b->machine && a->memory == b->memory && a->tile == b->tile &&
         a->check == b->check && a->repro == b->repro && a->delay == b->delay &&
         strcmp(a->recipe, b->recipe) == 0;
}

/* ---- Meaning ---- */

bool problem_is_complex(const problem *p) {
  return p->type == 'c' || p->type == 'z';
}

void problem_scalar(const problem *p, int which, double *re, double *im) {
  rng r = {p->seed * 2 + (uint64_t)which + 12345};
  char letter = which == 0 ? p->alpha : p->beta;
  double eighths = (double)rng_between(&r, 1, 7); /* exact in every type */
  *re = letter == '0' ? 0 : letter == '1' ? 1 : letter == '-' ? -1 : eighths / 8;
  *im = letter == 'c' && problem_is_complex(p) ? (double)rng_between(&r, -7, -1) / 8 : 0;
}

void problem_stored(const problem *p, int operand, int64_t *fast, int64_t *slow) {
  int64_t rows = operand == 1 ? p->k : p->m, cols = operand == 0 ? p->k : p->n;
  char trans = operand == 0 ? p->ta : operand == 1 ? p->tb : 'N';
  bool exchange = (trans != 'N') != (p->layout == 'R');
  *fast = exchange ? cols : rows;
  *slow = exchange ? rows : cols;
}
