/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "timeline.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *s, const char *ending) {
  size_t length = strlen(s), tail = strlen(ending);
  return length >= tail && strcmp(s + length - tail, ending) == 0;
}

int timeline_format(const char *path, tsr_format *format) {
  *format = ends_with(path, ".svg") ? TSR_TIMELINE_SVG : TSR_TIMELINE_JSON;
  if (ends_with(path, ".svg") || ends_with(path, ".json")) return TOOL_OK;
  return tool_usage("--timeline %s: the name must end in .svg (a picture) or .json (for Perfetto)",
                    path);
}

int timeline_is_json(const char *path) {
  if (ends_with(path, ".json")) return TOOL_OK;
  return tool_usage("--timeline %s: the name must end in .json (for Perfetto)", path);
}

int timeline_write(const tsr_plan *plan, const output *o, bool force) {
  tsr_format format;
  char *text = NULL;
  int code = timeline_format(o->path, &format);
  if (!code) code = tool_status(tsr_plan_print(plan, format, &text));
  if (!code) code = output_write(o, text, force);
  free(text);
  return code;
}
