/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tsr_context_create_dealt: shares out the devices of a node among its processes. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "base/text.h"
#include "base/thread.h"
#include "cluster/grid.h"

/* A process's devices: `count` of those that the options name, from number `first` on. */
typedef struct share {
  int first, count;
  int sharing; /* processes that have the same device */
} share;

/* The share of the process of this rank on the node: a contiguous range of devices. If the node has
 * more processes than devices, several processes have the same device. */
static share share_of(int devices, int processes, int rank) {
  if (devices >= processes) {
    int first = (int)((int64_t)rank * devices / processes);
    int behind = (int)((int64_t)(rank + 1) * devices / processes);
    return (share){first, behind - first, 1};
  }
  int device = (int)((int64_t)rank * devices / processes), sharing = 0;
  for (int i = 0; i < processes; i++) sharing += (int)((int64_t)i * devices / processes) == device;
  return (share){device, 1, sharing};
}

/* The i-th device of a list such as "0,2"; i itself if `list` is NULL or has no comma. */
static int device_at(const char *list, int i) {
  int device = i;
  for (int at = 0; list != NULL && strchr(list, ',') != NULL && at <= i; at++) {
    int used = 0;
    if (sscanf(list, "%d%n", &device, &used) != 1) break;
    list += used + (list[used] == ',');
    if (at < i && *list == '\0') break;
  }
  return device;
}

/* Makes a context for a share. */
static tsr_status create_share(const tsr_options *options, const share *s, tsr_context **context) {
  tsr_options mine = *options;
  tsr_text list = TSR_TEXT_INIT;
  char *devices = NULL;
  for (int i = 0; i < s->count; i++)
    tsr_text_add(&list, "%d,", device_at(options->devices, s->first + i));
  if (s->count > 1 && !list.broken) list.bytes[list.length - 1] = '\0';
  tsr_status status = tsr_text_take(&list, &devices);
  mine.devices = devices;
  if (status == TSR_OK) status = tsr_context_create(&mine, context);
  tsr_dealloc(devices);
  return status;
}

/* *devices: how many devices the options name on this node. Called by one process of the node,
 * which opens all of them in *context. If that process is to have all devices, the context is kept;
 * else it is destroyed and *context is NULL. */
static tsr_status count_devices(const tsr_options *options, int processes, int *devices,
                                tsr_context **context) {
  TSR_TRY(tsr_context_create(options, context));
  *devices = tsr_device_count(*context);
  if (*devices > 0 && processes > 1) {
    tsr_context_destroy(*context);
    *context = NULL;
  }
  return TSR_OK;
}

/* Makes this process's context. node: the processes that share memory with this one. Collective. */
static tsr_status share_out(const tsr_peers *all, const tsr_peers *node, const tsr_options *options,
                            share *s, tsr_context **context) {
  int devices = 0;
  tsr_status status = TSR_OK;
  if (node->rank == 0) status = count_devices(options, node->size, &devices, context);
  TSR_TRY(tsr_agree(all, NULL, status));
  TSR_TRY(tsr_mpi_check(MPI_Bcast(&devices, 1, MPI_INT, 0, node->comm), "MPI_Bcast"));
  *s = devices > 0 ? share_of(devices, node->size, node->rank) : (share){0, 0, 1};
  if (*context == NULL)
    status = devices > 0 ? create_share(options, s, context) : tsr_context_create(options, context);
  return tsr_agree(all, NULL, status);
}

/* Makes a communicator for this call: of the processes of this node, or a copy of `from`. */
static tsr_status open_peers(MPI_Comm from, bool node, tsr_peers *peers) {
  int code = node ? MPI_Comm_split_type(from, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &peers->comm)
                  : MPI_Comm_dup(from, &peers->comm);
  TSR_TRY(tsr_mpi_check(code, node ? "MPI_Comm_split_type" : "MPI_Comm_dup"));
  MPI_Comm_set_errhandler(peers->comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(peers->comm, &peers->rank);
  MPI_Comm_size(peers->comm, &peers->size);
  return TSR_OK;
}

/* Makes the communicator of the node and shares out its devices. Collective. */
static tsr_status share_on_node(const tsr_peers *all, const tsr_options *options, share *s,
                                tsr_context **context) {
  tsr_peers node = {.comm = MPI_COMM_NULL};
  TSR_TRY(open_peers(all->comm, true, &node));
  tsr_status status = share_out(all, &node, options, s, context);
  MPI_Comm_free(&node.comm);
  return status;
}

static tsr_status read_options(const tsr_options *given, tsr_options *options) {
  TSR_TRY(tsr_options_read(given, options));
  if (options->devices == NULL) options->devices = tsr_setting_text("TESSERA_DEVICES");
  return TSR_OK;
}

TSR_ENTRY(tsr_context_create_dealt, (comm, options, context, sharing), MPI_Comm comm,
          const tsr_options *options, tsr_context **context, int *sharing) {
  tsr_options given;
  tsr_context *made = NULL;
  tsr_peers all = {.comm = MPI_COMM_NULL};
  share s = {0};
  if (context == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "context is NULL; give the address of a tsr_context pointer");
  TSR_TRY(open_peers(comm, false, &all));
  tsr_status status = tsr_agree(&all, NULL, read_options(options, &given));
  if (status == TSR_OK) status = share_on_node(&all, &given, &s, &made);
  MPI_Comm_free(&all.comm);
  if (status != TSR_OK) {
    tsr_error error;
    tsr_error_take(status, &error);
    tsr_context_destroy(made);
    return tsr_error_put(&error);
  }
  *context = made;
  if (sharing != NULL) *sharing = s.sharing;
  return TSR_OK;
}
