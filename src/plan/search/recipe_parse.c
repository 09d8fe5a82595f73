/* Recipes in words: for experiments, ablations and tests (TESSERA_RECIPE). */
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "plan/search/recipe.h"

/* One name: how its value is read, and copied from one recipe to another. */
typedef struct part {
  const char *name, *values;
  bool (*read)(const char *text, tsr_recipe *r);
  void (*copy)(const tsr_recipe *from, tsr_recipe *to);
} part;

enum { MOST_TEXT = 64, MOST_HELD = 1 << 14, MOST_AHEAD = 10000, MOST_ROWS = 64 };

static bool whole(const char *text, char **end, int64_t *value) {
  *value = strtoll(text, end, 10);
  return *end != text && *value >= 0;
}

static bool all_of(const char *text, int64_t *value) {
  char *end;
  return whole(text, &end, value) && *end == '\0';
}

/* One of two words, the first of which stands for true. */
static bool either(const char *text, const char *yes, const char *no, bool *value) {
  *value = strcmp(text, yes) == 0;
  return *value || strcmp(text, no) == 0;
}

/* ---- Values ---- */

static bool read_grid(const char *text, tsr_recipe *r) {
  char *end;
  int64_t rows, cols;
  if (!whole(text, &end, &rows) || *end != 'x' || !all_of(end + 1, &cols)) return false;
  if (rows < 1 || cols < 1 || rows > TSR_MACHINE_DEVICES || cols > TSR_MACHINE_DEVICES)
    return false;
  r->grid_rows = (int)rows;
  r->grid_cols = (int)cols;
  return true;
}

static void copy_grid(const tsr_recipe *from, tsr_recipe *to) {
  to->grid_rows = from->grid_rows;
  to->grid_cols = from->grid_cols;
}

static bool read_rows(const char *text, tsr_recipe *r) {
  return all_of(text, &r->rows) && r->rows > 0 && r->rows <= MOST_ROWS;
}

static void copy_rows(const tsr_recipe *from, tsr_recipe *to) {
  to->rows = from->rows;
}

static bool read_slab(const char *text, tsr_recipe *r) {
  char *end;
  r->slab_most = 0;
  if (!whole(text, &end, &r->slab)) return false;
  return *end == '\0' || (*end == ',' && all_of(end + 1, &r->slab_most));
}

static void copy_slab(const tsr_recipe *from, tsr_recipe *to) {
  to->slab = from->slab;
  to->slab_most = from->slab_most;
}

static bool read_slabs(const char *text, tsr_recipe *r) {
  return either(text, "first", "all", &r->slab_once);
}

static void copy_slabs(const tsr_recipe *from, tsr_recipe *to) {
  to->slab_once = from->slab_once;
}

static bool read_a(const char *text, tsr_recipe *r) {
  return either(text, "whole", "slabs", &r->whole_a);
}

static void copy_a(const tsr_recipe *from, tsr_recipe *to) {
  to->whole_a = from->whole_a;
}

static bool read_corner(const char *text, tsr_recipe *r) {
  return either(text, "1", "0", &r->corner);
}

static void copy_corner(const tsr_recipe *from, tsr_recipe *to) {
  to->corner = from->corner;
}

static bool read_b(const char *text, tsr_recipe *r) {
  return either(text, "whole", "parts", &r->whole_b);
}

static void copy_b(const tsr_recipe *from, tsr_recipe *to) {
  to->whole_b = from->whole_b;
}

static bool read_even(const char *text, tsr_recipe *r) {
  return either(text, "1", "0", &r->even);
}

static void copy_even(const tsr_recipe *from, tsr_recipe *to) {
  to->even = from->even;
}

static bool read_block(const char *text, tsr_recipe *r) {
  return all_of(text, &r->block);
}

static void copy_block(const tsr_recipe *from, tsr_recipe *to) {
  to->block = from->block;
}

static bool read_span(const char *text, tsr_recipe *r) {
  return all_of(text, &r->span);
}

static void copy_span(const tsr_recipe *from, tsr_recipe *to) {
  to->span = from->span;
}

static bool read_tile(const char *text, tsr_recipe *r) {
  return all_of(text, &r->tile);
}

static void copy_tile(const tsr_recipe *from, tsr_recipe *to) {
  to->tile = from->tile;
}

static bool read_hold(const char *text, tsr_recipe *r) {
  char *end;
  int64_t rows, cols;
  if (!whole(text, &end, &rows) || *end != 'x' || !all_of(end + 1, &cols)) return false;
  if (rows < 1 || cols < 1 || rows > MOST_HELD || cols > MOST_HELD) return false;
  r->hold_rows = (int)rows;
  r->hold_cols = (int)cols;
  return true;
}

static void copy_hold(const tsr_recipe *from, tsr_recipe *to) {
  to->hold_rows = from->hold_rows;
  to->hold_cols = from->hold_cols;
}

static bool read_deal(const char *text, tsr_recipe *r) {
  return either(text, "room", "even", &r->deals);
}

static void copy_deal(const tsr_recipe *from, tsr_recipe *to) {
  to->deals = from->deals;
}

static bool read_depth(const char *text, tsr_recipe *r) {
  int64_t depth;
  if (!all_of(text, &depth) || depth < 1 || depth > MOST_HELD) return false;
  r->depth = (int)depth;
  return true;
}

static void copy_depth(const tsr_recipe *from, tsr_recipe *to) {
  to->depth = from->depth;
}

static bool read_ahead(const char *text, tsr_recipe *r) {
  return all_of(text, &r->ahead) && r->ahead <= MOST_AHEAD;
}

static void copy_ahead(const tsr_recipe *from, tsr_recipe *to) {
  to->ahead = from->ahead;
}

static bool read_chunk(const char *text, tsr_recipe *r) {
  char *end;
  if (!whole(text, &end, &r->chunk_first) || *end != ',') return false;
  if (!whole(end + 1, &end, &r->chunk) || *end != ',') return false;
  return all_of(end + 1, &r->chunk_last);
}

static void copy_chunk(const tsr_recipe *from, tsr_recipe *to) {
  to->chunk_first = from->chunk_first;
  to->chunk = from->chunk;
  to->chunk_last = from->chunk_last;
}

static bool read_taper(const char *text, tsr_recipe *r) {
  return all_of(text, &r->chunk_least);
}

static void copy_taper(const tsr_recipe *from, tsr_recipe *to) {
  to->chunk_least = from->chunk_least;
}

static bool read_c(const char *text, tsr_recipe *r) {
  return either(text, "last", "first", &r->lazy);
}

static void copy_c(const tsr_recipe *from, tsr_recipe *to) {
  to->lazy = from->lazy;
}

static bool read_add(const char *text, tsr_recipe *r) {
  return either(text, "home", "owner", &r->add_at_home);
}

static void copy_add(const tsr_recipe *from, tsr_recipe *to) {
  to->add_at_home = from->add_at_home;
}

static bool read_share(const char *text, tsr_recipe *r) {
  return all_of(text, &r->home_share) && r->home_share > 0;
}

static void copy_share(const tsr_recipe *from, tsr_recipe *to) {
  to->home_share = from->home_share;
}

static bool read_piece(const char *text, tsr_recipe *r) {
  size_t bytes = 0;
  r->piece = 0;
  if (strcmp(text, "0") == 0) return true;
  if (tsr_parse_bytes("piece", text, &bytes) != TSR_OK || bytes > INT32_MAX) return false;
  r->piece = (int64_t)bytes;
  return true;
}

static void copy_piece(const tsr_recipe *from, tsr_recipe *to) {
  to->piece = from->piece;
}

static bool read_streams(const char *text, tsr_recipe *r) {
  int64_t streams;
  if (!all_of(text, &streams) || streams < 1 || streams > 8) return false;
  r->streams = (int)streams;
  return true;
}

static void copy_streams(const tsr_recipe *from, tsr_recipe *to) {
  to->streams = from->streams;
}

static bool read_order(const char *text, tsr_recipe *r) {
  return either(text, "eta", "given", &r->by_eta);
}

static void copy_order(const tsr_recipe *from, tsr_recipe *to) {
  to->by_eta = from->by_eta;
}

static bool read_relay(const char *text, tsr_recipe *r) {
  return either(text, "1", "0", &r->relay);
}

static void copy_relay(const tsr_recipe *from, tsr_recipe *to) {
  to->relay = from->relay;
}

static bool read_route(const char *text, tsr_recipe *r) {
  static const char *const names[] = {"eta", "bandwidth", "home"}; /* in tsr_routing's order */
  for (int i = TSR_ROUTE_ETA; i <= TSR_ROUTE_HOME; i++) {
    r->routing = (tsr_routing)i;
    if (strcmp(text, names[i]) == 0) return true;
  }
  return false;
}

static void copy_route(const tsr_recipe *from, tsr_recipe *to) {
  to->routing = from->routing;
}

static bool read_channels(const char *text, tsr_recipe *r) {
  return either(text, "0", "1", &r->ignore_channels);
}

static void copy_channels(const tsr_recipe *from, tsr_recipe *to) {
  to->ignore_channels = from->ignore_channels;
}

static const part parts[] = {
    {"grid", "ROWSxCOLS", read_grid, copy_grid},
    {"rows", "1 to 64 parts of a device's rows of C", read_rows, copy_rows},
    {"slab", "FIRST or FIRST,MOST elements of k, 0 for all", read_slab, copy_slab},
    {"slabs", "first or all stripes'", read_slabs, copy_slabs},
    {"a", "slabs or whole", read_a, copy_a},
    {"b", "parts or whole", read_b, copy_b},
    {"corner", "0 or 1", read_corner, copy_corner},
    {"tile", "elements, 0 for panels", read_tile, copy_tile},
    {"even", "0 or 1", read_even, copy_even},
    {"hold", "ROWSxCOLS tiles of C", read_hold, copy_hold},
    {"deal", "even or room", read_deal, copy_deal},
    {"depth", "tiles of k", read_depth, copy_depth},
    {"ahead", "percent of the kernels of hold and depth", read_ahead, copy_ahead},
    {"block", "elements of a triangle's order, 0 for all", read_block, copy_block},
    {"span", "blocks", read_span, copy_span},
    {"chunk", "FIRST,MIDDLE,LAST columns, 0 for all", read_chunk, copy_chunk},
    {"taper", "columns, 0 for none", read_taper, copy_taper},
    {"c", "first or last", read_c, copy_c},
    {"add", "owner or home", read_add, copy_add},
    {"share", "percent", read_share, copy_share},
    {"piece", "bytes, such as 8M, 0 for whole tiles", read_piece, copy_piece},
    {"streams", "1 to 8", read_streams, copy_streams},
    {"order", "given or eta", read_order, copy_order},
    {"relay", "0 or 1", read_relay, copy_relay},
    {"route", "home, bandwidth or eta", read_route, copy_route},
    {"channels", "0 or 1", read_channels, copy_channels},
};
enum { PARTS = sizeof parts / sizeof *parts };

/* ---- Words ---- */

static tsr_status read_word(const char *word, size_t length, tsr_forced *forced) {
  char text[MOST_TEXT];
  const char *equals = memchr(word, '=', length);
  if (equals && length < sizeof text) {
    memcpy(text, word, length);
    text[length] = '\0';
    text[equals - word] = '\0';
    for (int i = 0; i < PARTS; i++) {
      if (strcmp(text, parts[i].name) != 0) continue;
      forced->parts |= 1u << i;
      if (parts[i].read(text + (equals - word) + 1, &forced->value)) return TSR_OK;
      return tsr_fail(TSR_ERR_ARGUMENT, "recipe: \"%.*s\": give %s=%s", (int)length, word,
                      parts[i].name, parts[i].values);
    }
  }
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "recipe: \"%.*s\": give words NAME=VALUE with the names grid, rows, slab, slabs, "
                  "a, b, corner, tile, "
                  "even, hold, deal, depth, ahead, block, span, chunk, taper, c, add, share, "
                  "piece, streams, order, "
                  "relay, route and channels",
                  (int)length, word);
}

tsr_status tsr_recipe_parse(const char *text, tsr_forced *forced) {
  *forced = (tsr_forced){0};
  while (text && *text) {
    size_t blank = strspn(text, " "), length = strcspn(text + blank, " ");
    if (length > 0) TSR_TRY(read_word(text + blank, length, forced));
    text += blank + length;
  }
  return TSR_OK;
}

void tsr_recipe_force(const tsr_forced *forced, tsr_recipe *recipe) {
  for (int i = 0; i < PARTS; i++)
    if (forced->parts & 1u << i) parts[i].copy(&forced->value, recipe);
}
