/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where HIP differs from CUDA, and one release of ROCm from another (docs/explain/hip.md): a test
 * for each difference that the engine handles. Each is done in a process of its own, because the
 * runtime reads its settings once. TSR_TEST_ROCM is the release that the loader finds.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hip/hip_runtime_api.h>

#include "engine/harness.h"
#include "front/context.h"
#include "front/front.h"

static int release(void) {
  return atoi(getenv("TSR_TEST_ROCM"));
}

/* ---- In the process of a test --------------------------------------------------------- */

#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) {                                                               \
      fprintf(stderr, "line %d: %s (\"%s\")\n", __LINE__, #condition, tsr_message()); \
      _exit(1);                                                                       \
    }                                                                                 \
  } while (0)
#define RIGHT(call) CHECK((call) == TSR_OK)

/* A function of the runtime, which the engine has loaded. */
static void *find(const char *name) {
  char library[32];
  snprintf(library, sizeof library, "libamdhip64.so.%d", release());
  void *runtime = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  CHECK(runtime != NULL);
  void *function = dlsym(runtime, name);
  CHECK(function != NULL);
  return function;
}
#define HIP(name) ((__typeof__(&name))find(#name))

static harness open_engine(int count) {
  harness h = {.engine = tsr_engine_find("hip")};
  tsr_engine_options options = {.count = count};
  CHECK(h.engine != NULL);
  RIGHT(h.engine->open(&options, &h.state, h.info, &h.count));
  return h;
}

static void *memory_on(harness *h, int device, size_t bytes) {
  void *memory = NULL;
  RIGHT(h->engine->alloc(h->state, device, bytes, &memory));
  return memory;
}

static tsr_queue *queue_on(harness *h, int device) {
  tsr_queue *queue = NULL;
  RIGHT(h->engine->queue_create(h->state, device, TSR_QUEUE_COMPUTE, NULL, &queue));
  return queue;
}

static tsr_queue_event *event_on(harness *h, int device) {
  tsr_queue_event *event = NULL;
  RIGHT(h->engine->event_create(h->state, device, true, &event));
  return event;
}

/* When the queue has done what is in it now. */
static double pass(harness *h, tsr_queue *queue, tsr_queue_event *event) {
  double seconds = 0;
  bool complete = false;
  RIGHT(h->engine->record(queue, event));
  while (!complete) RIGHT(h->engine->query(event, &complete, &seconds));
  return seconds;
}

static tsr_place place_of(harness *h, const void *pointer) {
  tsr_place place;
  RIGHT(h->engine->where(h->state, pointer, &place));
  return place;
}

/* The runtime keeps no error for this thread: code of the user's would report it as its own. */
static void expect_no_error(void) {
  CHECK(HIP(hipGetLastError)() == hipSuccess);
}

static void set(const char *name, const char *value) {
  CHECK(setenv(name, value, 1) == 0);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void unknown_memory_is_pageable(void) {
  harness h = open_engine(2);
  static char ordinary[64], registered[4096];
  char *on_device = memory_on(&h, 1, 4096), *pinned = memory_on(&h, TSR_HOST, 4096);
  CHECK(place_of(&h, ordinary).memory == TSR_PAGEABLE);
  expect_no_error();
  tsr_place place = place_of(&h, on_device + 100);
  CHECK(place.memory == TSR_DEVICE && place.device == 1);
  CHECK(place.begin == on_device && place.bytes == 4096);
  CHECK(place_of(&h, pinned + 9).memory == TSR_PINNED && place_of(&h, pinned).begin == pinned);
  RIGHT(h.engine->pin(h.state, registered, sizeof registered, true));
  CHECK(place_of(&h, registered).memory == TSR_PINNED);
  RIGHT(h.engine->pin(h.state, registered, sizeof registered, false));
  CHECK(place_of(&h, registered).memory == TSR_PAGEABLE);
  h.engine->free(h.state, 1, on_device);
  CHECK(place_of(&h, on_device).memory == TSR_PAGEABLE);
  expect_no_error();
}

static void memory_of_a_device_that_is_not_used(void) {
  harness h = {.engine = tsr_engine_find("hip")};
  const int second = 1;
  void *memory;
  tsr_place place;
  RIGHT(h.engine->open(&(tsr_engine_options){.devices = &second, .count = 1}, &h.state, h.info,
                       &h.count));
  CHECK(HIP(hipSetDevice)(0) == hipSuccess && HIP(hipMalloc)(&memory, 64) == hipSuccess);
  CHECK(h.engine->where(h.state, memory, &place) == TSR_ERR_ARGUMENT);
  CHECK(strstr(tsr_message(), "HIP device 0") && strstr(tsr_message(), "TESSERA_DEVICES"));
}

/* Whatever the variable says: the runtime refuses memory that is not coherent. */
static void pinned_memory_is_coherent(void) {
  set("HIP_HOST_COHERENT", "0");
  harness h = open_engine(1);
  hipPointerAttribute_t attributes;
  void *memory = memory_on(&h, TSR_HOST, 4096);
  CHECK(HIP(hipPointerGetAttributes)(&attributes, memory) == hipSuccess);
  CHECK(attributes.allocationFlags & hipHostMallocCoherent);
  CHECK(attributes.allocationFlags & hipHostMallocPortable);
}

static tsr_options options_of_two(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  options.engine = "hip";
  options.devices = "2";
  options.machine = TWO_DEVICES;
  options.reproducible = 0;
  return options;
}

/* Larger than what the ring holds at once, from both ends. */
static void pageable_memory_is_staged(void) {
  enum { BYTES = 21 << 20 };
  tsr_options options = options_of_two();
  tsr_context *context;
  void *there;
  char *from = malloc(BYTES), *to = calloc(BYTES, 1);
  for (int i = 0; i < BYTES; i++) from[i] = (char)(i * 7 + i / 4096);
  RIGHT(tsr_context_create(&options, &context));
  RIGHT(tsr_malloc(context, 1, BYTES, &there));
  RIGHT(tsr_memcpy(context, there, from, BYTES)); /* a direct copy would be a misuse */
  RIGHT(tsr_memcpy(context, to, there, BYTES));
  CHECK(memcmp(to, from, BYTES) == 0);
  tsr_context_destroy(context);
}

/* ---- Peer access ------------------------------------------------------------------------------
 */

static void copy_between(harness *h) {
  char *host = memory_on(h, TSR_HOST, 256), *first = memory_on(h, 0, 256);
  char *second = memory_on(h, 1, 256);
  tsr_queue *queue = queue_on(h, 0);
  tsr_queue_event *event = event_on(h, 0);
  memset(host, 17, 256);
  const tsr_copy_args copies[] = {
      plain_copy(first, 0, host, TSR_HOST, 128),
      plain_copy(second, 1, first, 0, 128),
      {second + 128, first, 1, 0, 32, 64, 16, 2}, /* of two columns */
  };
  for (int i = 0; i < 3; i++) RIGHT(h->engine->copy(queue, &copies[i]));
  (void)pass(h, queue, event);
  tsr_queue *back = queue_on(h, 1);
  tsr_copy_args args = plain_copy(host + 128, TSR_HOST, second, 1, 128);
  RIGHT(h->engine->copy(back, &args));
  (void)pass(h, back, event_on(h, 1));
  CHECK(host[128] == 17 && host[255] == 17);
}

static void peer_access_that_is_on_already(void) {
  harness h = open_engine(2), again = open_engine(2);
  expect_no_error();
  for (int from = 0; from < 2; from++)
    CHECK(h.info[from].peer[1 - from] && again.info[from].peer[1 - from]);
  copy_between(&again);
}

static void devices_without_peer_access(void) {
  set("TSR_HIP_PEER", "0");
  harness h = open_engine(2);
  CHECK(!h.info[0].peer[1] && !h.info[1].peer[0]);
  copy_between(&h);
  expect_no_error();
}

/* ---- Errors
 * -------------------------------------------------------------------------------------- */

static void expected_errors_are_cleared(void) {
  harness h = open_engine(1);
  static char memory[4096];
  void *too_much;
  CHECK(h.engine->alloc(h.state, 0, (size_t)1 << 50, &too_much) == TSR_ERR_MEMORY);
  CHECK(strstr(tsr_message(), "smaller budget"));
  expect_no_error();
  RIGHT(h.engine->pin(h.state, memory, sizeof memory, true));
  CHECK(h.engine->pin(h.state, memory, sizeof memory, true) == TSR_ERR_ARGUMENT);
  expect_no_error();
  RIGHT(h.engine->pin(h.state, memory, sizeof memory, false));
  CHECK(h.engine->pin(h.state, memory, sizeof memory, false) == TSR_ERR_ARGUMENT);
  expect_no_error();
}

/* A success clears the thread's error up to release 6, and leaves it since: the runtime of the
 * tests does either, so that the tests above mean something. */
static void errors_are_kept_or_not(void) {
  harness h = open_engine(1);
  int device;
  CHECK(HIP(hipHostUnregister)(&h) != hipSuccess);
  CHECK(HIP(hipGetDevice)(&device) == hipSuccess);
  CHECK((HIP(hipGetLastError)() == hipSuccess) == (release() < 7));
}

/* ---- Events
 * ---------------------------------------------------------------------------------------- */

/* The most that a time may be off [s] in a test that began then: a device's clock is set by the
 * host's with an error of as long as that takes, and the computer may be busy. */
static double slack(double begin) {
  return 1 + 2 * (tsr_now() - begin);
}

/* A float of milliseconds is coarse after hours: the base of the clock is set anew. */
static void clocks_stay_fine(void) {
  enum { HOURS = 100 * 3600 };
  double begin = tsr_now();
  harness h = open_engine(1);
  void (*advance)(long);
  void *function = find("hip_test_advance");
  memcpy(&advance, &function, sizeof advance);
  tsr_queue *queue = queue_on(&h, 0);
  tsr_queue_event *first = event_on(&h, 0), *second = event_on(&h, 0);
  CHECK(fabs(pass(&h, queue, first) - begin) < slack(begin));
  advance(HOURS);
  double third = pass(&h, queue, second); /* sets the base */
  CHECK(fabs(third - tsr_now()) < slack(begin));
  double before = pass(&h, queue, first);
  tsr_sleep(2e-3);
  double after = pass(&h, queue, second);
  CHECK(after - before >= 1.9e-3); /* to 0.03 s, after so many hours, without a new base */
}

static void times_are_of_one_clock(void) {
  double begin = tsr_now(), last = 0;
  harness h = open_engine(2);
  tsr_queue *queues[] = {queue_on(&h, 0), queue_on(&h, 1)};
  tsr_queue_event *events[] = {event_on(&h, 0), event_on(&h, 1)};
  for (int i = 0; i < 20; i++) {
    double seconds = pass(&h, queues[0], events[0]);
    CHECK(seconds >= last);
    last = seconds;
    CHECK(fabs(pass(&h, queues[1], events[1]) - seconds) < slack(begin));
  }
  CHECK(fabs(last - begin) < slack(begin));
}

/* ---- Copies
 * -------------------------------------------------------------------------------------------- */

static void pitches_beyond_the_largest(void) {
  enum { PITCH = 5000, WIDTH = 24, ROWS = 7 };
  set("TSR_HIP_PITCH", "4096");
  harness h = open_engine(1);
  char *host = memory_on(&h, TSR_HOST, PITCH * ROWS), *to = memory_on(&h, 0, PITCH * ROWS);
  tsr_queue *queue = queue_on(&h, 0);
  for (int i = 0; i < PITCH * ROWS; i++) host[i] = (char)(i % 113);
  tsr_copy_args in = {to, host, 0, TSR_HOST, 64, PITCH, WIDTH, ROWS};
  tsr_copy_args out = {host, to, TSR_HOST, 0, PITCH, 64, WIDTH, ROWS};
  RIGHT(h.engine->copy(queue, &in));
  (void)pass(&h, queue, event_on(&h, 0));
  memset(host, 0, PITCH * ROWS);
  RIGHT(h.engine->copy(queue, &out));
  (void)pass(&h, queue, event_on(&h, 0));
  for (int row = 0; row < ROWS; row++)
    for (int i = 0; i < PITCH; i++)
      CHECK(host[row * PITCH + i] == (i < WIDTH ? (char)((row * PITCH + i) % 113) : 0));
}

/* ---- A device that is lost
 * -------------------------------------------------------------------------------- */

/* What the runtime says: 999 before release 7, 719 since. */
static void expect_lost(void) {
  const char *code = release() < 7 ? "(hipErrorUnknown, 999)" : "(hipErrorLaunchFailure, 719)";
  CHECK(strstr(tsr_message(), "HIP device 1") && strstr(tsr_message(), code));
}

static void a_lost_device_says_so(void) {
  set("TSR_HIP_LOSE", "1:60");
  harness h = open_engine(2);
  char *host = memory_on(&h, TSR_HOST, 64), *to = memory_on(&h, 1, 64);
  tsr_queue *queue = queue_on(&h, 1);
  tsr_queue_event *event = event_on(&h, 1);
  tsr_copy_args args = plain_copy(to, 1, host, TSR_HOST, 64);
  RIGHT(h.engine->record(queue, event));
  tsr_status status = TSR_OK;
  for (int i = 0; i < 200 && status == TSR_OK; i++) status = h.engine->copy(queue, &args);
  CHECK(status == TSR_ERR_DEVICE);
  expect_lost();
  bool complete = false;
  CHECK(h.engine->query(event, &complete, NULL) == TSR_ERR_DEVICE && complete);
  expect_lost();
  CHECK(h.engine->record(queue, event) == TSR_ERR_DEVICE);
  complete = false;
  CHECK(h.engine->query(event, &complete, NULL) == TSR_ERR_DEVICE && complete);
  CHECK(h.engine->wait(queue, event) == TSR_ERR_CHECK);
  void *more;
  CHECK(h.engine->alloc(h.state, 1, 64, &more) == TSR_ERR_DEVICE);
  expect_no_error();
  (void)pass(&h, queue_on(&h, 0), event_on(&h, 0)); /* the other one goes on */
  h.engine->queue_destroy(queue);
  h.engine->event_destroy(event);
  h.engine->free(h.state, 1, to);
  h.engine->close(h.state);
}

/* A call that meets it is done by the other device; contexts without the device go on. */
static void a_call_goes_on_without_a_lost_device(void) {
  enum { N = 96 };
  set("TSR_HIP_LOSE", "1:100");
  tsr_options options = options_of_two();
  tsr_context *context, *other;
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3);
  front_reference(N, 2, a, b, -1, expected);
  RIGHT(front_create(&options, &context));
  RIGHT(front_dgemm(context, N, 2, a, b, -1, c));
  CHECK(memcmp(c, expected, sizeof *c * N * N) == 0);
  CHECK((tsr_runner_well(context->calls.runner) & 2) == 0);
  tsr_context_destroy(context);
  options.devices = "0,";
  options.machine = "host:200 gpu*1@nvswitch:300 pcie:25 rate:19";
  RIGHT(front_create(&options, &other));
  front_fill(c, N * N, 3);
  RIGHT(front_dgemm(other, N, 2, a, b, -1, c));
  CHECK(memcmp(c, expected, sizeof *c * N * N) == 0);
  tsr_context_destroy(other);
}

/* ---- Kernels and the BLAS
 * ------------------------------------------------------------------------------------- */

static tsr_kernel_args add_on(void *a, void *c, tsr_type type, bool wide, int64_t m) {
  return (tsr_kernel_args){.kernel = TSR_KERNEL_ADD,
                           .type = type,
                           .wide = wide,
                           .m = m,
                           .n = 1,
                           .alpha = {1, 0},
                           .a = a,
                           .c = c,
                           .lda = m,
                           .ldc = m};
}

/* Runs a kernel whose operands are in pinned memory, which devices reach, too. */
static void run(harness *h, const tsr_kernel_args *args) {
  tsr_queue *queue = queue_on(h, 0);
  RIGHT(h->engine->kernel(queue, args));
  (void)pass(h, queue, event_on(h, 0));
}

/* 1 + half a unit, 1 + one and a half units, and just above half a unit. */
static void sixteen_bits_are_rounded_to_even(void) {
  harness h = open_engine(1);
  float *a = memory_on(&h, TSR_HOST, 64);
  uint16_t *c = memory_on(&h, TSR_HOST, 64);
  static const struct {
    tsr_type type;
    float unit;
    uint16_t one;
  } types[] = {{TSR_B, 0x1p-7f, 0x3f80}, {TSR_H, 0x1p-10f, 0x3c00}};
  for (int t = 0; t < 2; t++) {
    float unit = types[t].unit;
    a[0] = 1 + unit / 2, a[1] = 1 + 1.5f * unit, a[2] = 1 + 0.5625f * unit, a[3] = NAN;
    tsr_kernel_args args = add_on(a, c, types[t].type, true, 4);
    run(&h, &args);
    CHECK(c[0] == types[t].one && c[1] == types[t].one + 2 && c[2] == types[t].one + 1);
    uint16_t infinity = types[t].type == TSR_B ? 0x7f80 : 0x7c00;
    CHECK((c[3] & 0x7fff) > infinity);
  }
}

static tsr_kernel_args product_of(tsr_type type, const void *a, const void *b, void *c) {
  return (tsr_kernel_args){.kernel = TSR_KERNEL_GEMM,
                           .type = type,
                           .transa = TSR_NO_TRANS,
                           .transb = TSR_NO_TRANS,
                           .m = 1,
                           .n = 1,
                           .k = 2,
                           .alpha = {1, 0},
                           .a = a,
                           .b = b,
                           .c = c,
                           .lda = 1,
                           .ldb = 2,
                           .ldc = 1};
}

/* 11 bits, which TF32 has, do not hold 1 + 2^-20. */
static void products_of_type_t_are_fp32(void) {
  harness h = open_engine(1);
  float *x = memory_on(&h, TSR_HOST, 64);
  x[0] = 1 + 0x1p-20f, x[1] = 0, x[2] = 1, x[3] = 0;
  tsr_kernel_args args = product_of(TSR_T, x, x + 2, x + 4);
  run(&h, &args);
  CHECK(x[4] == 1 + 0x1p-20f);
}

/* rocBLAS before 4.0 has a trmm of the same name that overwrites B. */
static void trmm_leaves_its_operand(void) {
  harness h = open_engine(1);
  double *a = memory_on(&h, TSR_HOST, 64), *b = memory_on(&h, TSR_HOST, 64);
  double *c = memory_on(&h, TSR_HOST, 64);
  a[0] = 2, a[1] = 3, a[2] = 0, a[3] = 5; /* lower, by columns */
  b[0] = 7, b[1] = 11;
  c[0] = c[1] = -1;
  tsr_kernel_args args = {.kernel = TSR_KERNEL_TRMM,
                          .type = TSR_D,
                          .transa = TSR_NO_TRANS,
                          .side = TSR_LEFT,
                          .uplo = TSR_LOWER,
                          .diag = TSR_NON_UNIT,
                          .m = 2,
                          .n = 1,
                          .k = 2,
                          .alpha = {2, 0},
                          .a = a,
                          .b = b,
                          .c = c,
                          .lda = 2,
                          .ldb = 2,
                          .ldc = 2};
  run(&h, &args);
  CHECK(b[0] == 7 && b[1] == 11);
  CHECK(c[0] == 28 && c[1] == 152); /* 2 (2 x 7), 2 (3 x 7 + 5 x 11) */
}

static void extents_of_64_bits_are_refused(void) {
  harness h = open_engine(1);
  double *x = memory_on(&h, TSR_HOST, 64);
  tsr_kernel_args args = product_of(TSR_D, x, x, x + 4);
  args.lda = (int64_t)1 << 31;
  CHECK(h.engine->kernel(queue_on(&h, 0), &args) != TSR_OK);
  CHECK(strstr(tsr_message(), "rocBLAS"));
}

static void queues_are_many(void) {
  unsetenv("GPU_MAX_HW_QUEUES");
  (void)open_engine(1);
  CHECK(strcmp(getenv("GPU_MAX_HW_QUEUES"), "16") == 0);
}

static void queues_are_as_many_as_the_user_says(void) {
  set("GPU_MAX_HW_QUEUES", "2");
  (void)open_engine(1);
  CHECK(strcmp(getenv("GPU_MAX_HW_QUEUES"), "2") == 0);
}

/* ---- Devices that are hidden
 * ------------------------------------------------------------------------------------ */

/* The devices by their PCI addresses: "2 0" are those of buses 3 and 1. */
static void expect_devices(const char *wanted) {
  harness h = open_engine(0);
  char found[64] = "";
  for (int d = 0; d < h.count; d++) {
    unsigned bus;
    CHECK(sscanf(h.info[d].address, "7e55:%x:", &bus) == 1);
    snprintf(found + strlen(found), sizeof found - strlen(found), d > 0 ? " %u" : "%u", bus - 1);
  }
  if (strcmp(found, wanted) != 0) fprintf(stderr, "%s instead of %s\n", found, wanted);
  CHECK(strcmp(found, wanted) == 0);
}

static void hip_hides_devices(void) {
  set("HIP_VISIBLE_DEVICES", "2,0");
  expect_devices("2 0");
}

static void rocr_hides_devices(void) {
  set("ROCR_VISIBLE_DEVICES", "3,1,9,0"); /* what follows no device does not count */
  expect_devices("3 1");
}

static void both_hide_devices(void) {
  set("ROCR_VISIBLE_DEVICES", "3,1,2");
  set("HIP_VISIBLE_DEVICES", "2,1");
  expect_devices("2 1");
}

static void devices_are_visible_by_identity(void) {
  set("ROCR_VISIBLE_DEVICES", "GPU-7e55e2a000000002,gpu-7E55E2A000000001");
  expect_devices("2 1");
}

static void cudas_variable_counts_if_hips_is_empty(void) {
  set("HIP_VISIBLE_DEVICES", "");
  set("CUDA_VISIBLE_DEVICES", "1");
  expect_devices("1");
}

static void all_devices_are_visible(void) {
  expect_devices("0 1 2 3");
}

static void no_device_is_visible(void) {
  set("HIP_VISIBLE_DEVICES", "-1");
  harness h = {.engine = tsr_engine_find("hip")};
  CHECK(h.engine->open(&(tsr_engine_options){0}, &h.state, h.info, &h.count) == TSR_ERR_ENGINE);
  CHECK(strstr(tsr_message(), "HIP_VISIBLE_DEVICES is \"-1\""));
}

/* Numbers count what is left. */
static void numbers_are_of_visible_devices(void) {
  set("ROCR_VISIBLE_DEVICES", "1,3");
  harness h = {.engine = tsr_engine_find("hip")};
  const int second = 1, third = 2;
  tsr_engine_options options = {.devices = &second, .count = 1};
  RIGHT(h.engine->open(&options, &h.state, h.info, &h.count));
  CHECK(h.count == 1 && strncmp(h.info[0].address, "7e55:04", 7) == 0);
  options.devices = &third;
  CHECK(h.engine->open(&options, &h.state, h.info, &h.count) == TSR_ERR_ARGUMENT);
  CHECK(strstr(tsr_message(), "device 2 is asked for; this machine has 0 to 1"));
}

/* ---- Processes
 * ----------------------------------------------------------------------------------------------------
 */

typedef struct difference {
  const char *name;
  void (*look)(void);
} difference;

#define DIFFERENCE(name) \
  { #name, name }
static const difference differences[] = {
    DIFFERENCE(unknown_memory_is_pageable),
    DIFFERENCE(memory_of_a_device_that_is_not_used),
    DIFFERENCE(pinned_memory_is_coherent),
    DIFFERENCE(pageable_memory_is_staged),
    DIFFERENCE(peer_access_that_is_on_already),
    DIFFERENCE(devices_without_peer_access),
    DIFFERENCE(expected_errors_are_cleared),
    DIFFERENCE(errors_are_kept_or_not),
    DIFFERENCE(clocks_stay_fine),
    DIFFERENCE(times_are_of_one_clock),
    DIFFERENCE(pitches_beyond_the_largest),
    DIFFERENCE(a_lost_device_says_so),
    DIFFERENCE(a_call_goes_on_without_a_lost_device),
    DIFFERENCE(sixteen_bits_are_rounded_to_even),
    DIFFERENCE(products_of_type_t_are_fp32),
    DIFFERENCE(trmm_leaves_its_operand),
    DIFFERENCE(extents_of_64_bits_are_refused),
    DIFFERENCE(queues_are_many),
    DIFFERENCE(queues_are_as_many_as_the_user_says),
    DIFFERENCE(hip_hides_devices),
    DIFFERENCE(rocr_hides_devices),
    DIFFERENCE(both_hide_devices),
    DIFFERENCE(devices_are_visible_by_identity),
    DIFFERENCE(cudas_variable_counts_if_hips_is_empty),
    DIFFERENCE(all_devices_are_visible),
    DIFFERENCE(no_device_is_visible),
    DIFFERENCE(numbers_are_of_visible_devices),
};
enum { DIFFERENCES = sizeof differences / sizeof *differences };

/* exit() runs the runtime's destructor, which tells misuses by the code 99. */
static void is_handled(void **state) {
  const difference *d = *state;
  int status;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    d->look();
    exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

int main(void) {
  struct CMUnitTest tests[DIFFERENCES];
  front_clear_environment();
  unsetenv("ROCR_VISIBLE_DEVICES");
  unsetenv("HIP_VISIBLE_DEVICES");
  unsetenv("CUDA_VISIBLE_DEVICES");
  for (int i = 0; i < DIFFERENCES; i++)
    tests[i] = (struct CMUnitTest){differences[i].name, is_handled, NULL, NULL,
                                   (void *)(uintptr_t)&differences[i]};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
