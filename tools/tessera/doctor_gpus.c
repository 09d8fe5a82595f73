/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera doctor: the GPUs of each vendor, as the driver shows them and as the engine finds them.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "version.h"

/* What the checks need to know of a vendor. */
typedef struct vendor {
  const char *engine, *name; /* "hip", "AMD" */
  const char *(*built)(void);
  const char *compiler; /* what building the engine needs, and how to name it */
  const char *driver;   /* the file with the driver's version */
  const char *links;    /* the command that shows which GPUs reach each other */
  int (*count)(void);   /* GPUs that the driver shows */
  const char *hides[3]; /* variables that hide GPUs; NULL after the last */
  const char *borrowed; /* another vendor's that counts if the last of them is empty; NULL: none */
  bool always;          /* the engine is opened also where the driver shows no GPU */
} vendor;

/* ---- What the drivers show ---- */

static int count_nvidia(void) {
  return doctor_count_names("/proc/driver/nvidia/gpus");
}

/* The driver shows CPUs as nodes, too; their gpu_id is 0. */
static int count_amd(void) {
  static const char nodes[] = "/sys/class/kfd/kfd/topology/nodes";
  char path[128];
  int count = 0;
  for (int i = 0, most = doctor_count_names(nodes); i < most; i++) {
    snprintf(path, sizeof path, "%s/%d/gpu_id", nodes, i);
    count += strtoul(doctor_line_of(path), NULL, 10) != 0;
  }
  return count;
}

static const vendor vendors[] = {
    {"cuda",
     "NVIDIA",
     version_cuda,
     "nvcc is found (-DNVCC=FILE)",
     "/sys/module/nvidia/version",
     "nvidia-smi topo -m",
     count_nvidia,
     {"CUDA_VISIBLE_DEVICES"},
     NULL,
     true},
    {"hip",
     "AMD",
     version_hip,
     "hipcc is found (-DHIPCC=FILE)",
     "/sys/module/amdgpu/version",
     "rocm-smi --showtopo",
     count_amd,
     {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"},
     "CUDA_VISIBLE_DEVICES",
     false},
};
enum { VENDORS = sizeof vendors / sizeof *vendors };

/* ---- Findings ---- */

static void tell_gpus(doctor *d, const vendor *v, const tsr_engine_facts *gpus) {
  const char *driver = doctor_line_of(v->driver);
  doctor_add(d, GRADE_OK, "gpu", "%d x %s, %s each%s%s%s.", gpus->devices, gpus->name,
             tool_bytes((double)gpus->memory), *driver ? ", driver " : "", driver,
             gpus->devices > 1 && gpus->peers ? "; each reaches each other" : "");
  if (gpus->devices > 1 && !gpus->peers)
    doctor_add(d, GRADE_WARN, "gpu",
               "Some pairs of GPUs do not reach each other: copies between them go through host "
               "memory. %s shows which; in a virtual machine or a container ask for peer access.",
               v->links);
}

/* The vendor's engine cannot be used; tsr_message() says why. That is as it should be where there
 * is no GPU, unless the user asked for GPUs. Returns whether anything was said. */
static bool tell_no_gpu(doctor *d, const vendor *v, bool asked, int present) {
  if (asked)
    doctor_add(d, GRADE_FAIL, "gpu", "TESSERA_ENGINE asks for GPUs, but %s.", tsr_message());
  else if (present > 0 && !*v->built())
    doctor_add(d, GRADE_WARN, "gpu",
               "There are %d %s GPUs, but this build has no engine for them: the CPU does all of "
               "the work. Build again where %s.",
               present, v->name, v->compiler);
  else if (present > 0)
    doctor_add(d, GRADE_WARN, "gpu", "There are %d %s GPUs, but they cannot be used: %s.", present,
               v->name, tsr_message());
  return asked || present > 0;
}

static void tell_hidden(doctor *d, const vendor *v) {
  for (int i = 0; v->hides[i] != NULL; i++) {
    const char *visible = getenv(v->hides[i]);
    if (visible)
      doctor_add(d, GRADE_OK, "gpu", "%s is \"%s\": other GPUs are hidden.", v->hides[i], visible);
  }
}

static bool is_empty(const char *variable) {
  const char *value = getenv(variable);
  return value == NULL || *value == '\0';
}

static void tell_borrowed(doctor *d, const vendor *v) {
  const char *own = v->hides[0];
  for (int i = 0; v->hides[i] != NULL; i++) own = v->hides[i];
  if (v->borrowed == NULL || is_empty(v->borrowed) || !is_empty(own)) return;
  doctor_add(d, GRADE_OK, "gpu", "%s is \"%s\": it hides %s GPUs, too, unless %s is set.",
             v->borrowed, getenv(v->borrowed), v->name, own);
}

/* Returns whether the vendor has GPUs here, or they were asked for. Of two vendors' GPUs the first
 * vendor's are used, unless the other's were asked for. */
static bool check_vendor(doctor *d, const vendor *v, const char *wanted) {
  bool asked = wanted && strcmp(wanted, v->engine) == 0;
  int present = v->count();
  tsr_engine_facts gpus;
  if (d->devices > 0 && !asked) return false;
  bool used =
      (asked || present > 0 || v->always) && tsr_engine_describe(v->engine, &gpus) == TSR_OK;
  if (used) {
    d->engine = v->engine;
    d->devices = gpus.devices;
    snprintf(d->device, sizeof d->device, "%s", gpus.name);
    tell_gpus(d, v, &gpus);
  }
  bool said = used || tell_no_gpu(d, v, asked, present);
  tell_hidden(d, v);
  if (said) tell_borrowed(d, v);
  return said;
}

void doctor_check_gpus(doctor *d) {
  const char *wanted = getenv("TESSERA_ENGINE");
  bool said = false;
  for (int i = 0; i < VENDORS; i++) said |= check_vendor(d, &vendors[i], wanted);
  if (!said) doctor_add(d, GRADE_OK, "gpu", "No GPU: the CPU's BLAS does all of the work.");
}
