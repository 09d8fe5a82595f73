/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

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

void bench_print_head(void) {
  printf("%-22s %-5s %3s %7s %7s %12s %5s %5s %s\n", "call", "home", "dev", "cold", "warm", "rate",
         "floor", "peer", "check");
}

/* "dgemm 8192" or "dgemm 8192x8192x1024" */
static void print_call(const bench_row *row, char text[96]) {
  const tsr_level3 *w = &row->line->what;
  long long m = w->m, n = w->n, k = w->k;
  int used = snprintf(text, 96, "%c%s ", (char)w->type, bench_line_op(row->line));
  if (m == n && n == k)
    snprintf(text + used, 96 - (size_t)used, "%lld", m);
  else
    snprintf(text + used, 96 - (size_t)used, "%lldx%lldx%lld", m, n, k);
}

/* "-" if the time is not known. */
static const char *time_text(double seconds) {
  return seconds > 0 ? tool_seconds(seconds) : "-";
}

/* The floor as a part of the time: "91 %". Emulated devices have rates that are only named, so
 * there it says nothing. */
static void print_floor(const bench_row *row, char text[16]) {
  double time = best_time(row);
  bool known = time > 0 && row->floor > 0 && !settings_emulated(&row->line->words.settings);
  snprintf(text, 16, known ? "%.0f %%" : "-", known ? 100 * row->floor / time : 0);
}

static void print_peer(const bench_row *row, char text[16]) {
  bool known = row->peer_s > 0 && row->median > 0;
  snprintf(text, 16, known ? "%.2f" : "-", known ? row->peer_s / row->median : 0);
}

void bench_print_row(const bench_row *row) {
  char call[96], floor[16], peer[16];
  double time = best_time(row);
  print_call(row, call);
  print_floor(row, floor);
  print_peer(row, peer);
  printf("%-22s %-5s %3d %7s %7s %12s %5s %5s %s\n", call, row->line->home, row->devices,
         time_text(row->cold), time_text(time),
         time > 0 ? tool_rate(bench_line_flops(row->line) / time) : "-", floor, peer,
         check_text(row));
  fflush(stdout);
}

static void print_digest(const bench_row *row, char text[32]) {
  snprintf(text, 32, "%016llx", (unsigned long long)row->digest);
}

void bench_print_details(const bench_row *row) {
  bool emulated = settings_emulated(&row->line->words.settings);
  printf("  predicted %s, planned in %s", time_text(row->predicted), time_text(row->plan));
  if (row->floor > 0 && !emulated) printf(", floor %s", tool_seconds(row->floor));
  if (row->peer_s > 0)
    printf("\n  %s %s, %s", row->line->peer, tool_seconds(row->peer_s),
           tool_rate(bench_line_flops(row->line) / row->peer_s));
  if (row->joules > 0) printf(", %.4g J", row->joules);
  if (row->line->words.digest) {
    char digest[32];
    print_digest(row, digest);
    printf("\n  digest of the result: %s", digest);
  }
  printf("\n");
}

/* ---- CSV ---- */

const char bench_csv_head[] =
    "op,type,m,n,k,home,devices,cold_s,median_s,tflops,floor_s,fraction,predicted_s,peer,peer_s,"
    "plan_s,words,check,joules,digest,peer_block";

char *bench_row_csv(const bench_row *row) {
  const tsr_level3 *w = &row->line->what;
  bool peer = row->peer_s > 0;
  char *text = NULL, words[BENCH_SHAPING], peer_s[32] = "", joules[32] = "", digest[32] = "",
       block[32] = "";
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) return NULL;
  bench_line_shaping(row->line, words);
  if (peer) snprintf(peer_s, sizeof peer_s, "%.9g", row->peer_s);
  if (peer && row->peer_block > 0) snprintf(block, sizeof block, "%d", row->peer_block);
  if (row->joules > 0) snprintf(joules, sizeof joules, "%.6g", row->joules);
  if (row->line->words.digest) print_digest(row, digest);
  fprintf(stream, "%s,%c,%lld,%lld,%lld,\"%s\",%d,", bench_line_op(row->line), (char)w->type,
          (long long)w->m, (long long)w->n, (long long)w->k, row->line->home, row->devices);
  fprintf(stream, "%.9g,%.9g,%.6g,%.9g,%.4f,%.9g,", row->cold, row->median,
          bench_row_tera(row, best_time(row)), row->floor, fraction(row), row->predicted);
  fprintf(stream, "%s,%s,%.9g,\"%s\",%s,%s,%s,%s", peer ? row->line->peer : "", peer_s, row->plan,
          words, check_text(row), joules, digest, block);
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
  if (row->joules > 0) cJSON_AddNumberToObject(o, "joules", row->joules);
  if (row->line->words.digest) {
    char digest[32];
    print_digest(row, digest);
    cJSON_AddStringToObject(o, "digest", digest);
  }
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
