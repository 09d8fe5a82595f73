/*
 * The machine: locations, links, channels and rates. Pure data; the planner sees nothing else of
 * the hardware. It comes from the probe, from a file, or from a string (docs/machine.md).
 *
 * Locations are numbered: devices 0 .. devices-1, then host memory nodes
 * devices .. devices+nodes-1.
 */
#ifndef TSR_MACHINE_MACHINE_H
#define TSR_MACHINE_MACHINE_H

#include <stdbool.h>

#include "base/kernel.h"
#include "base/status.h"
#include "base/text.h"

enum {
  TSR_MACHINE_DEVICES = 32,
  TSR_MACHINE_NODES = 8,
  TSR_MACHINE_LOCATIONS = TSR_MACHINE_DEVICES + TSR_MACHINE_NODES,
  TSR_MACHINE_CHANNELS = 160,
  TSR_CURVE_POINTS = 12,
  TSR_RATE_POINTS = 8
};

/* A rate as a function of a size: between points linear in the logarithm of the size, constant
 * outside; sizes ascend. */
typedef struct tsr_curve {
  int count;
  double size[TSR_CURVE_POINTS];
  double rate[TSR_CURVE_POINTS];
} tsr_curve;

double tsr_curve_at(const tsr_curve *curve, double size);

/* A directed path between two locations. Absent when bandwidth is 0. */
typedef struct tsr_link {
  double bandwidth; /* bytes/s, contiguous, alone, both directions quiet */
  double latency;   /* s, from submission to the first byte, and per copy */
  tsr_curve shape; /* rate by the length of a copy's contiguous segment, while kernels run; count 0:
                      bandwidth for every length */
} tsr_link;

/* A capacity that several links share: the sum over its uses of weight x rate is at most
 * capacity. Weights let directions differ (host memory that reads faster than it is written). */
typedef struct tsr_channel_use {
  int from, to;
  double weight;
} tsr_channel_use;

typedef struct tsr_channel {
  char name[32];
  double capacity; /* bytes/s */
  int count;       /* of uses */
  tsr_channel_use *uses;
} tsr_channel;

/* Rates of GEMM kernels of one type on a device of speed 1: flops/s by sqrt(m n) and by k, without
 * the device's kernel_latency; bilinear in the logarithms of sizes and rates, constant outside. */
typedef struct tsr_rates {
  int areas, ks; /* 0: this machine has no rate for the type */
  double area[TSR_RATE_POINTS];
  double k[TSR_RATE_POINTS];
  double flops[TSR_RATE_POINTS][TSR_RATE_POINTS]; /* [area][k], in short runs */
  double hot[TSR_RATE_POINTS][TSR_RATE_POINTS];   /* [area][k], at the device's power limit */
  tsr_curve narrow; /* the part of `flops` that is left where the shorter of m and n is an eighth of
                       the other one or less, by the shorter one; count 0: all */
  double sustained; /* flops/s of large kernels held for seconds */
} tsr_rates;

typedef struct tsr_device {
  char name[64];
  char identity[64];
  double speed;          /* factor on rates; 1 for equal devices */
  double memory;         /* bytes in all */
  double memory_rate;    /* bytes/s a memory-bound kernel reads and writes */
  double kernel_latency; /* s of fixed cost of each kernel */
  int host_node;         /* the nearest host location, as a location number */
} tsr_device;

/* What a process sends to others, and at the same time receives, together with all of them. */
typedef struct tsr_network {
  double bandwidth; /* bytes/s in each direction; 0: not known */
  double latency;   /* s of a message */
} tsr_network;

typedef struct tsr_machine {
  char name[96];
  char identity[96]; /* what the kept measurement is filed under */
  char source[16];   /* "probe", "file", "string", "built-in" */
  int devices, nodes;
  bool interleaved; /* pages of host memory are spread over the nodes */
  tsr_device device[TSR_MACHINE_DEVICES];
  tsr_link link[TSR_MACHINE_LOCATIONS][TSR_MACHINE_LOCATIONS]; /* [from][to] */
  int channels;
  tsr_channel channel[TSR_MACHINE_CHANNELS];
  tsr_rates rates[TSR_TYPE_COUNT];
  double cpu_flops[TSR_TYPE_COUNT];  /* of the CPU's BLAS, large product; 0: unknown */
  double cpu_latency;                /* s of a small call of it */
  int staging_threads;               /* host threads that stage pageable memory, all together */
  double thread_rate;                /* bytes/s of one of them */
  double staging_rate;               /* bytes/s of all of them together */
  double submit_copy, submit_kernel; /* s of a submitting thread */
  tsr_network network;               /* no part of what plans of one process depend on */
} tsr_machine;

tsr_status tsr_machine_create(tsr_machine **machine); /* empty */
void tsr_machine_destroy(tsr_machine *machine);

/* Keeps only the given devices, in this order, and the channels they use. */
tsr_status tsr_machine_select(const tsr_machine *machine, const int *devices, int count,
                              tsr_machine **selected);

static inline bool tsr_is_device(const tsr_machine *machine, int location) {
  return location < machine->devices;
}

/* Bytes/s of a copy of a rectangle inside a device, each read and written: devices' runtimes are
 * slower at that than kernels (NVIDIA H200: 510 to 830 GB/s for 4 to 128 MB, whatever the length
 * and the alignment of columns; memory_rate 4.3 TB/s). */
static inline double tsr_machine_copy_rate(const tsr_machine *machine, int device) {
  return machine->device[device].memory_rate / 6;
}

/* "gpu3", "host0". */
enum { TSR_LOCATION_NAME = 16 };
void tsr_location_name(const tsr_machine *machine, int location, char name[TSR_LOCATION_NAME]);

/* ---- Building (used by strings, files and the probe) ---- */

void tsr_machine_set_link(tsr_machine *machine, int from, int to, double bandwidth, double latency);
/* Adds a channel without uses; its index, or -1 when there are too many. */
int tsr_machine_add_channel(tsr_machine *machine, const char *name, double capacity);
tsr_status tsr_machine_use_channel(tsr_machine *machine, int channel, int from, int to,
                                   double weight);
/* Rates of a type from one figure, with the shape of the efficiency of a recent GPU
 * (rates.c says which measurement it is). */
void tsr_machine_set_rate(tsr_machine *machine, tsr_type type, double flops);

/* Says what makes no sense (no devices and no host, a negative rate, a channel without capacity,
 * a device that cannot be reached from any host node, a use of an absent link ...).
 * TSR_ERR_MACHINE. */
tsr_status tsr_machine_check(const tsr_machine *machine);

/* ---- Asking ---- */

/* Bytes/s of a copy alone on a link whose contiguous segments are that long; 0 if absent. */
double tsr_link_rate(const tsr_link *link, double segment);

/* Seconds of one kernel alone on a device with that heat; wide as in tsr_kernel_args. Infinite when
 * the machine has no rate for the type. */
double tsr_machine_kernel_time(const tsr_machine *machine, int device, tsr_kernel kernel,
                               tsr_type type, int64_t m, int64_t n, int64_t k, bool wide,
                               bool reads_c, double heat);

/* Flops/s of the fastest kernel of a type on a device of speed 1, in a short run; 0: unknown. */
double tsr_machine_best_rate(const tsr_machine *machine, tsr_type type);

/* How far a device comes from its rates in short runs (0) to those at its power limit (1) in a call
 * in which it computes for that many seconds, for that share of the call's time. */
double tsr_machine_heat(double seconds, double duty);

/* The most flops/s that products reach on a device of speed 1 with that heat. */
double tsr_machine_rate_limit(const tsr_machine *machine, tsr_type type, double heat);

/* Where the rates at the power limit were not measured by shape: those of short runs, but at most
 * what large kernels sustain. */
void tsr_rates_guess_hot(tsr_rates *rates);

/* Flops/s of a product in short runs, by its area alone. */
double tsr_rates_of(const tsr_rates *rates, double m, double n, double k);

/* Seconds of a product on the CPU's BLAS that reads and writes so many bytes; infinite when
 * unknown. */
double tsr_machine_cpu_time(const tsr_machine *machine, tsr_type type, double flops, double bytes);

/* A digest of everything plans depend on. */
uint64_t tsr_machine_digest(const tsr_machine *machine);

/* ---- Strings and files ---- */

/* Parses a machine string, such as "host:200 gpu*8@nvswitch:300 pcie:25/pair rate:19".
 * The grammar is in docs/machine.md. TSR_ERR_MACHINE points at the character. */
tsr_status tsr_machine_parse(const char *string, tsr_machine **machine);

/* JSON, complete in both directions. TSR_ERR_IO or TSR_ERR_MACHINE names path, place, remedy. */
tsr_status tsr_machine_read(const char *path, tsr_machine **machine);
tsr_status tsr_machine_write(const tsr_machine *machine, const char *path);

/* JSON itself if the argument begins with a brace, a file if it names one that exists or ends in
 * .json, else a string. */
tsr_status tsr_machine_load(const char *file_or_string, tsr_machine **machine);

/* Tables for people; the file's JSON for programs. */
void tsr_machine_print_text(const tsr_machine *machine, tsr_text *text);
tsr_status tsr_machine_print_json(const tsr_machine *machine, tsr_text *text);

/* Where the kept measurement of a machine of this identity is: in $XDG_CACHE_HOME/tessera or
 * ~/.cache/tessera (made if missing). *path is made with malloc. */
tsr_status tsr_machine_cache_path(const char *identity, char **path);

#endif
