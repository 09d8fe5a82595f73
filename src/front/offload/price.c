/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Predicted times of a call on the CPU and on the devices, before a plan is made. */
#include <math.h>
#include <string.h>

#include "base/system/process_limits.h"
#include "front/offload/inside.h"
#include "front/tuning.h"
#include "machine/tuning.h"

void tsr_offload_price_init(tsr_offload_price *price, const tsr_machine *machine, bool guess) {
  memset(price, 0, sizeof *price);
  double fast = TSR_TUNE_DOOR_CORE_RATE * tsr_process_cores();
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    bool twice = tsr_type_at(i)->epsilon > 0x1p-50;
    price->figure[i] = guess ? fast * (twice ? 2 : 1) : machine->cpu_flops[i];
  }
  price->latency = machine->cpu_latency;
  price->memory_rate = TSR_TUNE_CPU_READS * machine->staging_rate;
}

/* ---- The CPU ---- */

/* The size class of a call: floor(log2(flops)), within the table. */
static int size_of(double flops) {
  if (!(flops > 1)) return 0;
  int size = flops < HUGE_VAL ? ilogb(flops) : TSR_OFFLOAD_SIZES;
  return size < TSR_OFFLOAD_SIZES ? size : TSR_OFFLOAD_SIZES - 1;
}

/* The rate [flops/s] that calls of a size class have shown; 0: too few calls to believe it. */
static double rate_shown(const tsr_offload_shown *shown) {
  int calls = atomic_load_explicit(&shown->calls, memory_order_relaxed);
  return calls < TSR_TUNE_DOOR_BELIEVE ? 0
                                       : atomic_load_explicit(&shown->rate, memory_order_relaxed);
}

/* The rate of a size class if its calls are long enough (TSR_TUNE_DOOR_LONG) to predict other
 * sizes; else 0. */
static double rate_of_long(const tsr_offload_shown *of_type, int size) {
  if (size < 0 || size >= TSR_OFFLOAD_SIZES) return 0;
  double rate = rate_shown(&of_type[size]);
  return scalbn(1, size) >= rate * TSR_TUNE_DOOR_LONG ? rate : 0;
}

double tsr_offload_cpu_rate(const tsr_offload_price *price, tsr_type type, double flops) {
  int index = tsr_type_index(type), size = size_of(flops);
  const tsr_offload_shown *of_type = price->shown[index];
  double rate = rate_shown(&of_type[size]);
  for (int away = 1; rate == 0 && away < TSR_OFFLOAD_SIZES; away++)
    rate = fmax(rate_of_long(of_type, size - away), rate_of_long(of_type, size + away));
  return rate > 0 ? rate : price->figure[index];
}

double tsr_offload_cpu_flops(const tsr_offload_price *price, tsr_type type, double seconds) {
  for (int size = 0; size < TSR_OFFLOAD_SIZES; size++) {
    double flops = seconds * tsr_offload_cpu_rate(price, type, scalbn(1, size));
    if (flops < scalbn(1, size + 1)) return fmax(flops, scalbn(1, size));
  }
  return HUGE_VAL;
}

static double bytes_of(const tsr_call *call) {
  double bytes = 0;
  for (int x = 0; x < TSR_OPERANDS; x++)
    bytes += (double)call->operand[x].rows * (double)call->operand[x].cols;
  return bytes * (double)tsr_type_get(call->type)->size;
}

double tsr_offload_cpu_seconds(const tsr_offload_price *price, const tsr_offload_work *work) {
  double rate = tsr_offload_cpu_rate(price, work->part[0].type, work->flops), bytes = 0;
  for (int i = 0; i < work->parts; i++) bytes += bytes_of(&work->part[i]);
  double moving = price->memory_rate > 0 ? bytes / price->memory_rate : 0;
  return price->latency + fmax(work->flops / rate, moving);
}

/* Keeps the best rate: a slower call was disturbed or had a thin matrix. Short calls count, too: if
 * only calls above some time counted, those would be the disturbed ones. If two threads store a
 * rate at once, one rate may be lost, which does no harm. */
bool tsr_offload_price_show(tsr_offload_price *price, tsr_type type, double flops, double seconds) {
  tsr_offload_shown *shown = &price->shown[tsr_type_index(type)][size_of(flops)];
  if (!(seconds > 0)) return false;
  double rate = flops / seconds;
  bool better = rate > atomic_load_explicit(&shown->rate, memory_order_relaxed);
  if (better) atomic_store_explicit(&shown->rate, rate, memory_order_relaxed);
  int calls = atomic_fetch_add_explicit(&shown->calls, 1, memory_order_relaxed) + 1;
  return calls == TSR_TUNE_DOOR_BELIEVE || (better && calls > TSR_TUNE_DOOR_BELIEVE);
}

int tsr_offload_price_calls(const tsr_offload_price *price, tsr_type type, double flops) {
  const tsr_offload_shown *shown = &price->shown[tsr_type_index(type)][size_of(flops)];
  return atomic_load_explicit(&shown->calls, memory_order_relaxed);
}

/* ---- Devices ---- */

static double late_of(const tsr_offload_shown *shown) {
  return atomic_load_explicit(&shown->late, memory_order_relaxed);
}

/* Whether a size class has a lateness: from a second run on devices on, or taken over from another
 * size class by tsr_offload_price_spared. */
static bool shows_lateness(const tsr_offload_shown *shown) {
  return atomic_load_explicit(&shown->runs, memory_order_relaxed) > 1 || late_of(shown) != 0;
}

/* The lateness of size class `from`, used for class `size`. Staging threads that wake late delay
 * small and large calls alike, so a larger class gets the same seconds. A smaller class gets them
 * in proportion to its flops: a delay that grows with the size must not keep small calls from being
 * tried on devices. */
static double carried(const tsr_offload_shown *of_type, int from, int size) {
  if (from < 0 || from >= TSR_OFFLOAD_SIZES || !shows_lateness(&of_type[from])) return 0;
  return fmax(0, late_of(&of_type[from])) * fmin(1, scalbn(1, size - from));
}

double tsr_offload_lateness(const tsr_offload_price *price, tsr_type type, double flops) {
  const tsr_offload_shown *of_type = price->shown[tsr_type_index(type)];
  int size = size_of(flops);
  if (shows_lateness(&of_type[size])) return fmax(0, late_of(&of_type[size]));
  double late = 0;
  for (int away = 1; late == 0 && away < TSR_OFFLOAD_SIZES; away++)
    late = fmax(carried(of_type, size - away, size), carried(of_type, size + away, size));
  return late;
}

/* The first run of a size class is ignored: it also loads kernels, which later runs do not. */
void tsr_offload_price_run(tsr_offload_price *price, tsr_type type, double flops, double planned,
                           double seconds) {
  tsr_offload_shown *shown = &price->shown[tsr_type_index(type)][size_of(flops)];
  if (atomic_fetch_add_explicit(&shown->runs, 1, memory_order_relaxed) == 0) return;
  double late = atomic_load_explicit(&shown->late, memory_order_relaxed);
  late += TSR_TUNE_DOOR_NEWEST * (seconds - planned - late);
  atomic_store_explicit(&shown->late, late, memory_order_relaxed);
}

void tsr_offload_price_spared(tsr_offload_price *price, tsr_type type, double flops) {
  tsr_offload_shown *shown = &price->shown[tsr_type_index(type)][size_of(flops)];
  double late = tsr_offload_lateness(price, type, flops);
  atomic_store_explicit(&shown->late, TSR_TUNE_DOOR_KEPT * late, memory_order_relaxed);
}

double tsr_offload_later_seconds(const tsr_reach *reach, const tsr_offload_work *work) {
  double fixed = TSR_TUNE_DOOR_FIXED_COST * (work->steps - work->parts);
  if (work->again == 0) return fmax(0, fixed);
  tsr_call there = work->part[work->parts - 1];
  for (int x = 0; x < TSR_OPERANDS; x++) there.operand[x].rows = there.operand[x].cols = 0;
  double computing = tsr_reach_seconds(reach, &there, false);
  return fixed + work->again * computing / TSR_TUNE_DOOR_OF_THE_FLOOR;
}

double tsr_offload_device_seconds(const tsr_reach *reach, const tsr_offload_work *work,
                                  bool staged) {
  double seconds = tsr_offload_later_seconds(reach, work);
  for (int i = 0; i < work->parts; i++)
    seconds += TSR_TUNE_DOOR_FIXED_COST +
               tsr_reach_seconds(reach, &work->part[i], staged) / TSR_TUNE_DOOR_OF_THE_FLOOR;
  return seconds;
}

/* Emulated devices are threads and start at once. The contexts of GPUs are made one after another;
 * the first also loads the driver and the libraries. */
double tsr_offload_start_seconds(const char *engine, int devices) {
  if (tsr_engine_emulates(engine)) return TSR_TUNE_DOOR_START_EMULATED;
  return TSR_TUNE_DOOR_START_FIRST + TSR_TUNE_DOOR_START_EACH * devices;
}
