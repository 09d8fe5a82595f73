/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Functions of libtessera_mpi for benchmarks, studies and tests, beside tessera_mpi.h. Like
 * tessera_model.h, this header promises nothing.
 */
#ifndef TESSERA_MPI_MODEL_H
#define TESSERA_MPI_MODEL_H

#include "tessera_model.h"
#include "tessera_mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Grids that are only planned for --------------------------------------- */

/* A grid without processes, of those that the context's machine describes, for plans alone: MPI is
 * not used, and need not be there. A call that would need processes is refused. */
TSR_API tsr_status tsr_grid_imagine(tsr_context *context, int rows, int cols, tsr_grid **grid);

/* What plans take the network to be, in place of what the machines say: bytes/s that a process
 * sends and, at the same time, receives, more than 0; s of a message, 0 or more. Collective. */
TSR_API tsr_status tsr_grid_set_network(tsr_grid *grid, double bandwidth, double latency);

/* What plans of an imagined grid take panels to travel by: 0: MPI, through host memory; else from
 * device to device, as by NCCL, coming from a process's host memory to the memory of its first
 * device at so many bytes/s, or as the machine says where runs are shorter than 128 KB and slower.
 * down: bytes/s at which a process brings what it has of C to its host memory while all others do
 * so, 0: as the machine says. A grid of processes has the transport it
 * has (tsr_grid_transport), whose rates were measured when it was made. */
TSR_API tsr_status tsr_grid_imagine_transport(tsr_grid *grid, double up, double down);

/* ---- The launcher ---------------------------------------------------------- */

/* The MPI that this process uses, and the launcher (mpirun, srun) that started it. */
typedef struct tsr_launcher_facts {
  char mpi[64];         /* the MPI that the program uses: "Open MPI 4.1.4" */
  const char *launcher; /* "srun", "Open MPI's mpirun"; "": none. A constant of the library's */
  int started;          /* processes that the launcher started together; 0: no launcher */
  int rank;             /* this one's number among them, as the launcher counts, from 0 */
  char error[512];      /* if the process is alone in MPI_COMM_WORLD although the launcher started
                           several, each of which would do all of the work: the error and its
                           remedy; else "" */
} tsr_launcher_facts;

/* Fills in *facts from MPI's name, the environment and, once MPI is initialised, the size of
 * MPI_COMM_WORLD. A process that MPI_Comm_spawn started is no error. */
TSR_API void tsr_launcher_describe(tsr_launcher_facts *facts);

/* ---- Forced decisions ----------------------------------------------------- */

/* How products go about k: depth, the extent of a panel in k (elements; 0: by the model), and
 * lookahead, how many panels are on their way while one is multiplied (1 .. 16; 0: by the model). A
 * process has lookahead + 1 panels of the rows of op(A) and columns of op(B) of a block of C, or
 * more where there is memory for it, so that none is sent again; the grid keeps their memory until
 * it is destroyed. The words, here and for blocks, are
 * those of Herault et al., "Generic matrix multiplication for multi-GPU accelerated
 * distributed-memory platforms over PaRSEC". Collective. */
TSR_API tsr_status tsr_grid_set_panels(tsr_grid *grid, int64_t depth, int lookahead);

/* Into which blocks each process's part of C is cut, in its own rows and columns: for each block
 * all of k is swept, and what it needs of A and B is sent again. 0: as large as the devices have
 * room for. Collective. */
TSR_API tsr_status tsr_grid_set_blocks(tsr_grid *grid, int64_t rows, int64_t cols);

/* The rule by which depth, lookahead and blocks are chosen where the program does not set them. */
typedef enum tsr_cut_rule {
  TSR_CUT_MODEL = 0, /* the model: schedules are replayed, and the fastest is taken */
  TSR_CUT_PARSEC /* the rules of Herault et al., section III-B3: a block is all of a process's part
                    of C if that takes at most three quarters of its devices' memory, else an
                    even, about square part of it; a panel is as deep as fits beside the block;
                    lookahead 1 for one block, 2 for several. Blocks and panels are whole blocks
                    of the distribution, the paper's tiles */
} tsr_cut_rule;

/* Sets the rule for later products. A lookahead that is set replaces the paper's.
 * TSR_ERR_ARGUMENT: no such rule, or depth or blocks are set beside TSR_CUT_PARSEC. Collective. */
TSR_API tsr_status tsr_grid_set_cut(tsr_grid *grid, tsr_cut_rule rule);

/* ---- Counts ---------------------------------------------------------------- */

/* Bytes that one process has moved. */
typedef struct tsr_ptraffic {
  double from_host;      /* to its devices from host memory */
  double from_peers;     /* to its devices from others of them */
  double to_host;        /* from its devices to host memory */
  double received, sent; /* over the network: panels, and matrices that were redistributed. A panel
                            that goes to several processes is sent once, by the process that owns
                            it; how it reaches them is up to MPI or NCCL */
} tsr_ptraffic;

/* Fills in what this process has moved since its context was made, and over the network since the
 * grid was: *counted as copies and messages were complete, *planned as the plans of all calls have
 * it. Read it when calls are complete: between two readings, the differences are equal unless a
 * call failed. All calls of the context count; relays of panels among the process's own devices do
 * not. Either output may be NULL. Not collective. TSR_ERR_ARGUMENT: the grid has no processes. */
TSR_API tsr_status tsr_grid_traffic(tsr_grid *grid, tsr_ptraffic *counted, tsr_ptraffic *planned);

/* ---- Plans ---------------------------------------------------------------- */

typedef struct tsr_pprediction {
  double seconds;                 /* predicted */
  double kernels;                 /* s for which the devices of a process compute, */
  double fill;                    /* until they begin, */
  double starved;                 /* and wait for panels, */
  double changing;                /* or for blocks of C to go and come */
  double received, sent;          /* bytes over the network, of one process */
  int64_t block_rows, block_cols; /* of C, of a process's own: of the first block, */
  int64_t later_rows, later_cols; /* and of the blocks below it, and beside it: no more */
  int blocks_down, blocks_across; /* how many of them */
  int together;                   /* 1: two of them have room on the devices at once */
  int64_t depth;                  /* of the deepest panel */
  int lookahead;
  int64_t panels, products, steps;
  int moves_a, moves_b; /* 1: redistributed first */
  int held[2];          /* panels of A, and of B, that a process has room for, */
  size_t slots;         /* and their bytes: of host memory, or its first device's */
  int moduli;    /* emulated with so many: whole rows of op(A) and columns of op(B) go to each
                    process before one product, whose panel is all of k; 0: natively */
  double native; /* s that panels are predicted to take, which are multiplied natively */
} tsr_pprediction;

/* What the planner knows of a plan. Not collective. */
TSR_API tsr_status tsr_pplan_predict(const tsr_pplan *plan, tsr_pprediction *prediction);

#ifdef __cplusplus
}
#endif

#endif
