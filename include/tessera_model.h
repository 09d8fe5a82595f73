/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Functions for benchmarks, studies, tests and libtessera_mpi, beside tessera.h: the planner's
 * figures, ways to force its decisions, and hooks for tests.
 *
 * This header promises nothing: any release may change or drop what it has, and programs that use
 * it are built anew for each. The symbols have the version TESSERA_MODEL_0.2, so that the loader
 * refuses a program that was built for another release. The conventions are those of tessera.h.
 */
#ifndef TESSERA_MODEL_H
#define TESSERA_MODEL_H

#include "tessera.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Plans ---------------------------------------------------------------- */

typedef struct tsr_prediction {
  double seconds;           /* predicted time of a warm call */
  double floor_seconds;     /* lower bound over all splits of the work, from the machine's rates */
  double plan_seconds;      /* what planning took */
  double measured;          /* time of the last execution; 0: none yet */
  int devices;              /* devices used; 0: the CPU's BLAS */
  int grid_rows, grid_cols; /* C over the devices */
  int slices;               /* slices of k, one for each device; 0: k is not cut over the devices */
  int64_t tile_m, tile_n, tile_k; /* largest kernel */
  int candidates;                 /* plans that were compared */
  int64_t commands, kernels, copies;
  double host_to_device, device_to_host, device_to_device; /* bytes */
  size_t device_memory;                                    /* most that any device needs, bytes */
  size_t staging_memory;                                   /* pinned ring, bytes */
  int digits; /* that times are worth: 2 if figures of the machine are estimates, else 3 */
} tsr_prediction;

/* What the planner knows of a plan, and how long its last execution took. */
TSR_API tsr_status tsr_plan_predict(const tsr_plan *plan, tsr_prediction *prediction);

/* The floor of the plan's call when products run at that many flops/s on each device, for instance
 * at the rate that was measured in the same run on the same data. That is a rate of native
 * products: the floor of an emulated plan is by the machine's rates, whatever the rate. */
TSR_API tsr_status tsr_plan_floor(const tsr_plan *plan, double rate, double *seconds);

/*
 * A result that is summed up: C = A B + beta C, then C = C + A B again and again by asynchronous
 * calls, with A and B new in pinned host memory (or a device's) each time, and C on the devices
 * from the first product to the last, mapped in one strip of columns for each
 * (tsr_map_1d_block_cyclic).
 */
typedef struct tsr_stage {
  double alone;   /* s of one product when nothing else is under way */
  double kernels; /* of it: for how long the busiest device computes, */
  double copies;  /* and the busiest link copies: products side by side come no more often */
} tsr_stage;

typedef struct tsr_accumulation {
  tsr_stage first; /* the product for which C comes along, unless beta is 0 */
  tsr_stage next;  /* each other one */
  double home;     /* s from the end of the last product until all of C is home */
  size_t result,
      inputs; /* bytes on the fullest device of C, and of copies of A and B of one product */
} tsr_accumulation;

/* Predicts it for m x n x k products by planning them; quick: by a formula, in microseconds.
 * inputs: where A and B are: TSR_HOST, or a device whose memory they are in. */
TSR_API tsr_status tsr_plan_accumulation(tsr_context *context, tsr_type type, int64_t m, int64_t n,
                                         int64_t k, int inputs, const void *beta, int quick,
                                         tsr_accumulation *predicted);

/* ---- Forced decisions ----------------------------------------------------- */

/* Forces parts of later plans: words of docs/reference/knobs.md, for instance "kpanel=512 c=last".
 * NULL: none, also where TESSERA_STRATEGY has some. TSR_ERR_ARGUMENT names the wrong word. */
TSR_API tsr_status tsr_set_strategy(tsr_context *context, const char *strategy);

/* Forces the extent of tiles in later plans, elements; 0: by the model, also where TESSERA_TILE has
 * one. TSR_ERR_ARGUMENT: tile is negative or more than 2^31 - 1. */
TSR_API tsr_status tsr_set_tile(tsr_context *context, int64_t tile);

/* The knobs of strategies (TESSERA_STRATEGY, tsr_set_strategy) as a table in Markdown: names,
 * values, the kinds of strategies that have them, and what they do. *text: as of tsr_plan_print. */
TSR_API tsr_status tsr_print_knobs(char **text);

/* ---- Contexts ------------------------------------------------------------- */

/* What a context works with. */
typedef struct tsr_context_facts {
  const char *engine;  /* "cuda", "hip", "host" or "cpu" */
  int devices;         /* of its machine: also of one that is only planned for */
  int reproducible;    /* 1: the same bits on any number of devices */
  int check;           /* 1: plans are verified */
  uint64_t plans;      /* contexts in which this is the same make the same plans */
  size_t memory;       /* the least budget of a device, bytes */
  double staging_rate; /* bytes/s at which one thread copies host memory */
  double network_bandwidth,
      network_latency; /* of a process, bytes/s each way and s; 0: not known */
  const char *fabric; /* what carries between devices of processes: "nccl", "rccl"; NULL: nothing */
  int residues;       /* 1: its devices can emulate products, or are only planned for */
  int network_assumed; /* 1: nobody said the network's rates, and a grid has assumed some */
} tsr_context_facts;

/* Fills in *facts. engine is a constant of the library's. */
TSR_API tsr_status tsr_context_describe(tsr_context *context, tsr_context_facts *facts);

/* Bytes/s of a copy from one place to another, each a device's number or TSR_HOST, in runs of so
 * many bytes (the columns of a submatrix) while devices compute, as the context's machine has it;
 * 0: nothing is copied there directly. pitch: the bytes from one run to the next in host memory
 * (the matrix's leading dimension); 0: there is one run, or the runs are far apart. */
TSR_API tsr_status tsr_copy_rate(tsr_context *context, int from, int to, size_t run, size_t pitch,
                                 double *rate);

/* The same of one device (0, 1, ...): what has come to it from the host and from other devices, and
 * what it has sent to the host; plans are not counted. Copies count when they are carried out: read
 * it when calls are complete. */
TSR_API tsr_status tsr_device_traffic(tsr_context *context, int device, tsr_traffic *traffic);

/* *joules: the energy that the card of a device (0, 1, ...) has used since its driver was loaded,
 * by the card's own counter, which other programs' work counts in, too; its steps are of some 20 to
 * 100 ms. The difference of two readings, when the calls between are complete, is what they used.
 * TSR_ERR_UNSUPPORTED: no counter can be read (emulated devices, AMD GPUs, GPUs before Volta). */
TSR_API tsr_status tsr_device_energy(tsr_context *context, int device, double *joules);

/* *complete is 1 when the calls between two events of the context are complete, else 0. Calls
 * before `from` may still be under way, since calls that do not depend on each other overlap.
 * TSR_ERR_ARGUMENT: an event was not recorded in this context. */
TSR_API tsr_status tsr_event_query_between(tsr_context *context, const tsr_event *from,
                                           const tsr_event *to, int *complete);

/* ---- Parts of emulated products ------------------------------------------- */

/* How a product is computed. */
enum { TSR_ARITHMETIC_TEXT = 40 };
typedef struct tsr_emulation_way {
  const struct tsr_arithmetic *products; /* how they are emulated; NULL: products are native, and
                                            accuracy and judged are 0 */
  int faster;      /* 1: emulated only where that is predicted to be faster (auto) */
  double accuracy; /* the error as a part of |A||B| that was asked for; 0: what products promise */
  int64_t judged;  /* if results are to be reproducible: the extent [elements] of the squares of C,
                      from its first element on, of which each is emulated or computed natively;
                      else 0 */
  char arithmetic[TSR_ARITHMETIC_TEXT]; /* what is set for the context, for tsr_level3.arithmetic */
} tsr_emulation_way;

/* How the context computes a gemm whose C is m x n and whose sums have k products. Which way is
 * faster is not asked. plan: 1: a context of the CPU's BLAS answers for the machine that it
 * describes; 0: for itself, natively. */
TSR_API tsr_status tsr_emulation_find(tsr_context *context, tsr_type type, int64_t m, int64_t n,
                                      int64_t k, int plan, tsr_emulation_way *how);

/* *seconds: the predicted time of a part of that gemm with whole rows of op(A) and whole columns of
 * op(B), all in pageable memory. The plan is kept; processes whose contexts make the same plans get
 * the same number. TSR_ERR_MEMORY: the budgets are too small. */
TSR_API tsr_status tsr_emulation_predict(tsr_context *context, const tsr_emulation_way *how,
                                         const tsr_level3 *what, const void *alpha,
                                         const void *beta, double *seconds);

/* Carries out a part of that gemm, as tsr_level3_run, with whole rows of op(A) and whole columns of
 * op(B), and rounds it as the gemm does. If results are to be reproducible, the part has to begin
 * where one of the squares does, and has whole squares, but for those that end with C. */
TSR_API tsr_status tsr_emulation_run(tsr_context *context, const tsr_emulation_way *how,
                                     const tsr_level3 *what, const void *alpha, const void *a,
                                     const void *b, const void *beta, void *c);

/* Plans such a part and does not run it. TSR_ERR_MEMORY: the budgets are too small. */
TSR_API tsr_status tsr_emulation_plan(tsr_context *context, const tsr_emulation_way *how,
                                      const tsr_level3 *what, const void *alpha, const void *a,
                                      const void *b, const void *beta, void *c);

/* ---- Settings ------------------------------------------------------------- */

/* The table of settings, for help texts; an entry whose name is NULL ends it. */
typedef struct tsr_setting {
  const char *name;    /* environment variable */
  const char *values;  /* what it may hold */
  const char *initial; /* default */
  const char *help;
} tsr_setting;

/* A constant of the library's. */
TSR_API const tsr_setting *tsr_settings(void);

/* A variable TESSERA_... of the environment that is no setting, so that it has no effect; index:
 * from 0. 1: its name is in name[room] (longer ones are passed over), and *meant (may be NULL) is
 * the setting that it was probably meant to be, or NULL. 0: there are no more. */
enum { TSR_SETTING_NAME = 64 };
TSR_API int tsr_setting_unknown(int index, char *name, size_t room, const char **meant);

/* The word of a list, which NULL ends, that is nearest to a misspelt one; NULL: none is near. */
TSR_API const char *tsr_word_nearest(const char *word, const char *const *words);

/* NULL: the library can read all settings and the machine that TESSERA_MACHINE names; else the
 * message that a context, or a program with our BLAS, would get: valid as that of tsr_message is.
 */
TSR_API const char *tsr_settings_error(void);

/* ---- What there is to work with: for tessera doctor ----------------------- */

typedef struct tsr_blas_facts {
  char file[512];    /* path of the CPU's BLAS */
  char version[128]; /* "OpenBLAS 0.3.21"; "": it does not say */
  int threads;       /* of one call; 0: it does not say */
} tsr_blas_facts;

/* Loads the CPU's BLAS. TSR_ERR_ENGINE, TSR_ERR_MEMORY: as of tsr_context_create. */
TSR_API tsr_status tsr_blas_describe(tsr_blas_facts *facts);

typedef struct tsr_engine_facts {
  int devices;
  char name[64]; /* of the first device */
  size_t memory; /* of the first device, bytes */
  int peers;     /* 1: each device copies to each other directly */
} tsr_engine_facts;

/* Opens all devices of an engine ("cuda", "hip" or "host") for a moment. TSR_ERR_ENGINE: as of
 * tsr_context_create. */
TSR_API tsr_status tsr_engine_describe(const char *engine, tsr_engine_facts *facts);

enum { TSR_DEVICES_FACTS_MOST = 32 };

typedef struct tsr_devices_facts {
  int devices;                               /* 0: the CPU's BLAS does the work */
  int number[TSR_DEVICES_FACTS_MOST];        /* of each, as tsr_options has it */
  char identity[TSR_DEVICES_FACTS_MOST][64]; /* the same to each process that sees the device */
} tsr_devices_facts;

/* Which devices a context with these options (NULL: all default) would have; none is opened. The
 * errors are those of tsr_context_create. */
TSR_API tsr_status tsr_devices_describe(const tsr_options *options, tsr_devices_facts *facts);

enum { TSR_TOPOLOGY_FACTS_NODES = 8, TSR_TOPOLOGY_FACTS_DEVICES = 32 };

typedef struct tsr_topology_facts {
  char source[160]; /* "hwloc 2.8"; if nodes is 0: why the topology is unknown */
  int here;         /* 1: it is this computer's, not one that a variable of hwloc's names */
  int nodes;        /* host memory nodes with CPUs; 0: unknown, or more than 8 */
  int number[TSR_TOPOLOGY_FACTS_NODES];    /* of each, as the operating system counts */
  int cpus[TSR_TOPOLOGY_FACTS_NODES];      /* CPUs of each */
  int allowed[TSR_TOPOLOGY_FACTS_NODES];   /* of these, those that the calling thread may use */
  double memory[TSR_TOPOLOGY_FACTS_NODES]; /* bytes; 0: unknown */
  int devices;                             /* of the engine */
  int near[TSR_TOPOLOGY_FACTS_DEVICES];    /* index of the node near each; -1: unknown */
  int binds;                               /* 1: threads run near their devices (TESSERA_BIND) */
} tsr_topology_facts;

/* The topology of this computer and which node is near each device of an engine, whose devices it
 * opens for a moment ("cuda", "hip"; NULL: no engine). TSR_ERR_ENGINE: as of tsr_context_create. */
TSR_API tsr_status tsr_topology_describe(const char *engine, tsr_topology_facts *facts);

/* Has pages that the calling thread, and threads that it starts later, touch first alternate
 * between the host memory nodes. Returns the number of nodes; 0: there is one, or TESSERA_BIND is
 * 0, or whoever started the thread has chosen where its memory comes from (numactl), or the system
 * refuses. */
TSR_API int tsr_memory_interleave(void);

typedef struct tsr_kept_facts {
  char path[512]; /* the file in which the measurement of this computer is kept; the folder for it,
                     which ends in a slash, if there is none */
  int devices;    /* how many it is of; 0: there is no measurement */
} tsr_kept_facts;

/* The measurement of this computer with the most devices, one of which has that name. TSR_ERR_IO:
 * there is no folder for it, and none can be made. TSR_ERR_MACHINE: the file makes no sense. */
TSR_API tsr_status tsr_kept_describe(const char *device, tsr_kept_facts *facts);

/* A limit that the process works under. */
typedef struct tsr_process_limit {
  double most;    /* HUGE_VAL: there is none, or it is unknown */
  char from[256]; /* where it was found: a file, a variable of the environment, "ulimit -l" */
} tsr_process_limit;

/* The lowest limits of the machine, of the control groups of a container, of Slurm's variables, of
 * the affinity mask and of setrlimit. */
typedef struct tsr_process_limits {
  tsr_process_limit memory;    /* bytes of host memory, which other processes may share */
  tsr_process_limit unused;    /* bytes of it that nothing uses now */
  tsr_process_limit cores;     /* processors' time, which a quota may limit to a fraction */
  tsr_process_limit locked;    /* bytes that mlock may lock */
  tsr_process_limit addresses; /* bytes of the address space */
  tsr_process_limit data;      /* bytes of memory that can be written */
  tsr_process_limit shared;    /* bytes that can be written to /dev/shm now */
} tsr_process_limits;

TSR_API void tsr_process_limits_describe(tsr_process_limits *limits);

/* The machines that are installed with the library; index: from 0. 1: its name is in name[room].
 * 0: there are no more. */
TSR_API int tsr_machine_installed(int index, char *name, size_t room);

/* ---- Hooks for tests ------------------------------------------------------ */

/* The nth host allocation of the library from now on fails, in any thread (1: the next; 0: none).
 * Returns how many allocations were made to fail since the last call of either function. */
TSR_API long tsr_alloc_fail_at(long n);

/* The same, and all allocations after the nth fail, too. */
TSR_API long tsr_alloc_fail_from(long n);

/* The emulated devices of contexts that are made later delay their queues at random, drawn from the
 * seed; 0: they do not. Holds for the process. */
TSR_API void tsr_host_delay(uint64_t seed);

/* Slows the emulated devices of contexts that are made later: kernels on device d do at most
 * pace[d] flop/s (an operation of complex numbers counts as its real ones; 0: as many as the CPU's
 * BLAS does), for d below count; devices from count on are not slowed. A pace that is well below
 * what the CPU does holds whatever else the computer does, so that devices are unlike by known
 * ratios. tsr_machine_probe measures it; without that, plans take the devices to be alike. count: 0
 * to 32; beyond 32 nothing is read. pace may be NULL if count is 0. Holds for the process. */
TSR_API void tsr_host_pace(const double *pace, int count);

#ifdef __cplusplus
}
#endif

#endif
