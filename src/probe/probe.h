/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The probe measures a machine through its engine: only the rates and times on which plans depend.
 * It takes less than 20 s on four GPUs. Nothing else may use the engine's devices meanwhile.
 */
#ifndef TSR_PROBE_PROBE_H
#define TSR_PROBE_PROBE_H

#include "engine/engine.h"
#include "machine/machine.h"
#include "run/near.h"

typedef struct tsr_probe_options {
  bool quick;            /* small sizes and short times: for emulated devices */
  const tsr_near *near;  /* if it places memory, every node is measured; NULL: unknown */
  tsr_progress progress; /* may be NULL */
  void *user;
} tsr_probe_options;

/* Measures the engine's devices. The caller owns *machine, whose name, identity and source are
 * filled in, too. */
tsr_status tsr_probe(const tsr_engine *engine, tsr_engine_state *state, const tsr_device_info *info,
                     int devices, const tsr_probe_options *options, tsr_machine **machine);

/* Reads what people want to know of the computer (tsr_host) from the files below root, "" for this
 * computer's. */
void tsr_probe_host(const char *root, tsr_host *host);

/* Whether other programs keep the computer busy, by the files below root: more threads run than
 * PROBE_CPU_LOADED allows, now and over the last minute (in which the probe itself may have run).
 */
bool tsr_probe_is_loaded(const char *root);

/* Writes today's date (UTC), "2026-11-23". */
void tsr_probe_date(char *date, size_t room);

/* Measures only the CPU's BLAS (cpu_flops and cpu_latency), which takes some milliseconds. */
tsr_status tsr_probe_cpu(tsr_machine *machine);

/* Writes the name under which the measurement is stored: the host's name, and the number, the first
 * model and a digest of all devices: their names, memories and identities, since a slice of a card
 * must not take the measurement of the card. It has at most 95 bytes. */
void tsr_probe_identity(const tsr_device_info *info, int devices, char *identity, size_t size);

/* Writes the host's name as identities begin with it, at most 24 bytes. */
void tsr_probe_host_name(char *name, size_t size);

#endif
