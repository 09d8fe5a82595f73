/*
 * What the planner decides for a few calls on four machines, against files that a person has
 * looked at. After a change that is meant: TSR_UPDATE_GOLDEN=1 writes them anew; read the
 * difference before it is kept.
 */
#include "base/alloc.h"
#include "planning.h"

static const planning_case cases[] = {
    {'d', 'N', 'N', 8192, 8192, 8192, 1, 1, "ppp", 0},
    {'d', 'N', 'T', 16384, 16384, 16384, 2, 0, "ppp", 0},
    {'s', 'T', 'N', 4096, 4096, 65536, 1, 0.5, "hhh", 0},
    {'z', 'C', 'N', 5000, 3001, 4097, 1, 1, "01p", 0},
    {'h', 'N', 'N', 20000, 20000, 8192, 1, 0, "ppp", 0},
    {'d', 'N', 'N', 300, 300, 300, 1, 1, "hhh", 0},
};
enum { CASES = sizeof cases / sizeof *cases };

static void print_case(const tsr_machine *machine, const planning_case *c, tsr_text *text) {
  tsr_plan *plan = planning_plan(machine, c);
  tsr_prediction p;
  tsr_plan_summary(plan, &p);
  tsr_status status = tsr_plan_verify(plan, machine, NULL);
  tsr_text_add(text, "gemm %c %c%c %lld %lld %lld home %s beta %g\n", c->type, c->ta, c->tb,
               (long long)c->m, (long long)c->n, (long long)c->k, c->homes, c->beta);
  tsr_text_add(text, "  devices %d grid %dx%d tile %lldx%lldx%lld kernels %lld copies %lld\n",
               p.devices, p.grid_rows, p.grid_cols, (long long)p.tile_m, (long long)p.tile_n,
               (long long)p.tile_k, (long long)p.kernels, (long long)p.copies);
  /* Three digits: the rest is rounding, which compilers may do differently. */
  tsr_text_add(text, "  predicted %.3g s floor %.3g s\n", p.seconds, p.floor_seconds);
  tsr_text_add(text, "  in %.3g out %.3g between %.3g GB, a device %.3g GB\n",
               p.host_to_device / 1e9, p.device_to_host / 1e9, p.device_to_device / 1e9,
               (double)p.device_memory / 1e9);
  tsr_text_add(text, "  verified: %s\n", status == TSR_OK ? "yes" : tsr_message());
  tsr_plan_free(plan);
}

static char *path_in_source(const char *path) {
  static char full[512];
  const char *root = getenv("TESSERA_SOURCE_DIR");
  snprintf(full, sizeof full, "%s/%s", root && *root ? root : ".", path);
  return full;
}

static void compare(const char *golden, const char *text) {
  char *path = path_in_source(golden), *kept = NULL;
  size_t length;
  if (getenv("TSR_UPDATE_GOLDEN")) {
    assert_int_equal(tsr_text_write_file(path, text, strlen(text)), TSR_OK);
    return;
  }
  if (tsr_text_read_file(path, &kept, &length) != TSR_OK) fail_msg("%s", tsr_message());
  size_t same = 0, line = 0;
  for (; kept[same] && kept[same] == text[same]; ++same)
    if (text[same] == '\n') line = same + 1;
  if (kept[same] != text[same])
    fail_msg("%s has\n%.160s\nand the planner now\n%.160s\n(TSR_UPDATE_GOLDEN=1 rewrites it)",
             golden, kept + line, text + line);
  tsr_dealloc(kept);
}

static void check_machine(const char *file_or_string, const char *golden) {
  tsr_machine *machine = planning_machine(file_or_string);
  tsr_text text = TSR_TEXT_INIT;
  char *bytes = NULL;
  for (int i = 0; i < CASES; ++i) print_case(machine, &cases[i], &text);
  assert_int_equal(tsr_text_take(&text, &bytes), TSR_OK);
  compare(golden, bytes);
  free(bytes);
  tsr_machine_destroy(machine);
}

static void test_h200x4(void **state) {
  (void)state;
  check_machine(path_in_source("machines/h200x4.json"), "tests/plan/golden/h200x4.txt");
}

static void test_h200x8(void **state) {
  (void)state;
  check_machine(path_in_source("machines/h200x8.json"), "tests/plan/golden/h200x8.txt");
}

static void test_a100x8(void **state) {
  (void)state;
  check_machine(path_in_source("machines/a100x8.json"), "tests/plan/golden/a100x8.txt");
}

static void test_string(void **state) {
  (void)state;
  check_machine("host:200 gpu*8@nvswitch:300 pcie:25/pair rate:19", "tests/plan/golden/string.txt");
}

/* Planning the same call again gives the same plan, command by command. */
static void test_deterministic(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:200 gpu*4@nvswitch:300 pcie:25/pair rate:19");
  planning_case c = {'d', 'N', 'N', 3000, 2000, 2500, 1, 1, "php", 0};
  tsr_plan *first = planning_plan(machine, &c), *second = planning_plan(machine, &c);
  assert_int_equal(first->commands.count, second->commands.count);
  for (size_t i = 0; i < first->commands.count; ++i) {
    const tsr_command *x = &first->commands.items[i], *y = &second->commands.items[i];
    assert_memory_equal(x->row, y->row, sizeof x->row);
    assert_memory_equal(x->col, y->col, sizeof x->col);
    assert_memory_equal(x->buffer, y->buffer, sizeof x->buffer);
    assert_true(x->queue == y->queue && x->kind == y->kind && x->flags == y->flags);
    assert_int_equal(x->waits, y->waits);
  }
  tsr_plan_free(first), tsr_plan_free(second);
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_h200x4),        cmocka_unit_test(test_h200x8),
      cmocka_unit_test(test_a100x8),        cmocka_unit_test(test_string),
      cmocka_unit_test(test_deterministic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
