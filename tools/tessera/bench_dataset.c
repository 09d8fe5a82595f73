#include "bench_dataset.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random.h"

/* ---- Options ---- */

void bench_dataset_begin(bench_dataset *d) {
  *d = (bench_dataset){
      .effort = {10, 3}, .rate_seconds = 2, .peer = "cublasxt", .begin = tool_now()};
}

static int interpret_shard(bench_dataset *d) {
  const char *text = d->words.shard ? d->words.shard : "1/1";
  long long shard, shards;
  int used = 0;
  if (sscanf(text, "%lld/%lld%n", &shard, &shards, &used) != 2 || text[used] || shard < 1 ||
      shards < shard) {
    return tool_usage("--shard %s: must be I/OF such as 1/4", text);
  }
  d->shard = shard - 1;
  d->shards = shards;
  return TOOL_OK;
}

static int interpret_effort(bench_dataset *d) {
  const bench_effort *e = &d->effort;
  if (e->repeat < 1 || e->repeat > BENCH_MOST_REPEATS || e->peer_repeat < 1 ||
      e->peer_repeat > BENCH_MOST_REPEATS) {
    return tool_usage("--repeat and --peer-repeat must be 1 to %d", BENCH_MOST_REPEATS);
  }
  if (d->resume && !d->csv) return tool_usage("--resume: needs --csv FILE to know what is there");
  if (strcmp(d->peer, "none") == 0) {
    d->peer = NULL;
  } else if (strcmp(d->peer, "cublasxt") != 0) {
    return tool_usage("--peer %s: must be cublasxt or none", d->peer);
  }
  return TOOL_OK;
}

int bench_dataset_interpret(bench_dataset *d) {
  d->kind = (bench_kind){.type = TSR_D,
                         .transa = TSR_NO_TRANS,
                         .transb = TSR_NO_TRANS,
                         .alpha = {1, 0},
                         .beta = {1, 0}};
  int code = d->words.type ? parse_type("--type", d->words.type, &d->kind.type) : TOOL_OK;
  if (!code) code = interpret_shard(d);
  if (!code) code = interpret_effort(d);
  if (!code && d->words.devices) {
    d->count_count = bench_parse_counts(d->words.devices, d->counts);
    if (d->count_count < 0) code = TOOL_USAGE;
  }
  return code;
}

/* ---- Points ---- */

typedef struct lot {
  double draw;
  int index;
} lot;

static int compare_lots(const void *a, const void *b) {
  const lot *x = a, *y = b;
  if (x->draw != y->draw) return x->draw < y->draw ? -1 : 1;
  return x->index - y->index;
}

static int compare_indices(const void *a, const void *b) {
  return ((const lot *)a)->index - ((const lot *)b)->index;
}

void bench_dataset_sample(bench_dataset *d, int64_t size, uint64_t seed) {
  lot *lots = size < d->point_count ? calloc((size_t)d->point_count, sizeof *lots) : NULL;
  if (!lots) return; /* all of them */
  for (int i = 0; i < d->point_count; i++) lots[i] = (lot){random_uniform(seed, (uint64_t)i), i};
  qsort(lots, (size_t)d->point_count, sizeof *lots, compare_lots);
  qsort(lots, (size_t)size, sizeof *lots, compare_indices);
  for (int i = 0; i < size; i++) d->points[i] = d->points[lots[i].index];
  d->point_count = (int)size;
  free(lots);
}

/* ---- Rows ---- */

static bench_row *row_at(const bench_dataset *d, int count, int point) {
  return &d->rows[(size_t)count * (size_t)d->point_count + (size_t)point];
}

const bench_row *bench_dataset_row(const bench_dataset *d, int count, int point) {
  const bench_row *row = d->rows ? row_at(d, count, point) : NULL;
  return row && row->median > 0 ? row : NULL;
}

bench_row *bench_dataset_rows(const bench_dataset *d, int *count) {
  int most = d->rows ? d->count_count * d->point_count : 0;
  bench_row *rows = calloc((size_t)most + 1, sizeof *rows);
  *count = 0;
  for (int i = 0; rows && i < most; i++) {
    if (d->rows[i].median > 0) rows[(*count)++] = d->rows[i];
  }
  return rows;
}

static int make_rows(bench_dataset *d) {
  d->rows = calloc((size_t)d->count_count * (size_t)d->point_count + 1, sizeof *d->rows);
  if (!d->rows) return tool_fail("out of memory");
  for (int c = 0; c < d->count_count; c++) {
    for (int p = 0; p < d->point_count; p++) {
      bench_row *row = row_at(d, c, p);
      *row = (bench_row){.type = d->kind.type, .shape = d->points[p].shape};
      row->devices = (int)d->counts[c];
      strcpy(row->home, bench_real_home(&d->points[p].asked, row->devices).text);
    }
  }
  return TOOL_OK;
}

/* On few devices different homes may be the same: what is known of one holds for all. */
static void spread_row(bench_dataset *d, const bench_row *known) {
  for (int i = 0; i < d->count_count * d->point_count; i++) {
    if (bench_same_case(&d->rows[i], known)) d->rows[i] = *known;
  }
}

static int take_up(bench_dataset *d) {
  bench_row *known = NULL;
  int count = 0;
  if (!d->resume || access(d->csv, F_OK) != 0) return TOOL_OK;
  int code = bench_read_csv(d->csv, &known, &count);
  for (int i = 0; i < count && code == TOOL_OK; i++) spread_row(d, &known[i]);
  free(known);
  return code;
}

static bool is_due(const bench_dataset *d, int count, int point) {
  return point % d->shards == d->shard && row_at(d, count, point)->median <= 0;
}

static bool any_due(const bench_dataset *d, int count) {
  for (int p = 0; p < d->point_count; p++) {
    if (is_due(d, count, p)) return true;
  }
  return false;
}

static bool nothing_due(const bench_dataset *d) {
  for (int c = 0; c < d->count_count; c++) {
    if (any_due(d, c)) return false;
  }
  return true;
}

/* Buffers are as large as what is still to be measured needs. */
static void expect_due(const bench_dataset *d, int count, bench_store *store) {
  for (int p = 0; p < d->point_count; p++) {
    if (is_due(d, count, p)) bench_store_expect(store, d->points[p].shape);
  }
}

/* ---- Measuring ---- */

static bool time_is_up(const bench_dataset *d) {
  return d->seconds > 0 && tool_now() - d->begin + d->longest > d->seconds;
}

static int measure_point(bench_dataset *d, int count, int point, bench_store *store,
                         peer_library *peer, bench_row *row) {
  bench_home real = bench_real_home(&d->points[point].asked, row->devices);
  bench_case c;
  memcpy(d->kind.homes, real.homes, sizeof real.homes);
  int code = bench_case_create(&d->kind, row->shape, store, &c);
  if (!code) code = bench_measure(&d->effort, &c, d->peer, peer, d->rates[count], row);
  return code;
}

/* A wrong result is no measurement: it is shown, but not kept. */
static int note_row(bench_dataset *d, const bench_row *row) {
  if (!d->json) bench_print_row(row, d->peer != NULL);
  if (!row->good) return tool_fail("the result is wrong");
  int code = d->csv ? bench_append_csv(d->csv, row) : TOOL_OK;
  spread_row(d, row);
  return code;
}

static int measure_points(bench_dataset *d, int count, bench_store *store, peer_library *peer) {
  int code = TOOL_OK;
  for (int p = 0; p < d->point_count && code == TOOL_OK; p++) {
    if (!is_due(d, count, p)) continue;
    if (time_is_up(d)) {
      d->left++;
      continue;
    }
    double begin = tool_now();
    bench_row row = *row_at(d, count, p);
    code = measure_point(d, count, p, store, peer, &row);
    if (code == TOOL_OK) code = note_row(d, &row);
    double taken = tool_now() - begin;
    if (taken > d->longest) d->longest = taken;
  }
  return code;
}

/* A context for each number of devices; host memory is pinned once, for all of them. */
static int measure_count(bench_dataset *d, int count, bench_store *lender) {
  settings with = d->settings;
  char text[32];
  tsr_context *context = NULL;
  bench_store store;
  int devices = (int)d->counts[count];
  snprintf(text, sizeof text, "%d", devices);
  if (devices > 0) with.devices = text;
  int code = settings_open(&with, &context);
  if (code != TOOL_OK) return code;
  peer_library *peer = d->peer && devices > 0 ? peer_open(d->peer, devices) : NULL;
  bench_store_open(d->kind.type, context, lender, settings_emulated(&with), &store);
  expect_due(d, count, &store);
  code = measure_points(d, count, &store, peer);
  bench_store_close(&store);
  peer_close(peer);
  tsr_context_destroy(context);
  return code;
}

/* What kernels sustain on as many devices as there are counts with something to do. */
static void measure_rates(bench_dataset *d) {
  for (int c = 0; c < d->count_count; c++) {
    int devices = (int)d->counts[c];
    if (!any_due(d, c)) continue;
    d->rates[c] = bench_sustained_rate(&d->kind, &d->settings, devices, d->rate_seconds);
    if (!d->json) bench_print_rate(d->rates[c], devices, d->rate_seconds);
  }
}

static int measure_all(bench_dataset *d, tsr_context *owner) {
  bench_store lender;
  int code = TOOL_OK;
  if (nothing_due(d)) return code;
  measure_rates(d);
  if (!d->json) bench_print_head(d->peer != NULL);
  bench_store_open(d->kind.type, owner, NULL, false, &lender);
  for (int c = 0; c < d->count_count; c++) expect_due(d, c, &lender);
  for (int c = 0; c < d->count_count && code == TOOL_OK; c++) {
    if (any_due(d, c)) code = measure_count(d, c, &lender);
  }
  bench_store_close(&lender);
  return code;
}

/* Those of 1, 2, 4 that are here; 0 when the CPU's BLAS does the work. */
static void choose_counts(bench_dataset *d, int devices) {
  if (d->count_count > 0) return;
  for (int count = 1; count <= devices && count <= 4; count *= 2) {
    d->counts[d->count_count++] = count;
  }
  if (d->count_count == 0) d->count_count = 1;
}

int bench_dataset_run(bench_dataset *d) {
  tsr_context *owner = NULL;
  int code = settings_open(&d->settings, &owner);
  if (code != TOOL_OK) return code;
  choose_counts(d, tsr_device_count(owner));
  code = make_rows(d);
  if (!code) code = take_up(d);
  if (!code) code = measure_all(d, owner);
  tsr_context_destroy(owner);
  if (d->left > 0) {
    tool_note("note: %d points are left for want of time; run it again with --resume", d->left);
  }
  return code;
}

void bench_dataset_end(bench_dataset *d) {
  free(d->points);
  free(d->rows);
  d->points = NULL;
  d->rows = NULL;
}
