/* Kernels that cuBLAS has no call for. */
#ifndef TSR_ENGINE_CUDA_KERNELS_H
#define TSR_ENGINE_CUDA_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* c = alpha a + beta c, all m x n and column-major. type is a letter of tsr_type. Which of a and c
 * are of the wide type: wide_a, wide_c. a = NULL: c = beta c. beta = 0 does not read c. uplo is 'L'
 * or 'U' when only that triangle is meant. hermitian (with a triangle and without a): the imaginary
 * parts of the diagonal are not read, and become zero. */
typedef struct tsr_gpu_add {
  char type, uplo;
  int wide_a, wide_c, hermitian;
  int64_t m, n;
  double alpha[2], beta[2];
  const void *a;
  int64_t lda;
  void *c;
  int64_t ldc;
} tsr_gpu_add;

/* Launches on the stream with at most that many blocks. Returns the runtime's error. */
int tsr_gpu_add_launch(const tsr_gpu_add *args, int blocks, void *stream);

/* Clears the imaginary parts of the diagonal of an n x n matrix of type 'c' or 'z'. */
int tsr_gpu_real_diagonal_launch(char type, int64_t n, void *c, int64_t ldc, void *stream);

/* The blocks on the diagonal of a triangle of order n that are inverted each by itself: their
 * order, but for the last one's. */
enum { TSR_GPU_INVERTED = 32 };

/* Of type 's', 'd', 'c' or 'z', column-major; uplo is 'L' or 'U'. The inverse is n x n without
 * gaps; of it are written the blocks on the diagonal, and zeros beside its triangle. unit: the
 * diagonal is not read. */
typedef struct tsr_gpu_invert {
  char type, uplo;
  int unit;
  int64_t n;
  const void *a;
  int64_t lda;
  void *inverse;
} tsr_gpu_invert;

int tsr_gpu_invert_launch(const tsr_gpu_invert *args, void *stream);

#ifdef __cplusplus
}
#endif

#endif
