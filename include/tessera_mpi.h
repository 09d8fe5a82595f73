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
 * A grid has communicators of its own: the program's messages are not met. With MPI_THREAD_MULTIPLE
 * asynchronous calls go on in a thread of the grid's; without it the thread that calls does all of
 * MPI's work, MPI_THREAD_FUNNELED is enough, and asynchronous calls go on inside the grid's
 * functions only.
 *   - Processes fail together, but the death of one is MPI's business.
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
 * name on its node: the processes of comm that share a node's memory get them in turn, side by
 * side. Where there are more processes than devices several have the same one: *sharing (may be
 * NULL) is how many processes have this one's devices, 1 where they are its own. The first process
 * of each node opens all of them for a moment. Collective over comm; errors are the same
 * everywhere. */
TSR_API tsr_status tsr_context_create_dealt(MPI_Comm comm, const tsr_options *options,
                                            tsr_context **context, int *sharing);

/* ---- Grid ----------------------------------------------------------------- */

/* Processes as rows x cols, numbered row by row as they are in their communicator. One thread at a
 * time uses a grid. */
typedef struct tsr_grid tsr_grid;

/* Makes a grid of all processes of comm. rows = cols = 0: by the model, for square products; one of
 * them 0: what goes with the other. context is this process's own;
 * it does the local products and must live until the grid is destroyed. Collective over comm.
 * TSR_ERR_ARGUMENT: rows x cols is not the number of processes, or MPI is not initialised.
 * TSR_ERR_UNSUPPORTED: the transport that TESSERA_TRANSPORT asks for cannot be used. */
TSR_API tsr_status tsr_grid_create(tsr_context *context, MPI_Comm comm, int rows, int cols,
                                   tsr_grid **grid);

/* The shape on which a product is predicted to take least; of those that take about as long the one
 * nearest to a square, with no more rows than columns. Not collective: processes with contexts that
 * plan alike get the same. */
TSR_API tsr_status tsr_grid_suggest(tsr_context *context, int processes, tsr_type type, int64_t m,
                                    int64_t n, int64_t k, int *rows, int *cols);

/* Collective, and before MPI_Finalize; NULL is accepted. */
TSR_API void tsr_grid_destroy(tsr_grid *grid);

/* The grid's extents, and where this process is. Any pointer may be NULL. Not collective. */
TSR_API tsr_status tsr_grid_place(const tsr_grid *grid, int *rows, int *cols, int *row, int *col);

/* How panels travel: "mpi", through host memory, or "nccl", from device to device: where each
 * process has a CUDA device of its own, unless TESSERA_TRANSPORT says otherwise
 * (docs/distributed.md). "" for a grid without processes. Not collective. */
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
 * Programs with storage of their own fill this in; tsr_pmatrix_create does it for the others. ld
 * and data are each process's own, the rest is the same everywhere. Storage is in host memory and
 * column-major: the rows and columns that the process owns, in order (tsr_pmatrix_extents tells how
 * many).
 */
typedef struct tsr_pmatrix {
  tsr_grid *grid;
  tsr_type type;              /* TSR_S, TSR_D, TSR_C or TSR_Z */
  int64_t m, n;               /* extents of the whole matrix */
  int64_t mb, nb;             /* of a block, at least 1 */
  int64_t imb, inb;           /* of the first block; 0: as the others */
  int row_source, col_source; /* who has the first block */
  int64_t ld;                 /* leading dimension here, at least 1 and the number of rows here */
  void *data;                 /* the part here; may be NULL when that is empty */
} tsr_pmatrix;

/* How many rows and columns of the matrix are here (ScaLAPACK's NUMROC); ld and data do not count.
 * Either pointer may be NULL. Not collective. TSR_ERR_ARGUMENT names the field that is wrong. */
TSR_API tsr_status tsr_pmatrix_extents(const tsr_pmatrix *matrix, int64_t *rows, int64_t *cols);

/* Fills in *matrix, with first blocks like the others, the least ld, and storage in pinned memory
 * where the context has devices. The elements are not set. Collective.
 * TSR_ERR_ARGUMENT, TSR_ERR_MEMORY. */
TSR_API tsr_status tsr_pmatrix_create(tsr_grid *grid, tsr_type type, int64_t m, int64_t n,
                                      int64_t mb, int64_t nb, int row_source, int col_source,
                                      tsr_pmatrix *matrix);

/* Frees what tsr_pmatrix_create made, before the grid is destroyed. Not collective. */
TSR_API void tsr_pmatrix_destroy(tsr_pmatrix *matrix);

/* Copies the m x n sub-matrix of from at (ia, ja) to that of to at (ib, jb): op(from) with the
 * extents of to. The layouts may differ in everything but the grid and the type; the sub-matrices
 * must not overlap. Moves at most 16 MiB a process at a time. Collective.
 * TSR_ERR_ARGUMENT, TSR_ERR_MEMORY: nothing is touched. */
TSR_API tsr_status tsr_redistribute(tsr_grid *grid, tsr_op op, int64_t m, int64_t n,
                                    const tsr_pmatrix *from, int64_t ia, int64_t ja,
                                    const tsr_pmatrix *to, int64_t ib, int64_t jb);

/* From an ordinary column-major matrix at process (row, col) to a distributed one, and back. full
 * and ld count only there; full has the extents of the matrix. Collective. Errors as above. */
TSR_API tsr_status tsr_scatter(tsr_grid *grid, int row, int col, const void *full, int64_t ld,
                               const tsr_pmatrix *to);
TSR_API tsr_status tsr_gather(tsr_grid *grid, int row, int col, const tsr_pmatrix *from, void *full,
                              int64_t ld);

/* ---- Products ------------------------------------------------------------- */

/*
 * sub(C) = alpha op(sub(A)) op(sub(B)) + beta sub(C), where sub(C) is the m x n part of c at
 * (ic, jc); op(sub(A)) is m x k, and sub(A) begins at (ia, ja) of a; op(sub(B)) is k x n, and
 * sub(B) begins at (ib, jb) of b. The layouts need not match. alpha and beta point to a value of
 * the type.
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
 * whatever a local product says (C is undefined), but that what its devices have no memory for the
 * CPU's BLAS does, unless results are to be reproducible: that is refused before the first message;
 * TSR_ERR_INTERNAL with MPI's message where MPI fails.
 */
TSR_API tsr_status tsr_pgemm(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m, int64_t n,
                             int64_t k, const void *alpha, const tsr_pmatrix *a, int64_t ia,
                             int64_t ja, const tsr_pmatrix *b, int64_t ib, int64_t jb,
                             const void *beta, const tsr_pmatrix *c, int64_t ic, int64_t jc);

/* The same, returning when all processes have found that they can do it and have entered it; the
 * messages and products of a grid's calls are made one call after the other. alpha, beta and the
 * descriptions of the matrices are copied; the storage must stay as it is until tsr_grid_sync,
 * which tells what went wrong. Other functions of the grid wait for what was entered before.
 * Errors: TSR_ERR_ARGUMENT and TSR_ERR_MEMORY (nothing is touched). */
TSR_API tsr_status tsr_pgemm_async(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m,
                                   int64_t n, int64_t k, const void *alpha, const tsr_pmatrix *a,
                                   int64_t ia, int64_t ja, const tsr_pmatrix *b, int64_t ib,
                                   int64_t jb, const void *beta, const tsr_pmatrix *c, int64_t ic,
                                   int64_t jc);

/* ---- Timelines ------------------------------------------------------------ */

/* From here on each process keeps the times of what its devices do, as tsr_timeline_begin, and of
 * its messages. Collective. */
TSR_API tsr_status tsr_grid_timeline_begin(tsr_grid *grid);

/* Waits for the grid's asynchronous products, then gives all that was kept, of all processes, as
 * one text in Trace Event Format (Perfetto) to process (row, col), where *text is made with malloc,
 * for free(); elsewhere *text is NULL. Time begins where all processes began. Collective. */
TSR_API tsr_status tsr_grid_timeline_end(tsr_grid *grid, int row, int col, char **text);

/* ---- Plans ---------------------------------------------------------------- */

/* How a product would be done, and how long it would take: what tsr_pgemm does with the same
 * arguments, but that products on devices are planned, where a short call would take a formula. */
typedef struct tsr_pplan tsr_pplan;

/* Not collective. The matrices need no storage. TSR_ERR_ARGUMENT: also for what is no sum of
 * products over several processes; over one, tsr_plan_gemm tells. */
TSR_API tsr_status tsr_pgemm_plan(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m,
                                  int64_t n, int64_t k, const void *alpha, const tsr_pmatrix *a,
                                  int64_t ia, int64_t ja, const tsr_pmatrix *b, int64_t ib,
                                  int64_t jb, const void *beta, const tsr_pmatrix *c, int64_t ic,
                                  int64_t jc, tsr_pplan **plan);

/* TSR_TEXT, TSR_JSON, TSR_COMMANDS (every step) or TSR_TIMELINE_JSON (Trace Event Format, of one
 * process that stands for all). *text is made with malloc; free() it. */
TSR_API tsr_status tsr_pplan_print(const tsr_pplan *plan, tsr_format format, char **text);

TSR_API void tsr_pplan_destroy(tsr_pplan *plan);

#ifdef __cplusplus
}
#endif

#endif
