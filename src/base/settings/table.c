/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The settings. `tessera --help` prints this table, and docs/reference/settings.md must equal it.
 */
#include <stddef.h>

#include "tessera_model.h"

static const tsr_setting table[] = {
    {"TESSERA_ENGINE", "cuda, hip, host or cpu", "the best that is here",
     "The engine that computes: NVIDIA GPUs, AMD GPUs, emulated devices, or the CPU's BLAS alone."},
    {"TESSERA_DEVICES", "a count (4) or a list (0,2 or 3,); ..4, ..0,2", "all that help",
     "The devices to use, numbered as the engine numbers them. With two dots a call uses those of "
     "them with which it is predicted to be fastest."},
    {"TESSERA_MACHINE", "an installed name, a file or a machine string", "this machine, measured",
     "The machine to plan for, as docs/reference/machine.md describes it."},
    {"TESSERA_MEMORY", "bytes: 16G, 1.5GiB; 16G,4G", "80 % of what is free",
     "The most memory to use on each device; a list has one value for each device."},
    {"TESSERA_TILE", "elements, 1 or more", "by the model",
     "The extent of all tiles, in place of what the planner chooses."},
    {"TESSERA_STRATEGY", "words: kpanel=512 c=last", "none",
     "Force knobs of strategies, for experiments: tessera knobs lists them."},
    {"TESSERA_ARITHMETIC", "native, emulated, emulated:M, emulated:X, auto or auto:X", "native",
     "How the level-3 BLAS of fp32 and fp64 is computed: natively; emulated, from products of "
     "8-bit integers for M moduli, 4 to 16, or as many as the native accuracy needs, or an error "
     "of X (such as 1e-10) relative to the product of the magnitudes; auto and auto:X: natively or "
     "as emulated and emulated:X, whichever is predicted to be faster."},
    {"TESSERA_CHECK", "0 or 1", "0",
     "Verify every plan before it runs, and poison memory that no command wrote."},
    {"TESSERA_REPRODUCIBLE", "0 or 1", "0", "Compute the same bits of C on any number of devices."},
    {"TESSERA_BIND", "0 or 1", "1",
     "On computers with several host memory nodes: run the threads for a device on CPUs near it, "
     "and keep pinned memory there."},
    {"TESSERA_PEER", "0 or 1", "1",
     "0: plan as if no GPU could reach another one directly, so that copies between GPUs go "
     "through "
     "host memory."},
    {"TESSERA_TRANSPORT", "auto, mpi or nccl", "auto",
     "Across processes: how panels travel; nccl: by NCCL, or RCCL on AMD GPUs; auto: so where each "
     "process has a GPU of its own, else by MPI."},
    {"TESSERA_OFFLOAD", "never, auto or always", "auto",
     "Unmodified programs: which calls go to devices; auto: those that are predicted to be faster "
     "there."},
    {"TESSERA_MIN_SIZE", "elements, 0 or more", "by the model",
     "Unmodified programs: calls with fewer multiplications than a product of this extent stay on "
     "the CPU."},
    {"TESSERA_REPORT", "1 or a file to append to", "none",
     "Unmodified programs: say at exit how much of the time was level-3 BLAS and which calls went "
     "where, on stderr or in the file."},
    {"TESSERA_EXPLAIN", "0 or 1", "0",
     "Unmodified programs: the report with all kinds of call, not only the ten that took the most "
     "time, and what was predicted for each."},
    {"TESSERA_SETTINGS", "a file", "none",
     "A file of settings, one NAME=value a line; the environment goes before it; # begins a "
     "comment."},
    {"TESSERA_LOG", "none, error, info or debug", "none", "What to write to stderr."},
    {"TESSERA_CPU_BLAS", "a library's file name or path", "OpenBLAS", "The CPU's BLAS to load."},
    {NULL, NULL, NULL, NULL},
};

const tsr_setting *tsr_settings(void) {
  return table;
}
