/*
 * Routes: where each piece of a tile comes from, over which links, in which order.
 *
 * The estimate is the link availability matrix of Uncut-GEMMs (section III-D), with two changes:
 * links are accounted with the channels that they share, and once a device has a piece the others
 * take it from devices, not from its home again, wherever that link is no slower. So on a machine
 * whose devices reach each other no byte of A or B crosses the host's link twice, and the pieces
 * are dealt over all devices' host links by themselves, since the first receiver is the one whose
 * link is free first. Receivers that take a piece from each other are a pipelined broadcast
 * (III-E).
 */
#include "plan/schedule/route.h"

#include <math.h>

#include "base/alloc.h"

/* Whether a channel that all links from a device to others use has room for hardly more than one of
 * them at a time. */
static bool has_one_port(const tsr_machine *machine, const tsr_links *links, int device) {
  for (int c = 0; c < machine->channels; c++) {
    bool all = true, crowded = false;
    for (int d = 0; d < machine->devices; d++) {
      const tsr_link *link = &machine->link[device][d];
      if (d == device || link->bandwidth <= 0) continue;
      const tsr_link_uses *uses = tsr_links_of(links, device, d);
      bool used = false;
      for (int i = 0; i < uses->count; i++) {
        if (uses->channel[i] != c) continue;
        used = true;
        crowded |= link->bandwidth * (double)uses->seconds[i] > 1 / 1.5;
      }
      all &= used;
    }
    if (all && crowded) return true;
  }
  return false;
}

tsr_status tsr_route_init(tsr_scheduler *s) {
  TSR_TRY(tsr_links_create(s->machine, &s->links));
  for (int d = 0; d < s->devices; d++) s->one_port[d] = has_one_port(s->machine, &s->links, d);
  size_t links = (size_t)s->links.locations * (size_t)s->links.locations;
  s->link_free = tsr_alloc_zero(links, sizeof *s->link_free);
  s->channel_free = tsr_alloc_zero((size_t)s->machine->channels + 1, sizeof *s->channel_free);
  if (!s->link_free || !s->channel_free)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  for (size_t i = 0; i < links && s->options->ignore_channels; i++) s->links.uses[i].count = 0;
  return TSR_OK;
}

void tsr_route_free(tsr_scheduler *s) {
  tsr_dealloc(s->link_free);
  tsr_links_free(&s->links);
  tsr_dealloc(s->channel_free);
}

/* ---- The link availability matrix ----------------------------------------- */

/* fmaxf without its care for what is no number: this is where planning spends its time. */
static inline float later(float a, float b) {
  return a > b ? a : b;
}

static float *link_free(const tsr_scheduler *s, int from, int to) {
  return &s->link_free[(size_t)from * (size_t)s->links.locations + (size_t)to];
}

/* When bytes that are at `from` at time ready would be at `to`. */
float tsr_link_arrival(const tsr_scheduler *s, int from, int to, double bytes, double segment,
                       float ready) {
  const tsr_link *link = &s->machine->link[from][to];
  double rate = tsr_link_rate(link, segment);
  if (rate <= 0) return INFINITY;
  float start = later(ready, *link_free(s, from, to));
  float end = start + (float)(bytes / rate);
  const tsr_link_uses *uses = tsr_links_of(&s->links, from, to);
  for (int i = 0; i < uses->count; i++) {
    float busy = later(ready, s->channel_free[uses->channel[i]]);
    end = later(end, busy + (float)bytes * uses->seconds[i]);
  }
  return end;
}

void tsr_link_occupy(tsr_scheduler *s, int from, int to, double bytes, float ready, float end) {
  *link_free(s, from, to) = end;
  const tsr_link_uses *uses = tsr_links_of(&s->links, from, to);
  for (int i = 0; i < uses->count; i++) {
    float *busy = &s->channel_free[uses->channel[i]];
    *busy = later(ready, *busy) + (float)bytes * uses->seconds[i];
  }
}

/* ---- Routes: one link, or two by way of the host --------------------------- */

/* Estimated arrival over one link, or, between devices that do not reach each other, two. */
float tsr_route_arrival(const tsr_scheduler *s, const tsr_cargo *c, int from, int to, float ready) {
  if (from == to) return ready + (float)(c->bytes / tsr_machine_copy_rate(s->machine, to));
  double segment = tsr_on_host(s, from) ? c->segment : c->bytes;
  float direct = tsr_link_arrival(s, from, to, c->bytes, segment, ready);
  if (isfinite(direct) || tsr_on_host(s, from)) return direct;
  return tsr_link_arrival(s, s->host, to, c->bytes, segment,
                          tsr_link_arrival(s, from, s->host, c->bytes, segment, ready));
}

void tsr_route_occupy(tsr_scheduler *s, const tsr_cargo *c, int from, int to, float ready,
                      float when) {
  if (from == to) return;
  if (s->machine->link[from][to].bandwidth > 0) {
    tsr_link_occupy(s, from, to, c->bytes, ready, when);
    return;
  }
  float at_host = tsr_link_arrival(s, from, s->host, c->bytes, c->bytes, ready);
  tsr_link_occupy(s, from, s->host, c->bytes, ready, at_host);
  tsr_link_occupy(s, s->host, to, c->bytes, at_host, when);
}

/* Of the link, or of the slower one of two by way of the host. */
double tsr_route_bandwidth(const tsr_scheduler *s, int from, int to) {
  double direct = s->machine->link[from][to].bandwidth;
  if (direct > 0 || tsr_on_host(s, from)) return direct;
  return fmin(s->machine->link[from][s->host].bandwidth, s->machine->link[s->host][to].bandwidth);
}

float tsr_route_group_eta(tsr_scheduler *s, const tsr_group *group) {
  double missing[TSR_MATRICES] = {0};
  float eta = 0;
  for (size_t t = group->first; t < group->first + group->count; t++)
    for (int i = 0; i < 2; i++) {
      const tsr_task_operand *o = &s->graph->tasks.items[t].operand[i];
      if (!(o->access & TSR_READ) || o->matrix > TSR_B_) continue;
      if (tsr_is_at_home(s, o->matrix, group->device)) continue;
      if (tsr_copy_of(s, o->matrix, o->tile, group->device)->pieces != TSR_NOTHING) continue;
      missing[o->matrix] += (double)o->rows * (double)o->cols * (double)s->size[o->matrix];
    }
  for (int x = TSR_A; x <= TSR_B_; x++) {
    int home = s->call->operand[x].location;
    if (missing[x] > 0)
      eta = fmaxf(eta, tsr_link_arrival(s, home, group->device, missing[x], missing[x], 0));
  }
  return eta;
}
