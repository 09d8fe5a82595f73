/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tests that need a program which calls the GPU's runtime itself: of managed memory, of the
 * program's streams, and of thousands of calls and tens of contexts without growth. TSR_TEST_ENGINE
 * names the engine (cuda, or hip in a build with TESSERA_HIP_NVIDIA); without a GPU the tests are
 * skipped.
 */
#include <cuda_runtime_api.h>
#include <dirent.h>
#include <unistd.h>

#include "front.h"

enum { N = 300, COUNT = N * N };

#define CUDA_OK(call)                                                                 \
  do {                                                                                \
    cudaError_t error_ = (call);                                                      \
    if (error_ != cudaSuccess) fail_msg("%s: %s", #call, cudaGetErrorString(error_)); \
  } while (0)

static void needs_gpu(void) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0 && !front_is_emulated()) return;
  print_message("no GPU here\n");
  skip();
}

/* A context that neither verifies plans nor poisons memory: as programs have it. */
static tsr_context *plain_context(void) {
  tsr_options options = front_options();
  tsr_context *context = NULL;
  options.check = 0;
  assert_ok(front_create_tiled(&options, 0, &context));
  return context;
}

/* ---- Managed memory --------------------------------------------------------- */

static double *managed(int64_t count, int seed) {
  void *memory = NULL;
  CUDA_OK(cudaMallocManaged(&memory, (size_t)count * sizeof(double), cudaMemAttachGlobal));
  front_fill(memory, count, seed);
  return memory;
}

static void assert_managed(tsr_context *context, const double *x) {
  tsr_home home;
  assert_ok(tsr_home_find(context, x, COUNT * sizeof *x, &home));
  assert_int_equal(home.memory, TSR_MANAGED);
}

/* C = 2 A B - C in each way of calling, from pages on the host and from pages that the GPU wrote
 * last. b may be any memory. */
static void multiply_managed(tsr_context *context, const double *a, const double *b, double *c) {
  double *expected = front_matrix(COUNT, 3);
  front_fill(c, COUNT, 3);
  front_reference(N, 2, a, b, -1, expected);
  assert_ok(front_dgemm(context, N, 2, a, b, -1, c));
  front_assert_equal(c, expected, COUNT);

  CUDA_OK(cudaMemset(c, 0, COUNT * sizeof *c)); /* moves the pages to the GPU */
  CUDA_OK(cudaDeviceSynchronize());
  memset(expected, 0, COUNT * sizeof *expected);
  front_reference(N, 1, a, b, 1, expected);
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  front_reference(N, -3, a, b, 2, expected);
  assert_ok(front_dgemm_async(context, N, -3, a, b, 2, c));
  assert_ok(tsr_coherent_async(context, TSR_GENERAL, N, N, c, N, TSR_D));
  assert_ok(tsr_sync(context));
  front_assert_equal(c, expected, COUNT);
  assert_ok(tsr_release(context, 0, 0, NULL, 1, TSR_D));
  free(expected);
}

static void test_managed(void **state) {
  (void)state;
  needs_gpu();
  tsr_context *context = front_context(); /* which verifies plans */
  double *a = managed(COUNT, 1), *b = managed(COUNT, 2), *c = managed(COUNT, 3);
  double *pageable = front_matrix(COUNT, 4);
  assert_managed(context, a);
  multiply_managed(context, a, b, c);
  multiply_managed(context, a, pageable, c);
  multiply_managed(context, a, a, c);
  assert_refused(tsr_register(context, a, COUNT * sizeof *a), TSR_ERR_ARGUMENT, "managed");
  tsr_context_destroy(context);
  CUDA_OK(cudaFree(a));
  CUDA_OK(cudaFree(b));
  CUDA_OK(cudaFree(c));
  free(pageable);
}

/* ---- The program's streams ---------------------------------------------------- */

enum { ROUNDS = 40, FILLER_BYTES = 1 << 28, FILLS = 8 };

typedef struct streamed {
  cudaStream_t stream;
  double *a, *b, *c; /* on the GPU */
  double *from, *to; /* pinned */
  void *filler;      /* what keeps the stream busy */
} streamed;

static void *on_device(size_t bytes) {
  void *memory = NULL;
  CUDA_OK(cudaMalloc(&memory, bytes));
  return memory;
}

static double *pinned(void) {
  void *memory = NULL;
  CUDA_OK(cudaHostAlloc(&memory, COUNT * sizeof(double), cudaHostAllocDefault));
  return memory;
}

static streamed begin_streamed(void) {
  size_t bytes = COUNT * sizeof(double);
  streamed s = {.a = on_device(bytes),
                .b = on_device(bytes),
                .c = on_device(bytes),
                .from = pinned(),
                .to = pinned(),
                .filler = on_device(FILLER_BYTES)};
  CUDA_OK(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
  return s;
}

static void end_streamed(streamed *s) {
  CUDA_OK(cudaStreamDestroy(s->stream));
  CUDA_OK(cudaFree(s->a));
  CUDA_OK(cudaFree(s->b));
  CUDA_OK(cudaFree(s->c));
  CUDA_OK(cudaFree(s->filler));
  CUDA_OK(cudaFreeHost(s->from));
  CUDA_OK(cudaFreeHost(s->to));
}

/* A comes late on the stream, then the product, then C's way to the host: right only if the call
 * waits for the stream and the stream for the call. */
static void stream_round(tsr_context *context, streamed *s, int round, const double *b) {
  size_t bytes = COUNT * sizeof(double);
  double *expected = calloc(COUNT, sizeof *expected);
  assert_non_null(expected);
  front_fill(s->from, COUNT, round);
  for (int i = 0; i < FILLS; i++)
    CUDA_OK(cudaMemsetAsync(s->filler, round, FILLER_BYTES, s->stream));
  CUDA_OK(cudaMemcpyAsync(s->a, s->from, bytes, cudaMemcpyHostToDevice, s->stream));
  if (round % 2 == 0) {
    assert_ok(front_dgemm_async(context, N, 1, s->a, s->b, 0, s->c));
  } else {
    assert_ok(front_dgemm(context, N, 1, s->a, s->b, 0, s->c));
  }
  CUDA_OK(cudaMemcpyAsync(s->to, s->c, bytes, cudaMemcpyDeviceToHost, s->stream));
  CUDA_OK(cudaMemsetAsync(s->c, 0xff, bytes, s->stream));
  CUDA_OK(cudaStreamSynchronize(s->stream));
  front_reference(N, 1, s->from, b, 0, expected);
  front_assert_equal(s->to, expected, COUNT);
  free(expected);
}

static void test_streams(void **state) {
  (void)state;
  needs_gpu();
  tsr_context *context = plain_context();
  double *b = front_matrix(COUNT, 5);
  streamed s = begin_streamed();
  CUDA_OK(cudaMemcpy(s.b, b, COUNT * sizeof *b, cudaMemcpyHostToDevice));
  assert_ok(tsr_set_stream(context, 0, s.stream));
  for (int round = 0; round < ROUNDS; round++) stream_round(context, &s, round, b);
  assert_ok(tsr_sync(context));
  assert_ok(tsr_set_stream(context, 0, NULL));
  front_assert_works(context);
  tsr_context_destroy(context);
  CUDA_OK(cudaStreamSynchronize(s.stream)); /* it outlives the context */
  end_streamed(&s);
  free(b);
}

/* ---- No growth ----------------------------------------------------------------- */

enum { CALLS = 10000, WARM_CALLS = 1000, CONTEXTS = 20, WARM_CONTEXTS = 4, MIB = 1 << 20 };
/* The C library and the driver allocate in pieces: less is no growth with each call. */
enum { CALLS_BYTES = 2 * MIB, CONTEXTS_BYTES = 8 * MIB };

typedef struct usage {
  long rss;         /* bytes of this process in memory */
  int files;        /* open file descriptors */
  int threads;      /* of this process */
  size_t available; /* bytes of the GPU */
} usage;

static int entries(const char *folder) {
  DIR *directory = opendir(folder);
  int count = 0;
  assert_non_null(directory);
  while (readdir(directory)) count++;
  closedir(directory);
  return count;
}

static usage use_now(void) {
  usage u = {0};
  size_t total;
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
  fclose(file);
  u.rss = pages * sysconf(_SC_PAGESIZE);
  u.files = entries("/proc/self/fd");
  u.threads = entries("/proc/self/task");
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaMemGetInfo(&u.available, &total));
  return u;
}

static void assert_no_growth(const char *what, usage before, usage after, long bytes) {
  print_message("%s: host %+ld bytes, GPU %+lld bytes, %+d files, %+d threads\n", what,
                after.rss - before.rss, (long long)before.available - (long long)after.available,
                after.files - before.files, after.threads - before.threads);
  assert_true(after.rss - before.rss <= bytes);
  assert_true(after.available + (size_t)bytes >= before.available);
  assert_true(after.files <= before.files);
  assert_true(after.threads <= before.threads);
}

typedef struct operands {
  double *a, *b, *c;    /* pageable */
  double *da, *db, *dc; /* on the GPU */
} operands;

/* One of several calls: blocking and not, from pageable memory and the GPU's, with an event, with a
 * block that is registered and released. */
static void one_call(tsr_context *context, const operands *x, int i) {
  int64_t n = 32 + 16 * (i % 4);
  tsr_event event;
  switch (i / 4 % 4) {
    case 0:
      assert_ok(front_dgemm(context, n, 1, x->a, x->b, 0, x->c));
      break;
    case 1:
      assert_ok(front_dgemm_async(context, n, 1, x->da, x->db, 0, x->dc));
      assert_ok(tsr_event_record(context, &event));
      assert_ok(tsr_event_wait(context, &event));
      break;
    case 2:
      assert_ok(front_dgemm_async(context, n, 1, x->a, x->b, 1, x->c));
      assert_ok(tsr_coherent_async(context, TSR_GENERAL, n, n, x->c, n, TSR_D));
      assert_ok(tsr_sync(context));
      assert_ok(tsr_release(context, 0, 0, NULL, 1, TSR_D));
      front_fill(x->c, n * n, 3); /* or sums would overflow in the end */
      break;
    default:
      assert_ok(front_dgemm(context, n, 1, x->da, x->b, 0, x->dc));
  }
}

static void test_calls(void **state) {
  (void)state;
  needs_gpu();
  tsr_context *context = plain_context();
  operands x = {front_matrix(COUNT, 1), front_matrix(COUNT, 2), front_matrix(COUNT, 3)};
  x.da = on_device(COUNT * sizeof(double));
  x.db = on_device(COUNT * sizeof(double));
  x.dc = on_device(COUNT * sizeof(double));
  CUDA_OK(cudaMemcpy(x.da, x.a, COUNT * sizeof(double), cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(x.db, x.b, COUNT * sizeof(double), cudaMemcpyHostToDevice));
  usage before = {0};
  for (int i = 0; i < CALLS; i++) {
    if (i == WARM_CALLS) before = use_now();
    one_call(context, &x, i);
  }
  assert_no_growth("9000 calls", before, use_now(), CALLS_BYTES);
  front_assert_works(context);
  tsr_context_destroy(context);
  CUDA_OK(cudaFree(x.da));
  CUDA_OK(cudaFree(x.db));
  CUDA_OK(cudaFree(x.dc));
  free(x.a), free(x.b), free(x.c);
}

static void test_contexts(void **state) {
  (void)state;
  needs_gpu();
  usage before = {0};
  for (int i = 0; i < CONTEXTS; i++) {
    if (i == WARM_CONTEXTS) before = use_now();
    tsr_context *context = plain_context();
    front_assert_works(context);
    tsr_context_destroy(context);
  }
  assert_no_growth("16 contexts", before, use_now(), CONTEXTS_BYTES);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_managed),
      cmocka_unit_test(test_streams),
      cmocka_unit_test(test_calls),
      cmocka_unit_test(test_contexts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
