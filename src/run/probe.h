/*
 * The probe measures a machine through its engine: what plans depend on, and nothing else. Under
 * 20 s on four GPUs. Nothing else may use the engine's devices meanwhile.
 */
#ifndef TSR_RUN_PROBE_H
#define TSR_RUN_PROBE_H

#include "engine/engine.h"
#include "machine/machine.h"

typedef struct tsr_probe_options {
  bool quick;            /* small sizes and short times: for emulated devices */
  tsr_progress progress; /* may be NULL */
  void *user;
} tsr_probe_options;

/* name, identity and source of the machine are filled in too. */
tsr_status tsr_probe(const tsr_engine *engine, tsr_engine_state *state, const tsr_device_info *info,
                     int devices, const tsr_probe_options *options, tsr_machine **machine);

/* Measures the CPU's BLAS alone, in some milliseconds: cpu_flops and cpu_latency. */
tsr_status tsr_probe_cpu(tsr_machine *machine);

/* What the measurement of these devices is kept under: the host's name and the devices' model. */
void tsr_probe_identity(const tsr_device_info *info, char *identity, size_t size);

#endif
