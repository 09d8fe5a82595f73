/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Prints schedules as text. */
#include "cluster/plan/schedule.h"

static void print_waits(const tsr_summa_step *step, tsr_text *text) {
  const char *between = "  after";
  for (int i = 0; i < TSR_SUMMA_WAITS; i++) {
    if (step->after[i] == TSR_NO_SUMMA_STEP) continue;
    tsr_text_add(text, "%s %d", between, (int)step->after[i]);
    between = ",";
  }
  tsr_text_add(text, "\n");
}

void tsr_summa_step_print(const tsr_summa_schedule *s, const tsr_summa_step *step, tsr_text *text) {
  static const char letters[] = "AB";
  const tsr_panel *p = &s->panels.items[step->panel];
  switch ((tsr_summa_step_kind)step->kind) {
    case TSR_SUMMA_MOVE:
      tsr_text_add(text, "move      %c to the layout of the product", letters[step->operand]);
      break;
    case TSR_SUMMA_SEND:
      tsr_text_add(text, "send      %c panel %d (%lld of k) of block %s %d from grid %s %d to %c%d",
                   letters[step->operand], (int)step->panel, (long long)p->depth,
                   step->operand == TSR_SUMMA_A ? "row" : "column", (int)step->block[step->operand],
                   step->operand == TSR_SUMMA_A ? "column" : "row",
                   step->operand == TSR_SUMMA_A ? p->col : p->row, letters[step->operand],
                   (int)step->slot[0]);
      break;
    case TSR_SUMMA_MULTIPLY:
      tsr_text_add(text, "multiply  A%d B%d (panel %d) onto block (%d, %d)%s", (int)step->slot[0],
                   (int)step->slot[1], (int)step->panel, (int)step->block[0], (int)step->block[1],
                   step->first ? ", first" : "");
      break;
    case TSR_SUMMA_WRITE_BACK:
      tsr_text_add(text, "write     block (%d, %d) back", (int)step->block[0], (int)step->block[1]);
      break;
  }
}

void tsr_summa_schedule_print(const tsr_summa_schedule *s, tsr_text *text) {
  for (size_t i = 0; i < s->steps.count; i++) {
    tsr_text_add(text, "%6zu  ", i);
    tsr_summa_step_print(s, &s->steps.items[i], text);
    print_waits(&s->steps.items[i], text);
  }
}
