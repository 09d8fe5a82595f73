/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tessera across processes: products of matrices that are distributed over a grid of MPI processes,
 * each with devices of its own. Library: libtessera_mpi, over libtessera.
 *
 * Conventions, beside those of tessera.h
 *   - What is marked collective is called by all processes of the grid, in the same order and with
 *     the same arguments but for what is said to be the process's own. It returns the same status
 *     everywhere: when a process fails, or the arguments differ, every process gets the status of
 *     the first one that failed (by rank), and tsr_message() names that process and its cause. None
 *     hangs, as long as all make the call.
 *   - MPI must have been initialised before and must not be finalised until the grid is destroyed.
 *   - A grid has communicators of its own, so its messages never meet the program's. With
 *     MPI_THREAD_MULTIPLE a thread of the grid carries asynchronous calls on. Without it the
 *     calling thread does all of MPI's work: MPI_THREAD_FUNNELED is enough, and asynchronous
 *     calls go on inside the grid's functions only.
 *   - When a process dies, what happens to the others is up to MPI.
 *   - Indices begin with 0. Extents are in elements.
 */
#ifndef TESSERA_MPI_H
#define TESSERA_MPI_H

#include <mpi.h>

#include "tessera.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Contexts ------------------------------------------------------------- */

/* Makes a context for each process, with a share of the devices that options (NULL: all default)
 * name on its node: devices that the same processes see are divided among these in order, as evenly
 * as can be. Processes may see different devices (one each under Slurm's --gpus-per-task): a device
 * is known by its identity, whatever its number. When there are more processes than devices,
 * several processes have the same device: *sharing (may be NULL) is the most that have one of this
 * process's, 1 when its devices are its own. The first of the processes that see the same devices
 * opens all of them for a moment. tsr_context_destroy ends the context. Collective
 * over comm; the errors are those of tsr_context_create, the same everywhere. */
TSR_API tsr_status tsr_context_create_dealt(MPI_Comm comm, const tsr_options *options,
                                            tsr_context **context, int *sharing);

/* ---- Grid ----------------------------------------------------------------- */

/* Processes as rows x cols, numbered row by row as they are in their communicator. One thread at a
 * time uses a grid. */
typedef struct tsr_grid tsr_grid;

/* Makes a grid of all processes of comm; tsr_grid_destroy ends it. rows = cols = 0: the model
 * chooses both, for square products; one of them 0: the number of processes divided by the other.
 * context is this process's own; it does the local products and must live until the grid is
 * destroyed. Collective over comm.
 * TSR_ERR_ARGUMENT: rows x cols is not the number of processes, or MPI is not initialised.
 * TSR_ERR_UNSUPPORTED: the transport that TESSERA_TRANSPORT asks for cannot be used; or a launcher
 * of another MPI started several processes, each of which is alone in MPI_COMM_WORLD. A process
 * that is meant to be alone says so by MPI_COMM_SELF or by rows = cols = 1. */
TSR_API tsr_status tsr_grid_create(tsr_context *context, MPI_Comm comm, int rows, int cols,
                                   tsr_grid **grid);

/* Fills in the shape of a grid of so many processes on which an m x n x k product is predicted to
 * take the least time. Of shapes that take about as long it is the one nearest to a square, with no
 * more rows than columns. Not collective: processes whose contexts make the same plans get the same
 * shape. TSR_ERR_ARGUMENT: processes is less than 1, an extent is negative, or no such type. */
TSR_API tsr_status tsr_grid_suggest(tsr_context *context, int processes, tsr_type type, int64_t m,
                                    int64_t n, int64_t k, int *rows, int *cols);

/* Waits for the grid's asynchronous products, then gives back its memory and communicators. NULL is
 * accepted. Collective, before MPI_Finalize. */
TSR_API void tsr_grid_destroy(tsr_grid *grid);

/* Fills in the grid's extents and this process's row and column, from 0 on. Any pointer to an
 * output may be NULL. Not collective. */
TSR_API tsr_status tsr_grid_place(const tsr_grid *grid, int *rows, int *cols, int *row, int *col);

/* How the grid's panels travel: "mpi", through host memory, or "nccl", from device to device. NCCL
 * is taken when each process has a CUDA device of its own, unless TESSERA_TRANSPORT says otherwise
 * (docs/explain/cluster.md). "" for a grid without processes, and for NULL. A constant. Not
 * collective. */
TSR_API const char *tsr_grid_transport(const tsr_grid *grid);

/* Waits until all asynchronous products of the grid are complete, and for the grid's contexts as
 * tsr_sync does. Returns the first error of any of them since the last tsr_grid_sync; C of what
 * failed is undefined. Collective. */
TSR_API tsr_status tsr_grid_sync(tsr_grid *grid);

/* ---- Distributed matrices ------------------------------------------------- */

/*
 * An m x n matrix in blocks of mb x nb, dealt in turn to the rows and columns of a grid, beginning
 * at process (row_source, col_source): ScaLAPACK's 2D block-cyclic layout. The first block may have
 * other extents than the rest (imb, inb), as in its descriptors of type 2.
 *
 * Blocks of any extents: row_ends lists where the blocks of rows end, col_ends those of columns.
 * Block b goes from entry b - 1 (0 for the first) to below entry b, has at least one index, and
 * belongs to the process that has block b in the regular layout; the last entry is the extent.
 * Every function takes such matrices, also beside regular ones.
 *
 * Programs with storage of their own fill this in; tsr_pmatrix_create does it for the others. ld
 * and data are each process's own, the rest is the same everywhere. Storage is in host memory and
 * column-major: the rows and columns that the process owns, in order (tsr_pmatrix_extents tells how
 * many).
 */
typedef struct tsr_pmatrix {
  tsr_grid *grid;
  tsr_type type;              /* TSR_S, TSR_D, TSR_C, TSR_Z, TSR_H or TSR_B */
  int64_t m, n;               /* extents of the whole matrix */
  int64_t mb, nb;             /* of a block, at least 1 */
  int64_t imb, inb;           /* of the first block; 0: as the others */
  int row_source, col_source; /* who has the first block */
  int64_t ld;                 /* leading dimension here, at least 1 and the number of rows here */
  void *data;                 /* the part here; may be NULL when that is empty */
  const int64_t *row_ends, *col_ends; /* blocks of any extents, for rows and for columns; NULL:
                                         blocks of mb, of nb, which are not looked at otherwise.
                                         The lists must stay as they are until asynchronous
                                         products are complete and plans are destroyed */
  int64_t row_blocks, col_blocks;     /* entries of the lists */
} tsr_pmatrix;

/* Fills in how many rows and columns of the matrix this process has (ScaLAPACK's NUMROC); ld and
 * data are not looked at. Either output may be NULL. Not collective. TSR_ERR_ARGUMENT names the
 * field that is wrong. */
TSR_API tsr_status tsr_pmatrix_extents(const tsr_pmatrix *matrix, int64_t *rows, int64_t *cols);

/* Fills in *matrix, with first blocks like the others, the least ld, and storage of its own, which
 * is pinned when the context has devices; tsr_pmatrix_destroy gives it back. The elements are not
 * set. Collective. TSR_ERR_ARGUMENT: an extent, a block, the source or the type is wrong.
 * TSR_ERR_MEMORY: there is not so much memory. */
TSR_API tsr_status tsr_pmatrix_create(tsr_grid *grid, tsr_type type, int64_t m, int64_t n,
                                      int64_t mb, int64_t nb, int row_source, int col_source,
                                      tsr_pmatrix *matrix);

/* The same in blocks of any extents: row_ends has row_blocks entries, col_ends col_blocks, whose
 * last ones are the extents of the matrix. The lists are copied. Collective; tsr_pmatrix_destroy
 * gives the matrix back. TSR_ERR_ARGUMENT: a list does not increase, the source or the type is
 * wrong. TSR_ERR_MEMORY: there is not so much memory. */
TSR_API tsr_status tsr_pmatrix_create_irregular(tsr_grid *grid, tsr_type type, int64_t row_blocks,
                                                const int64_t *row_ends, int64_t col_blocks,
                                                const int64_t *col_ends, int row_source,
                                                int col_source, tsr_pmatrix *matrix);

/* Frees what tsr_pmatrix_create or tsr_pmatrix_create_irregular made, before the grid is destroyed.
 * Not collective. */
TSR_API void tsr_pmatrix_destroy(tsr_pmatrix *matrix);

/* to = op(from), for the m x n part of `to` at (ib, jb) and the part of `from` at (ia, ja), which
 * is m x n, or n x m when op transposes. The layouts may differ in everything but the grid and the
 * type; the parts must not overlap. A process has at most 16 MiB of messages under way. Collective.
 * TSR_ERR_ARGUMENT, TSR_ERR_MEMORY: nothing is touched. */
TSR_API tsr_status tsr_redistribute(tsr_grid *grid, tsr_op op, int64_t m, int64_t n,
                                    const tsr_pmatrix *from, int64_t ia, int64_t ja,
                                    const tsr_pmatrix *to, int64_t ib, int64_t jb);

/* Copies an ordinary column-major matrix at process (row, col) to a distributed one of the same
 * extents, and back. full and its leading dimension ld are looked at in that process only.
 * Collective. Errors are those of tsr_redistribute. */
TSR_API tsr_status tsr_scatter(tsr_grid *grid, int row, int col, const void *full, int64_t ld,
                               const tsr_pmatrix *to);
TSR_API tsr_status tsr_gather(tsr_grid *grid, int row, int col, const tsr_pmatrix *from, void *full,
                              int64_t ld);

/* ---- Products ------------------------------------------------------------- */

/*
 * sub(C) = alpha op(sub(A)) op(sub(B)) + beta sub(C), where sub(C) is the m x n part of c at
 * (ic, jc); op(sub(A)) is m x k, and sub(A) begins at (ia, ja) of a; op(sub(B)) is k x n, and
 * sub(B) begins at (ib, jb) of b. The layouts need not match. alpha and beta point to a value of
 * the type (for TSR_H and TSR_B: to a float).
 *
 * TSR_H and TSR_B: sums within a panel of k are fp32, and C is rounded to its type after each
 * panel. Deeper panels (tsr_grid_set_panels) round less often.
 *
 * Local products have the arithmetic that is set for the grid's contexts when the call is made,
 * also when it is asynchronous: tsr_options.arithmetic, docs/explain/arithmetic.md.
 *
 * alpha = 0 or k = 0: A and B are not read. beta = 0: C is not read (it may hold NaN). Of A, B and
 * C nothing outside of the parts is read or written. sub(C) must not overlap sub(A) or sub(B)
 * on any process, unless they are not read.
 *
 * SUMMA (van de Geijn and Watts 1997): C stays where it is; panels of A and B are sent along the
 * rows and columns of the grid, ahead of the products, which the devices do. Where op is a
 * transposition, or the rows of A or the columns of B are dealt otherwise than C's, that matrix is
 * redistributed first, into memory of the process's share of it. Over one process this is tsr_gemm.
 *
 * Blocking and collective: takes the data as it is, also from asynchronous calls on the grid's
 * contexts, returns when C is complete, and leaves nothing on the devices. Waits for those contexts
 * as tsr_sync does, and tells their errors.
 * Errors: TSR_ERR_ARGUMENT and TSR_ERR_MEMORY before the first message (nothing is touched);
 * TSR_ERR_UNSUPPORTED, also before it: results are to be reproducible (tsr_options.reproducible of
 * any process), but the product is native and the grid has several processes, so that its bits
 * would depend on the grid: make it emulated (tsr_options.arithmetic); whatever a local product
 * says (C is undefined), but that what its devices have no memory for the CPU's BLAS does, unless
 * results are to be reproducible: that is refused before the first message; TSR_ERR_INTERNAL with
 * MPI's message where MPI fails.
 */
TSR_API tsr_status tsr_pgemm(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m, int64_t n,
                             int64_t k, const void *alpha, const tsr_pmatrix *a, int64_t ia,
                             int64_t ja, const tsr_pmatrix *b, int64_t ib, int64_t jb,
                             const void *beta, const tsr_pmatrix *c, int64_t ic, int64_t jc);

/* The same, returning when all processes have found that they can do it and have entered it; the
 * messages and products of a grid's calls are made one call after the other. alpha, beta and the
 * descriptions of the matrices are copied; the storage must stay as it is until tsr_grid_sync,
 * which tells what went wrong. Other functions of the grid wait for what was entered before.
 * Errors: TSR_ERR_ARGUMENT, TSR_ERR_MEMORY and TSR_ERR_UNSUPPORTED (nothing is touched). */
TSR_API tsr_status tsr_pgemm_async(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m,
                                   int64_t n, int64_t k, const void *alpha, const tsr_pmatrix *a,
                                   int64_t ia, int64_t ja, const tsr_pmatrix *b, int64_t ib,
                                   int64_t jb, const void *beta, const tsr_pmatrix *c, int64_t ic,
                                   int64_t jc);

/* ---- Timelines ------------------------------------------------------------ */

/* Begins a timeline: each process keeps the times of its devices' commands, as tsr_timeline_begin
 * does, and of its messages. Collective. */
TSR_API tsr_status tsr_grid_timeline_begin(tsr_grid *grid);

/* Waits for the grid's asynchronous products, then ends the timeline and gives it, of all processes
 * as one text in Trace Event Format (Perfetto), to process (row, col), which gives *text back with
 * free; in other processes *text is NULL. Time 0 is when all processes had begun. Collective.
 * TSR_ERR_ARGUMENT: no timeline was begun, or no such process. */
TSR_API tsr_status tsr_grid_timeline_end(tsr_grid *grid, int row, int col, char **text);

/* ---- Plans ---------------------------------------------------------------- */

/* How a product would be done, and how long it would take: what tsr_pgemm does with the same
 * arguments, but that products on devices are planned, where a short call would take a formula. */
typedef struct tsr_pplan tsr_pplan;

/* Makes the plan of a product; tsr_pplan_destroy ends it. The matrices need no storage. Not
 * collective. TSR_ERR_ARGUMENT: an argument that tsr_pgemm refuses; alpha = 0 or k = 0, where
 * nothing is multiplied; or a grid of one process, where tsr_plan_gemm makes the plan.
 * TSR_ERR_UNSUPPORTED: as tsr_pgemm. */
TSR_API tsr_status tsr_pgemm_plan(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m,
                                  int64_t n, int64_t k, const void *alpha, const tsr_pmatrix *a,
                                  int64_t ia, int64_t ja, const tsr_pmatrix *b, int64_t ib,
                                  int64_t jb, const void *beta, const tsr_pmatrix *c, int64_t ic,
                                  int64_t jc, tsr_pplan **plan);

/* Prints a plan as TSR_TEXT, TSR_JSON, TSR_COMMANDS (every step), TSR_TIMELINE_JSON (Trace Event
 * Format, of one process that stands for all) or TSR_VERDICT: a sentence that says what binds. The
 * JSON has it as "verdict", with text, seconds, rate, limit and busy as in plans of one process
 * (tessera.h). TSR_ERR_ARGUMENT: another format. */
TSR_API tsr_status tsr_pplan_print(const tsr_pplan *plan, tsr_format format, char **text);

/* Ends a plan; NULL is accepted. A plan is used while its grid lives. Not collective. */
TSR_API void tsr_pplan_destroy(tsr_pplan *plan);

#ifdef __cplusplus
}
#endif

#endif
