/*
 * The host engine (emulated devices), and what it offers tests beyond tsr_engine.
 *
 * In checking mode memory that no command wrote holds poison: a quiet NaN whose every 16-bit half
 * word is the same, so that it reads as that NaN in each of our types. A kernel that reads a
 * poisoned element, or a copy that reads eight poisoned bytes (or a whole shorter row), fails its
 * device with TSR_ERR_CHECK. So does a copy from or to memory that is being pinned. Such a failure
 * stays until the engine is closed; query reports it.
 */
#ifndef TSR_ENGINE_HOST_HOST_H
#define TSR_ENGINE_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

extern const tsr_engine tsr_engine_host;

/* The half word: a quiet NaN for fp16 and bf16, and repeated for fp32 and fp64. */
#define TSR_POISON UINT16_C(0x7ffb)

/* Fills memory with poison. pointer is 2-byte aligned; no command may be using the memory. */
void tsr_engine_host_poison(void *pointer, size_t bytes);

/* Tests: the nth copy, kernel, allocation or pinning of any host engine from now on fails (1: the
 * next), a copy or kernel with TSR_ERR_DEVICE when it is its turn to run, the others with
 * TSR_ERR_MEMORY. 0: none. Returns how many failed so since the last time. */
long tsr_engine_host_fail_at(long n);

/* Tests: another program takes memory. Of the allocations of devices' memory from now on so many
 * are refused (TSR_ERR_MEMORY), the nth (1: the next) first. 0: none. Returns how many have been
 * refused since the last time. */
long tsr_engine_host_refuse(long nth, long count);

/* Tests: no pinned memory is to be had until it is refused no longer. */
void tsr_engine_host_refuse_pinned(bool refuse);

/* Tests: pinning, once begun, takes until it is held no longer. */
void tsr_engine_host_hold_pins(bool hold);

/* Tests: queues carry out nothing more until they are held no longer. */
void tsr_engine_host_hold_queues(bool hold);

#endif
