/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/print/estimate.h"

#include "machine/origin.h"

/* The figures of the machine that a plan depends on. */
typedef struct figures {
  bool used[TSR_FIGURES];
} figures;

static void note_host_copy(const tsr_machine *machine, int host, int device, figures *f) {
  f->used[TSR_FIGURE_LINKS] = f->used[TSR_FIGURE_MEMORY] = true;
  if (host != machine->device[device].host_node) f->used[TSR_FIGURE_SOCKETS] = true;
}

static void note_copy(const tsr_plan *plan, const tsr_machine *machine, const tsr_command *command,
                      figures *f) {
  int from = plan->buffers.items[command->buffer[0]].location;
  int to = plan->buffers.items[command->buffer[1]].location;
  bool out = tsr_is_device(machine, from), in = tsr_is_device(machine, to);
  if (out && in)
    f->used[TSR_FIGURE_PEERS] |= from != to;
  else if (in)
    note_host_copy(machine, from, to, f);
  else if (out)
    note_host_copy(machine, to, from, f);
  else
    f->used[TSR_FIGURE_STAGING] = true;
}

static figures find(const tsr_plan *plan, const tsr_machine *machine) {
  figures f = {{false}};
  f.used[TSR_FIGURE_CPU] = plan->devices == 0;
  for (size_t i = 0; plan->devices > 0 && i < plan->commands.count; i++) {
    const tsr_command *command = &plan->commands.items[i];
    if (command->kind == TSR_COMMAND_COPY)
      note_copy(plan, machine, command, &f);
    else if (command->kind == TSR_COMMAND_KERNEL)
      f.used[TSR_FIGURE_KERNELS] = true;
  }
  return f;
}

static tsr_origin origin_of(const tsr_plan *plan, const tsr_machine *machine, int figure) {
  return figure == TSR_FIGURE_KERNELS ? tsr_origin_of_kernels(machine, plan->call.type)
                                      : machine->origins.of[figure];
}

/* Machines without origins cost no look at the commands. */
static bool can_say(const tsr_plan *plan, const tsr_machine *machine) {
  return machine != NULL && tsr_origins_are_known(&machine->origins) &&
         (plan->devices == 0 || plan->machine_devices == machine->devices);
}

int tsr_estimate_digits(const tsr_plan *plan, const tsr_machine *machine) {
  if (!can_say(plan, machine)) return 3;
  figures f = find(plan, machine);
  for (int i = 0; i < TSR_FIGURES; i++)
    if (f.used[i] && tsr_origin_is_estimate(origin_of(plan, machine, i))) return 2;
  return 3;
}

/* Appends the used figures of an origin behind `before`. False: there are none. */
static bool add_figures(const tsr_plan *plan, const tsr_machine *machine, const figures *f,
                        tsr_origin origin, const char *before, tsr_text *text) {
  const char *between = before;
  bool any = false;
  for (int i = 0; i < TSR_FIGURES; i++) {
    if (!f->used[i] || origin_of(plan, machine, i) != origin) continue;
    tsr_text_add(text, "%s%s", between, tsr_figure_name((tsr_figure)i));
    between = ", ";
    any = true;
  }
  return any;
}

void tsr_estimate_add(const tsr_plan *plan, const tsr_machine *machine, tsr_text *text) {
  bool any = false;
  if (!can_say(plan, machine)) return;
  figures f = find(plan, machine);
  for (int o = 0; o < TSR_ORIGINS; o++) {
    tsr_text before = TSR_TEXT_INIT;
    if (!tsr_origin_is_estimate((tsr_origin)o)) continue;
    tsr_text_add(&before, "%s%s: ", any ? "; " : ", an estimate (", tsr_origin_name((tsr_origin)o));
    if (!before.broken) any |= add_figures(plan, machine, &f, (tsr_origin)o, before.bytes, text);
    text->broken |= before.broken;
    tsr_text_free(&before);
  }
  if (any) tsr_text_add(text, ")");
  if (add_figures(plan, machine, &f, TSR_ORIGIN_UNDER_LOAD, ", measured under load (", text))
    tsr_text_add(text, ")");
}
