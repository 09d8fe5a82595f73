/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera doctor: the build, the GPUs, the CPU's BLAS, the kept measurement, limits and settings.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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
    doctor_add(d, GRADE_OK, "build", "%s, built with %s%s and %s.", version_line(),
               *version_cuda() ? "CUDA " : "no CUDA", version_cuda(),
               *version_mpi() ? version_mpi() : "no MPI");
  else
    doctor_add(
        d, GRADE_FAIL, "build",
        "libtessera has version %s, which this command was not built with: install both from "
        "one build.",
        tsr_version());
  check_library(d);
}

/* ---- GPUs ---- */

/* The first line of a file of the system's; "": it cannot be read. */
static const char *line_of(const char *path) {
  static char line[256];
  FILE *file = fopen(path, "re");
  line[0] = '\0';
  if (!file) return line;
  if (!fgets(line, sizeof line, file)) line[0] = '\0';
  line[strcspn(line, "\n")] = '\0';
  fclose(file);
  return line;
}

/* How many names a folder has that do not begin with a dot. */
static int count_names(const char *path) {
  DIR *folder = opendir(path);
  int count = 0;
  if (!folder) return 0;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

static void tell_gpus(doctor *d, const tsr_engine_facts *gpus) {
  const char *driver = line_of("/sys/module/nvidia/version");
  doctor_add(d, GRADE_OK, "gpu", "%d x %s, %s each%s%s%s.", gpus->devices, gpus->name,
             tool_bytes((double)gpus->memory), *driver ? ", driver " : "", driver,
             gpus->devices > 1 && gpus->peers ? "; each reaches each other" : "");
  if (gpus->devices > 1 && !gpus->peers)
    doctor_add(
        d, GRADE_WARN, "gpu",
        "Some pairs of GPUs do not reach each other: copies between them go through host "
        "memory. nvidia-smi topo -m shows which; in a virtual machine or a container ask for "
        "peer access.");
}

/* The CUDA engine cannot be used; tsr_message() says why. That is as it should be where there is no
 * GPU, unless the user asked for GPUs. */
static void tell_no_gpu(doctor *d) {
  const char *wanted = getenv("TESSERA_ENGINE");
  bool asked = wanted && strcmp(wanted, "cuda") == 0, built = *version_cuda() != '\0';
  int present = count_names("/proc/driver/nvidia/gpus");
  if (asked)
    doctor_add(d, GRADE_FAIL, "gpu", "TESSERA_ENGINE asks for GPUs, but %s.", tsr_message());
  else if (present > 0 && !built)
    doctor_add(
        d, GRADE_WARN, "gpu",
        "There are %d GPUs, but this build has no CUDA engine: the CPU does all of the work. "
        "Build again where nvcc is found (-DNVCC=FILE).",
        present);
  else if (present > 0)
    doctor_add(d, GRADE_WARN, "gpu", "There are %d GPUs, but they cannot be used: %s.", present,
               tsr_message());
  else
    doctor_add(d, GRADE_OK, "gpu", "No GPU: the CPU's BLAS does all of the work.");
}

void doctor_check_gpus(doctor *d) {
  tsr_engine_facts gpus;
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (tsr_engine_describe("cuda", &gpus) == TSR_OK) {
    d->devices = gpus.devices;
    snprintf(d->device, sizeof d->device, "%s", gpus.name);
    tell_gpus(d, &gpus);
  } else {
    tell_no_gpu(d);
  }
  if (visible && (d->devices > 0 || *version_cuda()))
    doctor_add(d, GRADE_OK, "gpu", "CUDA_VISIBLE_DEVICES is \"%s\": other GPUs are hidden.",
               visible);
}

/* ---- The CPU's BLAS ---- */

void doctor_check_blas(doctor *d) {
  tsr_blas_facts blas;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (tsr_blas_describe(&blas) != TSR_OK) {
    doctor_add(d, GRADE_FAIL, "blas", "%s.", tsr_message());
    return;
  }
  const char *name = *blas.version ? blas.version : "A BLAS that does not say its name";
  if (blas.threads == 0)
    doctor_add(d, GRADE_OK, "blas", "%s: %s", name, blas.file);
  else
    doctor_add(d, GRADE_OK, "blas", "%s, %d thread%s on %ld processors: %s", name, blas.threads,
               blas.threads == 1 ? "" : "s", processors, blas.file);
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

/* The limit in bytes; 0: there is none. */
static double limit_of(int resource) {
  struct rlimit limit;
  bool unlimited = getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY;
  return unlimited ? 0 : (double)limit.rlim_cur;
}

/* A limit is a fact, not a fault: CUDA works within one (measured: 20 GB, on a GPU of 141 GB). */
static void check_address_space(doctor *d, int resource, const char *option) {
  double bytes = limit_of(resource);
  if (bytes == 0) return;
  doctor_add(d, GRADE_OK, "limits",
             "The address space is limited to %s (ulimit %s): matrices, pinned memory and the "
             "buffers of the CPU's BLAS have to fit into it together.",
             tool_bytes(bytes), option);
}

/* NVIDIA's driver pins memory whatever the limit is (measured: 4 GB under a limit of 64 KB, by a
 * user without capabilities, driver 580.159), but the kernel counts what InfiniBand's pins. */
static void check_locked_memory(doctor *d) {
  double bytes = limit_of(RLIMIT_MEMLOCK);
  bool network = *version_mpi() && count_names("/sys/class/infiniband") > 0;
  if (bytes > 0 && network)
    doctor_add(d, GRADE_WARN, "limits",
               "Only %s of memory can be locked (ulimit -l), and MPI locks what it sends over "
               "InfiniBand: ask for unlimited.",
               tool_bytes(bytes));
  else
    doctor_add(d, GRADE_OK, "limits", "Memory that can be locked (ulimit -l): %s. %s",
               bytes > 0 ? tool_bytes(bytes) : "unlimited",
               bytes > 0 ? "Pinned memory of GPUs does not count as such." : "");
}

void doctor_check_limits(doctor *d) {
  check_locked_memory(d);
  check_address_space(d, RLIMIT_AS, "-v");
  check_address_space(d, RLIMIT_DATA, "-d");
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
  char names[800] = "", name[64];
  for (int i = 0; tsr_machine_installed(i, name, sizeof name); i++)
    add_text(names, sizeof names, "%s%s%s", name, "");
  if (*names)
    doctor_add(d, GRADE_OK, "machines",
               "Machines to plan for (tessera plan ... --machine NAME): %s.", names);
  else
    doctor_add(d, GRADE_WARN, "machines",
               "No machines to plan for are installed: share/tessera/machines is not found from "
               "libtessera. Install Tessera again.");
}
