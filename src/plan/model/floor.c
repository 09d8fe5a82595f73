/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The floor: a time that no execution of the call can beat on the machine.
 *
 * It is the largest of
 *   - all flops / the rates of all devices together;
 *   - the bytes of A, B and C that kernels read or write, each once, / the rates of all devices'
 *     memories together;
 *   - the bytes that must leave and enter host memory, each once, over the best use of all host
 *     links and of the channels that they share, the links between sockets among them (sockets.h);
 *   - for each device that is home to operands: the least time over all shares f of the work that
 *     the device may do itself. The time is the longest of its own kernels, the others' kernels,
 *     and the transfers from it and to it. If the others do a share w = 1 - f of a product, they
 *     need shares a of A and b of B, and add to a share c of C, with a b c >= w^2 (Loomis and
 *     Whitney, "An inequality related to the isoperimetric inequality", 1949: a set of products
 *     a_ik b_kj has at most sqrt(elements of A x of B x of C) members), each at least w. If no
 *     element of C is shared, c is w; if k is cut over the devices, c is 1. Kernels take their
 *     flops / the rate, or their bytes / the rate of the device's memory if that is longer
 *     (home_memory). The first kernel of a device is submitted and started before it computes, and
 *     what the home sends is used by a kernel that starts when it has arrived.
 *   - in a factorisation, the blocks on the diagonal one after another, at the least time of each
 *     column in them.
 * The rate of a product is the best one of its k or a shorter one (tsr_machine_rate_limit_of_k).
 * docs/explain/floor.md has the proofs.
 */
#include <math.h>

#include "blas/family.h"
#include "blas/operation.h"
#include "plan/axes.h"
#include "plan/model/sockets.h"
#include "plan/plan.h"
#include "plan/tuning.h"

static double total_speed(const tsr_machine *machine, tsr_type type) {
  double speed = 0;
  for (int d = 0; d < machine->devices; d++) speed += tsr_machine_speed(machine, d, type);
  return speed;
}

static double total_memory(const tsr_machine *machine) {
  double rate = 0;
  for (int d = 0; d < machine->devices; d++) rate += machine->device[d].memory_rate;
  return rate;
}

/* Bytes of an operand; of a triangular or symmetric matrix the stored triangle alone. */
static double bytes_of(const tsr_call *call, int x) {
  const tsr_operand *o = &call->operand[x];
  tsr_family family = tsr_family_of(call->operation);
  bool triangle = family == TSR_TRIANGLE ? x == TSR_A : family != TSR_PRODUCT && x == TSR_C_;
  double rows = (double)o->rows, elements = rows * (double)o->cols;
  if (triangle) elements = rows * (rows + 1) / 2;
  return elements * (double)tsr_type_get(call->type)->size;
}

/* Bytes of an operand that must be read: C only if beta is not 0. */
static double read_bytes(const tsr_call *call, int x) {
  if (x == TSR_C_) return call->beta == TSR_ZERO ? 0 : bytes_of(call, x);
  return tsr_call_scales_only(call) ? 0 : bytes_of(call, x);
}

/* Bytes of A, B and C that kernels read or write at least: each once, a C that is read twice. */
static double kernel_bytes(const tsr_call *call) {
  double bytes = bytes_of(call, TSR_C_);
  for (int x = 0; x < TSR_OPERANDS; x++) bytes += read_bytes(call, x);
  return bytes;
}

/* ---- Host memory ---------------------------------------------------------- */

static double weight_on(const tsr_channel *channel, int from, int to) {
  for (int i = 0; i < channel->count; i++)
    if (channel->uses[i].from == from && channel->uses[i].to == to) return channel->uses[i].weight;
  return 0;
}

enum { NEAR = -1 }; /* of each device: the node near it */

/* Bytes/s between a host location and all devices in one direction: links are filled one after
 * another, as far as their channels allow. */
static double host_rate(const tsr_machine *machine, int location, bool in) {
  double left[TSR_MACHINE_CHANNELS], sum = 0;
  for (int c = 0; c < machine->channels; c++) left[c] = machine->channel[c].capacity;
  for (int d = 0; d < machine->devices; d++) {
    int node = location == NEAR ? machine->device[d].host_node : location;
    int from = in ? node : d, to = in ? d : node;
    double rate = machine->link[from][to].bandwidth;
    for (int c = 0; c < machine->channels; c++) {
      double weight = weight_on(&machine->channel[c], from, to);
      if (weight > 0) rate = fmin(rate, left[c] / weight);
    }
    for (int c = 0; c < machine->channels; c++)
      left[c] -= rate * weight_on(&machine->channel[c], from, to);
    sum += rate;
  }
  return sum;
}

/* Time that a channel needs for the node's transfers, at the least weight of all devices' links: 0
 * unless all links use it. */
static double shared_time(const tsr_machine *machine, const tsr_channel *channel, int node,
                          double in, double out) {
  double in_weight = INFINITY, out_weight = INFINITY;
  for (int d = 0; d < machine->devices; d++) {
    in_weight = fmin(in_weight, weight_on(channel, node, d));
    out_weight = fmin(out_weight, weight_on(channel, d, node));
  }
  return (in_weight * in + out_weight * out) / channel->capacity;
}

/* Whether an operand is in host memory that no device can reach, so that all of its bytes pass
 * through the staging threads. */
static bool is_staged(const tsr_operand *operand) {
  return (operand->memory == TSR_PAGEABLE && operand->pinned_end == 0) ||
         operand->memory == TSR_MANAGED;
}

/* The ways that an operand's bytes may take. Staging threads may write those parts of a C in pinned
 * memory that its diagonal crosses. */
static tsr_host_way way_of(const tsr_call *call, int x, bool writes) {
  const tsr_operand *operand = &call->operand[x];
  if (is_staged(operand)) return TSR_WAY_STAGED;
  bool triangle = writes && tsr_call_has_triangular_c(call);
  return operand->memory == TSR_PINNED && !triangle ? TSR_WAY_STRAIGHT : TSR_WAY_EITHER;
}

static tsr_host_load host_load(const tsr_machine *machine, const tsr_call *call) {
  tsr_host_load load = {{{0}}, {{0}}};
  for (int x = 0; x < TSR_OPERANDS; x++) {
    int host = call->operand[x].location - machine->devices;
    if (host < 0) continue;
    load.out[way_of(call, x, false)][host] += read_bytes(call, x);
    if (x == TSR_C_) load.in[way_of(call, x, true)][host] += bytes_of(call, x);
  }
  return load;
}

/* Time of the bytes that enter and leave a host location over its own links. With one node, all
 * ways use these. */
static double host_time(const tsr_machine *machine, const tsr_host_load *load, int host) {
  int location = machine->devices + host;
  double in = load->in[TSR_WAY_STRAIGHT][host], out = load->out[TSR_WAY_STRAIGHT][host], time = 0;
  for (int way = TSR_WAY_STRAIGHT + 1; way < TSR_WAYS && machine->nodes == 1; way++) {
    in += load->in[way][host];
    out += load->out[way][host];
  }
  if (out > 0) time = fmax(time, out / host_rate(machine, location, true));
  if (in > 0) time = fmax(time, in / host_rate(machine, location, false));
  for (int c = 0; c < machine->channels; c++)
    time = fmax(time, shared_time(machine, &machine->channel[c], location, out, in));
  return time;
}

static double staging_time(const tsr_machine *machine, const tsr_host_load *load) {
  double bytes = 0;
  for (int host = 0; host <= machine->nodes; host++)
    bytes += load->in[TSR_WAY_STAGED][host] + load->out[TSR_WAY_STAGED][host];
  return machine->staging_rate > 0 ? bytes / machine->staging_rate : 0;
}

/* ---- Devices that are homes ----------------------------------------------- */

/* Bytes/s that a device can send to (or receive from) all others at once, host included. */
static double device_port(const tsr_machine *machine, int device, bool sends) {
  double sum = 0, cap = INFINITY;
  for (int o = 0; o < machine->devices + machine->nodes; o++)
    if (o != device)
      sum += sends ? machine->link[device][o].bandwidth : machine->link[o][device].bandwidth;
  for (int c = 0; c < machine->channels; c++) {
    double least = INFINITY; /* the channel's weight of this direction, if every link to another
                                device uses it */
    for (int o = 0; o < machine->devices; o++)
      if (o != device)
        least = fmin(least, sends ? weight_on(&machine->channel[c], device, o)
                                  : weight_on(&machine->channel[c], o, device));
    if (least > 0 && isfinite(least)) cap = fmin(cap, machine->channel[c].capacity / least);
  }
  double host = 0;
  for (int o = machine->devices; o < machine->devices + machine->nodes; o++)
    host += sends ? machine->link[device][o].bandwidth : machine->link[o][device].bandwidth;
  return fmin(sum, cap + host);
}

/* Minimum of a |A| + b |B| over a and b from `share` to 1 with a b c >= share^2, bytes. Bytes at
 * other homes count 0. c: the share of C that the work adds to, from `share` to 1. */
static double least_operands(double a_bytes, double b_bytes, double share, double c) {
  if (share == 0 || a_bytes == 0 || b_bytes == 0) return share * (a_bytes + b_bytes);
  double both = share * share / c;
  double a = fmin(fmin(1, share / c), fmax(share, sqrt(both * b_bytes / a_bytes)));
  return a * a_bytes + both / a * b_bytes;
}

/* The least share of C whose elements have a share of the work. In a factorisation an element of
 * column j has j products, so that the last columns have the most: those behind a share x have a
 * share (1 - x)^2 of the elements, and 1 - 3 x^2 + 2 x^3 of the work. x is found by bisection, to
 * 2^-20. */
static double least_of_c(const tsr_call *call, double share) {
  if (tsr_family_of(call->operation) != TSR_FACTOR) return share;
  double low = 0, high = 1;
  for (int i = 0; i < 20; i++) {
    double x = (low + high) / 2;
    *(1 - x * x * (3 - 2 * x) > share ? &low : &high) = x;
  }
  return (1 - high) * (1 - high);
}

/* Bytes that a device must send so that others can do a share of the work, adding to a share c of
 * C. A product: the smallest parts of A and B; C need not be sent, since it can be added at its
 * home. An operation in place: the share of C that has the work. Others: 0, a lower bound. */
static double sent_for(const tsr_call *call, const double *at_home, double share, double c) {
  if (tsr_family_of(call->operation) == TSR_PRODUCT)
    return least_operands(at_home[TSR_A], at_home[TSR_B_], share, c);
  return tsr_is_in_place(call->operation) ? least_of_c(call, share) * at_home[TSR_C_] : 0;
}

/* A device that is home to operands. */
typedef struct home {
  double reads[TSR_OPERANDS]; /* bytes of the operands there that must be read */
  double back;                /* bytes of C, if it is there */
  double sends, takes;        /* bytes/s from the device and to it */
  double memory, others;      /* bytes/s of its memory, and of the other devices' together */
  double used;                /* bytes of A, B and C that a product reads and writes; else 0 */
  double start;               /* s before its own kernels compute: one is submitted, and started */
  double lead;      /* s before the others use what it sends: a copy is submitted and started, and a
                       kernel of another device is started; 0 if they need nothing of it */
  double elsewhere; /* s before the others' kernels compute */
} home;

/* Whether all results of the others depend on what the home sends: on its A or B in a product, on
 * its C in an operation in place. Of others nothing is known. */
static bool others_depend(const tsr_call *call, const home *h) {
  if (tsr_family_of(call->operation) == TSR_PRODUCT)
    return h->reads[TSR_A] > 0 || h->reads[TSR_B_] > 0;
  return tsr_is_in_place(call->operation) && h->reads[TSR_C_] > 0;
}

/* The least start of a copy from the device, s: of one behind another copy of its queue. */
static double least_start_of_copy(const tsr_machine *machine, int device) {
  double latency = INFINITY;
  for (int o = 0; o < tsr_machine_locations(machine); o++)
    if (o != device && machine->link[device][o].bandwidth > 0)
      latency = fmin(latency, machine->link[device][o].latency);
  return isfinite(latency) ? machine->submit_copy + TSR_TUNE_BEHIND_A_COPY * latency : 0;
}

static void set_starts(const tsr_machine *machine, const tsr_call *call, int device, home *h) {
  double kernel = INFINITY; /* the least start of a kernel of another device */
  for (int o = 0; o < machine->devices; o++)
    if (o != device) kernel = fmin(kernel, machine->device[o].kernel_latency);
  h->start = machine->submit_kernel + machine->device[device].kernel_latency;
  if (machine->devices == 1) return;
  if (others_depend(call, h)) h->lead = least_start_of_copy(machine, device) + kernel;
  h->elsewhere = fmax(h->lead, machine->submit_kernel + kernel);
}

static home home_of(const tsr_machine *machine, const tsr_call *call, int device) {
  home h = {.sends = device_port(machine, device, true),
            .takes = device_port(machine, device, false)};
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (call->operand[x].location == device) h.reads[x] = read_bytes(call, x);
  if (call->operand[TSR_C_].location == device) h.back = bytes_of(call, TSR_C_);
  h.memory = machine->device[device].memory_rate;
  h.others = total_memory(machine) - h.memory;
  set_starts(machine, call, device, &h);
  if (tsr_family_of(call->operation) == TSR_PRODUCT)
    h.used = read_bytes(call, TSR_A) + read_bytes(call, TSR_B_) + bytes_of(call, TSR_C_);
  return h;
}

/* Kernels at a home of C read and write fewer bytes there if the home sends elements of C to the
 * others. The bytes of its kernels if it sends none, those that each byte sent spares, and the most
 * bytes that it may send. */
typedef struct trade {
  double kernels, spared, most;
  double start; /* s before these kernels begin; 0 if there may be none */
} trade;

/* The work that the other devices may do: a share w of all products, between w[0] and w[1], and a
 * share c of the elements of C to which they add, between c[0] and c[1]. both is c - w. */
typedef struct range {
  double w[2], c[2], both[2];
} range;

/*
 * Bytes that kernels at home read and write at least if the others do a share w of a product and
 * add to a share c of C. Every element of A, B or C takes part in equally many multiplications, so
 * that those at home touch at least 1 - w of each: (1 - w) (|A| + |B| + |C|), C being written. What
 * is more if C is there:
 *   - beta is not 0: an old element is read at home, or it is sent. Where the others added to an
 *     element that was not sent, a kernel also reads their sum and writes the element once more:
 *     |C| + 2 c |C|, and 3 bytes fewer for each one that is sent;
 *   - beta is 0: to at least c - w of C both add. There a kernel reads the others' sum, or the
 *     home's own sum is sent.
 * Copies also read and write the memory of the home; their bytes are not counted.
 */
static trade home_memory(const home *h, const range *r) {
  trade t = {.kernels = (1 - r->w[1]) * h->used, .start = r->w[1] < 1 ? h->start : 0};
  if (h->used == 0 || h->back == 0) return t;
  bool reads = h->reads[TSR_C_] > 0;
  t.spared = reads ? 3 : 1;
  t.most = (reads ? r->c[1] : r->both[1]) * h->back;
  t.kernels += (reads ? 1 + 2 * r->c[0] : r->both[0]) * h->back;
  return t;
}

/* The least time over how much of C is sent. `out`: bytes of A and B that are sent besides. The
 * last byte of these is read by a kernel. */
static double least_trade(const home *h, const trade *t, double out) {
  double kernels = t->start + t->kernels / h->memory;
  double sending = out > 0 ? h->lead + out / h->sends : 0;
  if (!(h->sends > 0)) return fmax(kernels, sending);
  if (kernels <= sending || t->most == 0) return fmax(kernels, sending);
  double even = (kernels - sending) / (t->spared / h->memory + 1 / h->sends);
  double sent = fmin(even, t->most);
  return fmax(kernels - sent * t->spared / h->memory, sending + sent / h->sends);
}

/* A function's bound: no value between low and high is less, and the bound between equal ones is
 * the value. */
typedef double bound(const void *of, double low, double high);

/* A lower bound of a function between low and high. Where the bound of an interval is more than
 * NEAR_LEAST below the least value that is known, the interval is halved, so many times at most.
 */
static double least_between(bound *f, const void *of, double low, double high, int halvings,
                            double *known) {
  const double NEAR_LEAST = 1e-4; /* of the least value: the floor may be so much too low */
  double least = f(of, low, high);
  if (halvings == 0 || least >= *known * (1 - NEAR_LEAST)) return least;
  double middle = (low + high) / 2;
  *known = fmin(*known, f(of, middle, middle));
  return fmin(least_between(f, of, low, middle, halvings - 1, known),
              least_between(f, of, middle, high, halvings - 1, known));
}

enum { HALVINGS = 14 }; /* of shares: 2^-14 is less than NEAR_LEAST */

/* How a home and the others may divide the work. */
typedef struct division {
  const tsr_call *call;
  home h;
  double flops, own, others; /* flops of the call; flops/s of the home and of the others */
  double w[2];               /* the shares of the work that the others may do */
} division;

/* The time of the transfers from a home and to it, and of its memory. low, high: the share of C
 * that the others add to, beyond their share of the work, as a part of what more there is. */
static double bound_of_c(const void *of, double low, double high) {
  const division *d = of;
  const home *h = &d->h;
  double less = d->w[0], more = d->w[1];
  range r = {.w = {less, more},
             .c = {less + low * (1 - less), more + high * (1 - more)},
             .both = {low * (1 - more), high * (1 - less)}};
  trade at_home = home_memory(h, &r);
  double out = sent_for(d->call, h->reads, less, r.c[1]);
  double back = least_of_c(d->call, r.c[0]) * h->back;
  return fmax(least_trade(h, &at_home, out), h->lead + back / h->takes);
}

/* The same, the least over all shares of C. If C is elsewhere, it costs nothing to add to all of
 * it. In operations but products, work is counted in shares of C. */
static double least_transfers(const division *d) {
  if (tsr_family_of(d->call->operation) != TSR_PRODUCT) return bound_of_c(d, 0, 0);
  double known = bound_of_c(d, 1, 1);
  return d->h.back > 0 ? least_between(bound_of_c, d, 0, 1, HALVINGS, &known) : known;
}

/* The time of the call if the others do a share of the work between low and high, not 0. */
static double bound_of_work(const void *of, double low, double high) {
  division d = *(const division *)of;
  d.w[0] = low;
  d.w[1] = high;
  double own = high < 1 ? d.h.start + (1 - high) * d.flops / d.own : 0;
  double others = d.h.elsewhere + low * fmax(d.flops / d.others, d.h.used / d.h.others);
  return fmax(fmax(own, others), least_transfers(&d));
}

static double home_time(const tsr_machine *machine, const tsr_call *call, double rate, int device) {
  division d = {.call = call,
                .h = home_of(machine, call, device),
                .flops = tsr_call_flops(call),
                .own = rate * tsr_machine_speed(machine, device, call->type)};
  trade at_home = home_memory(&d.h, &(range){{0}, {0}, {0}});
  double alone = d.h.start + fmax(d.flops / d.own, at_home.kernels / d.h.memory);
  if (machine->devices == 1) return alone;
  d.others = rate * total_speed(machine, call->type) - d.own;
  double known = alone;
  return fmin(alone, least_between(bound_of_work, &d, 0, 1, HALVINGS, &known));
}

/* Time until a device has sent what the others need for a share `away` of the work, and then
 * received their parts of C (in slices of k: their sums of all of C); not less than their kernels.
 * The floor lets both directions overlap; in practice the second mostly follows the first. */
static double home_rounds(const tsr_call *call, const home *h, int slices, double away,
                          double kernels) {
  double out = sent_for(call, h->reads, away, slices > 0 ? 1 : away) / h->sends;
  double back = (slices > 0 ? slices - 1 : away) * h->back / h->takes;
  return fmax(kernels, out + back);
}

/* The share of C of a home device, in shares of each other device, that ends its own kernels and
 * the others' work at the same time. Found by bisection to 2^-24: the more work is away, the less
 * time its own kernels take, and the more the others. A share of the others below 1e-3 counts as
 * 1e-3. */
static double home_share(const tsr_machine *machine, const tsr_call *call, int device, int devices,
                         bool slices) {
  double rate = tsr_machine_rate_limit(machine, call->type, tsr_plan_heat(machine, call));
  home h = home_of(machine, call, device);
  double all = fmax(tsr_call_flops(call) / rate, kernel_bytes(call) / h.memory), few = 0, many = 1;
  for (int i = 0; i < 24; i++) {
    double away = (few + many) / 2;
    double kernels = away * all / (devices - 1);
    bool waits = home_rounds(call, &h, slices ? devices : 0, away, kernels) > (1 - away) * all;
    *(waits ? &many : &few) = away;
  }
  return (1 - few) * (devices - 1) / fmax(few, 1e-3);
}

double tsr_plan_home_share(const tsr_machine *machine, const tsr_call *call, int devices,
                           bool slices) {
  double share = 1;
  for (int d = 0; d < machine->devices && devices > 1; d++) {
    bool is_home = false;
    for (int x = 0; x < TSR_OPERANDS; x++) is_home |= call->operand[x].location == d;
    if (is_home)
      share = fmax(share,
                   fmin(TSR_TUNE_HOME_SHARE_MOST, home_share(machine, call, d, devices, slices)));
  }
  return share;
}

/* ---- The call ---- */

static double fastest_speed(const tsr_machine *machine, tsr_type type) {
  double fastest = 0;
  for (int d = 0; d < machine->devices; d++)
    fastest = fmax(fastest, tsr_machine_speed(machine, d, type));
  return fastest;
}

/* Seconds of the blocks on the diagonal of a factorisation, each of which needs the one before it,
 * on a device of this speed. */
static double chain_time(const tsr_call *call, double speed) {
  if (tsr_family_of(call->operation) != TSR_FACTOR) return 0;
  tsr_kernel kernel = tsr_operation_get(call->operation)->kernel;
  return tsr_kernel_get(kernel)->serial * (double)call->n / speed;
}

static double flops_of(const tsr_call *call) {
  return tsr_call_scales_only(call) ? 0 : tsr_call_flops(call);
}

/* On several sockets also what all nodes have at once. */
static double all_host_time(const tsr_machine *machine, const tsr_call *call) {
  tsr_host_load load = host_load(machine, call);
  double time = staging_time(machine, &load);
  for (int host = 0; host < tsr_machine_locations(machine) - machine->devices; host++)
    time = fmax(time, host_time(machine, &load, host));
  return machine->nodes == 1 ? time : fmax(time, tsr_sockets_least_time(machine, &load));
}

double tsr_plan_heat(const tsr_machine *machine, const tsr_call *call) {
  double best = tsr_machine_best_rate(machine, call->type) * total_speed(machine, call->type);
  if (best <= 0) return 0;
  double seconds = flops_of(call) / best;
  double duty = seconds / fmax(seconds, all_host_time(machine, call));
  return tsr_machine_heat(seconds, duty);
}

double tsr_floor_at(const tsr_machine *machine, const tsr_call *call, double rate) {
  if (machine->devices == 0) {
    double bytes = read_bytes(call, TSR_A) + read_bytes(call, TSR_B_) + 2 * bytes_of(call, TSR_C_);
    return tsr_machine_cpu_time(machine, call->type, tsr_call_flops(call), bytes);
  }
  double flops = flops_of(call);
  double time =
      fmax(flops / (rate * total_speed(machine, call->type)), all_host_time(machine, call));
  if (flops > 0) time = fmax(time, kernel_bytes(call) / total_memory(machine));
  time = fmax(time, chain_time(call, fastest_speed(machine, call->type)));
  for (int d = 0; d < machine->devices; d++) {
    bool is_home = false;
    for (int x = 0; x < TSR_OPERANDS; x++) is_home |= call->operand[x].location == d;
    if (is_home && flops > 0) time = fmax(time, home_time(machine, call, rate, d));
  }
  return time;
}

double tsr_floor(const tsr_machine *machine, const tsr_call *call) {
  double heat = tsr_plan_heat(machine, call);
  double native = tsr_family_of(call->operation) == TSR_PRODUCT
                      ? tsr_machine_rate_limit_of_k(machine, call->type, (double)call->k, heat)
                      : tsr_machine_rate_limit(machine, call->type, heat);
  if (!tsr_call_has_form(call)) return tsr_floor_at(machine, call, native);
  double emulated = tsr_machine_form_limit(machine, call->arithmetic, call->type, heat);
  bool both =
      tsr_family_of(call->operation) == TSR_TRIANGLE; /* blocks on the diagonal are native */
  return tsr_floor_at(machine, call, both ? fmax(native, emulated) : emulated);
}

/* ---- The quick estimate (tsr_reach) ---- */

void tsr_reach_of(const tsr_machine *machine, tsr_reach *reach) {
  *reach = (tsr_reach){.staging = machine->staging_rate,
                       .in = host_rate(machine, NEAR, true),
                       .out = host_rate(machine, NEAR, false),
                       .devices = machine->devices,
                       .hosts = tsr_machine_locations(machine) - machine->devices};
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    tsr_type type = tsr_type_at(i)->type;
    const tsr_arithmetic *usual = tsr_residues_for(type, 0, 0);
    double speed = total_speed(machine, type);
    reach->flops[i] = speed * tsr_machine_rate_limit(machine, type, 1);
    reach->fastest[i] = fastest_speed(machine, type);
    if (usual != NULL) reach->emulated[i] = speed * tsr_machine_form_limit(machine, usual, type, 1);
  }
  for (int h = 0; h < reach->hosts; h++) {
    reach->node_in[h] = host_rate(machine, machine->devices + h, true);
    reach->node_out[h] = host_rate(machine, machine->devices + h, false);
    reach->in = fmax(reach->in, reach->node_in[h]);
    reach->out = fmax(reach->out, reach->node_out[h]);
  }
}

/* Seconds that the operands on one host location take over its own links. */
static double node_seconds(const tsr_reach *reach, const tsr_call *call, int host) {
  double in = 0, out = 0;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    if (call->operand[x].location != reach->devices + host) continue;
    in += read_bytes(call, x);
    if (x == TSR_C_) out = bytes_of(call, x);
  }
  return fmax(in / reach->node_in[host], out / reach->node_out[host]);
}

/* Flops/s of the call's products: in a form, natively, or whichever is faster (as in tsr_floor).
 */
static double reach_rate(const tsr_reach *reach, const tsr_call *call) {
  int index = tsr_type_index(call->type);
  double native = reach->flops[index];
  if (!tsr_call_has_form(call)) return native;
  double emulated = reach->emulated[index] / tsr_arithmetic_share(call->arithmetic, call->type);
  bool either = call->faster || tsr_family_of(call->operation) == TSR_TRIANGLE;
  return either ? fmax(native, emulated) : emulated;
}

double tsr_reach_seconds(const tsr_reach *reach, const tsr_call *call, bool staged) {
  double in = 0, out = bytes_of(call, TSR_C_);
  for (int x = 0; x < TSR_OPERANDS; x++) in += read_bytes(call, x);
  double seconds = flops_of(call) / reach_rate(reach, call);
  seconds = fmax(seconds, chain_time(call, reach->fastest[tsr_type_index(call->type)]));
  seconds = fmax(seconds, fmax(in / reach->in, out / reach->out));
  for (int x = 0; x < TSR_OPERANDS && reach->hosts > 1; x++) {
    int host = call->operand[x].location - reach->devices;
    if (host >= 0 && host < reach->hosts) seconds = fmax(seconds, node_seconds(reach, call, host));
  }
  if (staged && reach->staging > 0) seconds = fmax(seconds, (in + out) / reach->staging);
  return seconds;
}
