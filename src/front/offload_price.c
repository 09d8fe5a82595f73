/* What a call costs on the CPU and on the devices, before anything is planned. */
#include <math.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "front/offload_inside.h"

/* A processor that is not known is taken for a fast one, so that no call is sent away too early:
 * two multiply-adds of 512 bits in a cycle, at 2.5 GHz. */
static const double guessed_rate = 80e9;

/* Shorter calls show more of waking threads than of the rate; and what one call shows may be
 * disturbed. */
static const double long_enough = 1e-3;
enum { CALLS_TO_BELIEVE = 3 };

/* What devices reach is a bound: plans come this near to it, and a blocking call from ordinary
 * memory has some fixed cost. */
static const double of_the_floor = 0.8, fixed_cost = 100e-6;

static int processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

void tsr_offload_price_init(tsr_offload_price *price, const tsr_machine *machine, bool guess) {
  memset(price, 0, sizeof *price);
  double fast = guessed_rate * processors();
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    bool twice = tsr_type_at(i)->epsilon > 0x1p-50;
    price->figure[i] = guess ? fast * (twice ? 2 : 1) : machine->cpu_flops[i];
  }
  price->latency = machine->cpu_latency;
  price->memory_rate = 2 * machine->staging_rate; /* as tsr_machine_cpu_time has it */
}

double tsr_offload_cpu_rate(const tsr_offload_price *price, tsr_type type) {
  int i = tsr_type_index(type);
  double shown = atomic_load_explicit(&price->shown[i], memory_order_relaxed);
  int calls = atomic_load_explicit(&price->calls[i], memory_order_relaxed);
  return calls >= CALLS_TO_BELIEVE ? shown : fmax(shown, price->figure[i]);
}

static double bytes_of(const tsr_call *call) {
  double bytes = 0;
  for (int x = 0; x < TSR_OPERANDS; x++)
    bytes += (double)call->operand[x].rows * (double)call->operand[x].cols;
  return bytes * (double)tsr_type_get(call->type)->size;
}

double tsr_offload_cpu_seconds(const tsr_offload_price *price, const tsr_call *call) {
  double computing = tsr_call_flops(call) / tsr_offload_cpu_rate(price, call->type);
  double moving = price->memory_rate > 0 ? bytes_of(call) / price->memory_rate : 0;
  return price->latency + fmax(computing, moving);
}

/* The best rate counts: what is slower was disturbed, or too thin to compare with. Two threads at
 * once may lose one of their rates, which does no harm. */
void tsr_offload_price_show(tsr_offload_price *price, tsr_type type, double flops, double seconds) {
  int i = tsr_type_index(type);
  if (seconds < long_enough) return;
  double rate = flops / seconds;
  if (rate > atomic_load_explicit(&price->shown[i], memory_order_relaxed))
    atomic_store_explicit(&price->shown[i], rate, memory_order_relaxed);
  atomic_fetch_add_explicit(&price->calls[i], 1, memory_order_relaxed);
}

double tsr_offload_device_seconds(const tsr_reach *reach, const tsr_call *call, bool staged) {
  return fixed_cost + tsr_reach_seconds(reach, call, staged) / of_the_floor;
}

/* Emulated devices are threads. Contexts of GPUs take their time one after another; the first one
 * loads the driver and the libraries. */
double tsr_offload_start_seconds(const char *engine, int devices) {
  if (engine != NULL && strcmp(engine, "host") == 0) return 1e-3;
  return 0.6 + 0.25 * devices;
}
