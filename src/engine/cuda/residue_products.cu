/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Products of residues for compute capability 9.0, whose integer tensor cores need operands that
 * are brought to shared memory by the copy engine of each multiprocessor (TMA), and warps in groups
 * of four (wgmma). The sums stay in registers until they are residues, so that a byte an element
 * and modulus is written, not four.
 *
 * Four neighbouring blocks (a cluster) compute a tile of 512 x 256 elements of one plane, each of
 * them 256 x 128, of which each of two warp groups has 64 columns. A third warp group copies: half
 * of the lines of a that its block needs, which the block beside it needs, too, and half of the
 * lines of b, which the block below or above it needs, too. Each copy goes to both blocks, so that
 * the second-level cache, which would bind otherwise (82 % busy with pairs of blocks on an H100),
 * is read half as often. The warp groups that multiply have the columns of C as the rows of their
 * tensor core's result, so that neighbours in C are neighbours in a thread.
 */
#include <cuda.h>
#include <cuda_runtime.h>

#include "engine/gpu/residues/residue_products.h"

namespace tsr_gpu {

const int UP = 2, ACROSS = 1; /* blocks of a cluster along rows and columns of C */
const int BLOCKS = UP * ACROSS;
const int HIGH = TSR_PRODUCTS_ROWS / UP; /* rows and columns of a block's tile */
const int WIDE = TSR_PRODUCTS_COLUMNS / ACROSS;
const int MULTIPLIERS = 2;                       /* warp groups that multiply */
const int COLUMNS = 64;                          /* of C: the rows of an instruction's result */
const int PIECES = WIDE / MULTIPLIERS / COLUMNS; /* such results of a warp group */
const int DEEP = 128;  /* bytes of k of a stage: the longest swizzled line */
const int STEP = 32;   /* bytes of k of one instruction */
const int STAGES = 3;  /* as many as fit */
const int GROUP = 128; /* threads of a warp group */
const int THREADS = (MULTIPLIERS + 1) * GROUP;
const int SUMS = COLUMNS * HIGH / GROUP; /* of a thread, of one result */
const int PART = (1 << 16) / DEEP;       /* stages whose sums fit 32 bits */
const int BAND = 6; /* rows of tiles that are in work together; 33 clusters have about 4 x 8 tiles,
                       2048 x 2048, whose operands the second-level cache holds */

const int SHARE_A = HIGH / ACROSS, SHARE_B = WIDE / UP; /* lines that a block copies */
const int BYTES_A = HIGH * DEEP, BYTES_B = WIDE * DEEP, BYTES = BYTES_A + BYTES_B;
/* A column on its way out; 16 bytes more than it has keep 8 columns in different banks. */
const int PITCH = HIGH + 16;
const int OUT = MULTIPLIERS * COLUMNS * PITCH;
const int SHARED = STAGES * BYTES + OUT + 2 * STAGES * (int)sizeof(uint64_t);

/* The most registers of a thread: 128 * 40 + 256 * 232 are at most 65536. */
#define REGISTERS_OF_COPIER 40
#define REGISTERS_OF_MULTIPLIER 232

struct divisor {
  int p, inverse; /* inverse: 2^38 / p, rounded */
};

/* The argument of the kernel. Tiles lie plane by plane, and in each in bands of BAND rows of tiles.
 */
struct products {
  int steps;                /* stages of a tile */
  int rows, columns, tiles; /* of tiles: in a plane, and of all planes */
  int count;                /* of moduli */
  divisor of[TSR_MODULI_MOST];
  int8_t *out;
  int64_t ld, step;
};

struct place {
  int plane, row, column; /* of a tile */
};

/* A block's place in its cluster. */
struct place_in_cluster {
  int row, column;
};

__device__ place place_of(const products &x, int tile) {
  int in_plane = x.rows * x.columns, rest = tile % in_plane, in_band = BAND * x.columns;
  int first = rest / in_band * BAND, within = rest % in_band;
  int tall = x.rows - first < BAND ? x.rows - first : BAND;
  return place{tile / in_plane, first + within % tall, within / tall};
}

/* ---- Instructions (PTX ISA 8.0) ------------------------------------------------- */

__device__ unsigned address_of(const void *shared) {
  return (unsigned)__cvta_generic_to_shared(shared);
}

__device__ unsigned rank_in_cluster() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ void meet_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

__device__ void start_barrier(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ void expect_bytes(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/* Arrives at the barrier of that address in block `rank` of the cluster. */
__device__ void arrive_at(unsigned barrier, int rank) {
  asm volatile(
      "{\n.reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

__device__ void wait_for(unsigned barrier, unsigned phase) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\n"
      "bra again;\n"
      "over:\n}" ::"r"(barrier),
      "r"(phase)
      : "memory");
}

/* Copies a box of lines to the same place in those blocks of the cluster that have a bit in
 * `blocks`; the barrier of each counts the bytes that arrive there. */
__device__ void copy_box(unsigned to, const CUtensorMap &from, int k, int line, int plane,
                         unsigned barrier, unsigned blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
      "l"(&from), "r"(barrier), "r"(k), "r"(line), "r"(plane), "h"((short)blocks)
      : "memory");
}

/* How an instruction finds lines of DEEP bytes in shared memory: their address, in units of 16
 * bytes, the distance of groups of eight lines, and the pattern in which the copy has written. */
__device__ uint64_t lines_at(unsigned address) {
  const uint64_t unit = 16, distance = 8 * DEEP, pattern_of_128 = 1;
  return (address & 0x3ffff) / unit | 1 << 16 | distance / unit << 32 | pattern_of_128 << 62;
}

#define EIGHT(x, i)                                                                           \
  "+r"(x[i]), "+r"(x[i + 1]), "+r"(x[i + 2]), "+r"(x[i + 3]), "+r"(x[i + 4]), "+r"(x[i + 5]), \
      "+r"(x[i + 6]), "+r"(x[i + 7])

/* sums (+)= the products of 64 lines (of b) and 192 lines (of a) over 32 bytes. */
__device__ void multiply(int (&x)[SUMS], uint64_t lines64, uint64_t lines192, int adds) {
  static_assert(HIGH == 192 && SUMS == 96, "as the instruction has it");
  asm volatile(
      "{\n.reg .pred adds;\nsetp.ne.b32 adds, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k32.s32.s8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
      "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
      "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "
      "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, "
      "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, "
      "%87, %88, %89, %90, %91, %92, %93, %94, %95"
      "}, %96, %97, adds;\n}"
      : EIGHT(x, 0), EIGHT(x, 8), EIGHT(x, 16), EIGHT(x, 24), EIGHT(x, 32), EIGHT(x, 40),
        EIGHT(x, 48), EIGHT(x, 56), EIGHT(x, 64), EIGHT(x, 72), EIGHT(x, 80), EIGHT(x, 88)
      : "l"(lines64), "l"(lines192), "r"(adds));
}

#undef EIGHT

__device__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most LEFT groups of products are not complete. */
template <int LEFT>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

__device__ void meet_group(int group) {
  asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(GROUP) : "memory");
}

/* ---- The kernel ------------------------------------------------------------------- */

/* The addresses of a block's parts of shared memory, and where it is in the ring of stages. */
struct ring {
  unsigned stages, full, empty; /* barriers: a stage has arrived; nobody reads it any more */
  int at;
  unsigned phase;
};

__device__ ring ring_of(char *shared) {
  unsigned base = address_of(shared), barriers = base + STAGES * BYTES + OUT;
  return ring{base, barriers, barriers + STAGES * (unsigned)sizeof(uint64_t), 0, 0};
}

__device__ unsigned full_of(const ring &r) {
  return r.full + r.at * (unsigned)sizeof(uint64_t);
}

__device__ unsigned empty_of(const ring &r, int at) {
  return r.empty + at * (unsigned)sizeof(uint64_t);
}

__device__ void advance(ring &r) {
  r.at++;
  if (r.at < STAGES) return;
  r.at = 0;
  r.phase ^= 1;
}

/* One thread: copies the lines of all tiles of the cluster, as stages become empty. */
__device__ void copy_lines(const products &x, const CUtensorMap &a, const CUtensorMap &b, ring r,
                           const place_in_cluster &me, int first, int clusters) {
  unsigned across = ((1u << ACROSS) - 1) << (ACROSS * me.row), along = 0;
  for (int i = 0; i < UP; i++) along |= 1u << (i * ACROSS + me.column);
  int share_a = me.column * SHARE_A, share_b = me.row * SHARE_B;
  for (int tile = first; tile < x.tiles; tile += clusters) {
    place at = place_of(x, tile);
    int row = (at.row * UP + me.row) * HIGH + share_a;
    int column = (at.column * ACROSS + me.column) * WIDE + share_b;
    for (int s = 0; s < x.steps; s++, advance(r)) {
      unsigned to = r.stages + r.at * BYTES, full = full_of(r);
      wait_for(empty_of(r, r.at), r.phase ^ 1); /* of a new barrier, the phase before has passed */
      expect_bytes(full, BYTES);
      copy_box(to + share_a * DEEP, a, s * DEEP, row, at.plane, full, across);
      copy_box(to + BYTES_A + share_b * DEEP, b, s * DEEP, column, at.plane, full, along);
    }
  }
}

/* v modulo p, of least magnitude, for |v| <= 2^30: the quotient is off by less than 2^-3 / 64
 * before it is rounded, and no v / p with an odd p is nearer than 32 / p / 64 to the middle of two.
 */
__device__ int reduced(int v, const divisor &d) {
  return v - d.p * ((__mulhi(v, d.inverse) + 32) >> 6);
}

/* The blocks that copy to this one: those of its row and its column, SHARERS in all. */
const int SHARERS = UP + ACROSS - 1;

/* Tells these that the warp group reads a stage no more. */
__device__ void free_stage(const ring &r, int at, const place_in_cluster &me) {
  int thread = threadIdx.x % GROUP;
  if (thread >= SHARERS) return;
  int row = (me.row + 1 + thread - ACROSS) % UP; /* of the others of its column */
  int block = thread < ACROSS ? me.row * ACROSS + thread : row * ACROSS + me.column;
  arrive_at(empty_of(r, at), block);
}

/* The sums of a thread: of PIECES results, each of 64 columns. */
typedef int thread_sums[PIECES][SUMS];

/* sums (+)= the products over some stages. */
__device__ void add_stages(int stages, const place_in_cluster &me, int group, bool adds, ring &r,
                           thread_sums &sums) {
  int before = -1; /* the stage that products in flight may still read */
  for (int s = 0; s < stages; s++, advance(r)) {
    unsigned from = r.stages + r.at * BYTES,
             columns = from + BYTES_A + group * PIECES * COLUMNS * DEEP;
    uint64_t a = lines_at(from), b = lines_at(columns);
    wait_for(full_of(r), r.phase);
    begin_products();
#pragma unroll
    for (int k = 0; k < DEEP; k += STEP)
#pragma unroll
      for (int piece = 0; piece < PIECES; piece++)
        multiply(sums[piece], b + (piece * COLUMNS * DEEP + k) / 16, a + k / 16,
                 adds || s > 0 || k > 0);
    commit_products();
    wait_for_products<1>();
    if (before >= 0) free_stage(r, before, me);
    before = r.at;
  }
  wait_for_products<0>();
  free_stage(r, before, me);
}

/* The residues of a warp group's part of a tile. */
__device__ void sum_tile(const products &x, const divisor &d, const place_in_cluster &me, int group,
                         ring &r, thread_sums &sums) {
  for (int s = 0; s < x.steps; s += PART) {
    add_stages(x.steps - s < PART ? x.steps - s : PART, me, group, s > 0, r, sums);
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++)
#pragma unroll
      for (int i = 0; i < SUMS; i++) sums[piece][i] = reduced(sums[piece][i], d);
  }
}

/* Writes a result's residues by way of shared memory, 16 bytes a thread. A thread has, of every
 * eight rows, two neighbours of two columns. */
__device__ void write_piece(int8_t *to, int64_t ld, int group, char *mine,
                            const int (&sums)[SUMS]) {
  int thread = threadIdx.x % GROUP, warp = thread / 32, in_warp = thread % 32;
  meet_group(group); /* what was here before has been read */
#pragma unroll
  for (int i = 0; i < SUMS; i += 2) {
    int column = 16 * warp + in_warp / 4 + (i & 2) * 4, row = i / 4 * 8 + in_warp % 4 * 2;
    *(uint16_t *)(mine + column * PITCH + row) =
        (uint16_t)__byte_perm((unsigned)sums[i], (unsigned)sums[i + 1], 0x0040);
  }
  meet_group(group);
  const int loads = HIGH / 16; /* of a column */
  for (int e = thread; e < COLUMNS * loads; e += GROUP) {
    int column = e / loads, row = e % loads * 16;
    *(int4 *)(to + column * ld + row) = *(const int4 *)(mine + column * PITCH + row);
  }
}

__device__ void write_tile(const products &x, const place &at, const place_in_cluster &me,
                           int group, char *out, const thread_sums &sums) {
  int64_t row = (at.row * UP + me.row) * HIGH;
  int64_t column = (at.column * ACROSS + me.column) * WIDE + group * PIECES * COLUMNS;
  int8_t *to = x.out + at.plane * x.step + row + column * x.ld;
#pragma unroll
  for (int piece = 0; piece < PIECES; piece++)
    write_piece(to + piece * COLUMNS * x.ld, x.ld, group, out + group * COLUMNS * PITCH,
                sums[piece]);
}

__device__ void multiply_tiles(const products &x, ring r, char *out, const place_in_cluster &me,
                               int first, int clusters) {
  int group = threadIdx.x / GROUP - 1;
  thread_sums sums;
  for (int tile = first; tile < x.tiles; tile += clusters) {
    place at = place_of(x, tile);
    sum_tile(x, x.of[at.plane % x.count], me, group, r, sums);
    write_tile(x, at, me, group, out, sums);
  }
}

__global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(THREADS, 1)
    products_kernel(const __grid_constant__ products x, const __grid_constant__ CUtensorMap a,
                    const __grid_constant__ CUtensorMap b) {
  extern __shared__ __align__(1024) char shared[];
  ring r = ring_of(shared);
  int rank = (int)rank_in_cluster(), first = blockIdx.x / BLOCKS, clusters = gridDim.x / BLOCKS;
  const place_in_cluster me = {rank / ACROSS, rank % ACROSS};
  if (threadIdx.x == 0)
    for (int s = 0; s < STAGES; s++) {
      start_barrier(r.full + s * (unsigned)sizeof(uint64_t), 1);
      start_barrier(empty_of(r, s), MULTIPLIERS * SHARERS);
    }
  meet_cluster();
  if (threadIdx.x < GROUP) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS_OF_COPIER));
    if (threadIdx.x == 0) copy_lines(x, a, b, r, me, first, clusters);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS_OF_MULTIPLIER));
    multiply_tiles(x, r, shared + STAGES * BYTES, me, first, clusters);
  }
  meet_cluster(); /* no block ends while its neighbour still writes to it */
}

/* ---- Launching ---------------------------------------------------------------------- */

typedef CUresult (*encode_tiled)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                                 const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                 const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/* The driver's function, since 12.0; NULL: it lacks it. */
static encode_tiled encoder() {
  void *found = NULL;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                                       cudaEnableDefault, &result);
#else
  cudaError_t error =
      cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
  if (error != cudaSuccess) (void)cudaGetLastError();
  return error == cudaSuccess && result == cudaDriverEntryPointSuccess ? (encode_tiled)found : NULL;
}

/* Describes the planes of an operand to the copy engine, which copies boxes of some lines of DEEP
 * bytes and reads 0 beyond k and beyond the last line. */
static cudaError_t describe(const int8_t *first, int64_t k, int64_t lines, int planes, int64_t ld,
                            int64_t plane, int lines_of_box, CUtensorMap *map) {
  encode_tiled encode = encoder();
  const cuuint64_t extents[] = {(cuuint64_t)k, (cuuint64_t)lines, (cuuint64_t)planes};
  const cuuint64_t strides[] = {(cuuint64_t)ld, (cuuint64_t)plane};
  const cuuint32_t box[] = {DEEP, (cuuint32_t)lines_of_box, 1}, every[] = {1, 1, 1};
  if (encode == NULL) return cudaErrorNotSupported;
  CUresult result = encode(map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, (void *)first, extents, strides,
                           box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                           CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

static int tiles_of(int64_t lines, int of_tile) {
  return (int)((lines + of_tile - 1) / of_tile);
}

static products products_of(const tsr_gpu_products &args, const tsr_moduli &moduli) {
  products x = {};
  x.steps = (int)((args.k + DEEP - 1) / DEEP);
  x.rows = tiles_of(args.m, TSR_PRODUCTS_ROWS);
  x.columns = tiles_of(args.n, TSR_PRODUCTS_COLUMNS);
  x.tiles = args.planes * x.rows * x.columns;
  x.count = moduli.count;
  for (int l = 0; l < x.count; l++) {
    int64_t p = moduli.modulus[l];
    x.of[l] = divisor{(int)p, (int)((((int64_t)1 << 38) + p / 2) / p)};
  }
  x.out = args.residues;
  x.ld = args.ld;
  x.step = args.step;
  return x;
}

/* Clusters that a device runs at once; those of its groups of multiprocessors, which have 16 or 18,
 * do not use all. */
static cudaError_t clusters_at_once(int *count) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(BLOCKS);
  config.blockDim = dim3(THREADS);
  config.dynamicSmemBytes = SHARED;
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = BLOCKS;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  return cudaOccupancyMaxActiveClusters(count, products_kernel, &config);
}

static cudaError_t launch(const tsr_gpu_products &args, const tsr_moduli &moduli,
                          cudaStream_t stream) {
  int most = 0;
  CUtensorMap a, b;
  cudaError_t error =
      describe(args.a, args.k, args.m, args.planes, args.ld_a, args.plane_a, SHARE_A, &a);
  if (error == cudaSuccess)
    error = describe(args.b, args.k, args.n, args.planes, args.ld_b, args.plane_b, SHARE_B, &b);
  if (error == cudaSuccess)
    error =
        cudaFuncSetAttribute(products_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
  if (error == cudaSuccess) error = clusters_at_once(&most);
  if (error == cudaSuccess && most < 1) error = cudaErrorNotSupported;
  if (error != cudaSuccess) return error;
  products x = products_of(args, moduli);
  int clusters = x.tiles < most ? x.tiles : most;
  products_kernel<<<clusters * BLOCKS, THREADS, SHARED, stream>>>(x, a, b);
  return cudaGetLastError();
}

}  // namespace tsr_gpu

extern "C" int tsr_gpu_has_products(int device) {
  int major = 0, minor = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return major == 9 && minor == 0 && tsr_gpu::encoder() != NULL;
}

extern "C" int tsr_gpu_products_launch(const tsr_gpu_products *args, const tsr_moduli *moduli,
                                       void *stream) {
  return tsr_gpu::launch(*args, *moduli, (cudaStream_t)stream);
}
