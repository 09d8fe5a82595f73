/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/system/process_limits.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/open.h"

enum { PATH_ROOM = 512, LINE_ROOM = 2048 };

/* Takes over a limit that is lower than the one known so far. */
static void lower(tsr_process_limit *limit, double most, const char *from) {
  if (!(most < limit->most)) return;
  limit->most = most;
  snprintf(limit->from, sizeof limit->from, "%.*s", (int)sizeof limit->from - 1, from);
}

/* ---- Files ---- */

static FILE *open_below(const char *root, const char *path) {
  char full[2 * PATH_ROOM];
  int length = snprintf(full, sizeof full, "%s%s", root, path);
  return length < (int)sizeof full ? tsr_open_to_read(full) : NULL;
}

/* The number behind `key` at the start of a line, NAN: there is no file, line or number. */
static double number_behind(const char *root, const char *path, const char *key) {
  char line[256];
  double number = NAN;
  FILE *file = open_below(root, path);
  while (file != NULL && isnan(number) && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%lf", &number) != 1)
      break;
  if (file != NULL) fclose(file);
  return number;
}

/* Whether a list such as "rw,cpu,cpuacct" has the word. */
static bool has_word(const char *list, const char *word) {
  size_t length = strlen(word);
  for (; *list != '\0'; list += strcspn(list, ","), list += *list == ',')
    if (strncmp(list, word, length) == 0 && (list[length] == ',' || list[length] == '\0'))
      return true;
  return false;
}

/* ---- Control groups ---- */

/* The files of a control group that has a limit; NULL: this version has none such. */
typedef struct group_files {
  const char *controller;          /* of version 1, which has a hierarchy for each; "": version 2 */
  const char *memory[2];           /* limits in bytes */
  const char *used, *stat, *cache; /* bytes that count; the file and line of those that can be
                                      dropped, since a file of the disk has them */
  const char *quota, *period;      /* us of all processors' time in each period; a quota alone has
                                      both in one line */
} group_files;

static const group_files kinds[] = {
    {"",
     {"memory.max", "memory.high"},
     "memory.current",
     "memory.stat",
     "inactive_file ",
     "cpu.max",
     NULL},
    {"memory",
     {"memory.limit_in_bytes", NULL},
     "memory.usage_in_bytes",
     "memory.stat",
     "total_inactive_file ",
     NULL,
     NULL},
    {"cpu", {NULL, NULL}, NULL, NULL, NULL, "cpu.cfs_quota_us", "cpu.cfs_period_us"},
};

/* Where the groups of a hierarchy are, as /proc/self/mountinfo says: the group `top` is mounted at
 * `point`. False: the hierarchy is not mounted. */
static bool find_mount(const char *root, const char *controller, char *top, char *point) {
  char line[LINE_ROOM], type[32], options[512];
  bool found = false, second = controller[0] == '\0';
  FILE *file = open_below(root, "/proc/self/mountinfo");
  while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
    const char *rest = strstr(line, " - ");
    if (rest == NULL || sscanf(rest, " - %31s %*s %511s", type, options) != 2) continue;
    if (strcmp(type, second ? "cgroup2" : "cgroup") != 0) continue;
    if (!second && !has_word(options, controller)) continue;
    found = sscanf(line, "%*s %*s %*s %511s %511s", top, point) == 2;
  }
  if (file != NULL) fclose(file);
  return found;
}

/* The process's group in a hierarchy, from lines such as "4:cpu,cpuacct:/docker/5f" and, of version
 * 2, "0::/docker/5f". */
static bool find_group(const char *root, const char *controller, char *group) {
  char line[LINE_ROOM];
  bool found = false;
  FILE *file = open_below(root, "/proc/self/cgroup");
  while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
    char *list = strchr(line, ':'), *path = list != NULL ? strchr(list + 1, ':') : NULL;
    if (path == NULL) continue;
    *path++ = '\0';
    found = controller[0] == '\0' ? list[1] == '\0' : has_word(list + 1, controller);
    if (found) snprintf(group, 512, "%.*s", (int)strcspn(path, "\n"), path);
  }
  if (file != NULL) fclose(file);
  return found;
}

/* The part of a group's path that lies below the mounted group: "" if that is the process's own, or
 * if the namespace does not show it, as in a container that mounts only its own group. */
static const char *below_mount(const char *group, const char *top) {
  size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);
  if (strncmp(group, top, length) != 0) return "";
  group += length;
  bool inside = group[0] == '/' && group[1] != '\0' && strncmp(group, "/..", 3) != 0;
  return inside ? group : "";
}

/* A path that is too long becomes "", where no file is. */
static void join(char *path, const char *folder, const char *between, const char *name) {
  int length = snprintf(path, PATH_ROOM, "%s%s%s", folder, between, name);
  if (length >= PATH_ROOM) path[0] = '\0';
}

static void read_group_memory(const char *root, const char *folder, const group_files *f,
                              tsr_process_limits *limits) {
  char path[PATH_ROOM], used[PATH_ROOM], stat[PATH_ROOM];
  for (int i = 0; i < 2 && f->memory[i] != NULL; i++) {
    join(path, folder, "/", f->memory[i]);
    double most = number_behind(root, path, "");
    if (isnan(most)) continue; /* "max" */
    join(used, folder, "/", f->used);
    join(stat, folder, "/", f->stat);
    double kept = number_behind(root, used, ""), cache = number_behind(root, stat, f->cache);
    lower(&limits->memory, most, path);
    kept = isnan(kept) ? 0 : isnan(cache) ? kept : kept - cache;
    lower(&limits->unused, fmax(0, most - fmax(0, kept)), path);
  }
}

static void read_group_cores(const char *root, const char *folder, const group_files *f,
                             tsr_process_limits *limits) {
  char path[PATH_ROOM], other[PATH_ROOM];
  double quota = NAN, period = NAN;
  join(path, folder, "/", f->quota);
  if (f->period != NULL) {
    join(other, folder, "/", f->period);
    quota = number_behind(root, path, "");
    period = number_behind(root, other, "");
  } else {
    FILE *file = open_below(root, path);
    if (file != NULL && fscanf(file, "%lf %lf", &quota, &period) != 2) quota = NAN; /* "max" */
    if (file != NULL) fclose(file);
  }
  if (quota > 0 && period > 0) lower(&limits->cores, quota / period, path);
}

/* The limits of the process's group and of all groups around it: each holds for what is inside. */
static void read_groups(const char *root, const group_files *f, tsr_process_limits *limits) {
  char top[512], point[512], group[512], folder[PATH_ROOM];
  if (!find_mount(root, f->controller, top, point)) return;
  if (!find_group(root, f->controller, group)) return;
  join(folder, point, "", below_mount(group, top));
  for (;;) {
    if (f->memory[0] != NULL) read_group_memory(root, folder, f, limits);
    if (f->quota != NULL) read_group_cores(root, folder, f, limits);
    if (strlen(folder) <= strlen(point)) return;
    *strrchr(folder, '/') = '\0';
  }
}

/* ---- Slurm ---- */

/* The number that a variable of a job has; NAN: none. */
static double number_of(const char *name) {
  const char *text = tsr_environment_get(name);
  char *end;
  double number = text != NULL ? strtod(text, &end) : NAN;
  return number > 0 ? number : NAN; /* SLURM_MEM_PER_NODE=0 means all */
}

/* Slurm gives memory in MiB; that for each CPU or GPU counts for all of the job's on the node. A
 * site may leave it to the job to keep to its share, so that no control group has the limit. */
static void read_slurm(tsr_process_limits *limits) {
  static const struct {
    const char *memory, *times;
  } shares[] = {{"SLURM_MEM_PER_NODE", NULL},
                {"SLURM_MEM_PER_CPU", "SLURM_CPUS_ON_NODE"},
                {"SLURM_MEM_PER_GPU", "SLURM_GPUS_ON_NODE"}};
  static const char *const cores[] = {"SLURM_CPUS_ON_NODE", "SLURM_CPUS_PER_TASK"};
  if (tsr_environment_get("SLURM_JOB_ID") == NULL) return;
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
    double times = shares[i].times != NULL ? number_of(shares[i].times) : 1;
    double bytes = number_of(shares[i].memory) * times * 0x1p20;
    lower(&limits->memory, bytes, shares[i].memory);
    lower(&limits->unused, bytes, shares[i].memory);
  }
  for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
    lower(&limits->cores, number_of(cores[i]), cores[i]);
}

/* ---- The machine and the process ---- */

static void read_machine(const char *root, tsr_process_limits *limits) {
  static const char path[] = "/proc/meminfo";
  lower(&limits->memory, 1024 * number_behind(root, path, "MemTotal:"), path);
  lower(&limits->unused, 1024 * number_behind(root, path, "MemAvailable:"), path);
  lower(&limits->cores, tsr_process_processors(), "the affinity mask");
}

static void read_resource(int resource, const char *name, tsr_process_limit *limit) {
  struct rlimit found;
  if (getrlimit(resource, &found) != 0 || found.rlim_cur == RLIM_INFINITY) return;
  lower(limit, (double)found.rlim_cur, name);
}

/* Reads how many bytes can still be written to the file system of shared memory. The files below a
 * root folder say only how large it is mounted, which then is the limit. */
static void read_shared(const char *root, tsr_process_limits *limits) {
  static const char folder[] = "/dev/shm";
  char line[LINE_ROOM], point[512], options[512];
  FILE *file = open_below(root, "/proc/self/mountinfo");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    const char *rest = strstr(line, " - ");
    if (rest == NULL || sscanf(rest, " - %*s %*s %511s", options) != 1) continue;
    if (sscanf(line, "%*s %*s %*s %*s %511s", point) != 1 || strcmp(point, folder) != 0) continue;
    const char *size = strstr(options, "size=");
    limits->shared.most = HUGE_VAL; /* the last one mounted there is the one that is seen */
    if (size != NULL) lower(&limits->shared, 1024 * strtod(size + 5, NULL), folder);
  }
  if (file != NULL) fclose(file);
  struct statvfs now;
  if (root[0] == '\0' && statvfs(folder, &now) == 0)
    lower(&limits->shared, (double)now.f_bavail * (double)now.f_frsize, folder);
}

void tsr_process_limits_read(const char *root, tsr_process_limits *limits) {
  const tsr_process_limit none = {.most = HUGE_VAL};
  *limits = (tsr_process_limits){none, none, none, none, none, none, none};
  read_machine(root, limits);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) read_groups(root, &kinds[i], limits);
  read_slurm(limits);
  lower(&limits->unused, limits->memory.most, limits->memory.from);
  read_resource(RLIMIT_MEMLOCK, "ulimit -l", &limits->locked);
  read_resource(RLIMIT_AS, "ulimit -v", &limits->addresses);
  read_resource(RLIMIT_DATA, "ulimit -d", &limits->data);
  read_shared(root, limits);
}

int tsr_process_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than the set has room for */
  return online > 0 ? (int)online : 1;
}

int tsr_process_limits_cores(const tsr_process_limits *limits) {
  return limits->cores.most < 1.5 ? 1 : (int)round(limits->cores.most);
}

int tsr_process_cores(void) {
  tsr_process_limits limits;
  tsr_process_limits_read("", &limits);
  return tsr_process_limits_cores(&limits);
}
