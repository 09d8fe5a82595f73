/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tessera: dense matrix products on machines with several GPUs.
 *
 * A call is planned first, as data (a plan), then run. This header is the native interface for
 * programs, and its manual. tessera_mpi.h has the products of matrices that are distributed over
 * processes. tessera_model.h has what benchmarks, studies and tests ask for, tessera_papers.h
 * published models to compare with; both promise nothing.
 *
 * Conventions
 *   - Matrices are ordinary BLAS matrices, column- or row-major, anywhere: host
 *     memory (pageable, pinned or partly pinned, managed) or the memory of any
 *     device. Where they are is found out by asking the runtime.
 *   - Extents and leading dimensions are int64_t and count elements; sizes are
 *     size_t and count bytes; times are seconds, rates are per second.
 *   - Every function that can fail returns a tsr_status. On failure nothing is
 *     written to the outputs, and tsr_message() tells, in the calling thread,
 *     which argument was wrong or what happened, and what to do about it.
 *   - TSR_ERR_ARGUMENT for an argument that is NULL and must not be, or for a context of another
 *     process, and TSR_ERR_MEMORY for want of host memory may come from any function and are not
 *     named again below.
 *   - The caller owns what a function creates. A text (char **text) is made with malloc and given
 *     back with free. All other arguments stay the caller's; alpha, beta and strings are copied.
 *   - The library never prints, exits or aborts (TESSERA_LOG turns a log on), but for the end of
 *     a process whose own threads have all ended (below).
 *   - Objects are made by tsr_<object>_create and ended by tsr_<object>_destroy,
 *     which accepts NULL. A context may be used by several threads at once.
 *   - A thread that is cancelled (pthread_cancel) inside a function of the library, of whichever
 *     cancelability type, ends at its first cancellation point after the function has returned: no
 *     function is left half-way. Functions of the program that the library calls (tsr_progress) run
 *     with cancellation disabled and in the default floating-point environment. The library's own
 *     threads run none of the program's signal handlers, but those of faults and of SIGPROF.
 *   - The floating-point environment (<fenv.h>: rounding mode, traps, flags; flushing of
 *     subnormal numbers) is the caller's: every function leaves it as it found it. Plans, and
 *     products on devices, are the same in each: devices round to nearest, trap nothing and
 *     set no flags. A product that the CPU's BLAS does in the calling thread (engine "cpu", or
 *     a plan or a refused part that goes to the CPU) has the caller's rounding mode and traps,
 *     and leaves the flags of its arithmetic. Products of distributed matrices
 *     (tessera_mpi.h) round to nearest everywhere.
 *   - The library's threads do not keep a process alive: if its main thread ends by
 *     pthread_exit, the process ends, by exit(0), when no thread but ours is left;
 *     asynchronous calls that are pending then are lost. Until then a signal whose action is
 *     the default one acts, unless the main thread had blocked it, even if every thread that
 *     is left blocks it. Threads of other libraries, such as a BLAS's or a GPU runtime's, keep
 *     a process alive with Tessera as without it.
 *   - When the process ends by exit while threads are in the library, calls of the thread that
 *     carries exit out work on, in handlers of atexit and in destructors. Other threads' calls
 *     may never return. exit waits for what they do in the CPU's BLAS, for a second at most.
 */
#ifndef TESSERA_H
#define TESSERA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TSR_VERSION_MAJOR 0
#define TSR_VERSION_MINOR 2
#define TSR_VERSION_PATCH 0
#define TSR_VERSION_NUMBER (10000 * TSR_VERSION_MAJOR + 100 * TSR_VERSION_MINOR + TSR_VERSION_PATCH)

#if defined(__GNUC__)
#define TSR_API __attribute__((visibility("default")))
#else
#define TSR_API
#endif

/* ---- Status --------------------------------------------------------------- */

typedef enum tsr_status {
  TSR_OK = 0,
  TSR_ERR_ARGUMENT,    /* an argument is wrong: the message names it, its value, the remedy */
  TSR_ERR_MEMORY,      /* not enough host or device memory, or too small a budget */
  TSR_ERR_MACHINE,     /* a machine file or string cannot be read or makes no sense */
  TSR_ERR_ENGINE,      /* no such engine, or the engine cannot be used here */
  TSR_ERR_DEVICE,      /* a device failed, and no other could do its work; C may be undefined */
  TSR_ERR_CHECK,       /* checking mode found a plan or an execution to be wrong */
  TSR_ERR_IO,          /* a file cannot be read or written */
  TSR_ERR_UNSUPPORTED, /* asked for what this build or this engine does not have */
  TSR_ERR_INTERNAL     /* a fault of the library: please report it */
} tsr_status;

/* The name of a status, for instance "TSR_ERR_ARGUMENT". Never NULL. */
TSR_API const char *tsr_status_name(tsr_status status);

/* The message of the last call that failed in this thread; "" if none did.
 * Valid until the next failing call of this thread. */
TSR_API const char *tsr_message(void);

/* The version of the library that is loaded, for instance "0.2.0". Never NULL. */
TSR_API const char *tsr_version(void);

/* The same as a number that grows from version to version: 10000 major + 100 minor + patch, for
 * instance 200. TSR_VERSION_NUMBER is that of this header. */
TSR_API int tsr_version_number(void);

/* ---- Types and flags ------------------------------------------------------ */

/* The values are the letters that the command and the settings use. */
typedef enum tsr_type {
  TSR_S = 's', /* float */
  TSR_D = 'd', /* double */
  TSR_C = 'c', /* float complex */
  TSR_Z = 'z', /* double complex */
  TSR_H = 'h', /* fp16 storage, fp32 accumulation; alpha and beta are float */
  TSR_B = 'b', /* bf16 storage, fp32 accumulation; alpha and beta are float */
  TSR_T = 't'  /* float storage, multiplied in TF32 where the device can */
} tsr_type;

/* The flags below are letters, as in the BLAS. Functions also take the letter in lower case and the
 * value that CBLAS gives the same flag (CblasColMajor, CblasTrans, CblasUpper, CblasNonUnit,
 * CblasLeft and so on). Any other value is TSR_ERR_ARGUMENT, also a flag of CBLAS in the place of
 * another one and CblasConjNoTrans; the message then has CBLAS's name of it. */

typedef enum tsr_layout { TSR_COL_MAJOR = 'C', TSR_ROW_MAJOR = 'R' } tsr_layout;

typedef enum tsr_op { TSR_NO_TRANS = 'N', TSR_TRANS = 'T', TSR_CONJ_TRANS = 'C' } tsr_op;

typedef enum tsr_side { TSR_LEFT = 'L', TSR_RIGHT = 'R' } tsr_side;

/* Which triangle of a matrix is stored, or changed; in TSR_GENERAL all of it is. */
typedef enum tsr_uplo { TSR_GENERAL = 'G', TSR_LOWER = 'L', TSR_UPPER = 'U' } tsr_uplo;

typedef enum tsr_diag { TSR_NON_UNIT = 'N', TSR_UNIT = 'U' } tsr_diag;

/* The level-3 BLAS, and GEMMT. */
typedef enum tsr_operation {
  TSR_GEMM,  /* C = alpha op(A) op(B) + beta C */
  TSR_GEMMT, /* the same, one triangle of C only */
  TSR_SYMM,  /* C = alpha A B + beta C or C = alpha B A + beta C, A symmetric */
  TSR_HEMM,  /* the same, A Hermitian */
  TSR_SYRK,  /* C = alpha op(A) op(A)^T + beta C, one triangle of C */
  TSR_HERK,  /* C = alpha op(A) op(A)^H + beta C; alpha and beta are real */
  TSR_SYR2K, /* C = alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C */
  TSR_HER2K, /* C = alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C; beta is real */
  TSR_TRMM,  /* B = alpha op(A) B or B = alpha B op(A), A triangular */
  TSR_TRSM,  /* the X of op(A) X = alpha B or X op(A) = alpha B, in place of B */
  TSR_OPERATION_COUNT
} tsr_operation;

/* ---- Context -------------------------------------------------------------- */

typedef struct tsr_context tsr_context;

/* Settings of a new context, for tsr_context_create. Start from TSR_OPTIONS_DEFAULT, which sets
 * size. A field left at its default is taken from the environment (docs/reference/settings.md),
 * else chosen.
 */
typedef struct tsr_options {
  size_t size;         /* sizeof(tsr_options) where the program was compiled: later versions of the
                          library add fields at the end, and know by it which of them are there */
  const char *engine;  /* "cuda", "hip", "host" (emulated devices), "cpu" (the CPU's BLAS), or
                          NULL: the best that is here */
  const char *devices; /* "4": the first four; "0,2": these; "2,": that one; "": all; "..4": of
                          the first four as many as help, call by call (also "..0,2"); NULL: what
                          the environment says, else as many of all as help */
  const char *machine; /* the name of an installed machine, a machine file or a machine string;
                          NULL: the kept measurement of this machine, measured now if there is
                          none */
  size_t memory;       /* budget for each device, bytes; 0: 80 % of what is free */
  const char *budgets; /* in place of memory, device by device: "16G,4G", the last one for all that
                          follow; NULL: memory */
  int reproducible;    /* 1: the same bits on any number of devices; 0: not; -1: default */
  int check;           /* 1: verify every plan, poison buffers; 0: not; -1: default */
  int trace;           /* 1: keep measured times with plans, for timelines; 0: not */
  const char *arithmetic; /* how level-3 calls of fp32 and fp64, real and complex, are computed:
                             "native"; "emulated", from products of 8-bit integers, as accurate as
                             native; "emulated:M" with M moduli, 4 to 16; "emulated:X", X below 1,
                             with an error of at most X |alpha| (|A||B|) + 2 u |beta C|, or the
                             native bound if that is larger; "auto" and "auto:X": natively, or as
                             "emulated" and "emulated:X" are, whichever is predicted to be faster;
                             NULL: what the environment says, else native */
} tsr_options;

#define TSR_OPTIONS_DEFAULT \
  { sizeof(tsr_options), NULL, NULL, NULL, 0, NULL, -1, -1, 0, NULL }

/* Makes a context; tsr_context_destroy ends it. options may be NULL (all defaults).
 * TSR_ERR_ARGUMENT: an option is wrong, or options->size is no size that this version knows.
 * TSR_ERR_ENGINE: no such engine, or it finds no device. TSR_ERR_MACHINE: the machine cannot be
 * read. TSR_ERR_MEMORY: there is no memory for the context, or a budget is too small. */
TSR_API tsr_status tsr_context_create(const tsr_options *options, tsr_context **context);

/* Waits for all calls, then gives back all memory, that of tsr_malloc too, and the devices. Results
 * of asynchronous calls that were not made coherent are lost. In a process that was forked after
 * the context was made the context cannot be used, and destroying it does nothing. */
TSR_API void tsr_context_destroy(tsr_context *context);

/* Waits for every asynchronous call and every registration of memory of this context. Returns the
 * first error of any of them since the last tsr_sync. Results of asynchronous calls stay on the
 * devices: tsr_sync_home brings them to host memory, too. */
TSR_API tsr_status tsr_sync(tsr_context *context);

/* Brings the results of all asynchronous calls to host memory, as tsr_coherent_async does for one,
 * and waits as tsr_sync does. Copies stay on the devices. Returns what tsr_sync returns, else the
 * first error of bringing results home. TSR_ERR_MEMORY: some results may have come home; none is
 * lost. A capture takes the call as it takes tsr_coherent. */
TSR_API tsr_status tsr_sync_home(tsr_context *context);

/* A point among a context's asynchronous calls. It holds no memory: copy it, or forget it. Its
 * fields are the library's own. */
typedef struct tsr_event {
  const tsr_context *context;
  uint64_t number;
} tsr_event;

/* Sets *event behind all asynchronous calls that the context has been given so far. */
TSR_API tsr_status tsr_event_record(tsr_context *context, tsr_event *event);

/* *complete is 1 when all calls before the event are complete, else 0; does not wait. A call that
 * is complete reads and writes the program's memory no more. Only tsr_sync tells whether a call
 * failed. TSR_ERR_ARGUMENT: the event was not recorded in this context. */
TSR_API tsr_status tsr_event_query(tsr_context *context, const tsr_event *event, int *complete);

/* Waits until all calls before the event are complete, but for no later ones. Only tsr_sync tells
 * whether a call failed. TSR_ERR_ARGUMENT: as above. */
TSR_API tsr_status tsr_event_wait(tsr_context *context, const tsr_event *event);

/* Ties a stream of CUDA or HIP (a cudaStream_t or hipStream_t of that device; NULL unties) to the
 * context: each later call waits for what is on the stream, and what is put on the stream later
 * waits for the call. A call whose C is in host memory that is not pinned then returns when C is
 * complete, since a stream cannot wait for the threads that bring it home. On failure the former
 * stream stays tied. */
TSR_API tsr_status tsr_set_stream(tsr_context *context, int device, void *stream);

/* A function of the program that is told how far something has come: fraction is 0 to 1, what names
 * the thing, and user is what the program gave with the function. */
typedef void (*tsr_progress)(void *user, double fraction, const char *what);

/* Sets the function that is told how far calls on devices are; NULL: none. A thread that waits for
 * a call (in a blocking call, or in tsr_sync) calls progress about ten times a second: fraction is
 * the part of the call's flops that is done, as far as can be told without stopping anything, and
 * what is the operation's name. For a call that takes less than a tenth of a second progress is
 * called once, at the end, with fraction 1. progress must not call the library on this context. */
TSR_API tsr_status tsr_set_progress(tsr_context *context, tsr_progress progress, void *user);

/* Sets how later calls of this context are computed: "native", "emulated", "emulated:M",
 * "emulated:X", "auto" or "auto:X", as tsr_options.arithmetic; NULL: what the environment says,
 * else native.
 * A call has the arithmetic that is set when it is made: asynchronous calls that are under way,
 * captures and plans keep theirs. All threads that use the context see the change; a program whose
 * threads or calls want different arithmetics gives each call its own (tsr_level3.arithmetic).
 * TSR_ERR_ARGUMENT: it is none of these; then nothing changes. */
TSR_API tsr_status tsr_set_arithmetic(tsr_context *context, const char *arithmetic);

/* Waits for the calls in flight, then gives the memory that the context keeps for later calls, on
 * its devices and in its staging ring, back to the system. */
TSR_API tsr_status tsr_trim(tsr_context *context);

/* Sets the budget of a device (0, 1, ...) for later calls: the most bytes of its memory that they
 * use; 0: the budget with which the context was made. Results that are on the devices are copied
 * to host memory first, and memory that the context keeps is given back. On failure the budget is
 * as it was. TSR_ERR_ARGUMENT: no such device.
 *
 * A call that finds less memory on a device than its budget, since another program uses the memory,
 * lowers the budget and does with less. After some calls for which there was enough the budget
 * grows again, step by step. tsr_get_budget fills in what it is at the moment. */
TSR_API tsr_status tsr_set_budget(tsr_context *context, int device, size_t bytes);
TSR_API tsr_status tsr_get_budget(tsr_context *context, int device, size_t *bytes);

/* The number of devices that the context uses: 0 when the CPU's BLAS does the work, or for NULL. */
TSR_API int tsr_device_count(const tsr_context *context);

/* *number: the number that the engine, for instance CUDA, gives to a device (0, 1, ...) of the
 * context: 3 for device 1 of a context that was made with devices "0,3". TSR_ERR_ARGUMENT: no such
 * device. */
TSR_API tsr_status tsr_device_number(tsr_context *context, int device, int *number);

/* ---- Memory --------------------------------------------------------------- */

#define TSR_HOST (-1)

/* Allocates bytes of memory that is fast to copy: pinned host memory (device = TSR_HOST) or the
 * memory of a device (0, 1, ...). The routines take any other memory as well. Where the machine has
 * the computer's several host memory nodes, pages of pinned memory alternate between them.
 * TSR_ERR_ARGUMENT: no such device. TSR_ERR_MEMORY: there is not so much left. */
TSR_API tsr_status tsr_malloc(tsr_context *context, int device, size_t bytes, void **pointer);

/* Waits for the calls in flight, then gives back memory of tsr_malloc. A pointer that is NULL or
 * not of this context's tsr_malloc is ignored. */
TSR_API void tsr_free(tsr_context *context, void *pointer);

/* Copies bytes between any two places, host or device, after the asynchronous calls that use them.
 * Blocking. TSR_ERR_DEVICE: `to` is undefined. */
TSR_API tsr_status tsr_memcpy(tsr_context *context, void *to, const void *from, size_t bytes);

/* Registers (pins) bytes of the program's host memory, in place, and returns at once. A thread of
 * the library pins, one registration after the other in the order in which they were made. Pinned
 * memory is copied 2 to 10 times faster; pinning costs about as much as one slow copy (CUDA: 0.06
 * s/GB, and meanwhile it begins no other copies on any device).
 *
 * Calls that are made meanwhile are planned as if the memory was pinned, and start when the
 * registrations that they touch are carried out. The program may read and write the memory
 * meanwhile. tsr_sync waits for all registrations.
 *
 * TSR_ERR_ARGUMENT, at once: pointer is NULL, bytes is 0, or the memory is a device's, managed,
 * pinned or, in part or whole, registered already. When the system pins no more memory tsr_sync
 * returns TSR_ERR_MEMORY, and calls copy the memory as it is, only slower; if the reason is that
 * others have pinned a part of it, such calls may end with TSR_ERR_DEVICE. */
TSR_API tsr_status tsr_register(tsr_context *context, void *pointer, size_t bytes);

/* Undoes a registration, before the memory is freed. pointer is the address that was registered
 * with this context. Waits for the registration and for the calls in flight; a registration that
 * failed is forgotten. TSR_ERR_ARGUMENT: no registered memory begins there. tsr_context_destroy
 * unregisters what is left, and drops registrations that have not begun. */
TSR_API tsr_status tsr_unregister(tsr_context *context, void *pointer);

/* ---- GEMM ----------------------------------------------------------------- */

/*
 * C = alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n and C is m x n.
 *
 * alpha and beta point to a value of the type (for TSR_H and TSR_B: to a float). lda, ldb and ldc
 * are leading dimensions: the elements from one column to the next (of row-major matrices: from one
 * row to the next).
 * alpha = 0 or k = 0: A and B are not read. beta = 0: C is not read (it may hold NaN).
 * C must not overlap A or B: no element of C that is written may be in the memory of one of A or B
 * that is read. Parts of one matrix, with its leading dimension, overlap where they have elements
 * in common, and nowhere else. A and B may overlap.
 *
 * Blocking: takes the data as it is, returns when C is complete.
 * Errors: TSR_ERR_ARGUMENT (nothing is touched), TSR_ERR_MEMORY (nothing is touched),
 * TSR_ERR_DEVICE (a device failed when parts of C had been written whose old values are needed, or
 * a part of an emulated product whose accuracy cannot be promised found no memory to be computed
 * natively when other parts had been written: then the message says that C is undefined; or nothing
 * can do the work of the devices that have failed: see When a device fails, below).
 */
TSR_API tsr_status tsr_gemm(tsr_context *context, tsr_type type, tsr_layout layout, tsr_op transa,
                            tsr_op transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                            const void *a, int64_t lda, const void *b, int64_t ldb,
                            const void *beta, void *c, int64_t ldc);

/* The same, returning once planned and submitted. alpha and beta are copied. Calls take effect in
 * the order they were made, each as if those before it were complete. The result stays on the
 * devices: tsr_coherent_async brings it to host memory (see Composition, below). The matrices must
 * stay as they are until tsr_sync. */
TSR_API tsr_status tsr_gemm_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                  tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
                                  const void *alpha, const void *a, int64_t lda, const void *b,
                                  int64_t ldb, const void *beta, void *c, int64_t ldc);

/* ---- The level-3 BLAS ----------------------------------------------------- */

/*
 * The other routines of the level-3 BLAS, in types s, d, c and z (hemm, herk and her2k: c and z),
 * with the meaning, the order and the names of the BLAS's arguments. alpha and beta point to a
 * value of the type; of herk both, and of her2k beta, to a real one (float or double).
 *
 * Only the stored triangle (uplo) of a symmetric, Hermitian or triangular A is read, and its
 * diagonal not with TSR_UNIT; only that triangle of C is read or written by gemmt, syrk, herk,
 * syr2k and her2k. alpha = 0 or k = 0: A and B are not read. beta = 0: C is not read. herk and
 * her2k do not read the imaginary parts of C's diagonal and leave them zero; where nothing is to be
 * done (alpha = 0 or k = 0, with beta = 1) C stays as it is. trmm and trsm write B; trsm does not
 * look for zeros on the diagonal.
 *
 * Blocking, with the errors of tsr_gemm; the asynchronous function of each is to it as
 * tsr_gemm_async is to tsr_gemm.
 */

/* gemmt: C = alpha op(A) op(B) + beta C, one triangle of C. op(A) is n x k, op(B) k x n, C n x n.
 */
TSR_API tsr_status tsr_gemmt(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                             tsr_op transa, tsr_op transb, int64_t n, int64_t k, const void *alpha,
                             const void *a, int64_t lda, const void *b, int64_t ldb,
                             const void *beta, void *c, int64_t ldc);
TSR_API tsr_status tsr_gemmt_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                   tsr_uplo uplo, tsr_op transa, tsr_op transb, int64_t n,
                                   int64_t k, const void *alpha, const void *a, int64_t lda,
                                   const void *b, int64_t ldb, const void *beta, void *c,
                                   int64_t ldc);

/* symm, A symmetric, and hemm, A Hermitian: C = alpha A B + beta C (TSR_LEFT: A is m x m) or
 * C = alpha B A + beta C (TSR_RIGHT: A is n x n). B and C are m x n. */
TSR_API tsr_status tsr_symm(tsr_context *context, tsr_type type, tsr_layout layout, tsr_side side,
                            tsr_uplo uplo, int64_t m, int64_t n, const void *alpha, const void *a,
                            int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                            int64_t ldc);
TSR_API tsr_status tsr_symm_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                  tsr_side side, tsr_uplo uplo, int64_t m, int64_t n,
                                  const void *alpha, const void *a, int64_t lda, const void *b,
                                  int64_t ldb, const void *beta, void *c, int64_t ldc);
TSR_API tsr_status tsr_hemm(tsr_context *context, tsr_type type, tsr_layout layout, tsr_side side,
                            tsr_uplo uplo, int64_t m, int64_t n, const void *alpha, const void *a,
                            int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                            int64_t ldc);
TSR_API tsr_status tsr_hemm_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                  tsr_side side, tsr_uplo uplo, int64_t m, int64_t n,
                                  const void *alpha, const void *a, int64_t lda, const void *b,
                                  int64_t ldb, const void *beta, void *c, int64_t ldc);

/* syrk: C = alpha op(A) op(A)^T + beta C; herk: C = alpha op(A) op(A)^H + beta C, with real alpha
 * and beta. op(A) is n x k, C is n x n, one triangle of it. Of complex types syrk takes no
 * TSR_CONJ_TRANS, and herk no TSR_TRANS. */
TSR_API tsr_status tsr_syrk(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                            tsr_op trans, int64_t n, int64_t k, const void *alpha, const void *a,
                            int64_t lda, const void *beta, void *c, int64_t ldc);
TSR_API tsr_status tsr_syrk_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                  tsr_uplo uplo, tsr_op trans, int64_t n, int64_t k,
                                  const void *alpha, const void *a, int64_t lda, const void *beta,
                                  void *c, int64_t ldc);
TSR_API tsr_status tsr_herk(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                            tsr_op trans, int64_t n, int64_t k, const void *alpha, const void *a,
                            int64_t lda, const void *beta, void *c, int64_t ldc);
TSR_API tsr_status tsr_herk_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                  tsr_uplo uplo, tsr_op trans, int64_t n, int64_t k,
                                  const void *alpha, const void *a, int64_t lda, const void *beta,
                                  void *c, int64_t ldc);

/* syr2k: C = alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C; her2k:
 * C = alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C, with a real beta. op(A) and op(B)
 * are n x k, C is n x n, one triangle of it. Of complex types syr2k takes no TSR_CONJ_TRANS, and
 * her2k no TSR_TRANS. */
TSR_API tsr_status tsr_syr2k(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                             tsr_op trans, int64_t n, int64_t k, const void *alpha, const void *a,
                             int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                             int64_t ldc);
TSR_API tsr_status tsr_syr2k_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                   tsr_uplo uplo, tsr_op trans, int64_t n, int64_t k,
                                   const void *alpha, const void *a, int64_t lda, const void *b,
                                   int64_t ldb, const void *beta, void *c, int64_t ldc);
TSR_API tsr_status tsr_her2k(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                             tsr_op trans, int64_t n, int64_t k, const void *alpha, const void *a,
                             int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                             int64_t ldc);
TSR_API tsr_status tsr_her2k_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                   tsr_uplo uplo, tsr_op trans, int64_t n, int64_t k,
                                   const void *alpha, const void *a, int64_t lda, const void *b,
                                   int64_t ldb, const void *beta, void *c, int64_t ldc);

/* trmm: B = alpha op(A) B (TSR_LEFT) or B = alpha B op(A) (TSR_RIGHT); trsm: B becomes the X of
 * op(A) X = alpha B (TSR_LEFT) or X op(A) = alpha B (TSR_RIGHT). A is triangular, m x m (TSR_LEFT)
 * or n x n (TSR_RIGHT); B is m x n. */
TSR_API tsr_status tsr_trmm(tsr_context *context, tsr_type type, tsr_layout layout, tsr_side side,
                            tsr_uplo uplo, tsr_op transa, tsr_diag diag, int64_t m, int64_t n,
                            const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb);
TSR_API tsr_status tsr_trmm_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                  tsr_side side, tsr_uplo uplo, tsr_op transa, tsr_diag diag,
                                  int64_t m, int64_t n, const void *alpha, const void *a,
                                  int64_t lda, void *b, int64_t ldb);
TSR_API tsr_status tsr_trsm(tsr_context *context, tsr_type type, tsr_layout layout, tsr_side side,
                            tsr_uplo uplo, tsr_op transa, tsr_diag diag, int64_t m, int64_t n,
                            const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb);
TSR_API tsr_status tsr_trsm_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                  tsr_side side, tsr_uplo uplo, tsr_op transa, tsr_diag diag,
                                  int64_t m, int64_t n, const void *alpha, const void *a,
                                  int64_t lda, void *b, int64_t ldb);

/* ---- Factorisations ------------------------------------------------------- */

/*
 * Routines of LAPACK that factor a matrix in place, in types s, d, c and z, with LAPACK's meaning
 * of the arguments. The matrix may lie in any memory, and be larger than the memory of the devices.
 *
 * potrf, the Cholesky factorisation of a symmetric or Hermitian positive definite A of order n:
 * TSR_LOWER: A = L L^H, and L takes the place of A's lower triangle; TSR_UPPER: A = U^H U, and U
 * takes that of the upper one. Only that triangle is read and written, and of complex types the
 * imaginary parts of A's diagonal are not read.
 *
 * *info, when the call is complete: 0: A is factored. j > 0: the leading minor of order j is not
 * positive definite (or not a number), so that there is no factor, and the triangle is undefined;
 * the function then returns TSR_OK. An error leaves *info as it was.
 *
 * Blocking, with the errors of tsr_gemm. The asynchronous function is to it as tsr_gemm_async is to
 * tsr_gemm: the factor stays on the devices, for later products and solves, and tsr_coherent_async
 * brings it to host memory. *info is set once tsr_sync has returned, and must stay in memory until
 * then.
 */
TSR_API tsr_status tsr_potrf(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                             int64_t n, void *a, int64_t lda, int64_t *info);
TSR_API tsr_status tsr_potrf_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                   tsr_uplo uplo, int64_t n, void *a, int64_t lda, int64_t *info);

typedef enum tsr_factorisation { TSR_POTRF, TSR_FACTORISATION_COUNT } tsr_factorisation;

/* A factorisation and its arguments as data, as tsr_level3 is for the level-3 BLAS. */
typedef struct tsr_factor {
  tsr_factorisation routine;
  tsr_type type;
  tsr_layout layout;
  tsr_uplo uplo;
  int64_t n;
  int64_t lda;
  int64_t *info;
} tsr_factor;

TSR_API tsr_status tsr_factor_run(tsr_context *context, const tsr_factor *what, void *a);
TSR_API tsr_status tsr_factor_run_async(tsr_context *context, const tsr_factor *what, void *a);

/* ---- Solvers ---------------------------------------------------------------- */

/*
 * Routines of LAPACK that solve with a factor or a triangle, or invert one, in types s, d, c and z,
 * with LAPACK's meaning of the arguments. Each is made of factorisations, products and solves whose
 * results stay on the devices from one to the next. Matrices may lie in any memory, and be larger
 * than the memory of the devices. Of A only the triangle uplo is read and written.
 *
 * potrs: B becomes the X of A X = B; A holds the factor that potrf has made of a positive definite
 *   matrix of order n, and B is n x nrhs.
 * posv:  potrf and potrs: A X = B with a positive definite A, which its factor replaces. *info as
 *   of potrf; if it is not 0, B is as it was.
 * trtrs: B becomes the X of op(A) X = B, A triangular. *info = j > 0: element j of A's diagonal is
 *   0, and B is as it was; else 0.
 * potri: the inverse of a positive definite matrix, from its factor, in place of that. *info = j:
 *   element j of the factor's diagonal is 0, and A is as it was; else 0.
 * trtri: the inverse of a triangle in its place. *info as of potri. With TSR_UNIT the diagonal is
 *   neither read nor written.
 *
 * Blocking, with the errors of tsr_gemm; after an error other than TSR_ERR_ARGUMENT the matrices
 * that the routine writes are undefined. The asynchronous function is to each as tsr_gemm_async is
 * to tsr_gemm: results stay on the devices until tsr_coherent_async. But trtrs, potri and trtri
 * wait for the calls that write A, whose diagonal they look at first, and have set *info when they
 * return; and tsr_posv_async, which sets *info once tsr_sync has returned, leaves B undefined if
 * *info is not 0.
 */
TSR_API tsr_status tsr_potrs(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                             int64_t n, int64_t nrhs, const void *a, int64_t lda, void *b,
                             int64_t ldb);
TSR_API tsr_status tsr_potrs_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                   tsr_uplo uplo, int64_t n, int64_t nrhs, const void *a,
                                   int64_t lda, void *b, int64_t ldb);
TSR_API tsr_status tsr_posv(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                            int64_t n, int64_t nrhs, void *a, int64_t lda, void *b, int64_t ldb,
                            int64_t *info);
TSR_API tsr_status tsr_posv_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                  tsr_uplo uplo, int64_t n, int64_t nrhs, void *a, int64_t lda,
                                  void *b, int64_t ldb, int64_t *info);
TSR_API tsr_status tsr_trtrs(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                             tsr_op trans, tsr_diag diag, int64_t n, int64_t nrhs, const void *a,
                             int64_t lda, void *b, int64_t ldb, int64_t *info);
TSR_API tsr_status tsr_trtrs_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                   tsr_uplo uplo, tsr_op trans, tsr_diag diag, int64_t n,
                                   int64_t nrhs, const void *a, int64_t lda, void *b, int64_t ldb,
                                   int64_t *info);
TSR_API tsr_status tsr_potri(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                             int64_t n, void *a, int64_t lda, int64_t *info);
TSR_API tsr_status tsr_potri_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                   tsr_uplo uplo, int64_t n, void *a, int64_t lda, int64_t *info);
TSR_API tsr_status tsr_trtri(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                             tsr_diag diag, int64_t n, void *a, int64_t lda, int64_t *info);
TSR_API tsr_status tsr_trtri_async(tsr_context *context, tsr_type type, tsr_layout layout,
                                   tsr_uplo uplo, tsr_diag diag, int64_t n, void *a, int64_t lda,
                                   int64_t *info);

/* pocon: *rcond is an estimate of 1 / (||A||_1 ||A^-1||_1), from the factor that potrf has made of
 * a positive definite A, and anorm = ||A||_1: by LAPACK's method (Higham, ACM TOMS 14, 1988), which
 * solves a few systems with one column. 0: A is singular to working precision. Blocking.
 * TSR_ERR_ARGUMENT also: anorm is negative or not a number. */
TSR_API tsr_status tsr_pocon(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                             int64_t n, const void *a, int64_t lda, double anorm, double *rcond);

typedef enum tsr_solver {
  TSR_POTRS,
  TSR_POSV,
  TSR_TRTRS,
  TSR_POTRI,
  TSR_TRTRI,
  TSR_SOLVER_COUNT
} tsr_solver;

/* A solver and its arguments as data, as tsr_level3 is for the level-3 BLAS. Fields that the
 * routine has not are ignored, and b is NULL where there is no B. a of potrs and trtrs is not
 * written. */
typedef struct tsr_solve {
  tsr_solver routine;
  tsr_type type;
  tsr_layout layout;
  tsr_uplo uplo;
  tsr_op trans;
  tsr_diag diag;
  int64_t n, nrhs;
  int64_t lda, ldb;
  int64_t *info;
} tsr_solve;

TSR_API tsr_status tsr_solve_run(tsr_context *context, const tsr_solve *what, void *a, void *b);
TSR_API tsr_status tsr_solve_run_async(tsr_context *context, const tsr_solve *what, void *a,
                                       void *b);

/* ---- Types spelled out ---------------------------------------------------- */

/*
 * Each routine above for one type, which stands in its name: tsr_dgemm is tsr_gemm for TSR_D, and
 * tsr_dgemm_async is tsr_gemm_async for TSR_D. The argument type is left out. Real alpha and beta
 * are values; complex ones are addresses (const void *), and so are complex matrices (void *).
 *
 * A macro holds the arguments of a family of routines. A row declares the routine it names and the
 * asynchronous one: TSR_TYPED_GEMM(tsr_dgemm, double, double) is
 *
 *   tsr_status tsr_dgemm(tsr_context *context, tsr_layout layout, tsr_op transa, tsr_op transb,
 *                        int64_t m, int64_t n, int64_t k, double alpha, const double *a,
 *                        int64_t lda, const double *b, int64_t ldb, double beta, double *c,
 *                        int64_t ldc);
 *
 * and tsr_dgemm_async with the same arguments.
 */
#define TSR_TYPED(name, arguments)   \
  TSR_API tsr_status name arguments; \
  TSR_API tsr_status name##_async arguments;

#define TSR_TYPED_GEMM(name, scalar, element)                                                    \
  TSR_TYPED(name, (tsr_context * context, tsr_layout layout, tsr_op transa, tsr_op transb,       \
                   int64_t m, int64_t n, int64_t k, scalar alpha, const element *a, int64_t lda, \
                   const element *b, int64_t ldb, scalar beta, element *c, int64_t ldc))
TSR_TYPED_GEMM(tsr_sgemm, float, float)
TSR_TYPED_GEMM(tsr_dgemm, double, double)
TSR_TYPED_GEMM(tsr_cgemm, const void *, void)
TSR_TYPED_GEMM(tsr_zgemm, const void *, void)

#define TSR_TYPED_GEMMT(name, scalar, element)                                                 \
  TSR_TYPED(name,                                                                              \
            (tsr_context * context, tsr_layout layout, tsr_uplo uplo, tsr_op transa,           \
             tsr_op transb, int64_t n, int64_t k, scalar alpha, const element *a, int64_t lda, \
             const element *b, int64_t ldb, scalar beta, element *c, int64_t ldc))
TSR_TYPED_GEMMT(tsr_sgemmt, float, float)
TSR_TYPED_GEMMT(tsr_dgemmt, double, double)
TSR_TYPED_GEMMT(tsr_cgemmt, const void *, void)
TSR_TYPED_GEMMT(tsr_zgemmt, const void *, void)

#define TSR_TYPED_SIDED(name, scalar, element)                                             \
  TSR_TYPED(name, (tsr_context * context, tsr_layout layout, tsr_side side, tsr_uplo uplo, \
                   int64_t m, int64_t n, scalar alpha, const element *a, int64_t lda,      \
                   const element *b, int64_t ldb, scalar beta, element *c, int64_t ldc))
TSR_TYPED_SIDED(tsr_ssymm, float, float)
TSR_TYPED_SIDED(tsr_dsymm, double, double)
TSR_TYPED_SIDED(tsr_csymm, const void *, void)
TSR_TYPED_SIDED(tsr_zsymm, const void *, void)
TSR_TYPED_SIDED(tsr_chemm, const void *, void)
TSR_TYPED_SIDED(tsr_zhemm, const void *, void)

#define TSR_TYPED_RANK_K(name, scalar, element)                                                    \
  TSR_TYPED(name, (tsr_context * context, tsr_layout layout, tsr_uplo uplo, tsr_op trans,          \
                   int64_t n, int64_t k, scalar alpha, const element *a, int64_t lda, scalar beta, \
                   element *c, int64_t ldc))
TSR_TYPED_RANK_K(tsr_ssyrk, float, float)
TSR_TYPED_RANK_K(tsr_dsyrk, double, double)
TSR_TYPED_RANK_K(tsr_csyrk, const void *, void)
TSR_TYPED_RANK_K(tsr_zsyrk, const void *, void)
TSR_TYPED_RANK_K(tsr_cherk, float, void)
TSR_TYPED_RANK_K(tsr_zherk, double, void)

#define TSR_TYPED_RANK_2K(name, scalar, beta_scalar, element)                             \
  TSR_TYPED(name, (tsr_context * context, tsr_layout layout, tsr_uplo uplo, tsr_op trans, \
                   int64_t n, int64_t k, scalar alpha, const element *a, int64_t lda,     \
                   const element *b, int64_t ldb, beta_scalar beta, element *c, int64_t ldc))
TSR_TYPED_RANK_2K(tsr_ssyr2k, float, float, float)
TSR_TYPED_RANK_2K(tsr_dsyr2k, double, double, double)
TSR_TYPED_RANK_2K(tsr_csyr2k, const void *, const void *, void)
TSR_TYPED_RANK_2K(tsr_zsyr2k, const void *, const void *, void)
TSR_TYPED_RANK_2K(tsr_cher2k, const void *, float, void)
TSR_TYPED_RANK_2K(tsr_zher2k, const void *, double, void)

#define TSR_TYPED_TRIANGULAR(name, scalar, element)                                        \
  TSR_TYPED(name, (tsr_context * context, tsr_layout layout, tsr_side side, tsr_uplo uplo, \
                   tsr_op transa, tsr_diag diag, int64_t m, int64_t n, scalar alpha,       \
                   const element *a, int64_t lda, element *b, int64_t ldb))
TSR_TYPED_TRIANGULAR(tsr_strmm, float, float)
TSR_TYPED_TRIANGULAR(tsr_dtrmm, double, double)
TSR_TYPED_TRIANGULAR(tsr_ctrmm, const void *, void)
TSR_TYPED_TRIANGULAR(tsr_ztrmm, const void *, void)
TSR_TYPED_TRIANGULAR(tsr_strsm, float, float)
TSR_TYPED_TRIANGULAR(tsr_dtrsm, double, double)
TSR_TYPED_TRIANGULAR(tsr_ctrsm, const void *, void)
TSR_TYPED_TRIANGULAR(tsr_ztrsm, const void *, void)

#undef TSR_TYPED
#undef TSR_TYPED_GEMM
#undef TSR_TYPED_GEMMT
#undef TSR_TYPED_SIDED
#undef TSR_TYPED_RANK_K
#undef TSR_TYPED_RANK_2K
#undef TSR_TYPED_TRIANGULAR

/* ---- Routines as data ------------------------------------------------------ */

/* A routine and its arguments as data, for programs that choose the routine at run time. A field
 * has the meaning of the routine's argument of that name; fields that the routine has no argument
 * for are ignored. syrk, herk, syr2k and her2k take trans from transa. Later versions add fields:
 * let those that are not named be 0, as in tsr_level3 what = {.operation = TSR_GEMM, ...}. */
typedef struct tsr_level3 {
  tsr_operation operation;
  tsr_type type;
  tsr_layout layout;
  tsr_side side;
  tsr_uplo uplo;
  tsr_op transa, transb;
  tsr_diag diag;
  int64_t m, n, k;
  int64_t lda, ldb, ldc;
  const char *arithmetic; /* how this call is computed, as tsr_options.arithmetic; NULL: as its
                             context says. TSR_ERR_ARGUMENT: it is no arithmetic */
} tsr_level3;

/* Calls the routine, with its errors. alpha and beta point to what the routine takes. B of trmm and
 * trsm is c, with ldc; they ignore b and beta. syrk and herk ignore b. */
TSR_API tsr_status tsr_level3_run(tsr_context *context, const tsr_level3 *what, const void *alpha,
                                  const void *a, const void *b, const void *beta, void *c);
TSR_API tsr_status tsr_level3_run_async(tsr_context *context, const tsr_level3 *what,
                                        const void *alpha, const void *a, const void *b,
                                        const void *beta, void *c);

/* The name of a routine, "gemm", "gemmt" and so on; NULL for a value that is none of
 * tsr_operation. */
TSR_API const char *tsr_operation_name(tsr_operation operation);

/* ---- Composition ---------------------------------------------------------- */

/*
 * Asynchronous calls compose. Each starts from what those before it left on the devices, and what
 * it computes or reads stays there, so that a sequence of calls moves no byte twice. They behave as
 * if they were carried out one after another, whatever memory their matrices share: the same
 * tiles, other tiles, a part of one in another, or the same memory with another leading dimension.
 *
 * The program has these duties towards matrices in host memory:
 *   - A result is in host memory once tsr_sync_home has returned, or tsr_coherent for it alone, or
 *     tsr_coherent_async and then tsr_sync; until then host memory holds something older.
 *   - When the program changes memory that asynchronous calls have used, it says so, with
 *     tsr_invalidate, before the next call on it; before it frees the memory or makes something
 *     else of it, with tsr_release. In checking mode a change that was not announced is an error
 *     (TSR_ERR_CHECK) of the next asynchronous call that uses the memory.
 * The blocking calls need none of this: they bring home what they need, also where they are refused
 * then, take host data as it is and leave nothing on the devices. When device memory runs out, what
 * was used longest ago goes first, by way of its home where that is older. Matrices in the memory
 * of a device are used where they are. With TESSERA_REPRODUCIBLE nothing stays: asynchronous calls
 * bring their results home.
 *
 * A call that is refused (TSR_ERR_ARGUMENT, TSR_ERR_MEMORY) loses no result, and can be made again:
 * results of earlier calls are still on the devices, or have come home.
 *
 * When a device fails:
 *
 * A call that was running is done by the other devices or, if none is left, by the CPU's BLAS, and
 * ends with TSR_OK. It cannot be done again if it needs old values of C (beta is not 0; B of trmm
 * and trsm) that have been overwritten: then it ends with TSR_ERR_DEVICE, and its message says that
 * C is undefined. Where C is in pageable memory and beta is not 0, each part of C is old or new, so
 * that all but trmm and trsm are completed, unless there is no host memory for a copy of C.
 *
 * Asynchronous calls since the last tsr_sync whose results a failed device has lost are made again
 * from host memory, by the next function that composes calls or waits for them; host memory may
 * then have newer values than have been asked for. They cannot be made again if host memory has
 * changed since (by another call's result that came home, by the program), or if an event or
 * tsr_coherent has told the program that they are complete: then tsr_sync returns TSR_ERR_DEVICE. A
 * result that was not coherent at the last tsr_sync is lost with its device; what other devices
 * hold is not.
 *
 * The context goes on with the devices that work. At the beginning of a later call a device that
 * has failed is given a trivial command. If it carries that out, it is used again; if it does not,
 * or if it fails for the third time, the context leaves it out from then on. When all are left out
 * the CPU's BLAS does the calls; calls whose matrices are in a failed device's memory, and those of
 * a reproducible context, then end with TSR_ERR_DEVICE. TESSERA_LOG=info logs all of this, and
 * plans (tsr_plan_last, tsr_plan_print) show the devices that they use.
 *
 * A region is m x n elements of a type, column-major with leading dimension ldc (a row-major one: m
 * and n, and the triangles, exchanged). TSR_LOWER and TSR_UPPER take the triangle alone.
 */

/* Makes a region in host memory valid, after the calls made before; the region is valid when
 * tsr_sync has returned. Only what is newer on devices is copied. TSR_ERR_MEMORY: host memory is as
 * it was; only if calls have used the same memory with several leading dimensions a part of the
 * region may have come home. TSR_ERR_DEVICE: the region is undefined, also since earlier results
 * were lost when a device failed, which tsr_sync reports; the error stays until then. */
TSR_API tsr_status tsr_coherent_async(tsr_context *context, tsr_uplo uplo, int64_t m, int64_t n,
                                      const void *c, int64_t ldc, tsr_type type);

/* As tsr_coherent_async, and waits for that region, but not for other calls. Returns an error of
 * the copies that bring the region home; tsr_sync returns an error of the calls that computed it.
 */
TSR_API tsr_status tsr_coherent(tsr_context *context, tsr_uplo uplo, int64_t m, int64_t n,
                                const void *c, int64_t ldc, tsr_type type);

/* Says that the program has changed a region in host memory, or is about to: later calls use no
 * copy of the region that is on devices. Host memory in the region stays as it is, whatever the
 * call returns. TSR_ERR_MEMORY: later calls use the copies as before; only if calls have used the
 * same memory with several leading dimensions, some of the copies may be dropped. */
TSR_API tsr_status tsr_invalidate(tsr_context *context, int64_t m, int64_t n, const void *c,
                                  int64_t ldc, tsr_type type);

/* Forgets all copies of a region that are on devices, and where the region was mapped; c = NULL:
 * those of all regions. Results that were not made coherent are lost. TSR_ERR_MEMORY: as
 * tsr_invalidate, and the region is mapped as before. */
TSR_API tsr_status tsr_release(tsr_context *context, int64_t m, int64_t n, const void *c,
                               int64_t ldc, tsr_type type);

/* Maps the blocks of an m x n matrix to devices: later asynchronous calls that write to the matrix,
 * or to a part of it, compute each block on its device. 1D: blocks of nb columns, to all devices in
 * turn. 2D: blocks of mb x nb, to a grid of p x q devices, device 0 .. p q - 1 row by row.
 *
 * symm, hemm, trmm and trsm cut C in one direction only, in columns with TSR_LEFT and in rows with
 * TSR_RIGHT. They follow a map that gives each column (row) to one device; otherwise the planner
 * chooses. A factorisation deals block columns of its own to the devices. The planner also chooses
 * for a call in which the map makes thousands of blocks, or more blocks on a device than it has
 * room for. If a call does not follow the map of its C, its verdict (tsr_plan_last, tsr_plan_print
 * with TSR_VERDICT) says so and why, as does a line of the log.
 *
 * TSR_ERR_ARGUMENT: nb or mb is less than 1, or p x q exceeds the number of devices. A call that
 * fails leaves the maps as they were. */
TSR_API tsr_status tsr_map_1d_block_cyclic(tsr_context *context, int64_t m, int64_t n,
                                           const void *c, int64_t ldc, tsr_type type, int64_t nb);
TSR_API tsr_status tsr_map_2d_block_cyclic(tsr_context *context, int64_t m, int64_t n,
                                           const void *c, int64_t ldc, tsr_type type, int64_t mb,
                                           int64_t nb, int p, int q);

/* The general form: the grid of p x q devices begins at device `first`, and goes on with device 0
 * after the last one. 1D and 2D maps are it with first = 0. TSR_ERR_ARGUMENT also: there is no
 * device `first`. */
TSR_API tsr_status tsr_map_block_cyclic(tsr_context *context, int64_t m, int64_t n, const void *c,
                                        int64_t ldc, tsr_type type, int64_t mb, int64_t nb, int p,
                                        int q, int first);

/* Maps as above, and begins to copy each block to its device, until the devices' budgets are used
 * up. When there is no memory to copy with nothing is copied, which is no error. */
TSR_API tsr_status tsr_distribute_1d_block_cyclic_async(tsr_context *context, int64_t m, int64_t n,
                                                        const void *c, int64_t ldc, tsr_type type,
                                                        int64_t nb);
TSR_API tsr_status tsr_distribute_2d_block_cyclic_async(tsr_context *context, int64_t m, int64_t n,
                                                        const void *c, int64_t ldc, tsr_type type,
                                                        int64_t mb, int64_t nb, int p, int q);
TSR_API tsr_status tsr_distribute_block_cyclic_async(tsr_context *context, int64_t m, int64_t n,
                                                     const void *c, int64_t ldc, tsr_type type,
                                                     int64_t mb, int64_t nb, int p, int q,
                                                     int first);

/* Puts a block on a device: begins to copy it there, as tsr_distribute_*, and maps it there, so
 * that later asynchronous calls on the block, or on a part of it, compute it on that device. A call
 * on a matrix of which the block is a part follows the matrix's own map. TSR_ERR_ARGUMENT: there is
 * no such device. */
TSR_API tsr_status tsr_put_async(tsr_context *context, int64_t m, int64_t n, const void *c,
                                 int64_t ldc, tsr_type type, int device);

/* Where a region will be once the calls made before are complete. *device: the device that has
 * valid copies of the largest part of it, -1: none has any. *part: that part, 0 to 1. *mapped: the
 * device that the region's first element is mapped to, -1: it is not mapped. *current: 1 if host
 * memory has the current values of the whole region, 0 if a device has newer ones. A region in the
 * memory of a device is there, all of it, and current. Each pointer may be NULL. Outputs are
 * written on success only. TSR_ERR_MEMORY: no host memory. */
TSR_API tsr_status tsr_where(tsr_context *context, int64_t m, int64_t n, const void *c, int64_t ldc,
                             tsr_type type, int *device, double *part, int *mapped, int *current);

/* ---- What sequences cost -------------------------------------------------- */

/* Bytes that plans have moved, by direction, and the number of plans: those of the calls, and those
 * that make regions coherent, distribute them, or bring home what has to leave a device. */
typedef struct tsr_traffic {
  double host_to_device, device_to_host, device_to_device;
  double within_devices; /* from one place of a device's memory to another, over no link */
  int64_t plans;
} tsr_traffic;

/* Fills in the traffic of all plans that were submitted since the context was made. The traffic
 * between two readings is their difference. tsr_memcpy and tsr_machine_probe do not count. */
TSR_API tsr_status tsr_context_traffic(tsr_context *context, tsr_traffic *traffic);

/* Begins a timeline: the times of all commands of all calls are kept, until tsr_timeline_end. This
 * costs some microseconds and eight bytes a command. A timeline that was begun before is dropped.
 */
TSR_API tsr_status tsr_timeline_begin(tsr_context *context);

/* Notes in the timeline that the program has just done something, name, that took so many seconds:
 * a bar on the host's track. The first 31 characters of the name are kept. Does nothing when no
 * timeline was begun. */
TSR_API tsr_status tsr_timeline_note(tsr_context *context, const char *name, double seconds);

/* Waits as tsr_sync does, then ends the timeline and gives it in Trace Event Format (Perfetto): a
 * process for each location with a thread for each queue, and a track of whole calls. An error of a
 * call stays for tsr_sync. A call is missing when there was no memory for its times.
 * TSR_ERR_ARGUMENT: no timeline was begun. TSR_ERR_MEMORY: the timeline is dropped. */
TSR_API tsr_status tsr_timeline_end(tsr_context *context, char **text);

/* ---- Plans ---------------------------------------------------------------- */

/* A plan: how one kind of call will be done. Immutable but for its measured times. */
typedef struct tsr_plan tsr_plan;

/* Where an operand is, for a plan that is made without one. */
typedef enum tsr_memory {
  TSR_PAGEABLE = 0, /* ordinary host memory */
  TSR_PINNED,       /* page-locked host memory */
  TSR_MANAGED,      /* host memory that the runtime migrates */
  TSR_DEVICE        /* the memory of a device */
} tsr_memory;

typedef struct tsr_home {
  tsr_memory memory;
  int location; /* the device; or the host memory node (0 unless there are several), or
                   TSR_INTERLEAVED */
} tsr_home;

/* Host memory whose pages are interleaved over all nodes. */
#define TSR_INTERLEAVED (-1)

/* *home: where bytes of memory are. Memory that is only partly pinned is TSR_PAGEABLE; memory whose
 * registration is under way is TSR_PINNED. TSR_ERR_ARGUMENT: the memory is on a device of the
 * engine that the context does not use. */
TSR_API tsr_status tsr_home_find(tsr_context *context, const void *pointer, size_t bytes,
                                 tsr_home *home);

/* Makes the plan of a GEMM with A, B and C at homes[0], [1] and [2]; tsr_plan_destroy ends it. No
 * data is needed, and, when the context was given a machine, no device. alpha and beta count only
 * as 0, 1 or other. The errors are those of tsr_gemm. */
TSR_API tsr_status tsr_plan_gemm(tsr_context *context, tsr_type type, tsr_layout layout,
                                 tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
                                 const void *alpha, int64_t lda, int64_t ldb, const void *beta,
                                 int64_t ldc, const tsr_home homes[3], tsr_plan **plan);

/* The same for any routine; homes of operands that it has not are ignored. */
TSR_API tsr_status tsr_plan_level3(tsr_context *context, const tsr_level3 *what, const void *alpha,
                                   const void *beta, const tsr_home homes[3], tsr_plan **plan);

/* The same for a factorisation, whose matrix is at home; what->info is ignored. */
TSR_API tsr_status tsr_plan_factor(tsr_context *context, const tsr_factor *what, tsr_home home,
                                   tsr_plan **plan);

/* Runs a plan on matrices with the plan's extents, leading dimensions and homes, and with alpha and
 * beta of the plan's classes (0, 1 or other). A plan for pageable memory takes any host memory.
 * Blocking. TSR_ERR_ARGUMENT: a matrix is not where the plan expects it, a class is another one,
 * the plan is an asynchronous call's or a factorisation's (tsr_factor_run finds it again), or its
 * context has ended. TSR_ERR_ENGINE: the plan's devices
 * are not here. Other errors are those of tsr_gemm. */
TSR_API tsr_status tsr_plan_execute(tsr_plan *plan, const void *alpha, const void *a, const void *b,
                                    const void *beta, void *c);

typedef enum tsr_format {
  TSR_TEXT,          /* for people */
  TSR_JSON,          /* for programs */
  TSR_COMMANDS,      /* every command, one a line */
  TSR_TIMELINE_SVG,  /* queues over time, predicted and, when there are any, measured */
  TSR_TIMELINE_JSON, /* Trace Event Format (Perfetto) */
  TSR_LOADS, /* each device's loads, by equation (1) of Herault et al. (docs/explain/memory.md) */
  TSR_VERDICT = 6,     /* what binds, why so many devices, what would be faster: see below */
  TSR_MACHINE_SVG = 7, /* a picture of the machine, with a plan coloured by how busy each part is */
  TSR_DETAILS = 8,     /* of a machine: tables of all links, channels and rates, for people */
  TSR_JSON_ALONE = 9   /* TSR_JSON, without the time to plan alternatives */
} tsr_format;

/*
 * TSR_VERDICT gives some sentences in lines of at most 80 characters, such as "Bound by host memory
 * (98 % busy): 197 of at most 200 TFLOP/s. With A on GPU 0: 205 TFLOP/s." What would be faster is
 * not guessed but planned, which takes some times as long as the plan did, 0.5 s at most; later
 * prints of the plan do not plan it again. It is predicted for operands in other memory, other
 * devices and larger budgets, and said if it saves 3 % of the time at least.
 *
 * TSR_JSON of a plan has the verdict as an object "verdict":
 *   text       the sentences, in one line
 *   seconds, measured, floor
 *              predicted, of the last run (null: none), the least possible
 *   rate, most flops/s at `seconds` and at `floor`
 *   estimate   "an estimate (extrapolated: host memory)": figures of the machine that the plan
 *              depends on and nobody has measured, or which were measured under load; null: none
 *   rehearsal  true: the devices are emulated, and no time means anything
 *   arithmetic how products are computed: moduli (0: natively) and accuracy (that was asked for),
 *              and with "auto" the way that is slower: other_moduli and other_seconds
 *   limit      what binds: what (in words), kind ("channel", "link", "memory" of a GPU, "kernels",
 *              "latency" or "cpu"), busy (0 to 1, of the predicted time; of latency the part that
 *              it costs)
 *   busy       each link, channel and device in use, the busiest first: what, kind, busy; of links
 *              and kernels from and to (locations: the devices, then the nodes; of kernels both
 *              are the device; their kind is "memory" if that is busy for 90 % of their time); of
 *              channels their index among the machine's
 *   devices    used (numbers), of (how many there are), why; on_all: seconds on all of them, if
 *              that is slower, else null
 *   instead    faster alternatives, the fastest first: what, seconds, rate. With TSR_JSON_ALONE
 *              there are some only if an earlier print has planned them
 * A key that has no value is null. Plans of asynchronous calls and of captures have no
 * alternatives.
 */

/* Prints a plan. TSR_ERR_ARGUMENT: no such format. */
TSR_API tsr_status tsr_plan_print(const tsr_plan *plan, tsr_format format, char **text);

/* Gives the plan of the context's last completed call, with a reference of the caller's own, which
 * tsr_plan_destroy gives back. TSR_ERR_ARGUMENT: no call was planned and completed yet. */
TSR_API tsr_status tsr_plan_last(tsr_context *context, tsr_plan **plan);

/* Gives a reference to a plan back; the last one ends the plan. A plan may outlive its context, for
 * all but tsr_plan_execute. NULL is accepted. */
TSR_API void tsr_plan_destroy(tsr_plan *plan);

/* ---- Captures ------------------------------------------------------------- */

/*
 * A capture: a sequence of asynchronous calls, and of tsr_coherent, tsr_sync_home, _invalidate,
 * _release, _map and _distribute between them, with their plans. It can be run again, on the same
 * memory or on other, without planning.
 */
typedef struct tsr_capture tsr_capture;

/* Begins a capture: the calls of this context, by any thread, are carried out and kept, unless they
 * are refused. Blocking routines are carried out and not kept. Results that are on the devices are
 * copied to host memory first, so that every run starts as the capture did. TSR_ERR_ARGUMENT: a
 * capture is under way. */
TSR_API tsr_status tsr_capture_begin(tsr_context *context);

/* Ends the capture and gives it; tsr_capture_destroy ends it. TSR_ERR_ARGUMENT: no capture is under
 * way. TSR_ERR_MEMORY: there was no memory to keep all of the capture, which is dropped. */
TSR_API tsr_status tsr_capture_end(tsr_context *context, tsr_capture **capture);

/* Makes the calls again, with alpha, beta and arithmetic as they were, and returns when they are
 * submitted.
 * Results that are on the devices are copied to host memory first. When a call is refused its error
 * is returned: the calls before it were made, those behind it were not. */
TSR_API tsr_status tsr_capture_run_async(tsr_capture *capture);

/* Moves matrices of a capture: in later runs a matrix that began at from + offset, offset < bytes,
 * begins at to + offset. All of one allocation should move together. If the new memory is of
 * another kind (pageable, pinned) or alignment, the next run makes its plans anew. */
TSR_API tsr_status tsr_capture_move(tsr_capture *capture, const void *from, size_t bytes, void *to);

/* Prints the capture's plans, each once, as TSR_TEXT, TSR_JSON (an array) or TSR_COMMANDS. For a
 * timeline of a run call tsr_timeline_begin before it and tsr_timeline_end behind it.
 * TSR_ERR_ARGUMENT: another format. */
TSR_API tsr_status tsr_capture_print(const tsr_capture *capture, tsr_format format, char **text);

/* Ends a capture; NULL is accepted. A capture may outlive its context, for all but running it. */
TSR_API void tsr_capture_destroy(tsr_capture *capture);

/* ---- Machine -------------------------------------------------------------- */

/* Measures the machine, under 20 s on four GPUs; later calls of the context are planned with the
 * result, which is also kept in the user's cache directory for other contexts. progress may be
 * NULL; a thread of the library calls it while the caller waits. */
TSR_API tsr_status tsr_machine_probe(tsr_context *context, tsr_progress progress, void *user);

/* Prints the context's machine as TSR_TEXT (some ten lines), TSR_DETAILS (tables), TSR_MACHINE_SVG,
 * or TSR_JSON, which a machine file may hold. TSR_ERR_ARGUMENT: another format. */
TSR_API tsr_status tsr_machine_print(tsr_context *context, tsr_format format, char **text);

/* Lists the machines that are installed with the library, whose names options.machine takes: a line
 * for each, with its name and its devices. Lines behind it that begin with blanks say what tells
 * the machine from others of its kind, and where its figures come from. */
TSR_API tsr_status tsr_machine_list(char **text);

#ifdef __cplusplus
}
#endif

#endif
