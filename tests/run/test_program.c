/* What the runner makes of a plan whose tiles are in rooms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blas/call.h"
#include "plan/plan.h"
#include "run/program.h"
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

/* ---- A product that stays ---- */

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

/* The last commands of a kind that write to a room of C, as later jobs find them. */
static int count_writers(const tsr_plan *plan, tsr_kernel kernel) {
  const tsr_program *p = plan->program;
  int count = 0;
  for (uint32_t i = 0; i < p->use_first[plan->after->rooms.count]; i++) {
    const tsr_command *c = &plan->commands.items[p->use[i].command];
    bool adds = c->kind == TSR_COMMAND_KERNEL && c->kernel == kernel;
    if (adds && p->use[i].wrote) count += plan->buffers.items[c->buffer[2]].role == TSR_BUFFER_ROOM;
  }
  return count;
}

static int count_kernels(const tsr_plan *plan, tsr_kernel kernel) {
  int count = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    count += c->kind == TSR_COMMAND_KERNEL && c->kernel == kernel;
  }
  return count;
}

/* C comes in hundreds of copies, to each part of which something is added: what later brings C home
 * waits for each part alone, not for the last one. */
static void parts_of_a_room_are_waited_for_one_by_one(void **state) {
  (void)state;
  rig r;
  rig_open("host:200 gpu*2 pcie:25 rate:50", &r);
  tsr_plan *plan =
      multiply(&r, "grid=1x2 tile=0 slab=500 chunk=256,256,256 taper=0 c=last piece=128K");
  int added = count_kernels(plan, TSR_KERNEL_ADD);
  assert_true(added >= 10);
  must(tsr_program_create(plan, &plan->program));
  assert_int_equal(count_writers(plan, TSR_KERNEL_ADD), added);
  tsr_program_destroy(plan->program);
  tsr_plan_free(plan);
  rig_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_of_a_room_are_waited_for_one_by_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
