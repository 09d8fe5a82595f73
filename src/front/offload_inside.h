/* Between the parts of deciding: offload.c, offload_price.c, offload_start.c, offload_report.c. */
#ifndef TSR_FRONT_OFFLOAD_INSIDE_H
#define TSR_FRONT_OFFLOAD_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "blas/call.h"
#include "front/context.h"
#include "front/offload.h"
#include "plan/plan.h"

/* ---- Prices (offload_price.c) ---- */

enum { TSR_OFFLOAD_SIZES = 64 };

/* What the program's calls of about one size, within a factor of two in flops, have shown. */
typedef struct tsr_offload_shown {
  _Atomic double rate; /* the CPU's best, flops/s */
  atomic_int calls;    /* on the CPU */
  _Atomic double late; /* what devices took longer than planned, s, of late; may be negative */
  atomic_int runs;     /* on devices */
} tsr_offload_shown;

/* What the CPU's BLAS is taken to do, and by how much devices are late. Rates are of the machine
 * until the program's own calls have shown theirs. Any thread. */
typedef struct tsr_offload_price {
  double figure[TSR_TYPE_COUNT]; /* flops/s by the machine */
  tsr_offload_shown shown[TSR_TYPE_COUNT][TSR_OFFLOAD_SIZES];
  double latency, memory_rate; /* s; bytes/s, 0: unknown */
} tsr_offload_price;

/* guess: the machine does not know this CPU; a fast one is assumed, with all its processors. */
void tsr_offload_price_init(tsr_offload_price *price, const tsr_machine *machine, bool guess);
/* Flops/s of calls of about as many flops; INFINITY: of the fastest. */
TSR_API double tsr_offload_cpu_rate(const tsr_offload_price *price, tsr_type type, double flops);
double tsr_offload_cpu_seconds(const tsr_offload_price *price, const tsr_call *call);
/* Flops of the smallest call that keeps the CPU busy for so long. */
TSR_API double tsr_offload_cpu_flops(const tsr_offload_price *price, tsr_type type, double seconds);
/* A call that the CPU has done. True: what is believed of the CPU may have changed. */
TSR_API bool tsr_offload_price_show(tsr_offload_price *price, tsr_type type, double flops,
                                    double seconds);
/* How many of about that size there were. */
TSR_API int tsr_offload_price_calls(const tsr_offload_price *price, tsr_type type, double flops);

/* What is to be added to the planned time of a call on devices, s: what calls like it took longer
 * than planned because of what else the program does (a BLAS whose threads wait busily). Where
 * there were none like it, what the nearest size showed. */
TSR_API double tsr_offload_lateness(const tsr_offload_price *price, tsr_type type, double flops);
TSR_API void tsr_offload_price_run(tsr_offload_price *price, tsr_type type, double flops,
                                   double planned, double seconds);
/* A call went to the CPU for lateness alone: that counts for less, so that devices are tried again.
 */
TSR_API void tsr_offload_price_spared(tsr_offload_price *price, tsr_type type, double flops);

/* Seconds on devices before there is a plan, with operands in host memory; staged: in pageable
 * memory. */
double tsr_offload_device_seconds(const tsr_reach *reach, const tsr_call *call, bool staged);

/* What starting the devices of an engine costs, s. */
double tsr_offload_start_seconds(const char *engine, int devices);

/* ---- Which machine, without touching a device (offload_guess.c) ---- */

/* *machine is NULL when there is no device. *measured: it was measured on this computer, so that
 * its figures of the CPU hold. */
tsr_status tsr_offload_guess(const tsr_options *options, tsr_machine **machine, bool *measured);

/* NVIDIA's devices by what the driver shows under root ("/proc/driver/nvidia/gpus"): fills names;
 * how many there are. */
int tsr_offload_list_nvidia(const char *root, tsr_device_info *info, int most);

/* ---- The state (offload_start.c) ---- */

typedef enum tsr_offload_mode {
  TSR_OFFLOAD_NEVER,
  TSR_OFFLOAD_AUTO,
  TSR_OFFLOAD_ALWAYS
} tsr_offload_mode;

typedef enum tsr_offload_phase {
  TSR_PHASE_NONE, /* no devices now or later: why says it */
  TSR_PHASE_IDLE,
  TSR_PHASE_STARTING,
  TSR_PHASE_READY
} tsr_offload_phase;

typedef struct tsr_offload_state {
  tsr_offload_mode mode;
  tsr_options options;
  int64_t min_size;                     /* -1: by the model */
  _Atomic double least[TSR_TYPE_COUNT]; /* multiplications of the smallest call that is looked at */
  _Atomic double unasked[TSR_TYPE_COUNT]; /* what tsr_offload_unasked() shows */
  tsr_offload_price price;
  tsr_reach guess, reach; /* of the devices that there seem to be, and of those of the context */
  int devices;            /* that there seem to be */
  double device_memory;   /* bytes of one; 0: unknown */
  double network;         /* bytes/s of a process each way, as the machine says; 0: it does not */
  int dealt;              /* devices of this process, of those; 0: nothing was dealt */
  int ranks;              /* processes that see the same devices; 0: unknown */
  char share[160];        /* options.devices, when they were dealt */
  atomic_int phase;
  atomic_int why;       /* tsr_offload_why, of TSR_PHASE_NONE */
  tsr_context *context; /* from TSR_PHASE_READY on */
  pthread_mutex_t lock; /* of what follows, and of changes of phase */
  pthread_cond_t changed;
  double would_have_saved, start_seconds; /* s */
  char error[256];                        /* why there are no devices, for people */
} tsr_offload_state;

/* Made at the first use. */
tsr_offload_state *tsr_offload_get(void);

/* Sets least and unasked of a type, from the price or from the minimum size. */
void tsr_offload_set_least_of(tsr_offload_state *state, tsr_type type);

/* Starts the devices in the background if nobody has; await: returns when they are ready or
 * cannot be. */
void tsr_offload_start(tsr_offload_state *state, bool await);

/* offload_share.c: gives the process its share of the devices; the caller holds the lock. */
void tsr_offload_take_share(tsr_offload_state *state, int rank, int ranks);

/* No devices from now on. */
void tsr_offload_give_up(tsr_offload_state *state, tsr_offload_why why, const char *error);

/* ---- The report (offload_report.c) ---- */

void tsr_offload_report_init(void);
void tsr_offload_report_write(const tsr_offload_state *state);
/* Around a fork; the child has seen no calls. */
void tsr_offload_report_lock(void);
void tsr_offload_report_unlock(bool child);

#endif
