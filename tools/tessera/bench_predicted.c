/* tessera bench predicted: a data set on a machine that need not be here, by replay of its plans.
 */
#include <stdlib.h>
#include <string.h>

#include "bench_case.h"
#include "bench_forecast.h"
#include "roofs.h"

enum { MOST_SETS = 16, MOST_TYPES = 7 };

#define SCALING_N "8192,16384,32768,65536"

typedef struct predicted_request {
  const char *dataset, *type, *n, *homes, *devices, *measured, *csv, *plot;
  bench_irregular_words shapes;
  bool json;
  settings settings;
  tsr_type types[MOST_TYPES];
  int type_count;
  device_set sets[MOST_SETS];
  int set_count;
  bench_points points;
  bench_row *known; /* what was measured */
  int known_count;
  forecast_list list;
} predicted_request;

/* ---- What is asked for ---- */

static int parse_types(predicted_request *r) {
  for (const char *at = r->type; *at && r->type_count < MOST_TYPES; at++) {
    const char one[2] = {*at, '\0'};
    if (*at == ',') continue;
    int code = parse_type("--type", one, &r->types[r->type_count++]);
    if (code) return code;
  }
  return r->type_count > 0 ? TOOL_OK : tool_usage("--type: must be types such as d,s");
}

static int add_set(predicted_request *r, const char *text, size_t length) {
  device_set *set = &r->sets[r->set_count];
  if (r->set_count == MOST_SETS || length == 0 || length >= sizeof set->text) {
    return tool_usage(
        "--devices %s: must be numbers such as 1,2,4, or sets such as 0;0,2;8 (at most %d)",
        r->devices, MOST_SETS);
  }
  memcpy(set->text, text, length);
  set->text[length] = '\0';
  const char *devices = set->text + (strncmp(set->text, "..", 2) == 0 ? 2 : 0);
  set->count = 1;
  for (const char *c = devices; *c; c++) set->count += *c == ',';
  if (set->count == 1) set->count = atoi(devices);
  r->set_count++;
  return TOOL_OK;
}

/* "1,2,4": the first ones of each. "1;0,2;0,2,4,6": with a semicolon, as TESSERA_DEVICES has it. */
static int parse_sets(predicted_request *r) {
  const char *between = strchr(r->devices, ';') ? ";" : ",";
  for (const char *at = r->devices;; at++) {
    size_t length = strcspn(at, between);
    int code = add_set(r, at, length);
    at += length;
    if (code || !*at) return code;
  }
}

static int make_points(predicted_request *r) {
  bool scales = strcmp(r->dataset, "scaling") == 0;
  if (scales || strcmp(r->dataset, "regular") == 0) {
    const char *n = r->n ? r->n : scales ? SCALING_N : BENCH_REGULAR_N;
    return bench_points_squares(n, r->homes ? r->homes : BENCH_REGULAR_HOMES, &r->points);
  }
  if (strcmp(r->dataset, "irregular") != 0) {
    return tool_usage("--dataset %s: must be regular, irregular or scaling", r->dataset);
  }
  if (r->n) return tool_usage("--n %s: the irregular set has --fat, --thin and --ratio", r->n);
  return bench_points_irregular(&r->shapes, r->homes ? r->homes : BENCH_IRREGULAR_HOMES,
                                &r->points);
}

/* Files of other benchmarks; without a data set their points are the ones to predict. */
static int read_measured(predicted_request *r) {
  char *names = strdup(r->measured), *rest = names;
  int code = names ? TOOL_OK : tool_fail("out of memory");
  for (char *name; !code && (name = strsep(&rest, ",")) != NULL;) {
    code = bench_read_csv(name, &r->known, &r->known_count);
  }
  free(names);
  return code;
}

static int interpret(predicted_request *r) {
  int code = parse_types(r);
  if (!code && r->devices) code = parse_sets(r);
  if (!code && r->measured) code = read_measured(r);
  if (!code && !r->dataset && (!r->measured || r->n || r->homes)) r->dataset = "scaling";
  return code || !r->dataset ? code : make_points(r);
}

static int parse_request(int argc, char **argv, predicted_request *r) {
  r->type = "d";
  r->shapes = (bench_irregular_words){BENCH_FAT, BENCH_THIN, BENCH_RATIO};
  const option table[] = {
      {"dataset", 0, OPTION_TEXT, &r->dataset, "regular|irregular|scaling",
       "which points: squares from 4096 to 32768, fat-thin and thin-fat products, or squares from "
       "8192 to 65536 (default: those of --measured, else scaling)"},
      {"type", 0, OPTION_TEXT, &r->type, "d,s,...", "element types (default: d)"},
      {"n", 0, OPTION_TEXT, &r->n, "N,...", "other extents of squares"},
      {"homes", 0, OPTION_TEXT, &r->homes, "h,h,h;0,0,0",
       "where A,B,C are, each in turn: h pinned host, u pageable host, 0.. a device of the set"},
      {"fat", 0, OPTION_TEXT, &r->shapes.fat, "N,...", "irregular: M = N with a small K"},
      {"thin", 0, OPTION_TEXT, &r->shapes.thin, "N,...", "irregular: M = N with a large K"},
      {"ratio", 0, OPTION_TEXT, &r->shapes.ratio, "R,...", "irregular: how many times (4,8,16)"},
      {"devices", 0, OPTION_TEXT, &r->devices, "N,...|SET;...",
       "numbers of devices, or sets of them: '1;0,2;0,2,4,6;8'; with two dots as many of them as "
       "help: ..4,..8 (default: those of 1,2,4,8 that the machine has)"},
      {"measured", 0, OPTION_TEXT, &r->measured, "CSV,...",
       "what other benchmarks measured, to compare with"},
      {"csv", 0, OPTION_TEXT, &r->csv, "FILE", "write the predictions as CSV"},
      {"plot", 0, OPTION_TEXT, &r->plot, "FILE.svg", "draw them, a panel for each type and home"},
      {"json", 0, OPTION_FLAG, &r->json, NULL, "print for programs instead of the table"},
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_MEMORY(&r->settings),
      SETTINGS_CHECK(&r->settings),
      {0}};
  const option_command command = {
      "--machine FILE [options]",
      "Plans products for a machine and says what replay predicts: time, rate, the floor, how "
      "much\n"
      "faster than one device, and, beside what was measured, how far off it is. No device is\n"
      "needed. --check has every plan verified.",
      "tessera bench predicted --machine machines/h200x8.json --devices 1,2,4,8\n"
      "  tessera bench predicted --machine machines/h200x4.json --measured regular.csv",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (!code && !r->settings.machine) {
    code = tool_usage("--machine is required, such as machines/h200x8.json");
  }
  return code ? code : interpret(r);
}

/* ---- The devices there are ---- */

/* Nothing is to be run, so nothing is opened. */
static int open_planner(const predicted_request *r, const char *devices, tsr_context **context) {
  settings with = r->settings;
  with.engine = "cpu";
  with.devices = devices;
  return settings_open(&with, context);
}

static int choose_sets(predicted_request *r) {
  tsr_context *context = NULL;
  roofs_machine *machine = NULL;
  if (r->set_count > 0) return TOOL_OK;
  int code = open_planner(r, NULL, &context);
  if (!code) code = roofs_open(context, &machine);
  int there = code ? 0 : roofs_devices(machine);
  for (int count = 1; count <= there && count <= 8; count *= 2) {
    device_set *set = &r->sets[r->set_count++];
    set->count = count;
    snprintf(set->text, sizeof set->text, "%d", count);
  }
  if (!code && r->set_count == 0) code = tool_fail("the machine has no devices");
  roofs_close(machine);
  tsr_context_destroy(context);
  return code;
}

/* ---- The list ---- */

static const bench_row *find_known(const predicted_request *r, const bench_row *row) {
  for (int i = 0; i < r->known_count; i++) {
    if (bench_same_case(&r->known[i], row)) return &r->known[i];
  }
  return NULL;
}

/* On few devices different homes may be the same. */
static bool is_there(const predicted_request *r, const bench_forecast *f) {
  for (int i = 0; i < r->list.count; i++) {
    const bench_forecast *other = &r->list.items[i];
    if (other->set == f->set && bench_same_case(&other->row, &f->row)) return true;
  }
  return false;
}

static void add_forecast(predicted_request *r, tsr_type type, const bench_point *point, int number,
                         int set) {
  bench_forecast f = {.point = number, .set = set};
  f.home = bench_real_home(&point->asked, r->sets[set].count);
  f.row = (bench_row){.type = type, .shape = point->shape, .devices = r->sets[set].count};
  f.row.good = true;
  strcpy(f.row.home, f.home.text);
  if (is_there(r, &f)) return;
  const bench_row *known = find_known(r, &f.row);
  if (known) f.row.peer_s = known->median;
  if (known) f.then = known->predicted;
  r->list.items[r->list.count++] = f;
}

static void add_points(predicted_request *r, int set) {
  for (int t = 0; t < r->type_count; t++) {
    for (int p = 0; p < r->points.count; p++) {
      add_forecast(r, r->types[t], &r->points.items[p], p, set);
    }
  }
}

/* The first of the known rows that has the point, on whatever devices. */
static int point_of_known(const predicted_request *r, int index) {
  for (int i = 0; i < index; i++) {
    bench_row like = r->known[i];
    like.devices = r->known[index].devices;
    if (bench_same_case(&like, &r->known[index])) return i;
  }
  return index;
}

static int add_known(predicted_request *r, int set) {
  for (int i = 0; i < r->known_count; i++) {
    bench_point point = {.shape = r->known[i].shape};
    if (r->known[i].devices != r->sets[set].count) continue;
    if (bench_parse_homes(r->known[i].home, &point.asked, 1) < 0) return TOOL_USAGE;
    add_forecast(r, r->known[i].type, &point, point_of_known(r, i), set);
  }
  return TOOL_OK;
}

static int make_list(predicted_request *r) {
  size_t each = (size_t)r->points.count * (size_t)r->type_count + (size_t)r->known_count;
  r->list = (forecast_list){.sets = r->sets, .set_count = r->set_count};
  r->list.items = calloc(each * (size_t)r->set_count + 1, sizeof *r->list.items);
  if (!r->list.items) return tool_fail("out of memory");
  int code = TOOL_OK;
  for (int s = 0; s < r->set_count && !code; s++) {
    if (r->dataset) {
      add_points(r, s);
    } else {
      code = add_known(r, s);
    }
  }
  return code;
}

/* ---- Predicting ---- */

static int predict(tsr_context *context, bench_forecast *f) {
  const bench_kind kind = {.type = f->row.type, .transa = TSR_NO_TRANS, .transb = TSR_NO_TRANS};
  tsr_level3 what = bench_describe(&kind, f->row.shape);
  scalar_value one = scalar_for(f->row.type, (scalar){1, 0});
  tsr_home homes[3];
  tsr_plan *plan = NULL;
  tsr_prediction p;
  for (int i = 0; i < 3; i++) homes[i] = home_for_library(f->home.homes[i]);
  int code = tool_status(tsr_plan_level3(context, &what, &one, &one, homes, &plan));
  if (!code) code = tool_status(tsr_plan_predict(plan, &p));
  tsr_plan_destroy(plan);
  if (code) return code;
  f->row.median = f->row.predicted = p.seconds;
  f->row.floor = p.floor_seconds;
  f->row.plan = p.plan_seconds;
  f->commands = p.commands;
  f->candidates = p.candidates;
  return TOOL_OK;
}

static int predict_set(predicted_request *r, int set) {
  tsr_context *context = NULL;
  int code = open_planner(r, r->sets[set].text, &context);
  for (int i = 0; i < r->list.count && !code; i++) {
    bench_forecast *f = &r->list.items[i];
    if (f->set != set) continue;
    code = predict(context, f);
    if (!code && !r->json) forecast_print(&r->list, f, r->measured != NULL);
  }
  tsr_context_destroy(context);
  return code;
}

static int predict_all(predicted_request *r) {
  int code = choose_sets(r);
  if (!code) code = make_list(r);
  if (!code && r->list.count == 0) {
    code = tool_fail("nothing was measured on so many devices; name others with --devices");
  }
  if (!code && !r->json) forecast_print_head(r->measured != NULL);
  for (int s = 0; s < r->set_count && !code; s++) code = predict_set(r, s);
  return code;
}

static int publish(const predicted_request *r) {
  int code = TOOL_OK;
  if (r->json) {
    forecast_print_json(&r->list);
  } else {
    forecast_print_summary(&r->list);
  }
  if (r->csv) code = forecast_write_csv(r->csv, &r->list);
  if (!code && r->plot) code = forecast_write_plot(r->plot, &r->list);
  return code;
}

int bench_predicted(int argc, char **argv) {
  predicted_request request = {0};
  int code = parse_request(argc, argv, &request);
  if (code == TOOL_OK) code = predict_all(&request);
  if (code == TOOL_OK) code = publish(&request);
  free(request.points.items);
  free(request.known);
  free(request.list.items);
  return code == OPTIONS_HELPED ? TOOL_OK : code;
}
