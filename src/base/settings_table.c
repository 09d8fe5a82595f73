/* The settings: what the command's help and the page of settings show. */
#include <stddef.h>

#include "tessera_model.h"

static const tsr_setting table[] = {
    {"TESSERA_ENGINE", "cuda, host or cpu", "the best that is here",
     "What does the work: CUDA devices, emulated devices, or the CPU's BLAS alone."},
    {"TESSERA_DEVICES", "a count (4) or a list (0,2 or 3,); ..4, ..0,2", "all that help",
     "The devices to use, numbered as the engine numbers them; with two dots as many of them as "
     "help a call."},
    {"TESSERA_MACHINE", "a file or a machine string", "this machine, measured",
     "The machine to plan for, as docs/machine.md describes it."},
    {"TESSERA_MEMORY", "bytes: 16G, 1.5GiB; 16G,4G", "80 % of what is free",
     "The most memory to use on each device; a list says it for one after the other."},
    {"TESSERA_TILE", "elements, 1 or more", "by the model", "Force tiles of this extent."},
    {"TESSERA_STRATEGY", "words: kpanel=512 c=last", "none",
     "Force knobs of strategies, for experiments: tessera knobs lists them."},
    {"TESSERA_CHECK", "0 or 1", "0",
     "Verify every plan before it runs, and poison memory that no command wrote."},
    {"TESSERA_REPRODUCIBLE", "0 or 1", "0", "The same bits of C on any number of devices."},
    {"TESSERA_TRANSPORT", "auto, mpi or nccl", "auto",
     "Across processes: how panels travel; auto: by NCCL where each process has a CUDA device of "
     "its "
     "own, else by MPI."},
    {"TESSERA_OFFLOAD", "never, auto or always", "auto",
     "Unmodified programs: which calls go to devices; auto: those that the model says gain."},
    {"TESSERA_MIN_SIZE", "elements, 0 or more", "by the model",
     "Unmodified programs: calls with fewer multiplications than a product of this extent stay on "
     "the CPU."},
    {"TESSERA_REPORT", "1 or a file to append to", "none",
     "Unmodified programs: say at exit where the calls went, on stderr or in the file."},
    {"TESSERA_EXPLAIN", "0 or 1", "0",
     "Unmodified programs: say at exit where each distinct call went, and why."},
    {"TESSERA_SETTINGS", "a file", "none",
     "Settings, one NAME=value a line, for what the environment does not say; # begins a comment."},
    {"TESSERA_LOG", "none, error, info or debug", "none", "What to write to stderr."},
    {"TESSERA_CPU_BLAS", "a library's file name or path", "OpenBLAS", "The CPU's BLAS to load."},
    {NULL, NULL, NULL, NULL},
};

const tsr_setting *tsr_settings(void) {
  return table;
}
