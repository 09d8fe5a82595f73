/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "front/kept_model.h"

#include <string.h>

#include "base/alloc.h"
#include "probe/probe.h"

typedef struct query {
  const char *model;
  tsr_kept_model *found;
  tsr_error wrong; /* why a file could not be read */
} query;

static bool has_model(const tsr_machine *machine, const char *model) {
  for (int d = 0; d < machine->devices; d++)
    if (strcmp(machine->device[d].name, model) == 0) return true;
  return false;
}

static bool look_at(const char *path, void *user) {
  query *q = user;
  tsr_machine *machine = NULL;
  tsr_status status = tsr_machine_read(path, &machine);
  if (status != TSR_OK) {
    tsr_error_take(status, &q->wrong);
    return false;
  }
  bool more = q->found->machine == NULL || machine->devices > q->found->machine->devices;
  char *copy = has_model(machine, q->model) && more ? tsr_strdup(path) : NULL;
  if (copy == NULL) {
    tsr_machine_destroy(machine);
    return false;
  }
  tsr_kept_model_free(q->found);
  *q->found = (tsr_kept_model){machine, copy};
  return false; /* there may be one of more devices */
}

tsr_status tsr_kept_model_find(const char *model, tsr_kept_model *found) {
  char host[32];
  query q = {.model = model, .found = found};
  *found = (tsr_kept_model){NULL, NULL};
  tsr_probe_host_name(host, sizeof host);
  tsr_machine_cache_visit(host, look_at, &q);
  return found->machine == NULL && q.wrong.status != TSR_OK ? tsr_error_put(&q.wrong) : TSR_OK;
}

void tsr_kept_model_free(tsr_kept_model *found) {
  tsr_machine_destroy(found->machine);
  tsr_dealloc(found->path);
  *found = (tsr_kept_model){NULL, NULL};
}
