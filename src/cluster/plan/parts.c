/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/plan/parts.h"

#include <string.h>

typedef struct target {
  char *to;
  size_t before; /* bytes of the panel before the lines that are packed */
} target;

static void pack_part(void *user, const tsr_panel_part *part) {
  const target *t = user;
  for (size_t i = 0; i < part->height; i++)
    memcpy(t->to + (part->to - t->before) + i * part->to_pitch, part->from + i * part->from_pitch,
           part->width);
}

void tsr_panel_parts_pack(const tsr_panel_parts *parts, size_t line, int64_t at, int64_t count,
                          char *to) {
  target t = {to, (size_t)at * line};
  parts->visit_lines(parts->panel, at, count, pack_part, &t);
}
