/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The machine: locations, links, channels and rates. It is pure data, and all that the planner
 * knows of the hardware. A machine comes from the probe, from a file, or from a string
 * (docs/reference/machine.md).
 *
 * A location is a number: devices are 0 .. devices-1, host memory nodes are devices ..
 * devices+nodes-1. If there are several nodes, location devices+nodes is memory whose pages are
 * interleaved over all of them; what it shares with the nodes follows from their links and channels
 * (tsr_machine_complete).
 *
 * A node is the memory of one socket. A device hangs on the socket of its host_node. Whatever
 * crosses from one socket to another uses the channel of the link between them (tsr_machine_cross).
 */
#ifndef TSR_MACHINE_MACHINE_H
#define TSR_MACHINE_MACHINE_H

#include <stdbool.h>

#include "arithmetic/arithmetic.h"
#include "base/status.h"
#include "base/text.h"

enum {
  TSR_MACHINE_DEVICES = 32,
  TSR_MACHINE_NODES = 8,
  TSR_MACHINE_LOCATIONS = TSR_MACHINE_DEVICES + TSR_MACHINE_NODES + 1,
  TSR_MACHINE_CHANNELS = 224,
  TSR_CURVE_POINTS = 12,
  TSR_RATE_POINTS = 8
};

/* A rate as a function of a size. Sizes ascend; between two points the rate is linear in the
 * logarithm of the size, outside of the points it is constant. */
typedef struct tsr_curve {
  int count;
  double size[TSR_CURVE_POINTS];
  double rate[TSR_CURVE_POINTS];
} tsr_curve;

/* The rate at a size; 0: the curve has no points. */
double tsr_curve_at(const tsr_curve *curve, double size);

/* A path from one location to another, in that direction only. Bandwidth 0: there is no link. */
typedef struct tsr_link {
  double bandwidth; /* bytes/s of a contiguous copy while nothing else moves in either direction */
  double latency;   /* s from the submission of a copy to its first byte, if the link is idle */
  tsr_curve shape;  /* bytes/s by the length in bytes of the contiguous segments of a copy, while
                       kernels run; count 0: bandwidth for every length */
  /* The same for segments that are close together in host memory: short ones are much faster there
   * than if each lies in pages of its own. */
  struct tsr_close {
    double pitch;    /* bytes from segment to segment, at most, for which the rates hold */
    tsr_curve shape; /* count 0: as if the segments were far apart */
  } close;
} tsr_link;

/* How a copy lies in host memory: in contiguous segments of equal length. */
typedef struct tsr_segments {
  double length; /* bytes */
  double pitch;  /* bytes from the beginning of one to that of the next; 0: there is only one */
} tsr_segments;

/* A capacity that several links share: the sum over its uses of weight x rate is at most capacity.
 * Weights let directions differ (host memory may read faster than it writes). */
typedef struct tsr_channel_use {
  int from, to;
  double weight;
} tsr_channel_use;

typedef struct tsr_channel {
  char name[32];
  double capacity; /* bytes/s */
  int count;       /* uses */
  tsr_channel_use *uses;
} tsr_channel;

/* Rates of the GEMM kernels of one type on a device of speed 1, by sqrt(m n) and by k. Seconds of a
 * kernel = flops / rate + the device's kernel_latency. Rates are bilinear in the logarithms of
 * sizes and rates between the points, and constant outside. */
typedef struct tsr_rates {
  int areas, ks; /* numbers of points; 0: the machine has no rate for the type */
  double area[TSR_RATE_POINTS];
  double k[TSR_RATE_POINTS];
  double flops[TSR_RATE_POINTS][TSR_RATE_POINTS]; /* [area][k], flops/s in short runs */
  double hot[TSR_RATE_POINTS][TSR_RATE_POINTS]; /* [area][k], flops/s at the device's power limit */
  /* Rate of a narrow C / rate of a square of the same area, by the shorter of m and n. Holds if the
   * longer one is 8 times as long or more. count 0: always 1. */
  tsr_curve narrow;
  /* Rate of a trapezoid (TSR_KERNEL_GEMMT) by squares / that of a GEMM with as many elements of c,
   * by the order of the triangle that has as many. count 0: trapezoids are computed by one GEMM. */
  tsr_curve trapezoid;
  /* Of each level-3 routine other than GEMM: its rate / that of a GEMM of the same extents, by the
   * vendor's routine and by products of blocks (blocks of tsr_kernel_args). 0: not measured. */
  struct tsr_routine {
    double vendor, blocks;
  } routine[TSR_KERNEL_COUNT];
  /* Products in residues with the type's usual moduli (arithmetic/moduli.h), as flops/s of the
   * products that they stand for. sustained 0: not measured. */
  struct tsr_emulated {
    double flops[TSR_RATE_POINTS][TSR_RATE_POINTS]; /* [area][k], in short runs */
    double sustained;                               /* of large ones that run for seconds */
    double elements;                                /* elements/s of which residues are made */
  } emulated;
  double sustained; /* flops/s of large kernels that run for seconds */
} tsr_rates;

typedef struct tsr_device {
  char name[64];
  char identity[64];
  double speed;                      /* factor on all rates; 1 if devices are equal */
  double type_speed[TSR_TYPE_COUNT]; /* and a factor on those of each type; 0: 1 */
  double memory;                     /* bytes */
  double memory_rate;                /* bytes/s that a memory-bound kernel reads and writes */
  double kernel_latency;             /* s, the fixed cost of each kernel */
  int host_node;                     /* the location number of the nearest host memory node */
} tsr_device;

/* The most seconds that a start of any kind (staging_start, submit_record, ...) may take. */
#define TSR_MOST_START 1.0

/* What one process can send to all others together, and receive at the same time. */
typedef struct tsr_network {
  double bandwidth; /* bytes/s in each direction; 0: unknown */
  double latency;   /* s of a message */
} tsr_network;

/* What people want to know of the computer. No plan depends on it. */
typedef struct tsr_host {
  char cpu[64];       /* the model's name; "": unknown */
  int sockets, cores; /* of the whole computer; 0: unknown */
  double memory;      /* bytes; 0: unknown */
} tsr_host;

/* Where figures come from. */
typedef enum tsr_origin {
  TSR_ORIGIN_UNKNOWN,      /* nobody says */
  TSR_ORIGIN_MEASURED,     /* by us or by the probe, on such a machine */
  TSR_ORIGIN_UNDER_LOAD,   /* the same, while other programs kept the computer busy */
  TSR_ORIGIN_PUBLISHED,    /* measured by others, in a paper */
  TSR_ORIGIN_EXTRAPOLATED, /* from a measured machine of another size or type */
  TSR_ORIGIN_DATA_SHEET,   /* the vendor's peaks, or a part of them */
  TSR_ORIGIN_ASSUMED,      /* none of these */
  TSR_ORIGINS
} tsr_origin;

/* The figures that have an origin together. */
typedef enum tsr_figure {
  TSR_FIGURE_KERNELS,
  TSR_FIGURE_LINKS,  /* between host memory and devices */
  TSR_FIGURE_MEMORY, /* of the host */
  TSR_FIGURE_PEERS,  /* links between devices */
  TSR_FIGURE_SOCKETS,
  TSR_FIGURE_STAGING,
  TSR_FIGURE_CPU,
  TSR_FIGURES
} tsr_figure;

/* machine/origin.h asks. */
typedef struct tsr_origins {
  tsr_origin of[TSR_FIGURES];
  tsr_origin type[TSR_TYPE_COUNT]; /* of the kernels of a type; unknown: as those of kernels */
} tsr_origins;

typedef struct tsr_machine {
  char name[96];
  char identity[96];   /* names the measurement in the cache (tsr_machine_cache_path) */
  char source[16];     /* "probe", "file", "string", "built-in" */
  char measured[16];   /* the day of the measurement, "2026-11-23"; "": none, or unknown */
  char about[128];     /* what tells the machine from others of its kind; "": nothing */
  tsr_origins origins; /* no plan depends on them */
  tsr_host host;
  int devices, nodes;
  bool interleaved; /* host memory is interleaved over the nodes, whichever it is said to be on */
  tsr_device device[TSR_MACHINE_DEVICES];
  tsr_link link[TSR_MACHINE_LOCATIONS][TSR_MACHINE_LOCATIONS]; /* [from][to] */
  int channels;
  tsr_channel channel[TSR_MACHINE_CHANNELS];
  tsr_rates rates[TSR_TYPE_COUNT];
  double cpu_flops[TSR_TYPE_COUNT]; /* flops/s of the CPU's BLAS for a large product; 0: unknown */
  double cpu_latency;               /* s of a small call of the CPU's BLAS */
  int staging_threads;              /* host threads that stage pageable memory, for all devices */
  double thread_rate;               /* bytes/s of one staging thread */
  double staging_rate;              /* bytes/s of all staging threads together */
  /* s from a job's start to the start of its first staged copy, beyond turnaround; 0: unknown */
  double staging_start;
  double submit_copy, submit_kernel; /* s that a thread takes to submit one */
  /* s that it takes to record an event, and to make a queue wait for one; 0: unknown */
  double submit_record, submit_wait;
  /* s by which a call takes longer than its commands and their submission: the way from the caller
   * to the submitter, and that of the end from the device to the caller; 0: unknown */
  double turnaround;
  tsr_network network; /* plans of one process do not depend on it */
} tsr_machine;

tsr_status tsr_machine_create(tsr_machine **machine); /* all zero */
void tsr_machine_destroy(tsr_machine *machine);

/* Makes the machine that has only the given devices, in this order, and the channels that they use.
 * TSR_ERR_ARGUMENT: a device is not there, or is named twice. */
tsr_status tsr_machine_select(const tsr_machine *machine, const int *devices, int count,
                              tsr_machine **selected);

static inline bool tsr_is_device(const tsr_machine *machine, int location) {
  return location < machine->devices;
}

/* The number of locations: devices, nodes and, if there are several nodes, interleaved memory. */
static inline int tsr_machine_locations(const tsr_machine *machine) {
  return machine->devices + machine->nodes + (machine->nodes > 1);
}

/* The location of host memory on a node (0 .. nodes-1, or TSR_INTERLEAVED). */
int tsr_machine_host(const tsr_machine *machine, int node);

/* Whether a use follows from the others (tsr_machine_complete): that of interleaved memory, or of a
 * copy between two nodes. */
static inline bool tsr_channel_use_follows(const tsr_machine *machine, const tsr_channel_use *use) {
  int interleaved = machine->devices + machine->nodes;
  bool nodes = !tsr_is_device(machine, use->from) && !tsr_is_device(machine, use->to);
  return nodes || use->from == interleaved || use->to == interleaved;
}

/* Whether a node, 0 .. nodes-1, is the nearest of a device: then it has a staging ring. */
bool tsr_machine_has_ring(const tsr_machine *machine, int node);
/* The number of such nodes. */
int tsr_machine_rings(const tsr_machine *machine);

/* Bytes/s of a copy of a rectangle from and to the memory of one device. The runtime copies slower
 * than kernels read and write: on an NVIDIA H200 510 to 830 GB/s for 4 to 128 MB, whatever the
 * length and the alignment of columns, while memory_rate is 4.3 TB/s. */
static inline double tsr_machine_copy_rate(const tsr_machine *machine, int device) {
  return machine->device[device].memory_rate / 6;
}

/* Writes the name of a location: "gpu3", "host0"; "hosts" is interleaved memory. */
enum { TSR_LOCATION_NAME = 16 };
void tsr_location_name(const tsr_machine *machine, int location, char name[TSR_LOCATION_NAME]);

/* ---- Building (for strings, files and the probe) ---- */

void tsr_machine_set_link(tsr_machine *machine, int from, int to, double bandwidth, double latency);
/* Adds a channel without uses. Returns its index; -1: the machine has the most channels already. */
int tsr_machine_add_channel(tsr_machine *machine, const char *name, double capacity);
/* Adds a use to a channel. TSR_ERR_MACHINE: there is no channel of that index. */
tsr_status tsr_machine_use_channel(tsr_machine *machine, int channel, int from, int to,
                                   double weight);
/* Says what crosses from socket to socket, in each direction at most rate bytes/s: links between
 * all pairs of nodes, and for each direction a channel of all copies between a device and the
 * memory of another socket. peers: copies between devices cross, too, since they take the links to
 * the host. Call it when all links to and from devices are set; no link that crosses is faster than
 * rate. */
tsr_status tsr_machine_cross(tsr_machine *machine, double rate, double latency, bool peers);
/* The same for one direction between two nodes, which are locations. */
tsr_status tsr_machine_cross_one(tsr_machine *machine, int from, int to, double rate,
                                 double latency, bool peers);
/* If there are several nodes, adds what follows from their links and channels:
 * - the links of interleaved memory, with their shares of the channels. Every page comes by the way
 *   of its own node, so that a copy takes an equal part of its bytes over the link of each;
 * - the shares that copies between nodes have of the channels between the sockets and of both
 *   nodes' memory. Staging threads make such copies between a matrix and a ring.
 * Call it when all links and channels of the nodes are there. */
tsr_status tsr_machine_complete(tsr_machine *machine);
/* Whether a channel is the link between two sockets in one direction; *from and *to: their nodes,
 * 0 .. nodes-1. */
bool tsr_machine_is_crossing(const tsr_machine *machine, const tsr_channel *channel, int *from,
                             int *to);
/* Removes the link from one device to another, in that direction, with its uses of channels.
 * Channels that nothing uses any more go, too. */
void tsr_machine_unlink(tsr_machine *machine, int from, int to);
/* Whether every device has a link to every other one. */
bool tsr_machine_all_linked(const tsr_machine *machine);
/* Links devices that have no link, in the way of peer access over PCIe: such a copy takes the host
 * links of its sender and receiver, which it shares with their copies from and to host memory, and
 * the link between their sockets. */
tsr_status tsr_machine_link_over_host(tsr_machine *machine);
/* Fills the rates of a type from its best flops/s, with the shape of the efficiency of a recent GPU
 * (rates.c names the measurement). */
void tsr_machine_set_rate(tsr_machine *machine, tsr_type type, double flops);

/* Checks that a machine makes sense. TSR_ERR_MACHINE names what does not: no devices and no CPU, a
 * negative rate, a channel without capacity, a device that no host memory node reaches, a use of an
 * absent link ... */
tsr_status tsr_machine_check(const tsr_machine *machine);

/* ---- Asking ---- */

/* Bytes/s of a copy in such segments that is alone on a link. 0: there is no link. */
double tsr_link_rate(const tsr_link *link, tsr_segments segments);

/* The factor on the machine's rates of a type by which a device computes. */
static inline double tsr_machine_speed(const tsr_machine *machine, int device, tsr_type type) {
  double factor = machine->device[device].type_speed[tsr_type_index(type)];
  return machine->device[device].speed * (factor > 0 ? factor : 1);
}

/* Bytes that a kernel reads from and writes to the memory of its device at least, arguments as
 * below; 0 for products of residues, whose time is measured as a whole. */
double tsr_machine_kernel_bytes(tsr_kernel kernel, tsr_type type, int64_t m, int64_t n, int64_t k,
                                bool wide, bool reads_c);

/* Seconds of a kernel that runs alone on a device, a level-3 routine by the vendor's BLAS; wide as
 * in tsr_kernel_args, reads_c: the old C is read, heat as tsr_machine_heat() says. INFINITY: the
 * machine has no rate for the type. */
double tsr_machine_kernel_time(const tsr_machine *machine, int device, tsr_kernel kernel,
                               tsr_type type, int64_t m, int64_t n, int64_t k, bool wide,
                               bool reads_c, double heat);

/* The same for a level-3 routine that is computed by products of blocks. */
double tsr_machine_blocks_time(const tsr_machine *machine, int device, tsr_kernel kernel,
                               tsr_type type, int64_t m, int64_t n, int64_t k, bool wide,
                               bool reads_c, double heat);

/* The greatest of a table of rates. */
double tsr_rates_greatest(const tsr_rates *rates,
                          const double flops[TSR_RATE_POINTS][TSR_RATE_POINTS]);

/* Flops/s of the fastest kernel of a type on a device of speed 1 in short runs; 0: unknown. */
double tsr_machine_best_rate(const tsr_machine *machine, tsr_type type);

/* Seconds of the launches of a kernel on a form, which are several kernels of the device. */
static inline double tsr_form_latency(const tsr_device *device) {
  return 3 * device->kernel_latency;
}

/* Seconds of the kernels of an arithmetic with a form: of making the form of `lines` lines of k
 * elements, which are kept beside it or not, and of a product. */
double tsr_machine_form_time(const tsr_machine *machine, int device,
                             const tsr_arithmetic *arithmetic, const tsr_promise *promise,
                             tsr_type type, int64_t k, int64_t lines);
double tsr_machine_form_gemm_time(const tsr_machine *machine, int device,
                                  const tsr_arithmetic *arithmetic, tsr_type type, int64_t m,
                                  int64_t n, int64_t k, bool reads_c, double heat);

/* tsr_machine_rate_limit for products of that arithmetic: flops/s of the products that they stand
 * for. */
double tsr_machine_form_limit(const tsr_machine *machine, const tsr_arithmetic *arithmetic,
                              tsr_type type, double heat);

/* Whether products of blocks are the faster way for a level-3 routine of the type: by what was
 * measured; false: the vendor's routine is, or nothing was measured. */
bool tsr_machine_takes_blocks(const tsr_machine *machine, tsr_kernel kernel, tsr_type type);

/* The heat of a device in a call: 0: kernels reach their rates of short runs (flops), 1: those at
 * the power limit (hot). seconds: how long the device computes in the call; duty: that time / the
 * time of the call. */
double tsr_machine_heat(double seconds, double duty);

/* The most flops/s that products of a type reach on a device of speed 1 with that heat. */
double tsr_machine_rate_limit(const tsr_machine *machine, tsr_type type, double heat);

/* The most flops/s that any kernel of gemm reaches whose k is no longer, whatever its m and n, by
 * tsr_machine_kernel_time; 0 if no rate is known. */
double tsr_machine_rate_limit_of_k(const tsr_machine *machine, tsr_type type, double k,
                                   double heat);

/* Fills the rates at the power limit, for a machine on which they were not measured by shape: hot =
 * min(flops, sustained). */
void tsr_rates_guess_hot(tsr_rates *rates);

/* Flops/s of a product on a device of speed 1 in short runs, by sqrt(m n) and k; narrow is not
 * applied. */
double tsr_rates_of(const tsr_rates *rates, double m, double n, double k);

/* Seconds of a product on the CPU's BLAS that reads and writes that many bytes; INFINITY:
 * unknown. */
double tsr_machine_cpu_time(const tsr_machine *machine, tsr_type type, double flops, double bytes);

/* A digest of everything in a machine that the plans of one process depend on. */
uint64_t tsr_machine_digest(const tsr_machine *machine);

/* ---- Strings and files ---- */

/* Makes a machine from a string such as "host:200 gpu*8@nvswitch:300 pcie:25/pair rate:19".
 * docs/reference/machine.md has the grammar. TSR_ERR_MACHINE names the column that is wrong. */
tsr_status tsr_machine_parse(const char *string, tsr_machine **machine);

/* Reads and writes a machine as JSON; a machine that was written is read back the same. TSR_ERR_IO
 * or TSR_ERR_MACHINE names the path, the place in it and the remedy. */
tsr_status tsr_machine_read(const char *path, tsr_machine **machine);
tsr_status tsr_machine_write(const tsr_machine *machine, const char *path);
tsr_status tsr_machine_read_json(const char *json, tsr_machine **machine);

/* Makes a machine from any of its forms: JSON itself if the argument begins with a brace, a file if
 * the argument is the path of an existing file or ends in .json, an installed machine if it is the
 * name of one, else a machine string. */
tsr_status tsr_machine_load(const char *source, tsr_machine **machine);

/* Appends a machine to text: as some ten lines for people, as tables with all figures, or as the
 * JSON of a machine file. */
tsr_status tsr_machine_print_summary(const tsr_machine *machine, tsr_text *text);
void tsr_machine_print_tables(const tsr_machine *machine, tsr_text *text);
tsr_status tsr_machine_print_json(const tsr_machine *machine, tsr_text *text);

/* *path: the file that keeps the measurement of the machine with this identity, or would keep it: a
 * file of the cache, as base/system/cache_folder.h has it. The first function prefers a place that
 * has the file, the second one that can be written. The caller frees *path with free(). */
tsr_status tsr_machine_cache_path(const char *identity, char **path);
tsr_status tsr_machine_cache_path_to_write(const char *identity, char **path);

/* Calls visit with the path of each measurement kept of identities that begin with the host's name
 * and "-", until one is taken (true). Whether one is. An untrusted caller has none. */
bool tsr_machine_cache_visit(const char *host, bool (*visit)(const char *path, void *user),
                             void *user);

#endif
