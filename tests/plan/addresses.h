/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Devices without memory, for a store: they give out addresses that nobody uses. */
#ifndef TSR_TESTS_ADDRESSES_H
#define TSR_TESTS_ADDRESSES_H

#include "engine/engine.h"

static inline tsr_status addresses_give(tsr_engine_state *state, int device, size_t bytes,
                                        void **pointer) {
  static uintptr_t next = (uintptr_t)1 << 40;
  (void)state, (void)device;
  *pointer = (void *)next;
  next += (bytes + 4095) / 4096 * 4096;
  return TSR_OK;
}

static inline void addresses_take(tsr_engine_state *state, int device, void *pointer) {
  (void)state, (void)device, (void)pointer;
}

static const tsr_engine addresses = {.alloc = addresses_give, .free = addresses_take};

#endif
