/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "tool.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void tool_hold_descriptors(void) {
  static const int contrary[] = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (int i = 0; i <= STDERR_FILENO; i++)
    if (fcntl(i, F_GETFD) < 0 && open("/dev/null", contrary[i] | O_CLOEXEC) < 0) return;
}

static const char *name_of_command = "tessera", *place_of_message;

void tool_set_name(const char *name) {
  name_of_command = name;
}

const char *tool_name(void) {
  return name_of_command;
}

void tool_set_place(const char *place) {
  place_of_message = place;
}

static void (*before_messages)(void);

void tool_before_messages(void (*function)(void)) {
  before_messages = function;
}

static void say(const char *format, va_list arguments) {
  if (before_messages) before_messages();
  fflush(stdout); /* keeps the order of output and messages */
  fprintf(stderr, "%s: ", name_of_command);
  if (place_of_message) fprintf(stderr, "%s: ", place_of_message);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

int tool_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  return TOOL_FAILED;
}

int tool_usage(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  fprintf(stderr, "Try '%s --help'.\n", name_of_command);
  return TOOL_USAGE;
}

void tool_note(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
}

int tool_status(tsr_status status) {
  if (status == TSR_OK) return TOOL_OK;
  const char *message = tsr_message();
  return tool_fail("%s", message[0] ? message : tsr_status_name(status));
}

double tool_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int tool_cores(void) {
  static atomic_int known;
  int cores = atomic_load(&known);
  if (cores > 0) return cores;
  tsr_process_limits limits;
  tsr_process_limits_describe(&limits);
  cores = limits.cores.most < 1.5 ? 1 : (int)lround(limits.cores.most);
  atomic_store(&known, cores);
  return cores;
}

double tool_median(double *values, int count) {
  if (count == 0) return 0;
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

/* One of 16 buffers in turn, so that one printf may use several. Each thread has its own, since
 * progress is drawn by one. */
static char *rotating_buffer(void) {
  static _Thread_local char buffers[16][32];
  static _Thread_local unsigned next;
  return buffers[next++ % 16];
}

enum { TEXT_ROOM = 32 };

const char *tool_bytes(double bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 999.5 && unit < 4) {
    bytes /= 1e3;
    unit++;
  }
  char *text = rotating_buffer();
  snprintf(text, TEXT_ROOM, unit ? "%.3g %s" : "%.0f %s", bytes, units[unit]);
  return text;
}

/* Three digits, as the library prints amounts: "1.20 min", "599 s". */
static void print_amount(char *text, double value, const char *unit) {
  snprintf(text, TEXT_ROOM, "%.*f %s", value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, unit);
}

const char *tool_seconds(double seconds) {
  char *text = rotating_buffer();
  if (seconds >= 5997) {
    print_amount(text, seconds / 3600, "h");
  } else if (seconds >= 599.5) {
    print_amount(text, seconds / 60, "min");
  } else if (seconds >= 0.9995) {
    print_amount(text, seconds, "s");
  } else if (seconds >= 0.9995e-3) {
    snprintf(text, TEXT_ROOM, "%.3g ms", seconds * 1e3);
  } else {
    snprintf(text, TEXT_ROOM, "%.3g us", seconds * 1e6);
  }
  return text;
}

/* Three digits, but all digits before the point. */
static void print_number(char *text, double value, const char *unit) {
  snprintf(text, TEXT_ROOM, value >= 999.5 ? "%.0f %s" : "%.3g %s", value, unit);
}

const char *tool_rate(double rate) {
  char *text = rotating_buffer();
  bool tera = rate >= 999.5e9, giga = rate >= 0.9995e9;
  print_number(text,
               rate * (tera   ? 1e-12
                       : giga ? 1e-9
                              : 1e-6),
               tera   ? "TFLOP/s"
               : giga ? "GFLOP/s"
                      : "MFLOP/s");
  return text;
}

const char *tool_duration(double seconds) {
  char *text = rotating_buffer();
  long long whole = seconds < 1e15 ? (long long)(seconds + 0.5) : 0;
  if (!(seconds < 1e15))
    snprintf(text, TEXT_ROOM, "a long time");
  else if (whole < 60)
    snprintf(text, TEXT_ROOM, "%lld s", whole);
  else if (whole < 3600)
    snprintf(text, TEXT_ROOM, "%lld min %lld s", whole / 60, whole % 60);
  else
    snprintf(text, TEXT_ROOM, "%lld h %lld min", whole / 3600, whole % 3600 / 60);
  return text;
}

/* The length of a paragraph: up to an empty line or a line that begins with a blank, which stands
 * for itself. */
static size_t paragraph_length(const char *text) {
  const char *end = strchr(text, '\n');
  if (end == text) return 0;
  while (end && text[0] != ' ' && end[1] && end[1] != '\n' && end[1] != ' ')
    end = strchr(end + 1, '\n');
  return end ? (size_t)(end - text) : strlen(text);
}

/* Prints the words of a paragraph. */
static void print_words(int indent, const char *at, const char *end) {
  enum { COLUMNS = 80 };
  int column = indent;
  while (at < end) {
    int length = (int)strcspn(at, " \n");
    bool first = column == indent;
    if (!first && column + 1 + length > COLUMNS) {
      printf("\n%*s", indent, "");
      column = indent;
      first = true;
    }
    printf("%s%.*s", first ? "" : " ", length, at);
    column += length + !first;
    at += length;
    at += strspn(at, " \n");
  }
}

void tool_print_wrapped(int indent, const char *text) {
  while (*text) {
    size_t length = paragraph_length(text);
    if (*text == ' ')
      printf("%.*s", (int)length, text);
    else
      print_words(indent, text, text + length);
    text += length;
    printf("\n");
    if (*text) text++;
    if (*text && *text != '\n') printf("%*s", indent, "");
  }
}

int tool_print_json(cJSON *object, bool compact) {
  char *text = compact ? cJSON_PrintUnformatted(object) : cJSON_Print(object);
  int code = text ? TOOL_OK : tool_fail("out of memory");
  if (text) puts(text);
  cJSON_free(text);
  cJSON_Delete(object);
  return code;
}

int tool_print_plan(const tsr_plan *plan, tsr_format format) {
  char *text = NULL;
  int code = tool_status(tsr_plan_print(plan, format, &text));
  if (code == TOOL_OK) fputs(text, stdout);
  free(text);
  return code;
}

#define DOORS "libtessera_blas" TOOL_SO
#define PBLAS "libtessera_pblas" TOOL_SO

/* The path of another of our libraries: in the folder of the libtessera that this command uses. */
static int path_of(const char *library, char *path) {
  const char *(*ours)(void) = tsr_version;
  void *address;
  Dl_info info;
  char file[PATH_MAX];
  memcpy(&address, &ours, sizeof address);
  if (!dladdr(address, &info) || !realpath(info.dli_fname, file)) {
    return tool_fail("cannot find the folder of libtessera");
  }
  char *slash = strrchr(file, '/');
  int length = slash ? (int)(slash - file) : 0;
  if (snprintf(path, PATH_MAX, "%.*s/%s", length, file, library) >= PATH_MAX) {
    return tool_fail("the library's path is too long: %s", file);
  }
  return TOOL_OK;
}

int tool_find_doors(char *path) {
  int code = path_of(DOORS, path);
  if (code) return code;
  if (access(path, R_OK) != 0) return tool_fail("%s: %s", path, strerror(errno));
  return TOOL_OK;
}

bool tool_find_library(const char *library, char *path) {
  return path_of(library, path) == TOOL_OK && access(path, R_OK) == 0;
}

bool tool_find_pblas(char *path) {
  return tool_find_library(PBLAS, path);
}
