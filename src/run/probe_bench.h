/*
 * The bench: queues and buffers on each device with which the probe's parts measure. One thread.
 */
#ifndef TSR_RUN_PROBE_BENCH_H
#define TSR_RUN_PROBE_BENCH_H

#include "run/probe.h"
#include "run/tuning.h"

enum { TSR_BENCH_BUFFERS = 3 };

typedef struct tsr_bench {
  const tsr_engine *engine;
  tsr_engine_state *state;
  const tsr_device_info *info;
  int devices;
  const tsr_probe_options *options;
  tsr_machine *machine;     /* what is being filled in */
  size_t bytes, host_bytes; /* of each buffer */
  char *buffer[TSR_MAX_DEVICES][TSR_BENCH_BUFFERS];
  char *host[TSR_MAX_DEVICES]; /* pinned */
  tsr_queue *in[TSR_MAX_DEVICES], *out[TSR_MAX_DEVICES], *compute[TSR_MAX_DEVICES];
  tsr_queue *peer[TSR_MAX_DEVICES][TSR_MAX_DEVICES]; /* [sender][receiver], made when needed */
} tsr_bench;

tsr_status tsr_bench_open(tsr_bench *bench);
void tsr_bench_close(tsr_bench *bench);

/* Tells the user; fraction is of the whole probe. */
void tsr_bench_progress(const tsr_bench *bench, double fraction, const char *what);

/* Fills all device buffers with random numbers of the type, mantissas full: the rate under a power
 * limit depends on the data. */
tsr_status tsr_bench_fill(tsr_bench *bench, tsr_type type);

/* Equal copies in a row on one queue. */
typedef struct tsr_stream {
  int device; /* whose queue it is */
  tsr_queue *queue;
  tsr_copy_args copy;
  int rounds; /* places in the host's memory that it goes through */
  int repeats;
  double begin, end; /* out: s */
} tsr_stream;

/* A stream of contiguous copies of that many bytes; from or to may be TSR_HOST. */
tsr_status tsr_bench_stream(tsr_bench *bench, int from, int to, size_t bytes, tsr_stream *stream);

/* Carries all streams out at once. */
tsr_status tsr_bench_run(tsr_bench *bench, tsr_stream *streams, int count);

double tsr_stream_bytes(const tsr_stream *stream);
/* Bytes/s of streams together, from the first begin to the last end. */
double tsr_stream_rate(const tsr_stream *streams, int count);

/* A square product on the bench's buffers of a device: m = n = area. */
tsr_kernel_args tsr_bench_product(const tsr_bench *bench, int device, tsr_type type, int64_t area,
                                  int64_t k);
/* The largest area that fits, at most most. */
int64_t tsr_bench_area(const tsr_bench *bench, tsr_type type, int64_t most);

/* Seconds of each of some equal kernels in a row. With ahead, all are submitted before the first
 * one starts, so that submission costs nothing. */
tsr_status tsr_bench_kernels(tsr_bench *bench, int device, const tsr_kernel_args *args, int repeats,
                             bool ahead, double *seconds);

/* Waits for a timed event; *when: its time. */
tsr_status tsr_bench_await(tsr_bench *bench, tsr_queue_event *event, double *when);

/* Waits for all that is in a queue of a device; *when (may be NULL): the time of its end. */
tsr_status tsr_bench_finish(tsr_bench *bench, int device, tsr_queue *queue, double *when);

/* ---- The parts ---- */

tsr_status tsr_probe_links(tsr_bench *bench);
tsr_status tsr_probe_kernels(tsr_bench *bench);
tsr_status tsr_probe_submission(tsr_bench *bench);
tsr_status tsr_probe_staging(tsr_bench *bench);

#endif
