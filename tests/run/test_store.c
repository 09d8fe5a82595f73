/* What plans find of what others left on devices, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blas/call.h"
#include "plan/moves.h"
#include "run/store.h"

/* ---- Devices without memory ---- */

static tsr_status give_address(tsr_engine_state *state, int device, size_t bytes, void **pointer) {
  static uintptr_t next = (uintptr_t)1 << 40;
  (void)state, (void)device;
  *pointer = (void *)next;
  next += (bytes + 4095) / 4096 * 4096;
  return TSR_OK;
}

static void take_address(tsr_engine_state *state, int device, void *pointer) {
  (void)state, (void)device, (void)pointer;
}

static const tsr_engine addresses = {.alloc = give_address, .free = take_address};

/* ---- A product that stays, and its way home ---- */

enum { N = 3000 };

typedef struct rig {
  tsr_machine *machine;
  tsr_plan_options options;
  tsr_store *store;
  tsr_region region[TSR_OPERANDS];
  uint64_t submitted;
} rig;

static void must(tsr_status status) {
  if (status != TSR_OK) fail_msg("%s", tsr_message());
}

static void rig_open(const char *machine, rig *r) {
  size_t limit[TSR_MAX_DEVICES + 1] = {0};
  *r = (rig){.options = {.obey_devices = true, .ring = (size_t)64 << 20}};
  must(tsr_machine_parse(machine, &r->machine));
  for (int d = 0; d < r->machine->devices; d++) limit[d] = r->options.budget[d] = (size_t)1 << 34;
  limit[r->machine->devices] = r->options.ring;
  must(tsr_store_create(&addresses, NULL, r->machine->devices, limit, 0, &r->store));
  for (int x = 0; x < TSR_OPERANDS; x++)
    r->region[x] = (tsr_region){(char *)((uintptr_t)(x + 1) << 32), N, N, N, 8};
}

static void rig_close(rig *r) {
  tsr_store_destroy(r->store);
  tsr_machine_destroy(r->machine);
}

static void submit(rig *r, const tsr_view *view, const tsr_plan *plan) {
  tsr_lodging lodging;
  int short_of;
  must(tsr_store_take(r->store, view, plan, &lodging, &short_of));
  tsr_store_note(r->store, plan, &lodging, r->submitted++);
}

static tsr_plan *multiply(rig *r, const char *recipe) {
  static const double one = 1;
  const tsr_level3 what = {.operation = TSR_GEMM,
                           .type = TSR_D,
                           .layout = TSR_COL_MAJOR,
                           .transa = TSR_NO_TRANS,
                           .transb = TSR_NO_TRANS,
                           .m = N,
                           .n = N,
                           .k = N,
                           .lda = N,
                           .ldb = N,
                           .ldc = N};
  tsr_call call;
  tsr_binding binding;
  tsr_view view;
  tsr_plan *plan;
  bool exchanged;
  must(tsr_call_level3(&what, &one, NULL, NULL, &one, NULL, false, &call, &binding, &exchanged));
  for (int x = 0; x < TSR_OPERANDS; x++) {
    call.operand[x].memory = TSR_PINNED;
    call.operand[x].location = r->machine->devices;
    call.operand[x].pinned_end = tsr_operand_bytes(&call.operand[x], call.type);
  }
  must(tsr_store_view(r->store, r->region, &view));
  r->options.residency = &view.seen;
  r->options.recipe = recipe;
  must(tsr_plan_make(r->machine, &call, &r->options, &plan));
  submit(r, &view, plan);
  tsr_view_free(&view);
  return plan;
}

static tsr_plan *bring_home(rig *r) {
  tsr_operand operand = {.rows = N,
                         .cols = N,
                         .ld = N,
                         .memory = TSR_PINNED,
                         .location = r->machine->devices,
                         .pinned_end = (size_t)N * N * 8};
  tsr_call call = tsr_moves_call(TSR_C_, &operand, 8);
  tsr_region region[TSR_OPERANDS] = {[TSR_C_] = r->region[TSR_C_]};
  tsr_view view;
  tsr_plan *plan;
  must(tsr_store_view(r->store, region, &view));
  r->options.residency = &view.seen;
  r->options.recipe = NULL;
  must(tsr_plan_bring_home(r->machine, &call, TSR_GENERAL, &r->options, &plan));
  submit(r, &view, plan);
  tsr_view_free(&view);
  return plan;
}

/* The last of a product's commands that writes to (row, col) of C on a device. */
static int64_t writer_of(const tsr_plan *plan, int device, int64_t row, int64_t col) {
  for (size_t i = plan->commands.count; i-- > 0;) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_KERNEL || plan->queue[c->queue].location != device) continue;
    if (plan->buffers.items[c->buffer[2]].role != TSR_BUFFER_ROOM) continue;
    if (row >= c->row[2] && row < c->row[2] + c->m && col >= c->col[2] && col < c->col[2] + c->n)
      return (int64_t)i;
  }
  return -1;
}

/* Each device sends first what it has finished first. Several parts of C on each, done in another
 * order than they lie in. */
static void comes_home_in_order(const char *recipe) {
  rig r;
  rig_open("host:200 gpu*2 pcie:25 rate:50", &r);
  tsr_plan *product = multiply(&r, recipe), *way = bring_home(&r);
  int64_t last[2] = {-1, -1};
  int parts = 0;
  for (size_t i = 0; i < way->commands.count; i++) {
    const tsr_command *c = &way->commands.items[i];
    if (c->kind != TSR_COMMAND_COPY) continue;
    int device = way->queue[c->queue].location;
    int64_t writer = writer_of(product, device, c->row[0], c->col[0]);
    assert_in_range(device, 0, 1);
    if (writer < last[device])
      fail_msg("%s: device %d sends what command %lld wrote after what %lld wrote", recipe, device,
               (long long)writer, (long long)last[device]);
    parts += writer > last[device];
    last[device] = writer;
  }
  assert_true(parts > 4);
  tsr_plan_free(product);
  tsr_plan_free(way);
  rig_close(&r);
}

static void what_is_done_first_comes_home_first(void **state) {
  (void)state;
  comes_home_in_order("grid=1x2 tile=0 slab=500 chunk=256,256,256 c=last");
  comes_home_in_order("grid=2x1 tile=0 slab=1000 chunk=512,512,128 c=first");
  comes_home_in_order("grid=2x1 tile=500 order=eta");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_done_first_comes_home_first)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
