/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tsr_context_create_dealt: shares out the devices of a node among its processes. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/settings/settings.h"
#include "base/text.h"
#include "base/thread.h"
#include "cluster/layout/device_partition.h"
#include "cluster/run/grid.h"

/* Makes a context for a partition of the devices that this process sees. */
static tsr_status create_share(const tsr_options *options, const tsr_devices_facts *seen,
                               const tsr_device_partition *partition, tsr_context **context) {
  tsr_options mine = *options;
  tsr_text list = TSR_TEXT_INIT;
  char *devices = NULL;
  for (int i = 0; i < partition->count; i++)
    tsr_text_add(&list, "%d,", seen->number[partition->index[i]]);
  if (partition->count > 1 && !list.broken) list.bytes[list.length - 1] = '\0';
  tsr_status status = tsr_text_take(&list, &devices);
  mine.devices = devices;
  if (status == TSR_OK) status = tsr_context_create(&mine, context);
  tsr_dealloc(devices);
  return status;
}

/* Makes the context, if this process is to have all devices that it sees. Else it opens them for a
 * moment, so that they are measured together, and by nobody else at the same time. */
static tsr_status open_all(const tsr_options *options, const tsr_devices_facts *seen,
                           const tsr_device_partition *partition, tsr_context **context) {
  TSR_TRY(tsr_context_create(options, context));
  if (partition->count == seen->devices) return TSR_OK;
  tsr_context_destroy(*context);
  *context = NULL;
  return TSR_OK;
}

/* The first of the processes that see the same devices opens them before the others; several such
 * processes take turns, since they may measure. */
static tsr_status open_in_turn(const tsr_peers *node, const tsr_options *options,
                               const tsr_devices_facts *seen, const tsr_device_partition *partition,
                               tsr_context **context) {
  tsr_status status = TSR_OK;
  for (int p = 0; p < node->size; p++) {
    if (seen[p].devices == 0 || !tsr_device_partition_is_first(seen, p)) continue;
    if (p == node->rank) status = open_all(options, &seen[p], partition, context);
    tsr_status met = tsr_mpi_check(MPI_Barrier(node->comm), "MPI_Barrier");
    if (status == TSR_OK) status = met;
  }
  return status;
}

/* Partitions the devices of the table and makes this process's context. Collective. */
static tsr_status make_context(const tsr_peers *all, const tsr_peers *node,
                               const tsr_options *options, tsr_devices_facts *seen,
                               tsr_device_partition *partition, tsr_context **context) {
  tsr_devices_facts *mine = &seen[node->rank];
  TSR_TRY(tsr_agree(all, NULL, tsr_devices_describe(options, mine)));
  TSR_TRY(tsr_mpi_check(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, seen, (int)sizeof *seen,
                                      MPI_BYTE, node->comm),
                        "MPI_Allgather"));
  tsr_device_partition_find(seen, node->size, node->rank, partition);
  TSR_TRY(tsr_agree(all, NULL, open_in_turn(node, options, seen, partition, context)));
  tsr_status status = TSR_OK;
  if (*context == NULL)
    status = partition->count > 0 ? create_share(options, mine, partition, context)
                                  : tsr_context_create(options, context);
  return tsr_agree(all, NULL, status);
}

/* Makes this process's context. node: the processes that partition memory with this one.
 * Collective. */
static tsr_status share_out(const tsr_peers *all, const tsr_peers *node, const tsr_options *options,
                            tsr_device_partition *partition, tsr_context **context) {
  tsr_devices_facts *seen = tsr_alloc_zero((size_t)node->size, sizeof *seen);
  tsr_status status = tsr_agree(
      all, NULL,
      seen != NULL ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory to partition devices out"));
  if (status == TSR_OK) status = make_context(all, node, options, seen, partition, context);
  tsr_dealloc(seen);
  return status;
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
static tsr_status share_on_node(const tsr_peers *all, const tsr_options *options,
                                tsr_device_partition *s, tsr_context **context) {
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
  tsr_device_partition s = {.sharing = 1};
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
