/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera knobs: prints the knobs that TESSERA_STRATEGY can force, from the planner's table. */
#include <stdlib.h>

#include "commands.h"
#include "options.h"

int command_knobs(int argc, char **argv) {
  const option table[] = {{0}};
  const option_command command = {
      "",
      "Prints the knobs of strategies as a table in Markdown. TESSERA_STRATEGY takes words\n"
      "NAME=VALUE. Knobs whose names agree up to a dot can be set together: nblock=1024,4096,512.\n"
      "KIND/NAME=VALUE has an effect only if a strategy of that kind (panels, stripes, tiles, or\n"
      "any) can honour it. A word without a kind that cannot be honoured is an error.",
      "TESSERA_STRATEGY='kind=panels kpanel=512' tessera plan gemm d 8192 8192 8192",
      table,
      0,
      0};
  char *text = NULL;
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code == TOOL_OK) code = tool_status(tsr_print_knobs(&text));
  if (code == TOOL_OK) fputs(text, stdout);
  free(text);
  return code;
}
