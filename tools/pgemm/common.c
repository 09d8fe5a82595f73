#include "pgemm.h"

int parse_pair(const char *name, const char *text, int64_t pair[2]) {
  long long rows, cols;
  int used = 0;
  if (sscanf(text, "%lldx%lld%n", &rows, &cols, &used) != 2 || text[used] || rows < 1 || cols < 1)
    return tool_usage("%s %s: must be two extents, such as 2x3", name, text);
  pair[0] = rows;
  pair[1] = cols;
  return TOOL_OK;
}

int cut_apply(const cut_options *o, tsr_grid *grid) {
  int64_t blocks[2] = {0, 0};
  static const double latency = 2e-6;
  int code = o->blocks ? parse_pair("--blocks", o->blocks, blocks) : TOOL_OK;
  if (!code && o->lookahead > 16) code = tool_usage("--lookahead: at most 16");
  if (!code) code = tool_status(tsr_grid_set_panels(grid, o->depth, (int)o->lookahead));
  if (!code) code = tool_status(tsr_grid_set_blocks(grid, blocks[0], blocks[1]));
  if (!code && o->up > 0) code = tool_status(tsr_grid_imagine_transport(grid, 1e9 * o->up));
  if (code || o->network == 0) return code;
  return tool_status(tsr_grid_set_network(grid, 1e9 * o->network, latency));
}
