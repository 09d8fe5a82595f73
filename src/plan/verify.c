/*
 * The verifier: carries a plan out on what each region of each buffer holds, and asks of every
 * access that it finds what it needs and that nothing unordered meets it.
 */
#include "plan/verify.h"

#include <stdio.h>

#include "base/alloc.h"

static const char *const operand_names[3] = {"operand a", "operand b", "operand c"};

static bool is_home(const tsr_verifier *v, int32_t buffer) {
  return v->plan->buffers.items[buffer].role == TSR_BUFFER_HOME;
}

/* The homes of A and B hold the original for ever. */
static bool is_constant(int32_t buffer) {
  return buffer == TSR_A || buffer == TSR_B_;
}

/* ---- Saying what is wrong ---- */

typedef struct phrase {
  char text[128];
} phrase;

static const char *rect_text(const tsr_verifier *v, int32_t buffer, tsr_rect rect, phrase *said) {
  snprintf(said->text, sizeof said->text, "rows %lld..%lld, columns %lld..%lld of %s",
           (long long)rect.row0, (long long)rect.row1 - 1, (long long)rect.col0,
           (long long)rect.col1 - 1, tsr_matrix_name(v->plan->buffers.items[buffer].matrix));
  return said->text;
}

static const char *content_text(const tsr_verifier *v, tsr_content content, phrase *said) {
  if (content.original) return "the original";
  char sum[80];
  tsr_sums_describe(&v->sums, content.sum, sum, sizeof sum);
  snprintf(said->text, sizeof said->text, "the sum over %s with%s beta C", sum,
           content.beta ? "" : "out");
  return said->text;
}

static tsr_status fail_order(const tsr_verifier *v, uint32_t c, const char *what, int32_t buffer,
                             tsr_rect rect, const char *verb, uint32_t other) {
  phrase where;
  tsr_name name;
  rect_text(v, buffer, rect, &where);
  tsr_command_describe(v->plan, &v->plan->commands.items[other], &name);
  return tsr_verify_fail(v, c, "%s: %s %s without waiting for command %u (%s)", what, verb,
                         where.text, other, name.text);
}

/* ---- Memory ---- */

/* Every use of a buffer passes here, reads before writes. That a read comes after the memory's
 * earlier uses follows from what it reads having been written after them. */
static tsr_status use(tsr_verifier *v, uint32_t c, int32_t buffer, bool write) {
  if (is_home(v, buffer)) return TSR_OK;
  const tsr_tenant *tenant = &v->tenancy.tenant[buffer];
  if (tenant->successor != (uint32_t)buffer)
    return tsr_verify_fail(v, c, "uses buffer %d, whose memory buffer %u has taken from command %u",
                           buffer, tenant->successor,
                           v->tenancy.tenant[tenant->successor].first_use);
  if (tenant->first_use == TSR_NO_COMMAND)
    TSR_TRY(tsr_tenancy_take(&v->tenancy, (uint32_t)buffer, c));
  TSR_TRY(tsr_tenancy_use(&v->tenancy, (uint32_t)buffer, c));
  if (!write) return TSR_OK;
  uint32_t other = tsr_tenancy_conflict(&v->tenancy, (uint32_t)buffer, &v->order, c);
  if (other == TSR_NO_COMMAND) return TSR_OK;
  tsr_name name;
  tsr_command_describe(v->plan, &v->plan->commands.items[other], &name);
  return tsr_verify_fail(v, c,
                         "buffer %d takes memory without waiting for its use by command %u (%s)",
                         buffer, other, name.text);
}

/* ---- Reading ---- */

/* Fills *parts with what rect of a buffer holds, all of it, safely written. */
static tsr_status find(tsr_verifier *v, uint32_t c, const char *what, int32_t buffer, tsr_rect rect,
                       tsr_parts *parts) {
  tsr_regions *regions = &v->regions[buffer];
  phrase where;
  tsr_rect hole;
  bool fill;
  parts->count = 0;
  TSR_TRY(tsr_regions_find(regions, rect, parts));
  TSR_TRY(tsr_parts_fill(parts, rect, &fill, &hole));
  if (!fill)
    return tsr_verify_fail(v, c, "%s: %s are not there when it runs", what,
                           rect_text(v, buffer, hole, &where));
  uint32_t other = tsr_regions_conflict(regions, rect, false, &v->order, c);
  if (other != TSR_NO_COMMAND) return fail_order(v, c, what, buffer, rect, "reads", other);
  return tsr_regions_read(regions, rect, &v->order, c);
}

/* What the call says may not be read. */
static tsr_status check_readable(const tsr_verifier *v, uint32_t c, int32_t buffer) {
  uint8_t matrix = v->plan->buffers.items[buffer].matrix;
  if (v->scales_only && (matrix == TSR_A || matrix == TSR_B_))
    return tsr_verify_fail(v, c, "reads %s, which the call does not (alpha or k is 0)",
                           tsr_matrix_name(matrix));
  return TSR_OK;
}

/* A and B are only ever held as they are: nothing to look at in the parts. */
static tsr_status read_input(tsr_verifier *v, uint32_t c, int i) {
  const tsr_command *command = &v->plan->commands.items[c];
  int32_t buffer = command->buffer[i];
  TSR_TRY(check_readable(v, c, buffer));
  TSR_TRY(use(v, c, buffer, false));
  if (is_constant(buffer)) return TSR_OK;
  tsr_rect rect = tsr_verify_rect(&v->plan->call, command, i);
  return find(v, c, operand_names[i], buffer, rect, &v->found);
}

/* ---- Writing ---- */

static bool is_final(const tsr_verifier *v, tsr_content content) {
  return !content.original && content.sum == v->whole &&
         (content.beta || v->plan->call.beta == TSR_ZERO);
}

static tsr_status check_write(tsr_verifier *v, uint32_t c, const char *what, int32_t buffer,
                              tsr_rect rect) {
  uint32_t other = tsr_regions_conflict(&v->regions[buffer], rect, true, &v->order, c);
  return other == TSR_NO_COMMAND ? TSR_OK : fail_order(v, c, what, buffer, rect, "writes", other);
}

/* Writes the parts, as one where they hold the same, so that regions stay few. */
static tsr_status write_parts(tsr_verifier *v, uint32_t c, int32_t buffer, tsr_rect rect,
                              const tsr_parts *parts) {
  bool uniform = true;
  for (size_t i = 1; i < parts->count; i++)
    uniform = uniform && tsr_content_equal(parts->items[0].content, parts->items[i].content);
  tsr_regions *regions = &v->regions[buffer];
  if (uniform) return tsr_regions_write(regions, rect, parts->items[0].content, c);
  for (size_t i = 0; i < parts->count; i++)
    TSR_TRY(tsr_regions_write(regions, parts->items[i].rect, parts->items[i].content, c));
  return TSR_OK;
}

/* ---- Copies ---- */

static tsr_status check_copied(tsr_verifier *v, uint32_t c, int32_t from, const tsr_part *part) {
  phrase where, held;
  if (!is_home(v, from)) return TSR_OK;
  if (part->content.original && v->plan->call.beta == TSR_ZERO)
    return tsr_verify_fail(v, c, "reads C, which the call does not (beta is 0)");
  if (is_final(v, part->content))
    return tsr_verify_fail(v, c, "reads %s, which hold %s already",
                           rect_text(v, from, part->rect, &where),
                           content_text(v, part->content, &held));
  return TSR_OK;
}

static tsr_status check_brought_home(tsr_verifier *v, uint32_t c, const tsr_parts *parts,
                                     tsr_rect rect) {
  phrase where, held;
  for (size_t i = 0; i < parts->count; i++)
    if (!is_final(v, parts->items[i].content))
      return tsr_verify_fail(v, c, "brings %s home unfinished: they hold %s",
                             rect_text(v, TSR_C_, parts->items[i].rect, &where),
                             content_text(v, parts->items[i].content, &held));
  v->inner.count = 0;
  TSR_TRY(tsr_regions_find(&v->regions[TSR_C_], rect, &v->inner));
  for (size_t i = 0; i < v->inner.count; i++)
    if (!v->inner.items[i].content.original)
      return tsr_verify_fail(v, c, "brings %s home a second time",
                             rect_text(v, TSR_C_, v->inner.items[i].rect, &where));
  return TSR_OK;
}

static tsr_status do_copy(tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  int32_t from = command->buffer[0], to = command->buffer[1];
  tsr_rect rect = tsr_verify_rect(&v->plan->call, command, 0);
  TSR_TRY(check_readable(v, c, from));
  TSR_TRY(use(v, c, from, false));
  TSR_TRY(use(v, c, to, true));
  if (is_constant(from)) {
    TSR_TRY(check_write(v, c, "target", to, rect));
    return tsr_regions_write(&v->regions[to], rect, (tsr_content){.original = true}, c);
  }
  TSR_TRY(find(v, c, "source", from, rect, &v->found));
  for (size_t i = 0; i < v->found.count; i++) TSR_TRY(check_copied(v, c, from, &v->found.items[i]));
  if (is_home(v, to)) TSR_TRY(check_brought_home(v, c, &v->found, rect));
  TSR_TRY(check_write(v, c, "target", to, rect));
  return write_parts(v, c, to, rect, &v->found);
}

/* ---- Kernels: what becomes of C ---- */

static tsr_status apply_beta(const tsr_verifier *v, uint32_t c, int32_t buffer, tsr_part *part,
                             uint32_t sum) {
  phrase where, held;
  if (!part->content.original)
    return tsr_verify_fail(v, c, "applies beta to %s, which hold %s",
                           rect_text(v, buffer, part->rect, &where),
                           content_text(v, part->content, &held));
  part->content = (tsr_content){.beta = true, .sum = sum};
  return TSR_OK;
}

static tsr_status accumulate(tsr_verifier *v, uint32_t c, int32_t buffer, tsr_part *part,
                             uint32_t sum) {
  phrase where, held;
  bool disjoint;
  /* Where beta is 1, the original is a sum of nothing, with beta C. */
  if (part->content.original && v->plan->call.beta == TSR_ONE)
    part->content = (tsr_content){.beta = true, .sum = TSR_SUM_EMPTY};
  if (part->content.original)
    return tsr_verify_fail(v, c, "accumulates into %s, which hold the original without beta",
                           rect_text(v, buffer, part->rect, &where));
  uint32_t old = part->content.sum;
  TSR_TRY(tsr_sums_unite(&v->sums, old, sum, &disjoint, &part->content.sum));
  if (disjoint) return TSR_OK;
  char twice[80];
  tsr_sums_describe(&v->sums, sum, twice, sizeof twice);
  return tsr_verify_fail(v, c, "adds %s a second time to %s, which hold %s", twice,
                         rect_text(v, buffer, part->rect, &where),
                         content_text(v, part->content, &held));
}

/* The home of C may only go from the original to sums that can become final. */
static tsr_status check_overwrite(tsr_verifier *v, uint32_t c, tsr_rect rect) {
  phrase where;
  if (v->plan->call.beta != TSR_ZERO)
    return tsr_verify_fail(v, c, "overwrites %s at home, beta C is lost",
                           rect_text(v, TSR_C_, rect, &where));
  v->inner.count = 0;
  TSR_TRY(tsr_regions_find(&v->regions[TSR_C_], rect, &v->inner));
  for (size_t i = 0; i < v->inner.count; i++)
    if (!v->inner.items[i].content.original)
      return tsr_verify_fail(v, c, "overwrites %s at home a second time",
                             rect_text(v, TSR_C_, v->inner.items[i].rect, &where));
  return TSR_OK;
}

static tsr_status overwrite(tsr_verifier *v, uint32_t c, int32_t buffer, tsr_rect rect,
                            uint32_t sum) {
  bool beta = v->plan->commands.items[c].flags & TSR_FLAG_BETA;
  if (is_home(v, buffer)) TSR_TRY(check_overwrite(v, c, rect));
  TSR_TRY(check_write(v, c, "operand c", buffer, rect));
  return tsr_regions_write(&v->regions[buffer], rect, (tsr_content){.beta = beta, .sum = sum}, c);
}

/* c = (sum over a set of k) + what the flags say of c. */
static tsr_status update(tsr_verifier *v, uint32_t c, tsr_rect rect, uint32_t sum) {
  const tsr_command *command = &v->plan->commands.items[c];
  int32_t buffer = command->buffer[2];
  bool beta = (command->flags & TSR_FLAG_BETA) && v->plan->call.beta != TSR_ZERO;
  bool beta_one = command->flags & TSR_FLAG_BETA_ONE;
  if (!beta && !beta_one) return overwrite(v, c, buffer, rect, sum);
  TSR_TRY(find(v, c, "operand c", buffer, rect, &v->found));
  for (size_t i = 0; i < v->found.count; i++)
    TSR_TRY(beta ? apply_beta(v, c, buffer, &v->found.items[i], sum)
                 : accumulate(v, c, buffer, &v->found.items[i], sum));
  TSR_TRY(check_write(v, c, "operand c", buffer, rect));
  return write_parts(v, c, buffer, rect, &v->found);
}

static tsr_status do_gemm(tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  int64_t k0 = v->plan->call.transa == TSR_NO_TRANS ? command->col[0] : command->row[0];
  uint32_t sum;
  TSR_TRY(read_input(v, c, 0));
  TSR_TRY(read_input(v, c, 1));
  TSR_TRY(use(v, c, command->buffer[2], true));
  TSR_TRY(tsr_sums_interval(&v->sums, k0, k0 + command->k, &sum));
  return update(v, c, tsr_verify_rect(&v->plan->call, command, 2), sum);
}

/* W may hold different sums in different parts: each is added on its own. */
static tsr_status do_add(tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  tsr_rect rect = tsr_verify_rect(&v->plan->call, command, 0);
  tsr_parts parts = v->found; /* update() needs the scratch for itself */
  v->found = (tsr_parts){NULL, 0, 0};
  tsr_status status = use(v, c, command->buffer[0], false);
  if (status == TSR_OK) status = use(v, c, command->buffer[2], true);
  if (status == TSR_OK) status = find(v, c, operand_names[0], command->buffer[0], rect, &parts);
  bool uniform = true;
  for (size_t i = 1; status == TSR_OK && i < parts.count; i++)
    uniform = uniform && tsr_content_equal(parts.items[0].content, parts.items[i].content);
  if (status == TSR_OK && uniform) status = update(v, c, rect, parts.items[0].content.sum);
  for (size_t i = 0; status == TSR_OK && !uniform && i < parts.count; i++)
    status = update(v, c, parts.items[i].rect, parts.items[i].content.sum);
  TSR_VEC_FREE(&parts);
  return status;
}

static tsr_status do_scale(tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  TSR_TRY(use(v, c, command->buffer[2], true));
  return update(v, c, tsr_verify_rect(&v->plan->call, command, 2), TSR_SUM_EMPTY);
}

static tsr_status do_command(tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  TSR_TRY(tsr_order_enter(&v->order, c));
  if (command->kind == TSR_COMMAND_COPY) return do_copy(v, c);
  if (command->kernel == TSR_KERNEL_GEMM) return do_gemm(v, c);
  return command->kernel == TSR_KERNEL_ADD ? do_add(v, c) : do_scale(v, c);
}

/* ---- The end ---- */

static tsr_status check_lives(const tsr_verifier *v) {
  for (size_t i = TSR_OPERANDS; i < v->plan->buffers.count; i++) {
    const tsr_buffer *buffer = &v->plan->buffers.items[i];
    const tsr_tenant *tenant = &v->tenancy.tenant[i];
    bool used = tenant->first_use != TSR_NO_COMMAND;
    if (used && (buffer->first != tenant->first_use || buffer->last != tenant->last_use))
      return tsr_fail(TSR_ERR_CHECK,
                      "buffer %zu is said to be used by commands %u to %u, it is by %u to %u", i,
                      buffer->first, buffer->last, tenant->first_use, tenant->last_use);
  }
  return TSR_OK;
}

static tsr_status check_result(tsr_verifier *v) {
  const tsr_operand *home = &v->plan->call.operand[TSR_C_];
  phrase where, held;
  v->found.count = 0;
  TSR_TRY(tsr_regions_find(&v->regions[TSR_C_], tsr_rect_make(0, 0, home->rows, home->cols),
                           &v->found));
  for (size_t i = 0; i < v->found.count; i++) {
    const tsr_part *part = &v->found.items[i];
    if (!is_final(v, part->content))
      return tsr_fail(TSR_ERR_CHECK, "at the end, %s hold %s",
                      rect_text(v, TSR_C_, part->rect, &where),
                      content_text(v, part->content, &held));
  }
  return TSR_OK;
}

/* ---- Beginning ---- */

typedef struct load {
  double accesses, rows, cols;
} load;

static void count_accesses(const tsr_verifier *v, load *loads) {
  for (size_t c = 0; c < v->plan->commands.count; c++) {
    const tsr_command *command = &v->plan->commands.items[c];
    for (int i = 0; i < 3; i++) {
      if (command->buffer[i] == TSR_NO_BUFFER) continue;
      tsr_rect rect = tsr_verify_rect(&v->plan->call, command, i);
      load *one = &loads[command->buffer[i]];
      one->accesses++;
      one->rows += (double)(rect.row1 - rect.row0);
      one->cols += (double)(rect.col1 - rect.col0);
    }
  }
}

static tsr_status start_regions(tsr_verifier *v) {
  size_t count = v->plan->buffers.count;
  load *loads = tsr_alloc_zero(count, sizeof *loads);
  v->regions = tsr_alloc_zero(count, sizeof *v->regions);
  if (loads == NULL || v->regions == NULL) {
    tsr_dealloc(loads);
    return tsr_verify_no_memory();
  }
  count_accesses(v, loads);
  for (size_t i = 0; i < count; i++) {
    const tsr_buffer *buffer = &v->plan->buffers.items[i];
    double accesses = loads[i].accesses > 0 ? loads[i].accesses : 1;
    tsr_regions_start(&v->regions[i],
                      tsr_rect_make(buffer->row, buffer->col, buffer->rows, buffer->cols), accesses,
                      loads[i].rows / accesses, loads[i].cols / accesses);
  }
  tsr_dealloc(loads);
  return tsr_regions_write(&v->regions[TSR_C_], v->regions[TSR_C_].all,
                           (tsr_content){.original = true}, TSR_NO_COMMAND);
}

static tsr_status start(tsr_verifier *v) {
  const tsr_call *call = &v->plan->call;
  TSR_TRY(tsr_sums_start(&v->sums));
  v->whole = TSR_SUM_EMPTY;
  if (!v->scales_only) TSR_TRY(tsr_sums_interval(&v->sums, 0, call->k, &v->whole));
  TSR_TRY(tsr_order_start(&v->order, v->plan));
  TSR_TRY(tsr_tenancy_start(&v->tenancy, v->plan));
  return start_regions(v);
}

static void stop(tsr_verifier *v) {
  for (size_t i = 0; v->regions != NULL && i < v->plan->buffers.count; i++)
    tsr_regions_stop(&v->regions[i]);
  tsr_dealloc(v->regions);
  tsr_sums_stop(&v->sums);
  tsr_order_stop(&v->order);
  tsr_tenancy_stop(&v->tenancy);
  TSR_VEC_FREE(&v->found);
  TSR_VEC_FREE(&v->inner);
}

static tsr_status carry_out(tsr_verifier *v) {
  TSR_TRY(start(v));
  for (size_t c = 0; c < v->plan->commands.count; c++) TSR_TRY(do_command(v, (uint32_t)c));
  TSR_TRY(check_result(v));
  return check_lives(v);
}

tsr_status tsr_plan_verify(const tsr_plan *plan, const tsr_machine *machine,
                           const size_t *budgets) {
  size_t commands = plan->commands.count;
  if (plan->devices == 0 && commands > 0)
    return tsr_fail(TSR_ERR_CHECK, "the plan uses no device but has %zu commands", commands);
  if (plan->devices == 0 || (commands == 0 && tsr_call_is_empty(&plan->call))) return TSR_OK;
  tsr_verifier v = {.plan = plan, .machine = machine};
  int nodes = machine != NULL ? machine->nodes : TSR_MACHINE_LOCATIONS - plan->machine_devices;
  v.locations = plan->machine_devices + nodes;
  v.scales_only = plan->call.alpha == TSR_ZERO || plan->call.k == 0;
  TSR_TRY(tsr_verify_plan(&v, budgets));
  for (size_t c = 0; c < commands; c++) TSR_TRY(tsr_verify_form(&v, (uint32_t)c));
  tsr_status status = carry_out(&v);
  stop(&v);
  return status;
}
