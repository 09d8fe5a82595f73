/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera doctor: the build, the GPUs, the CPU's BLAS, the kept measurement, limits and settings.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"
#include "version.h"

/* ---- The build ---- */

/* The library that is loaded may be another than the one beside the command, by LD_LIBRARY_PATH. */
static void check_library(doctor *d) {
  char beside[PATH_MAX], loaded[PATH_MAX], self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0 || !tool_find_library("", loaded)) return;
  self[length] = '\0';
  char *slash = strrchr(self, '/');
  *slash = '\0';
  if ((slash = strrchr(self, '/')) != NULL) *slash = '\0';
  if (!realpath(self, beside) || strncmp(loaded, beside, strlen(beside)) == 0) return;
  doctor_add(
      d, GRADE_WARN, "library",
      "libtessera is loaded from %s, not from below %s, where this command is. If that is not "
      "meant, look at LD_LIBRARY_PATH.",
      loaded, beside);
}

void doctor_check_build(doctor *d) {
  if (version_matches())
    doctor_add(d, GRADE_OK, "build", "%s, built with %s%s, %s%s and %s.", version_line(),
               *version_cuda() ? "CUDA " : "no CUDA", version_cuda(),
               *version_hip() ? "HIP " : "no HIP", version_hip(),
               *version_mpi() ? version_mpi() : "no MPI");
  else
    doctor_add(
        d, GRADE_FAIL, "build",
        "libtessera has version %s, which this command was not built with: install both from "
        "one build.",
        tsr_version());
  check_library(d);
}

const char *doctor_line_of(const char *path) {
  static char line[256];
  FILE *file = fopen(path, "re");
  line[0] = '\0';
  if (!file) return line;
  if (!fgets(line, sizeof line, file)) line[0] = '\0';
  line[strcspn(line, "\n")] = '\0';
  fclose(file);
  return line;
}

int doctor_count_names(const char *path) {
  DIR *folder = opendir(path);
  int count = 0;
  if (!folder) return 0;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

/* ---- The CPU's BLAS ---- */

void doctor_check_blas(doctor *d) {
  tsr_blas_facts blas;
  int cores = tool_cores();
  if (tsr_blas_describe(&blas) != TSR_OK) {
    doctor_add(d, GRADE_FAIL, "blas", "%s.", tsr_message());
    return;
  }
  const char *name = *blas.version ? blas.version : "A BLAS that does not say its name";
  if (blas.threads == 0)
    doctor_add(d, GRADE_OK, "blas", "%s: %s", name, blas.file);
  else
    doctor_add(d, GRADE_OK, "blas", "%s, %d thread%s on %d core%s: %s", name, blas.threads,
               blas.threads == 1 ? "" : "s", cores, cores == 1 ? "" : "s", blas.file);
  if (!*blas.version)
    doctor_add(d, GRADE_WARN, "blas",
               "It may be the reference BLAS, which is slow. Debian: apt install "
               "libopenblas0-pthread, or set TESSERA_CPU_BLAS to a fast one's path.");
}

/* ---- The kept measurement ---- */

/* Whether files can be made in the folder of a path; the message says the folder. */
static bool can_keep(doctor *d, const char *path) {
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
  if (access(folder, W_OK | X_OK) == 0) return true;
  doctor_add(
      d, GRADE_WARN, "measurement",
      "%s cannot be written (%s): every process measures the GPUs anew, which takes seconds. "
      "Set XDG_CACHE_HOME to a folder that can be written.",
      folder, strerror(errno));
  return false;
}

/* "on 2026-11-20, 4 days ago". */
static const char *age_of(const char *path) {
  static char text[64];
  struct stat file;
  char day[16] = "";
  if (stat(path, &file) != 0) return "";
  double days = difftime(time(NULL), file.st_mtime) / 86400;
  strftime(day, sizeof day, "%Y-%m-%d", localtime(&file.st_mtime));
  snprintf(text, sizeof text, days < 1 ? "on %s" : "on %s, %.0f day%s ago", day, days,
           days < 1.5 ? "" : "s");
  return text;
}

static void tell_kept(doctor *d, const tsr_kept_facts *kept) {
  if (kept->devices == d->devices)
    doctor_add(d, GRADE_OK, "measurement", "Measured %s: %s", age_of(kept->path), kept->path);
  else if (kept->devices > 0)
    doctor_add(d, GRADE_WARN, "measurement",
               "%s is a measurement of %d GPUs, and there are %d. If that stays so, measure again: "
               "tessera machine --probe.",
               kept->path, kept->devices, d->devices);
  else
    doctor_add(d, GRADE_OK, "measurement",
               "Not measured yet: the first program that uses the GPUs does it, in seconds, or "
               "tessera machine --probe does it now, and it is kept in %s",
               kept->path);
}

void doctor_check_measurement(doctor *d) {
  tsr_kept_facts kept = {.devices = 0};
  tsr_status status = tsr_kept_describe(d->devices > 0 ? d->device : "none", &kept);
  if (status == TSR_ERR_IO)
    doctor_add(d, GRADE_WARN, "measurement",
               "%s. Every process measures the GPUs anew, which takes seconds.", tsr_message());
  else if (status != TSR_OK)
    doctor_add(d, GRADE_FAIL, "measurement",
               "%s. Remove the file, and measure again: tessera machine "
               "--probe.",
               tsr_message());
  else if (can_keep(d, kept.path) && d->devices > 0)
    tell_kept(d, &kept);
}

/* ---- Limits ---- */

/* What to change, by where a limit comes from; "": it is the machine's own. */
static const char *remedy(const tsr_process_limit *limit, const char *of_group,
                          const char *of_slurm) {
  if (strncmp(limit->from, "SLURM", 5) == 0) return of_slurm;
  return strncmp(limit->from, "/sys/", 5) == 0 ? of_group : "";
}

static void tell_memory(doctor *d, const tsr_process_limits *l) {
  if (isinf(l->memory.most)) return;
  doctor_add(d, GRADE_OK, "limits", "Host memory: %s (%s), of which %s are unused.%s",
             tool_bytes(l->memory.most), l->memory.from, tool_bytes(l->unused.most),
             remedy(&l->memory,
                    " For more: --memory of Docker and Podman, resources.limits.memory of "
                    "Kubernetes, --mem of Slurm.",
                    " For more: --mem of Slurm."));
}

static void tell_cores(doctor *d, const tsr_process_limits *l) {
  doctor_add(d, GRADE_OK, "limits", "Cores: %.3g (%s).%s", l->cores.most, l->cores.from,
             remedy(&l->cores,
                    " For more: --cpus of Docker and Podman, resources.limits.cpu of Kubernetes.",
                    " For more: --cpus-per-task of Slurm."));
}

/* A limit is a fact, not a fault: CUDA works within one (measured: 20 GB, on a GPU of 141 GB). */
static void tell_addresses(doctor *d, const tsr_process_limit *limit) {
  if (isinf(limit->most)) return;
  doctor_add(d, GRADE_OK, "limits",
             "The address space is limited to %s (%s): matrices, pinned memory and the "
             "buffers of the CPU's BLAS have to fit into it together.",
             tool_bytes(limit->most), limit->from);
}

/* NVIDIA's driver pins memory whatever the limit is (measured: 4 GB under a limit of 64 KB, by a
 * user without capabilities, driver 580.159), but the kernel counts what InfiniBand's pins. */
static void tell_locked(doctor *d, const tsr_process_limit *limit) {
  bool network = *version_mpi() && doctor_count_names("/sys/class/infiniband") > 0;
  if (!isinf(limit->most) && network)
    doctor_add(d, GRADE_WARN, "limits",
               "Only %s of memory can be locked (ulimit -l), and MPI locks what it sends over "
               "InfiniBand: ask for unlimited (--ulimit memlock=-1 of Docker and Podman).",
               tool_bytes(limit->most));
}

/* Open MPI 4.1 and MPICH 4.0 take 4.2 MB for each process of a node (measured: the pages and the
 * files that 2 and 6 processes make there). */
static void tell_shared(doctor *d, const tsr_process_limit *limit) {
  static const double of_a_process = 5e6;
  if (!*version_mpi() || isinf(limit->most)) return;
  int processes = (int)fmin(limit->most / of_a_process, 1e6);
  bool few = processes < (d->processes > 2 ? d->processes : 2);
  doctor_add(d, few ? GRADE_WARN : GRADE_OK, "limits",
             "Shared memory (%s): %s can be written, which is enough for %d process%s of MPI on "
             "this node.%s",
             limit->from, tool_bytes(limit->most), processes, processes == 1 ? "" : "es",
             few ? " For more: --shm-size=1g of Docker and Podman, an emptyDir of medium Memory "
                   "at /dev/shm in Kubernetes."
                 : "");
}

void doctor_check_limits(doctor *d) {
  tsr_process_limits limits;
  tsr_process_limits_describe(&limits);
  tell_memory(d, &limits);
  tell_cores(d, &limits);
  tell_locked(d, &limits.locked);
  tell_addresses(d, &limits.addresses);
  tell_addresses(d, &limits.data);
  tell_shared(d, &limits.shared);
}

/* ---- Settings ---- */

static void add_text(char *text, size_t room, const char *format, const char *name,
                     const char *value) {
  size_t length = strlen(text);
  snprintf(text + length, room - length, format, length > 0 ? ", " : "", name, value);
}

/* Settings that are set, with their values; variables that are near no setting may belong to
 * something else, such as an environment module. */
static void list_settings(doctor *d) {
  char set[800] = "", others[300] = "", name[TSR_SETTING_NAME];
  const char *meant;
  for (const tsr_setting *s = tsr_settings(); s->name; s++) {
    const char *value = getenv(s->name);
    if (value && *value) add_text(set, sizeof set, "%s%s=%s", s->name, value);
  }
  for (int i = 0; tsr_setting_unknown(i, name, sizeof name, &meant); i++)
    if (!meant) add_text(others, sizeof others, "%s%s%s", name, "");
  doctor_add(d, GRADE_OK, "settings", "%s%s.", *set ? "Settings: " : "No settings", set);
  if (*others)
    doctor_add(d, GRADE_OK, "settings", "No settings of Tessera, so without effect: %s.", others);
}

static void check_spelling(doctor *d) {
  char name[TSR_SETTING_NAME];
  const char *meant;
  for (int i = 0; tsr_setting_unknown(i, name, sizeof name, &meant); i++)
    if (meant)
      doctor_add(d, GRADE_WARN, "settings", "%s is no setting and has no effect. Did you mean %s?",
                 name, meant);
}

/* Plans for another machine than this one are right for a study, wrong for work. */
static void check_described_machine(doctor *d) {
  static const tsr_options options = {.size = sizeof options, .engine = "cpu"};
  const char *named = getenv("TESSERA_MACHINE");
  tsr_context *context = NULL;
  tsr_context_facts facts = {.devices = 0};
  if (!named || !*named || tsr_context_create(&options, &context) != TSR_OK) return;
  if (tsr_context_describe(context, &facts) == TSR_OK && facts.devices != d->devices)
    doctor_add(d, GRADE_WARN, "settings",
               "TESSERA_MACHINE describes %d devices, and there are %d GPUs: plans are made for "
               "that machine, not for this one. Unset it for work.",
               facts.devices, d->devices);
  tsr_context_destroy(context);
}

void doctor_check_settings(doctor *d) {
  list_settings(d);
  check_spelling(d);
  const char *error = tsr_settings_error();
  if (error)
    doctor_add(d, GRADE_FAIL, "settings",
               "%s. Until that is right Tessera refuses to work, and programs under tessera run "
               "stay on the CPU.",
               error);
  else
    check_described_machine(d);
}

/* ---- Machines ---- */

void doctor_check_machines(doctor *d) {
  char name[64];
  if (!tsr_machine_installed(0, name, sizeof name))
    doctor_add(d, GRADE_WARN, "machines",
               "No machines to plan for are installed: share/tessera/machines is not found from "
               "libtessera. Install Tessera again.");
}
