/* The ways up to a process's first device: its own link, and those of the other devices. */
#include "cluster/transport_device.h"

static bool has_room(tsr_device_transport *t, int device, void **stone, tsr_status *status) {
  *status = tsr_malloc(t->grid->context, device, t->fabric->piece, stone);
  if (*status == TSR_ERR_MEMORY) *status = TSR_OK; /* it goes without this way */
  return *status == TSR_OK && *stone != NULL;
}

static tsr_status try_way(tsr_device_transport *t, int device) {
  void *stone = NULL;
  tsr_status status;
  if (!has_room(t, device, &stone, &status)) return status;
  status = t->fabric->open_way(t->carrier, t->ways, stone);
  if (status == TSR_OK)
    t->stone[t->ways++] = stone;
  else
    tsr_free(t->grid->context, stone);
  return status == TSR_ERR_UNSUPPORTED ? TSR_OK : status;
}

tsr_status tsr_device_open_ways(tsr_device_transport *t) {
  int devices = tsr_device_count(t->grid->context);
  t->ways = 1;
  for (int i = 1; i < devices && t->ways < TSR_FABRIC_WAYS; i++) TSR_TRY(try_way(t, i));
  return TSR_OK;
}

void tsr_device_free_stones(tsr_device_transport *t) {
  for (int i = 1; i < t->ways; i++) tsr_free(t->grid->context, t->stone[i]);
}

/* On its stepping stone a piece lies as it will in the panel. */
tsr_status tsr_device_raise(tsr_device_transport *t, int way, char *panel, size_t begin,
                            const tsr_part *part) {
  tsr_part there = *part;
  if (way == 0) return t->fabric->up(t->carrier, way, panel, part);
  there.to -= begin;
  return t->fabric->up(t->carrier, way, t->stone[way], &there);
}

/* The next piece waits for this one in the queue of the way: the stone is free for it then. */
tsr_status tsr_device_step_on(tsr_device_transport *t, int way, char *panel, size_t begin,
                              size_t bytes) {
  if (way == 0) return TSR_OK;
  return t->fabric->onward(t->carrier, way, panel + begin, t->stone[way], bytes);
}
