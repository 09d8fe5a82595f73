/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Launches the kernels of kernel_code.h and inverse_code.h. */
#include "engine/gpu/kernels.h"

#include "engine/gpu/level3/inverse_code.h"
#include "engine/gpu/kernel_code.h"

namespace tsr_gpu {

/* A scalar in the type in which an element of type T is computed. */
template <class T>
struct scalar {
  static typename traits<T>::value of(const double *s) {
    return (typename traits<T>::value)s[0];
  }
};
template <class R>
struct scalar<pair<R>> {
  static pair<R> of(const double *s) {
    return pair<R>{(R)s[0], (R)s[1]};
  }
};

/* The shape of a launch: a block's 256 threads lie along a column; if the column is shorter, the
 * others take the next columns. At most blocks thread blocks. */
struct shape {
  dim3 grid, block;
};

shape shape_of(int64_t rows, int64_t columns, int blocks) {
  const int threads = 256;
  int x = 1;
  while (x < threads && x < rows) x *= 2;
  int y = threads / x;
  int64_t gx = (rows + x - 1) / x, gy = (columns + y - 1) / y;
  if (gx > blocks) gx = blocks;
  int64_t most_y = blocks / gx;
  if (most_y > 65535) most_y = 65535;
  if (gy > most_y) gy = most_y;
  return shape{dim3((unsigned)gx, (unsigned)gy), dim3((unsigned)x, (unsigned)y)};
}

template <class A, class C, int V, bool HAS_A, bool READS_C>
void launch_shaped(const tsr_gpu_add &x, int blocks, gpuStream stream) {
  shape s = shape_of(x.m / V, x.n, blocks);
  add_kernel<A, C, V, HAS_A, READS_C>
      <<<s.grid, s.block, 0, stream>>>(x.m, x.n, scalar<C>::of(x.alpha), (const A *)x.a, x.lda,
                                       scalar<C>::of(x.beta), (C *)x.c, x.ldc);
}

template <class A, class C, bool HAS_A, bool READS_C>
void launch_triangle(const tsr_gpu_add &x, int blocks, gpuStream stream) {
  shape s = shape_of(x.n, x.n, blocks);
  add_triangle_kernel<A, C, HAS_A, READS_C><<<s.grid, s.block, 0, stream>>>(
      x.uplo == 'L', x.hermitian != 0, x.n, scalar<C>::of(x.alpha), (const A *)x.a, x.lda,
      scalar<C>::of(x.beta), (C *)x.c, x.ldc);
}

template <class A, class C, int V, bool HAS_A, bool READS_C>
void launch_part(const tsr_gpu_add &x, int blocks, gpuStream stream) {
  if (x.uplo == 'L' || x.uplo == 'U')
    launch_triangle<A, C, HAS_A, READS_C>(x, blocks, stream);
  else
    launch_shaped<A, C, V, HAS_A, READS_C>(x, blocks, stream);
}

template <class A, class C, int V>
void launch_packed(const tsr_gpu_add &x, int blocks, gpuStream stream) {
  bool reads_c = x.beta[0] != 0 || x.beta[1] != 0;
  if (x.a && reads_c)
    launch_part<A, C, V, true, true>(x, blocks, stream);
  else if (x.a)
    launch_part<A, C, V, true, false>(x, blocks, stream);
  else if (reads_c)
    launch_part<A, C, V, false, true>(x, blocks, stream);
  else
    launch_part<A, C, V, false, false>(x, blocks, stream);
}

bool aligned(const void *p, int64_t ld, size_t size) {
  return (uintptr_t)p % 16 == 0 && (size_t)ld * size % 16 == 0;
}

template <class A, class C>
void launch(const tsr_gpu_add &x, int blocks, gpuStream stream) {
  const int V = sizeof(C) == 16 ? 2 : (int)(16 / sizeof(C));
  bool packs =
      x.m % V == 0 && aligned(x.c, x.ldc, sizeof(C)) && (!x.a || aligned(x.a, x.lda, sizeof(A)));
  if (packs)
    launch_packed<A, C, V>(x, blocks, stream);
  else
    launch_packed<A, C, 1>(x, blocks, stream);
}

/* For a 16-bit type: a and c may be of its wide type, float. */
template <class T>
void launch_half(const tsr_gpu_add &x, int blocks, gpuStream stream) {
  if (x.wide_c)
    launch<float, float>(x, blocks, stream);
  else if (x.wide_a)
    launch<float, T>(x, blocks, stream);
  else
    launch<T, T>(x, blocks, stream);
}

template <class R>
void launch_real_diagonal(int64_t n, void *c, int64_t ldc, gpuStream stream) {
  const int threads = 256;
  unsigned blocks = (unsigned)((n + threads - 1) / threads);
  real_diagonal_kernel<R><<<blocks, threads, 0, stream>>>(n, (pair<R> *)c, ldc);
}

template <class T>
void launch_pivots(const tsr_gpu_pivots &x, gpuStream stream) {
  pivots_kernel<T><<<1, PIVOT_THREADS, 0, stream>>>((int)x.n, (const T *)x.c, x.ldc, x.info,
                                                    x.first, x.verdict);
}

template <class T>
void launch_invert(const tsr_gpu_invert &x, gpuStream stream) {
  unsigned blocks = (unsigned)((x.n + TSR_GPU_INVERTED - 1) / TSR_GPU_INVERTED);
  invert_kernel<T><<<dim3(blocks, blocks), INVERT_THREADS, 0, stream>>>(
      x.uplo == 'L', x.unit != 0, x.n, (const T *)x.a, x.lda, (T *)x.inverse, x.ld);
}

template <class T, int HALF, bool LOWER>
void launch_join(const tsr_gpu_invert &x, gpuStream stream) {
  const int WIDTH = joining<T, HALF, LOWER>::WIDTH;
  unsigned pairs = (unsigned)((x.n + HALF - 1) / (2 * HALF));
  join_kernel<T, HALF, LOWER><<<dim3(HALF / WIDTH, pairs), JOIN_THREADS, 0, stream>>>(
      x.n, (const T *)x.a, x.lda, (T *)x.inverse, x.ld);
}

template <class T, int HALF>
void launch_joins(const tsr_gpu_invert &x, gpuStream stream) {
  if (x.uplo == 'L')
    launch_join<T, HALF, true>(x, stream);
  else
    launch_join<T, HALF, false>(x, stream);
}

template <class T>
void launch_fill(const tsr_gpu_fill &x, gpuStream stream) {
  const int N = FILLED;
  unsigned tiles = (unsigned)((x.n + N - 1) / N);
  fill_kernel<T><<<dim3(tiles, tiles), dim3(N, FILL_STEP), 0, stream>>>(
      x.uplo == 'L', x.hermitian != 0, x.n, (const T *)x.a, x.lda, (T *)x.full, x.ld);
}

template <class T>
void launch_squares(const tsr_gpu_squares &x, gpuStream stream) {
  const int N = FILLED;
  unsigned tiles = (unsigned)((x.leaf + N - 1) / N),
           count = (unsigned)((x.n + x.leaf - 1) / x.leaf);
  squares_kernel<T><<<dim3(tiles, tiles, count), dim3(N, FILL_STEP), 0, stream>>>(
      x.uplo == 'L', x.unit != 0, x.n, x.leaf, (const T *)x.a, x.lda, (T *)x.squares, x.ld);
}

mending mending_of(const tsr_gpu_mend &x) {
  return mending{x.right != 0, x.uplo == 'L', x.unit != 0, x.op,    x.order,
                 x.lines,      x.lda,         x.ldb,       x.ldold, x.ldc};
}

dim3 blocks_of_lines(const tsr_gpu_mend &x) {
  int64_t here = x.right ? MEND_ROWS : 1;
  return dim3((unsigned)((x.lines + here - 1) / here));
}

template <class T>
void launch_mend(const tsr_gpu_mend &x, gpuStream stream) {
  mend_kernel<T><<<blocks_of_lines(x), dim3(MEND_ROWS, MEND_ACROSS), 0, stream>>>(
      mending_of(x), scalar<T>::of(x.alpha), (const T *)x.a, (const T *)x.b, scalar<T>::of(x.beta),
      (const T *)x.old, (T *)x.c, x.mended);
}

template <class T>
void launch_put_lines(const tsr_gpu_mend &x, void *c, int64_t ldc, gpuStream stream) {
  put_lines_kernel<T><<<blocks_of_lines(x), dim3(MEND_ROWS, MEND_ACROSS), 0, stream>>>(
      mending_of(x), (const T *)x.c, x.mended, (T *)c, ldc);
}

template <bool LOWER>
void launch_trapezoid(const tsr_gpu_trapezoid &x, gpuStream stream) {
  const int threads = 64;
  dim3 grid((unsigned)((x.rows + threads - 1) / threads), (unsigned)x.columns);
  trapezoid_kernel<LOWER><<<grid, threads, 0, stream>>>(x.rows, x.columns, (const char *)x.a,
                                                        (const char *)x.b, (char *)x.c, x.step_a,
                                                        x.step_b, x.row_of_c, x.column_of_c, x.to);
}

/* Launches kernels of one of the types s, d, c and z; launch_of gets a value of the element type.
 */
template <class F>
int of_type(char type, F launch_of) {
  switch (type) {
    case 's':
      launch_of(float());
      break;
    case 'd':
      launch_of(double());
      break;
    case 'c':
      launch_of(pair<float>());
      break;
    case 'z':
      launch_of(pair<double>());
      break;
    default:
      return gpuErrorInvalidValue;
  }
  return gpuLastError();
}

}  // namespace tsr_gpu

using namespace tsr_gpu;

extern "C" int tsr_gpu_add_launch(const tsr_gpu_add *x, int blocks, void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  if (x->m <= 0 || x->n <= 0) return gpuSuccess;
  switch (x->type) {
    case 's':
    case 't':
      launch<float, float>(*x, blocks, stream);
      break;
    case 'd':
      launch<double, double>(*x, blocks, stream);
      break;
    case 'c':
      launch<pair<float>, pair<float>>(*x, blocks, stream);
      break;
    case 'z':
      launch<pair<double>, pair<double>>(*x, blocks, stream);
      break;
    case 'h':
      launch_half<gpuHalf>(*x, blocks, stream);
      break;
    case 'b':
      launch_half<gpuBfloat16>(*x, blocks, stream);
      break;
    default:
      return gpuErrorInvalidValue;
  }
  return gpuLastError();
}

extern "C" int tsr_gpu_real_diagonal_launch(char type, int64_t n, void *c, int64_t ldc,
                                            void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  if (n <= 0) return gpuSuccess;
  if (type == 'c')
    launch_real_diagonal<float>(n, c, ldc, stream);
  else if (type == 'z')
    launch_real_diagonal<double>(n, c, ldc, stream);
  else
    return gpuErrorInvalidValue;
  return gpuLastError();
}

extern "C" int tsr_gpu_pivots_launch(const tsr_gpu_pivots *x, void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  if (x->n <= 0) return gpuSuccess;
  return of_type(x->type, [&](auto zero) { launch_pivots<decltype(zero)>(*x, stream); });
}

extern "C" int tsr_gpu_invert_launch(const tsr_gpu_invert *x, void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  if (x->n <= 0) return gpuSuccess;
  return of_type(x->type, [&](auto zero) { launch_invert<decltype(zero)>(*x, stream); });
}

extern "C" int tsr_gpu_join_launch(const tsr_gpu_invert *x, int half, void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  if (x->n <= half) return gpuSuccess;
  return of_type(x->type, [&](auto zero) {
    if (half == TSR_GPU_JOINED)
      launch_joins<decltype(zero), TSR_GPU_JOINED>(*x, stream);
    else
      launch_joins<decltype(zero), TSR_GPU_INVERTED>(*x, stream);
  });
}

extern "C" int tsr_gpu_fill_launch(const tsr_gpu_fill *x, void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  if (x->n <= 0) return gpuSuccess;
  return of_type(x->type, [&](auto zero) { launch_fill<decltype(zero)>(*x, stream); });
}

extern "C" int tsr_gpu_squares_launch(const tsr_gpu_squares *x, void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  if (x->n <= 0) return gpuSuccess;
  return of_type(x->type, [&](auto zero) { launch_squares<decltype(zero)>(*x, stream); });
}

extern "C" int tsr_gpu_mend_launch(const tsr_gpu_mend *x, void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  if (x->order <= 0 || x->lines <= 0) return gpuSuccess;
  return of_type(x->type, [&](auto zero) { launch_mend<decltype(zero)>(*x, stream); });
}

extern "C" int tsr_gpu_put_lines_launch(const tsr_gpu_mend *x, void *c, int64_t ldc,
                                        void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  if (x->order <= 0 || x->lines <= 0) return gpuSuccess;
  return of_type(x->type, [&](auto zero) { launch_put_lines<decltype(zero)>(*x, c, ldc, stream); });
}

extern "C" int tsr_gpu_trapezoid_launch(const tsr_gpu_trapezoid *x, void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  if (x->columns <= 0) return gpuSuccess;
  if (x->uplo == 'L')
    launch_trapezoid<true>(*x, stream);
  else
    launch_trapezoid<false>(*x, stream);
  return gpuLastError();
}
