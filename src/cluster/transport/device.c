/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Opens and closes the transport from device to device. */
#include "cluster/transport/device.h"

#include <string.h>

#include "base/alloc.h"

/* ---- This process alone --------------------------------------------------------- */

static tsr_status find_device(tsr_device_transport *t) {
  tsr_context_facts facts;
  tsr_context *context = t->grid->context;
  TSR_TRY(tsr_context_describe(context, &facts));
  TSR_TRY(tsr_fabric_find(&facts, &t->fabric));
  if (tsr_device_count(context) > 0) return tsr_malloc(context, 0, t->fabric->sample, &t->sample);
  return tsr_fail(TSR_ERR_UNSUPPORTED,
                  "the context has no device; give it one, or set TESSERA_TRANSPORT to mpi");
}

static tsr_status allocate_buffers(tsr_device_transport *t) {
  void *all;
  TSR_TRY(tsr_malloc(t->grid->context, TSR_HOST, TSR_FABRIC_EVENTS * t->fabric->piece, &all));
  for (int i = 0; i < TSR_FABRIC_EVENTS; i++)
    t->buffer[i] = (char *)all + (size_t)i * t->fabric->piece;
  return TSR_OK;
}

static void set_groups(tsr_device_transport *t) {
  const tsr_grid *grid = t->grid;
  t->group[TSR_SUMMA_A] =
      (tsr_device_group){.comm = grid->row, .rank = grid->me[1], .size = grid->extent[1]};
  t->group[TSR_SUMMA_B] =
      (tsr_device_group){.comm = grid->col, .rank = grid->me[0], .size = grid->extent[0]};
}

static tsr_status prepare(tsr_device_transport *t, char identity[TSR_FABRIC_IDENTITY]) {
  memset(identity, 0, TSR_FABRIC_IDENTITY);
  TSR_TRY(find_device(t));
  TSR_TRY(t->fabric->open(t->sample, &t->carrier, identity));
  TSR_TRY(tsr_device_open_ways(t));
  return allocate_buffers(t);
}

/* ---- Each process has a device of its own -------------------------------------------- */

static tsr_status compare(const char *identities, int size) {
  for (int i = 0; i < size; i++)
    for (int j = 0; j < i; j++)
      if (memcmp(identities + i * TSR_FABRIC_IDENTITY, identities + j * TSR_FABRIC_IDENTITY,
                 TSR_FABRIC_IDENTITY) == 0)
        return tsr_fail(TSR_ERR_UNSUPPORTED,
                        "processes %d and %d have the same first device, %.*s; give each process "
                        "one of its own, or set TESSERA_TRANSPORT to mpi",
                        j, i, TSR_FABRIC_IDENTITY, identities + i * TSR_FABRIC_IDENTITY);
  return TSR_OK;
}

/* No two processes have the same first device. Collective. */
static tsr_status check_identities(const tsr_peers *peers, const char *mine) {
  char *all = tsr_alloc((size_t)peers->size * TSR_FABRIC_IDENTITY);
  tsr_status status =
      all != NULL ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for the names of devices");
  status = tsr_agree(peers, NULL, status);
  if (status == TSR_OK) {
    int code = MPI_Allgather(mine, TSR_FABRIC_IDENTITY, MPI_CHAR, all, TSR_FABRIC_IDENTITY,
                             MPI_CHAR, peers->comm);
    status = tsr_mpi_check(code, "MPI_Allgather");
    if (status == TSR_OK) status = compare(all, peers->size);
    status = tsr_agree(peers, NULL, status);
  }
  tsr_dealloc(all);
  return status;
}

/* ---- Groups ---------------------------------------------------------------------- */

/* Collective over the group. */
static tsr_status join(tsr_device_transport *t, int number, tsr_fabric_group *what) {
  tsr_device_group *group = &t->group[number];
  int code = MPI_Bcast(what->name, TSR_FABRIC_NAME, MPI_BYTE, 0, group->comm);
  TSR_TRY(tsr_mpi_check(code, "MPI_Bcast"));
  TSR_TRY(t->fabric->join(t->carrier, number, what));
  group->joined = true;
  return TSR_OK;
}

/* All rows of the grid join their groups (number 0), or all columns theirs (1). Collective over the
 * grid. */
static tsr_status join_all(tsr_device_transport *t, int number) {
  tsr_device_group *group = &t->group[number];
  const tsr_peers *peers = &t->grid->all;
  tsr_fabric_group what = {.rank = group->rank, .size = group->size, .comm = &group->comm};
  tsr_status status = TSR_OK;
  if (group->size == 1) return TSR_OK; /* all other groups of this number have size 1, too */
  if (group->rank == 0) status = t->fabric->name_group(what.name);
  TSR_TRY(tsr_agree(peers, NULL, status));
  return tsr_agree(peers, NULL, join(t, number, &what));
}

/* ---- The transport ----------------------------------------------------------------- */

/* Whether groups may be closed in the ordinary way, which needs all their processes. If a process
 * has left its group, or never joined it, the groups must be aborted. Collective if the transport
 * was opened on all processes. */
static bool all_are_well(const tsr_device_transport *t) {
  int ended = 0, mine = t->failed, any = 1;
  if (!t->opened) return false;
  for (int i = 0; i < TSR_FABRIC_GROUPS; i++) mine |= t->group[i].failed;
  if (MPI_Finalized(&ended) != MPI_SUCCESS || ended) return !mine;
  int code = MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, t->grid->all.comm);
  return code == MPI_SUCCESS && !any;
}

static void close_device(void *opened) {
  tsr_device_transport *t = opened;
  bool well = all_are_well(t);
  for (int i = 0; i < TSR_FABRIC_GROUPS; i++)
    if (!well && t->group[i].joined) t->fabric->leave(t->carrier, i);
  if (t->carrier != NULL) t->fabric->close(t->carrier);
  tsr_device_free_relays(t);
  if (t->buffer[0] != NULL) tsr_free(t->grid->context, t->buffer[0]);
  if (t->sample != NULL) tsr_free(t->grid->context, t->sample);
  tsr_dealloc(t);
}

static tsr_status begin_alone(tsr_grid *grid, char identity[TSR_FABRIC_IDENTITY],
                              tsr_device_transport **opened) {
  tsr_device_transport *t = tsr_alloc_zero(1, sizeof *t);
  if (t == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for the messages of a grid");
  *opened = t;
  t->grid = grid;
  t->meeting = MPI_REQUEST_NULL;
  set_groups(t);
  return prepare(t, identity);
}

/* Checks devices, joins the groups and measures rates. Each step is collective. */
static tsr_status complete(tsr_device_transport *t, const char *identity) {
  TSR_TRY(check_identities(&t->grid->all, identity));
  for (int i = 0; i < TSR_FABRIC_GROUPS; i++) TSR_TRY(join_all(t, i));
  TSR_TRY(tsr_device_measure(t));
  tsr_free(t->grid->context, t->sample);
  t->sample = NULL;
  return TSR_OK;
}

static tsr_status open_device(tsr_grid *grid, void **opened) {
  tsr_device_transport *t = NULL;
  char identity[TSR_FABRIC_IDENTITY];
  tsr_status status = tsr_agree(&grid->all, NULL, begin_alone(grid, identity, &t));
  if (status == TSR_OK) status = complete(t, identity);
  if (status == TSR_OK) {
    t->opened = true;
    *opened = t;
    return TSR_OK;
  }
  tsr_error error;
  tsr_error_take(status, &error);
  if (t != NULL) close_device(t);
  return tsr_error_put(&error);
}

static void describe(const void *opened, tsr_model *model) {
  const tsr_device_transport *t = opened;
  model->host = t->host;
  model->facts.network_bandwidth = t->bandwidth;
  model->facts.network_latency = t->latency;
  model->facts.network_assumed = 0;
}

/* Allocates a slot; if memory is missing, again after the context has dropped its cached blocks. */
static tsr_status allocate(void *opened, size_t bytes, void **slot) {
  tsr_context *context = ((tsr_device_transport *)opened)->grid->context;
  tsr_status status = tsr_malloc(context, 0, bytes, slot);
  if (status != TSR_ERR_MEMORY || tsr_trim(context) != TSR_OK) return status;
  return tsr_malloc(context, 0, bytes, slot);
}

static void release(void *opened, void *slot) {
  tsr_free(((tsr_device_transport *)opened)->grid->context, slot);
}

const tsr_transport tsr_transport_device = {
    .name = "nccl",
    .open = open_device,
    .close = close_device,
    .describe = describe,
    .allocate = allocate,
    .release = release,
    .begin = tsr_device_begin,
    .test = tsr_device_test,
};
