#include "bench_forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The same point on one device, or NULL. */
static const bench_forecast *alone(const forecast_list *list, const bench_forecast *f) {
  for (int i = 0; i < list->count; i++) {
    const bench_forecast *other = &list->items[i];
    if (other->point == f->point && other->row.type == f->row.type && other->row.devices == 1 &&
        other->row.median > 0) {
      return other;
    }
  }
  return NULL;
}

/* Of what was predicted to what was measured; 0: unknown. */
static double ratio_of(const bench_row *row) {
  return row->peer_s > 0 ? row->median / row->peer_s : 0;
}

static double ratio_then(const bench_forecast *f) {
  return f->row.peer_s > 0 ? f->then / f->row.peer_s : 0;
}

/* ---- Table ---- */

void forecast_print_head(bool measured) {
  printf("%-4s %20s %-8s %-12s %10s %9s %10s %6s %6s %7s", "type", "m x n x k", "home", "devices",
         "predict ms", "TFLOP/s", "floor ms", "of it", "x one", "floor's");
  if (measured) printf(" %11s %6s %6s", "measured ms", "p/m", "then");
  printf(" %6s %9s\n", "tried", "plan ms");
}

static void print_shape(const bench_shape *s, char *text, size_t room) {
  bool square = s->m == s->n && s->n == s->k;
  snprintf(text, room, square ? "%lld" : "%lldx%lldx%lld", (long long)s->m, (long long)s->n,
           (long long)s->k);
}

/* How many times as fast as on one device: predicted, and at most. */
static void print_scaling(const bench_forecast *alone, const bench_row *row) {
  if (!alone) {
    printf(" %6s %7s", "-", "-");
    return;
  }
  printf(" %6.2f %7.2f", alone->row.median / row->median, alone->row.floor / row->floor);
}

static void print_measured(const bench_forecast *f) {
  if (f->row.peer_s > 0) {
    printf(" %11.3f %6.2f", f->row.peer_s * 1e3, ratio_of(&f->row));
  } else {
    printf(" %11s %6s", "-", "-");
  }
  if (ratio_then(f) > 0) {
    printf(" %6.2f", ratio_then(f));
  } else {
    printf(" %6s", "-");
  }
}

void forecast_print(const forecast_list *list, const bench_forecast *f, bool measured) {
  const bench_row *row = &f->row;
  char shape[64];
  print_shape(&row->shape, shape, sizeof shape);
  printf("%-4c %20s %-8s %-12s %10.3f %9.2f %10.3f %6.3f", (char)row->type, shape, row->home,
         list->sets[f->set].text, row->median * 1e3, bench_tera_rate(row, row->median),
         row->floor * 1e3, bench_fraction(row));
  print_scaling(alone(list, f), row);
  if (measured) print_measured(f);
  printf(" %6d %9.3f\n", f->candidates, row->plan * 1e3);
  fflush(stdout);
}

/* ---- What it comes to ---- */

/* Of so many predictions over what was measured. */
typedef struct errors {
  int count, near;
  double log_sum, least, most;
} errors;

typedef struct outcome {
  int points;
  double log_fractions;
  const bench_row *worst;
  errors now, then;
} outcome;

static const double NEAR = 0.1; /* of the measured time */

static void add_ratio(double ratio, errors *e) {
  if (ratio <= 0) return;
  e->least = e->count ? fmin(e->least, ratio) : ratio;
  e->most = fmax(e->most, ratio);
  e->near += fabs(ratio - 1) <= NEAR;
  e->log_sum += log(ratio);
  e->count++;
}

static outcome sum_up(const forecast_list *list, int set) {
  outcome o = {.points = 0};
  for (int i = 0; i < list->count; i++) {
    const bench_row *row = &list->items[i].row;
    if (list->items[i].set != set) continue;
    o.points++;
    o.log_fractions += log(fmax(bench_fraction(row), 1e-9));
    if (!o.worst || bench_fraction(row) < bench_fraction(o.worst)) o.worst = row;
    add_ratio(ratio_of(row), &o.now);
    add_ratio(ratio_then(&list->items[i]), &o.then);
  }
  return o;
}

static void print_errors(const char *what, const errors *e) {
  if (e->count == 0) return;
  printf("  %s: geometric mean %.3f, from %.2f to %.2f; within %.0f %%: %d of %d\n", what,
         exp(e->log_sum / e->count), e->least, e->most, NEAR * 100, e->near, e->count);
}

static void print_outcome(const device_set *set, const outcome *o) {
  char shape[64];
  if (o->points == 0) return;
  print_shape(&o->worst->shape, shape, sizeof shape);
  printf("%d device%s (%s): %d points; fraction of the floor: geometric mean %.3f, ", set->count,
         set->count == 1 ? "" : "s", set->text, o->points, exp(o->log_fractions / o->points));
  printf("least %.3f (%s at %s)\n", bench_fraction(o->worst), shape, o->worst->home);
  print_errors("predicted / measured", &o->now);
  print_errors("predicted then, by the measured machine's own figures / measured", &o->then);
}

void forecast_print_summary(const forecast_list *list) {
  printf("\n");
  for (int s = 0; s < list->set_count; s++) {
    outcome o = sum_up(list, s);
    print_outcome(&list->sets[s], &o);
  }
}

/* ---- CSV and JSON ---- */

/* Without what differs from run to run: the same prediction is the same line. */
static void write_line(FILE *stream, const forecast_list *list, const bench_forecast *f) {
  const bench_row *row = &f->row;
  fprintf(stream, "gemm,%c,%lld,%lld,%lld,\"%s\",%d,\"%s\",", (char)row->type,
          (long long)row->shape.m, (long long)row->shape.n, (long long)row->shape.k, row->home,
          row->devices, list->sets[f->set].text);
  fprintf(stream, "%.6g,%.6g,%.6g,%.4f,", row->median, bench_tera_rate(row, row->median),
          row->floor, bench_fraction(row));
  if (row->peer_s > 0) {
    fprintf(stream, "%.6g,%.4f,", row->peer_s, ratio_of(row));
  } else {
    fputs(",,", stream);
  }
  if (f->then > 0) fprintf(stream, "%.6g", f->then);
  fputc('\n', stream);
}

int forecast_write_csv(const char *path, const forecast_list *list) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) return tool_fail("out of memory for %s", path);
  fputs(
      "op,type,m,n,k,home,devices,set,predicted_s,tflops,floor_s,fraction,measured_s,ratio,then_"
      "s\n",
      stream);
  for (int i = 0; i < list->count; i++) write_line(stream, list, &list->items[i]);
  int code = fclose(stream) == 0 ? tool_write_file(path, text) : tool_fail("cannot write %s", path);
  free(text);
  return code;
}

static void print_json_row(const forecast_list *list, const bench_forecast *f) {
  const bench_row *row = &f->row;
  printf("  {\"op\": \"gemm\", \"type\": \"%c\", \"m\": %lld, \"n\": %lld, \"k\": %lld, ",
         (char)row->type, (long long)row->shape.m, (long long)row->shape.n,
         (long long)row->shape.k);
  printf("\"home\": \"%s\", \"devices\": %d, \"set\": \"%s\", \"predicted_s\": %.9g, ", row->home,
         row->devices, list->sets[f->set].text, row->median);
  printf("\"tflops\": %.6g, \"floor_s\": %.9g, \"fraction\": %.4f, ",
         bench_tera_rate(row, row->median), row->floor, bench_fraction(row));
  if (row->peer_s > 0) {
    printf("\"measured_s\": %.9g, ", row->peer_s);
  } else {
    printf("\"measured_s\": null, ");
  }
  printf("\"commands\": %lld, \"candidates\": %d, \"plan_s\": %.9g}", (long long)f->commands,
         f->candidates, row->plan);
}

void forecast_print_json(const forecast_list *list) {
  printf("[\n");
  for (int i = 0; i < list->count; i++) {
    print_json_row(list, &list->items[i]);
    printf(i + 1 < list->count ? ",\n" : "\n");
  }
  printf("]\n");
}

/* ---- Chart ---- */

static bool all_square(const forecast_list *list) {
  for (int i = 0; i < list->count; i++) {
    const bench_shape *s = &list->items[i].row.shape;
    if (s->m != s->n || s->n != s->k) return false;
  }
  return true;
}

int forecast_write_plot(const char *path, const forecast_list *list) {
  const bench_look look = {.ours = "predicted", .points = !all_square(list), .peer_points = true};
  bench_row *rows = calloc((size_t)list->count + 1, sizeof *rows);
  if (!rows) return tool_fail("out of memory for %s", path);
  for (int i = 0; i < list->count; i++) {
    rows[i] = list->items[i].row;
    if (rows[i].peer_s > 0) strcpy(rows[i].peer, "measured");
  }
  int code = bench_write_plot(path, rows, list->count, &look);
  free(rows);
  return code;
}
