/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Partitions the devices of a node to its processes, by what each device is and not by its number:
 * processes may see the same devices, others (one each under Slurm's --gpus-per-task), or some in
 * common. All processes compute the same from the same table.
 */
#ifndef TSR_CLUSTER_LAYOUT_DEVICE_PARTITION_H
#define TSR_CLUSTER_LAYOUT_DEVICE_PARTITION_H

#include <stdbool.h>

#include "tessera_model.h"

/* A process's devices: indices into those that it sees, in ascending order. */
typedef struct tsr_device_partition {
  int count, index[TSR_DEVICES_FACTS_MOST];
  int sharing; /* the most processes that have one of these devices; 1: all are its own */
} tsr_device_partition;

/* *partition: that of the process of this rank. seen: the devices that each process sees. */
void tsr_device_partition_find(const tsr_devices_facts *seen, int processes, int rank,
                               tsr_device_partition *partition);

/* Whether no process of a lower rank sees the same devices. */
bool tsr_device_partition_is_first(const tsr_devices_facts *seen, int rank);

#endif
