/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Which devices of a context reach each other: as the hardware is, and as the user wishes. */
#include "base/settings/settings.h"
#include "front/context.h"

/* ---- The machine ---- */

/* Whether the opened devices, if there are any, have the link. */
static bool is_there(const tsr_context *context, int from, int to) {
  bool known = context->engine != NULL && from < context->devices && to < context->devices;
  return !known || context->info[from].peer[to];
}

static void unlink_all(tsr_machine *machine) {
  for (int i = 0; i < machine->devices; i++)
    for (int j = 0; j < machine->devices; j++)
      if (machine->link[i][j].bandwidth > 0) tsr_machine_unlink(machine, i, j);
}

static bool has_links(const tsr_machine *machine) {
  for (int i = 0; i < machine->devices; i++)
    for (int j = 0; j < machine->devices; j++)
      if (machine->link[i][j].bandwidth > 0) return true;
  return false;
}

static tsr_status copy_of(const tsr_machine *machine, tsr_machine **copy) {
  int all[TSR_MACHINE_DEVICES];
  for (int d = 0; d < machine->devices; d++) all[d] = d;
  return tsr_machine_select(machine, all, machine->devices, copy);
}

/* The emulated devices refuse what the setting forbids, which says nothing of a computer: the
 * machine keeps these links until the setting removes them. */
tsr_status tsr_context_limit_peers(const tsr_context *context, tsr_machine *machine,
                                   tsr_machine **linked) {
  bool peer, emulated = context->engine != NULL && context->engine->traits.emulated;
  *linked = NULL;
  TSR_TRY(tsr_settings_peer(&peer));
  for (int i = 0; i < machine->devices && (peer || !emulated); i++)
    for (int j = 0; j < machine->devices; j++)
      if (machine->link[i][j].bandwidth > 0 && !is_there(context, i, j))
        tsr_machine_unlink(machine, i, j);
  if (peer || !has_links(machine)) return TSR_OK;
  TSR_TRY(copy_of(machine, linked));
  unlink_all(machine);
  return TSR_OK;
}

/* ---- Emulated devices ---- */

tsr_status tsr_context_emulate_peers(const tsr_machine *machine, tsr_engine_options *options) {
  bool peer;
  TSR_TRY(tsr_settings_peer(&peer));
  for (int i = 0; i < TSR_MAX_DEVICES; i++)
    for (int j = 0; j < TSR_MAX_DEVICES; j++) {
      bool described = machine != NULL && i < machine->devices && j < machine->devices;
      bool linked = !described || machine->link[i][j].bandwidth > 0;
      if (i != j && !(peer && linked)) options->emulated_unlinked[i] |= (uint32_t)1 << j;
    }
  return TSR_OK;
}

/* ---- The kept measurement ---- */

/* A quiet context cannot measure again. It uses what the measurement has, less the links that are
 * gone. */
tsr_status tsr_context_check_peers(const tsr_context *context, const tsr_machine *kept,
                                   const int *list) {
  for (int i = 0; i < context->devices && !context->quiet; i++)
    for (int j = 0; j < context->devices; j++) {
      bool measured = kept->link[list[i]][list[j]].bandwidth > 0;
      if (i == j || measured == context->info[i].peer[j]) continue;
      return tsr_fail(TSR_ERR_MACHINE,
                      "the kept measurement has %s link from %s to %s, and this computer has %s",
                      measured ? "a" : "no", context->info[i].identity, context->info[j].identity,
                      measured ? "none" : "one");
    }
  return TSR_OK;
}
