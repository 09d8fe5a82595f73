/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Reads what people want to know of the computer: from the files in which Linux says it. What a
 * file does not say stays unknown. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/system/process_limits.h"
#include "probe/probe.h"
#include "probe/tuning.h"

enum { PATH_ROOM = 512, MOST_SOCKETS = 1024 };

/* *bytes: the file's content, which the caller frees; NULL: the file cannot be read. */
static char *read_file(const char *root, const char *path) {
  char full[PATH_ROOM], *bytes = NULL;
  size_t length;
  snprintf(full, sizeof full, "%s%s", root, path);
  if (access(full, R_OK) != 0) return NULL; /* no message: the figure is only unknown */
  return tsr_text_read_file(full, &bytes, &length) == TSR_OK ? bytes : NULL;
}

/* -1: the file is not there, or has no number. */
static int read_number(const char *root, const char *path) {
  char *bytes = read_file(root, path);
  int number = -1;
  if (bytes != NULL && sscanf(bytes, "%d", &number) != 1) number = -1;
  tsr_dealloc(bytes);
  return number;
}

static int read_topology(const char *root, int cpu, const char *what) {
  char path[128];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what);
  return read_number(root, path);
}

static bool has_cpu(const char *root, int cpu) {
  char path[PATH_ROOM];
  snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d", root, cpu);
  return access(path, F_OK) == 0;
}

/* A core has one CPU for each of its threads; the first of them stands for the core. A CPU that is
 * switched off has a folder, but no topology. */
static void count_cores(const char *root, tsr_host *host) {
  bool seen[MOST_SOCKETS] = {false};
  for (int cpu = 0; has_cpu(root, cpu); cpu++) {
    int socket = read_topology(root, cpu, "physical_package_id");
    host->cores += read_topology(root, cpu, "thread_siblings_list") == cpu;
    if (socket < 0 || socket >= MOST_SOCKETS || seen[socket]) continue;
    seen[socket] = true;
    host->sockets++;
  }
}

/* Copies the value of the first line "key<blanks>: value". */
static void find_value(const char *bytes, const char *key, char *value, size_t room) {
  const char *line = bytes != NULL ? strstr(bytes, key) : NULL;
  const char *colon = line != NULL ? strchr(line, ':') : NULL;
  if (colon == NULL) return;
  colon += 1 + strspn(colon + 1, " \t");
  snprintf(value, room, "%.*s", (int)strcspn(colon, "\n"), colon);
}

/* Reads the memory that the process may use: in a container, less than the computer has. */
static void read_memory(const char *root, tsr_host *host) {
  tsr_process_limits limits;
  tsr_process_limits_read(root, &limits);
  if (isfinite(limits.memory.most)) host->memory = limits.memory.most;
}

void tsr_probe_host(const char *root, tsr_host *host) {
  char *cpus = read_file(root, "/proc/cpuinfo");
  *host = (tsr_host){.sockets = 0};
  find_value(cpus, "model name", host->cpu, sizeof host->cpu);
  tsr_dealloc(cpus);
  count_cores(root, host);
  read_memory(root, host);
}

static int count_processors(const char *root) {
  int count = 0;
  while (has_cpu(root, count)) count++;
  return count;
}

/* /proc/loadavg: the averages of 1, 5 and 15 minutes, then the threads that run now, with this one,
 * of all. */
bool tsr_probe_is_loaded(const char *root) {
  char *load = read_file(root, "/proc/loadavg");
  const char *end = load;
  double minute = 0, now = 0;
  if (load != NULL && tsr_c_number(load, &end, &minute)) {
    const char *slash = strchr(end, '/');
    while (slash != NULL && slash > end && slash[-1] != ' ') slash--;
    if (slash == NULL || !tsr_c_number(slash, &end, &now)) now = 0;
  }
  tsr_dealloc(load);
  return fmin(minute, now - 1) > TSR_TUNE_PROBE_CPU_LOADED * count_processors(root);
}

void tsr_probe_date(char *date, size_t room) {
  time_t now = time(NULL);
  struct tm today;
  if (gmtime_r(&now, &today) == NULL || strftime(date, room, "%Y-%m-%d", &today) == 0)
    date[0] = '\0';
}
