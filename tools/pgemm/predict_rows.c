/* Predicted points as a table, as CSV and as a chart. */
#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "predict.h"

static const int64_t *shape_of(const predict_request *r, const predict_row *row) {
  return r->grids[row->grid];
}

static int blocks_of(const predict_row *row) {
  return row->p.blocks_down * row->p.blocks_across;
}

static double waiting(const predict_row *row) {
  return row->p.fill + row->p.starved + row->p.changing;
}

void predict_print_head(const predict_request *r) {
  printf("predicted %cgemm N x N x N, C = A B; tiles of %lld; cut %s\n", (char)r->type,
         (long long)r->tile, r->paper ? "as Herault et al. do" : "by the model");
  printf("%-6s %-7s %2s %9s  %-11s %7s %6s %10s %9s %7s %6s  %s\n", "GB/s", "grid", "l", "N",
         "blocks of C", "b", "d", "s", "TFLOP/s", "a dev.", "%peak", "devices wait");
}

void predict_print(const predict_request *r, const predict_row *row) {
  const tsr_pprediction *p = &row->p;
  const int64_t *shape = shape_of(r, row);
  char grid[24], blocks[24];
  snprintf(grid, sizeof grid, "%lldx%lld", (long long)shape[0], (long long)shape[1]);
  snprintf(blocks, sizeof blocks, "%dx%d", p->blocks_down, p->blocks_across);
  double n = (double)row->n;
  printf("%-6g %-7s %2d %9lld  %-11s %7lld %6lld %10.3f %9.1f %7.3f %6.1f  %.3f s\n", row->network,
         grid, p->lookahead, (long long)row->n, blocks, (long long)p->block_rows,
         (long long)p->depth, p->seconds, 2e-12 * n * n * n / p->seconds, row->rate,
         100 * row->share, waiting(row));
}

int predict_write_csv(const predict_request *r, const predict_row *rows, int count) {
  char *text = NULL;
  size_t length;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) return tool_fail("out of memory for %s", r->csv);
  fprintf(stream,
          "network_gb_s,rows,cols,lookahead,n,blocks_down,blocks_across,block_rows,depth,seconds,"
          "tflops_device,share_of_peak,fill,starved,changing,received_bytes,sent_bytes\n");
  for (int i = 0; i < count; i++) {
    const predict_row *x = &rows[i];
    const tsr_pprediction *p = &x->p;
    fprintf(stream,
            "%g,%lld,%lld,%lld,%lld,%d,%d,%lld,%lld,%.6g,%.5g,%.5g,%.4g,%.4g,%.4g,%.6g,%.6g\n",
            x->network, (long long)shape_of(r, x)[0], (long long)shape_of(r, x)[1],
            (long long)x->lookahead, (long long)x->n, p->blocks_down, p->blocks_across,
            (long long)p->block_rows, (long long)p->depth, p->seconds, x->rate, x->share, p->fill,
            p->starved, p->changing, p->received, p->sent);
  }
  int code = fclose(stream) == 0 ? tool_write_file(r->csv, text) : tool_fail("out of memory");
  free(text);
  return code;
}

/* ---- In short ------------------------------------------------------------------ */

static bool same_series(const predict_row *a, const predict_row *b) {
  return a->grid == b->grid && a->network == b->network && a->lookahead == b->lookahead;
}

/* Rows first .. behind-1 are one series. */
static void sum_up(const predict_request *r, const predict_row *rows, int first, int behind) {
  const predict_row *last = &rows[behind - 1], *before = NULL, *worst = NULL;
  const int64_t *shape = shape_of(r, last);
  for (int i = first; i < behind; i++) {
    if (blocks_of(&rows[i]) == 1) before = &rows[i];
    if (before && blocks_of(&rows[i]) > 1 && (!worst || rows[i].share < worst->share))
      worst = &rows[i];
  }
  printf("%-6g %lldx%-5lld %2lld  largest N %9lld: %5.1f %% of the peak", last->network,
         (long long)shape[0], (long long)shape[1], (long long)last->lookahead, (long long)last->n,
         100 * last->share);
  if (before && worst)
    printf(";  one block of C %5.1f %%, several at least %5.1f %%", 100 * before->share,
           100 * worst->share);
  printf("\n");
}

void predict_print_summary(const predict_request *r, const predict_row *rows, int count) {
  printf("\n%-6s %-7s %2s\n", "GB/s", "grid", "l");
  for (int first = 0, i = 1; i <= count; i++) {
    if (i < count && same_series(&rows[i], &rows[first])) continue;
    sum_up(r, rows, first, i);
    first = i;
  }
}

/* ---- The chart ------------------------------------------------------------------ */

enum { SERIES = PREDICT_GRIDS * PREDICT_VALUES };

typedef struct chart {
  plot_series series[SERIES];
  plot_panel panel;
  char title[96];
} chart;

static bool fill_series(const predict_request *r, const predict_row *rows, int count,
                        const predict_row *like, plot_series *s) {
  const int64_t *shape = shape_of(r, like);
  snprintf(s->label, sizeof s->label, "%lld x %lld, l = %lld", (long long)shape[0],
           (long long)shape[1], (long long)like->lookahead);
  s->colour = like->grid;
  s->style = like->lookahead == r->lookaheads[0] ? PLOT_SOLID : PLOT_DOTTED;
  s->x = malloc((size_t)count * sizeof *s->x);
  s->y = malloc((size_t)count * sizeof *s->y);
  if (!s->x || !s->y) return false;
  for (int i = 0; i < count; i++) {
    if (!same_series(&rows[i], like)) continue;
    s->x[s->count] = (double)rows[i].n / 1000;
    s->y[s->count++] = 100 * rows[i].share;
  }
  return true;
}

/* One network: a line for each grid and lookahead. */
static bool fill_chart(const predict_request *r, const predict_row *rows, int count, double network,
                       chart *c) {
  snprintf(c->title, sizeof c->title, "Predicted, %g GB/s of network a process", network);
  c->panel = (plot_panel){.title = c->title,
                          .x_label = "N, thousands",
                          .y_label = "% of the devices' peak",
                          .series = c->series};
  for (int i = 0; i < count && c->panel.count < SERIES; i++) {
    if (rows[i].network != network || (i > 0 && same_series(&rows[i], &rows[i - 1]))) continue;
    if (!fill_series(r, rows, count, &rows[i], &c->series[c->panel.count++])) return false;
  }
  return true;
}

static void free_chart(chart *c) {
  for (int i = 0; i < SERIES; i++) {
    free(c->series[i].x);
    free(c->series[i].y);
  }
}

int predict_write_plot(const predict_request *r, const predict_row *rows, int count) {
  chart *charts = calloc(PREDICT_VALUES, sizeof *charts);
  plot_panel panels[PREDICT_VALUES] = {0};
  int made = 0;
  bool good = charts != NULL;
  for (int i = 0; i < count && good; i++) {
    if (i > 0 && rows[i].network == rows[i - 1].network) continue;
    good = made < PREDICT_VALUES && fill_chart(r, rows, count, rows[i].network, &charts[made]);
    if (good) panels[made] = charts[made].panel;
    made += good;
  }
  int code = good ? plot_write(r->plot, panels, made) : tool_fail("out of memory for %s", r->plot);
  for (int i = 0; charts && i < PREDICT_VALUES; i++) free_chart(&charts[i]);
  free(charts);
  return code;
}
