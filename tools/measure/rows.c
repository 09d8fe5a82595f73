#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "timeline.h"

double bench_row_tera(const bench_row *row, double seconds) {
  return seconds > 0 ? bench_line_flops(row->line) / seconds * 1e-12 : 0;
}

static double fraction(const bench_row *row) {
  return row->median > 0 ? row->floor / row->median : 0;
}

static const char *check_text(const bench_row *row) {
  return !row->checked ? "-" : row->good ? "ok" : "WRONG";
}

/* The median if the case was measured, else the predicted time. */
static double best_time(const bench_row *row) {
  return row->median > 0 ? row->median : row->predicted;
}

/* ---- Table ---- */

void bench_print_head(bool peer) {
  printf("%-8s %-4s %18s %-8s %3s %10s %10s %9s %10s %6s %10s %6s %9s", "op", "type", "m x n x k",
         "home", "dev", "cold ms", "median ms", "TFLOP/s", "floor ms", "of it", "predict ms", "p/m",
         "plan ms");
  if (peer) printf(" %10s %9s %6s", "peer ms", "TFLOP/s", "ratio");
  printf("  check\n");
}

void bench_print_row(const bench_row *row, bool peer) {
  const tsr_level3 *w = &row->line->what;
  double time = best_time(row);
  char shape[64];
  snprintf(shape, sizeof shape, w->m == w->n && w->n == w->k ? "%lld" : "%lldx%lldx%lld",
           (long long)w->m, (long long)w->n, (long long)w->k);
  printf("%-8s %-4c %18s %-8s %3d %10.3f %10.3f %9.3f %10.3f %6.3f %10.3f %6.2f %9.3f",
         bench_line_op(row->line), (char)w->type, shape, row->line->home, row->devices,
         row->cold * 1e3, row->median * 1e3, bench_row_tera(row, time), row->floor * 1e3,
         time > 0 ? row->floor / time : 0, row->predicted * 1e3,
         row->median > 0 ? row->predicted / row->median : 0, row->plan * 1e3);
  if (peer && row->peer_s > 0) {
    printf(" %10.3f %9.3f %6.2f", row->peer_s * 1e3, bench_row_tera(row, row->peer_s),
           row->peer_s / row->median);
  } else if (peer) {
    printf(" %10s %9s %6s", "-", "-", "-");
  }
  printf("  %s\n", check_text(row));
  fflush(stdout);
}

/* ---- CSV ---- */

const char bench_csv_head[] =
    "op,type,m,n,k,home,devices,cold_s,median_s,tflops,floor_s,fraction,predicted_s,peer,peer_s,"
    "plan_s,words,check";

char *bench_row_csv(const bench_row *row) {
  const tsr_level3 *w = &row->line->what;
  bool peer = row->peer_s > 0;
  char *text = NULL, words[BENCH_SHAPING], peer_s[32] = "";
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) return NULL;
  bench_line_shaping(row->line, words);
  if (peer) snprintf(peer_s, sizeof peer_s, "%.9g", row->peer_s);
  fprintf(stream, "%s,%c,%lld,%lld,%lld,\"%s\",%d,", bench_line_op(row->line), (char)w->type,
          (long long)w->m, (long long)w->n, (long long)w->k, row->line->home, row->devices);
  fprintf(stream, "%.9g,%.9g,%.6g,%.9g,%.4f,%.9g,", row->cold, row->median,
          bench_row_tera(row, best_time(row)), row->floor, fraction(row), row->predicted);
  fprintf(stream, "%s,%s,%.9g,\"%s\",%s", peer ? row->line->peer : "", peer_s, row->plan, words,
          check_text(row));
  if (fclose(stream) == 0) return text;
  free(text);
  return NULL;
}

int bench_check_outputs(const output *csv, const output *timeline, const char *input, bool force) {
  const output outputs[] = {*csv, *timeline};
  const char *inputs[] = {input, NULL};
  int code = timeline->path ? timeline_is_json(timeline->path) : TOOL_OK;
  if (!code) code = output_check(outputs, 2, inputs, force);
  return code ? code : output_lines_check(csv, bench_csv_head);
}

int bench_append_csv(const output *csv, const bench_row *row) {
  char *text = bench_row_csv(row);
  int code = text ? output_lines_add(csv, bench_csv_head, text) : tool_fail("out of memory");
  free(text);
  return code;
}

/* ---- JSON ---- */

static void add_traffic(cJSON *o, const tsr_traffic *t) {
  cJSON_AddNumberToObject(o, "host_to_device", t->host_to_device);
  cJSON_AddNumberToObject(o, "device_to_host", t->device_to_host);
  cJSON_AddNumberToObject(o, "device_to_device", t->device_to_device);
  cJSON_AddNumberToObject(o, "within_devices", t->within_devices);
  cJSON_AddNumberToObject(o, "plans", (double)t->plans);
}

static void add_call(cJSON *o, const bench_row *row) {
  const tsr_level3 *w = &row->line->what;
  const char type[2] = {(char)w->type, '\0'}, *devices = row->line->words.settings.devices;
  char words[BENCH_SHAPING];
  bench_line_shaping(row->line, words);
  if (row->line->place) cJSON_AddStringToObject(o, "case", row->line->place);
  cJSON_AddStringToObject(o, "op", bench_line_op(row->line));
  cJSON_AddStringToObject(o, "type", type);
  cJSON_AddNumberToObject(o, "m", (double)w->m);
  cJSON_AddNumberToObject(o, "n", (double)w->n);
  cJSON_AddNumberToObject(o, "k", (double)w->k);
  cJSON_AddStringToObject(o, "home", row->line->home);
  cJSON_AddNumberToObject(o, "devices", row->devices);
  cJSON_AddStringToObject(o, "set", devices ? devices : "");
  cJSON_AddStringToObject(o, "words", words);
}

static void add_times(cJSON *o, const bench_row *row) {
  cJSON_AddNumberToObject(o, "cold_s", row->cold);
  cJSON_AddNumberToObject(o, "median_s", row->median);
  cJSON_AddItemToObject(o, "times_s", cJSON_CreateDoubleArray(row->times, row->count));
  if (row->returned > 0) cJSON_AddNumberToObject(o, "returned_s", row->returned);
  cJSON_AddNumberToObject(o, "rate", row->rate);
  cJSON_AddNumberToObject(o, "budget", (double)row->budget);
  add_traffic(cJSON_AddObjectToObject(o, "moved"), &row->moved);
  cJSON *loads = cJSON_AddArrayToObject(o, "loads");
  for (int d = 0; d < row->load_count; d++) {
    cJSON *one = cJSON_CreateObject();
    add_traffic(one, &row->loads[d]);
    cJSON_AddItemToArray(loads, one);
  }
}

cJSON *bench_row_json(const bench_row *row) {
  cJSON *o = cJSON_CreateObject();
  add_call(o, row);
  if (row->checked) add_times(o, row);
  cJSON_AddNumberToObject(o, "tflops", bench_row_tera(row, best_time(row)));
  cJSON_AddNumberToObject(o, "floor_s", row->floor);
  cJSON_AddNumberToObject(o, "predicted_s", row->predicted);
  cJSON_AddNumberToObject(o, "plan_s", row->plan);
  if (row->peer_s > 0) {
    cJSON_AddStringToObject(o, "peer", row->line->peer);
    cJSON_AddNumberToObject(o, "peer_s", row->peer_s);
    cJSON_AddNumberToObject(o, "peer_block", row->peer_block);
    cJSON_AddItemToObject(o, "peer_times_s",
                          cJSON_CreateDoubleArray(row->peer_times, row->peer_count));
  }
  if (row->checked) cJSON_AddBoolToObject(o, "correct", row->good);
  if (row->facts) cJSON_AddItemToObject(o, "plan", cJSON_Duplicate(row->facts, true));
  return o;
}
