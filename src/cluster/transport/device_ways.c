/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The ways to upload to a process's first device: by its own link and by those of the other
 * devices.
 */
#include "cluster/transport/device.h"

/* Allocates a relay buffer on a device. False: no buffer; *status is then TSR_OK if the device only
 * lacks memory. */
static bool allocate_relay(tsr_device_transport *t, int device, void **relay, tsr_status *status) {
  *status = tsr_malloc(t->grid->context, device, t->fabric->piece, relay);
  if (*status == TSR_ERR_MEMORY) *status = TSR_OK; /* this device gets no way */
  return *status == TSR_OK && *relay != NULL;
}

/* Opens a way by a device, if the device has memory for a relay buffer and can reach the first one.
 */
static tsr_status try_way(tsr_device_transport *t, int device) {
  void *relay = NULL;
  tsr_status status;
  if (!allocate_relay(t, device, &relay, &status)) return status;
  status = t->fabric->open_way(t->carrier, t->ways, relay);
  if (status == TSR_OK)
    t->relay[t->ways++] = relay;
  else
    tsr_free(t->grid->context, relay);
  return status == TSR_ERR_UNSUPPORTED ? TSR_OK : status;
}

tsr_status tsr_device_open_ways(tsr_device_transport *t) {
  int devices = tsr_device_count(t->grid->context);
  t->ways = 1;
  for (int i = 1; i < devices && t->ways < TSR_FABRIC_WAYS; i++) TSR_TRY(try_way(t, i));
  return TSR_OK;
}

void tsr_device_free_relays(tsr_device_transport *t) {
  for (int i = 1; i < t->ways; i++) tsr_free(t->grid->context, t->relay[i]);
}

/* In its relay buffer a piece lies as it will in the panel, beginning at the buffer's first byte.
 */
tsr_status tsr_device_upload(tsr_device_transport *t, int way, char *panel, size_t begin,
                             const tsr_panel_part *part) {
  tsr_panel_part there = *part;
  if (way == 0) return t->fabric->up(t->carrier, way, panel, part);
  there.to -= begin;
  return t->fabric->up(t->carrier, way, t->relay[way], &there);
}

/* The way's queue executes in order: the next piece is copied to the relay buffer after this one
 * has left it. */
tsr_status tsr_device_forward(tsr_device_transport *t, int way, char *panel, size_t begin,
                              size_t bytes) {
  if (way == 0) return TSR_OK;
  return t->fabric->onward(t->carrier, way, panel + begin, t->relay[way], bytes);
}
