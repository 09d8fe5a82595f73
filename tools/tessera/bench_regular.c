/* tessera bench regular: square products from host memory and from a device, as in "Uncut-GEMMs".
 */
#include <stdlib.h>
#include <string.h>

#include "bench_dataset.h"

typedef struct regular_request {
  bench_dataset set;
  const char *n, *homes, *plot;
  bench_points points;
} regular_request;

static int make_points(regular_request *r) {
  int code = bench_points_squares(r->n, r->homes, &r->points);
  r->set.points = r->points.items;
  r->set.point_count = r->points.count;
  return code;
}

static int parse_request(int argc, char **argv, regular_request *r) {
  bench_dataset_begin(&r->set);
  r->n = BENCH_REGULAR_N;
  r->homes = BENCH_REGULAR_HOMES;
  const option table[] = {
      {"n", 0, OPTION_TEXT, &r->n, "N,...", "extents (default: 4096 to 32768 by 4096)"},
      {"homes", 0, OPTION_TEXT, &r->homes, "h,h,h;0,0,0",
       "where A,B,C are, each set in turn: h pinned host, u pageable host, 0.. a device"},
      DATASET_OPTIONS(&r->set),
      {"plot", 0, OPTION_TEXT, &r->plot, "NAME", "draw each home: NAME-hhh.svg, NAME-000.svg"},
      {0}};
  const option_command command = {
      "[options]",
      "Times square products C = A B + C, as in the regular data set of multi-GPU GEMM papers: "
      "our\n"
      "rate, the floor, the fraction of it, and cuBLASXt in the same run.",
      "tessera bench regular --devices 1,2,4 --csv regular.csv --plot regular",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (!code) code = bench_dataset_interpret(&r->set);
  return code ? code : make_points(r);
}

/* NAME-h00.svg: without the commas. */
static void plot_path(const char *base, const char *name, char *path, size_t room) {
  size_t length = strlen(base);
  if (length > 4 && strcmp(base + length - 4, ".svg") == 0) length -= 4;
  int used = snprintf(path, room, "%.*s-", (int)length, base);
  for (; *name && (size_t)used + 5 < room; name++) {
    if (*name != ',') path[used++] = *name;
  }
  snprintf(path + used, room - (size_t)used, ".svg");
}

/* Rows of one home as asked, whatever the real one is on few devices. */
static int draw_home(const regular_request *r, int which) {
  const bench_dataset *d = &r->set;
  int sizes = d->point_count / r->points.home_count, count = 0;
  char path[1024];
  bench_row *rows = calloc((size_t)sizes * (size_t)d->count_count + 1, sizeof *rows);
  if (!rows) return tool_fail("out of memory");
  for (int c = 0; c < d->count_count; c++) {
    for (int i = 0; i < sizes; i++) {
      const bench_row *row = bench_dataset_row(d, c, which * sizes + i);
      if (row) rows[count] = *row;
      if (row) strcpy(rows[count++].home, r->points.home[which].text);
    }
  }
  plot_path(r->plot, r->points.home[which].text, path, sizeof path);
  int code = count > 0 ? bench_write_plot(path, rows, count, NULL) : TOOL_OK;
  free(rows);
  return code;
}

static int publish(const regular_request *r) {
  int count, code = TOOL_OK;
  bench_row *rows = bench_dataset_rows(&r->set, &count);
  if (!rows) return tool_fail("out of memory");
  if (r->set.json) bench_print_json(rows, count);
  free(rows);
  for (int h = 0; r->plot && h < r->points.home_count && !code; h++) code = draw_home(r, h);
  return code;
}

int bench_regular(int argc, char **argv) {
  regular_request request = {0};
  int code = parse_request(argc, argv, &request);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code == TOOL_OK) {
    code = bench_dataset_run(&request.set);
    /* What was measured before something failed is still worth having. */
    int published = publish(&request);
    if (code == TOOL_OK) code = published;
  }
  bench_dataset_end(&request.set);
  return code;
}
