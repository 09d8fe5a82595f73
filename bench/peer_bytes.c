/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Counts the bytes that the vendor's library for several GPUs (cuBLASXt) copies for a solve and a
 * product of its result, the sequence of bench/composed.py: X = A^-1 B in place of B, then C = C -
 * D X, n x n of fp64 in pinned host memory. The bytes are those that the profiling library of CUDA
 * (CUPTI) sees on the devices.
 *
 *   peer_bytes DEVICES BLOCK N...     prints CSV
 */
#include <cublasXt.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER = 8 << 20, ALIGNMENT = 8, MOST_DEVICES = 16 };

/* Bytes of copies by direction. CUPTI has one function for all records and no argument for it. */
static struct counts { double in, out, between; } counted;

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *records) {
  *buffer = aligned_alloc(ALIGNMENT, BUFFER);
  *size = *buffer != NULL ? BUFFER : 0;
  *records = 0; /* as many as there is room for */
}

static void count(const CUpti_Activity *record) {
  if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
    counted.between += (double)((const CUpti_ActivityMemcpyPtoP4 *)record)->bytes;
    return;
  }
  if (record->kind != CUPTI_ACTIVITY_KIND_MEMCPY) return;
  const CUpti_ActivityMemcpy6 *copy = (const CUpti_ActivityMemcpy6 *)record;
  if (copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD) counted.in += (double)copy->bytes;
  if (copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH) counted.out += (double)copy->bytes;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid) {
  CUpti_Activity *record = NULL;
  (void)context, (void)stream, (void)size;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) count(record);
  free(buffer);
}

static int begin_counting(void) {
  return cuptiActivityRegisterCallbacks(give_buffer, take_buffer) == CUPTI_SUCCESS &&
         cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS &&
         cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2) == CUPTI_SUCCESS;
}

/* A matrix in pinned memory: random below the diagonal, so small that solving keeps its size. */
static double *matrix_of(size_t n, int triangle, unsigned seed) {
  double *a = NULL;
  if (cudaHostAlloc((void **)&a, n * n * sizeof *a, cudaHostAllocPortable) != cudaSuccess)
    return NULL;
  uint64_t state = seed;
  for (size_t i = 0; i < n * n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    a[i] = (double)(state >> 11) * 0x1p-53 - 0.5;
    if (triangle) a[i] = i % n == i / n ? 1 : a[i] / (double)n;
  }
  return a;
}

static int run(cublasXtHandle_t handle, size_t n, double *const m[4]) {
  const double one = 1, minus = -1;
  return cublasXtDtrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                       CUBLAS_DIAG_NON_UNIT, n, n, &one, m[0], n, m[1],
                       n) == CUBLAS_STATUS_SUCCESS &&
         cublasXtDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &minus, m[3], n, m[1], n, &one,
                       m[2], n) == CUBLAS_STATUS_SUCCESS;
}

static int measure(cublasXtHandle_t handle, int devices, int block, size_t n) {
  double *m[4];
  int good = 1;
  for (int i = 0; i < 4; i++) good &= (m[i] = matrix_of(n, i == 0, (unsigned)i + 1)) != NULL;
  good = good && run(handle, n, m); /* the first call also makes the library's own copies */
  (void)cuptiActivityFlushAll(1);
  counted = (struct counts){0, 0, 0};
  good = good && run(handle, n, m);
  (void)cuptiActivityFlushAll(1);
  if (good)
    printf("%d,%d,%zu,%.0f,%.0f,%.0f\n", devices, block, n, counted.in, counted.out,
           counted.between);
  for (int i = 0; i < 4; i++) cudaFreeHost(m[i]);
  return good;
}

int main(int argc, char **argv) {
  int ids[MOST_DEVICES], devices = argc > 3 ? atoi(argv[1]) : 0;
  cublasXtHandle_t handle;
  if (devices < 1 || devices > MOST_DEVICES || atoi(argv[2]) < 1) {
    fprintf(stderr, "usage: peer_bytes DEVICES BLOCK N...\n");
    return 2;
  }
  for (int i = 0; i < devices; i++) ids[i] = i;
  if (!begin_counting() || cublasXtCreate(&handle) != CUBLAS_STATUS_SUCCESS ||
      cublasXtDeviceSelect(handle, devices, ids) != CUBLAS_STATUS_SUCCESS ||
      cublasXtSetBlockDim(handle, atoi(argv[2])) != CUBLAS_STATUS_SUCCESS) {
    fprintf(stderr, "peer_bytes: cuBLASXt and CUPTI do not work here with %d devices\n", devices);
    return 1;
  }
  printf("devices,block,n,host_to_device,device_to_host,device_to_device\n");
  for (int i = 3; i < argc; i++)
    if (!measure(handle, devices, atoi(argv[2]), strtoull(argv[i], NULL, 10))) {
      fprintf(stderr, "peer_bytes: a call of cuBLASXt failed, or memory is short, for n = %s\n",
              argv[i]);
      return 1;
    }
  return 0;
}
