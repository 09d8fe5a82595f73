/* tools/tessera/options.c and settings.c: what users type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "settings.h"

typedef struct parsed {
  const char *text, *positional[2];
  bool flag;
  int64_t whole;
  double number;
  size_t bytes;
  int count;
} parsed;

static int parse(parsed *p, int argc, const char **argv) {
  *p = (parsed){0};
  const option table[] = {{"text", 't', OPTION_TEXT, &p->text, "S", "a text"},
                          {"flag", 0, OPTION_FLAG, &p->flag, NULL, "a flag"},
                          {"whole", 0, OPTION_WHOLE, &p->whole, "N", "a whole number"},
                          {"number", 0, OPTION_NUMBER, &p->number, "X", "a number"},
                          {"bytes", 0, OPTION_BYTES, &p->bytes, "B", "a size"},
                          {0}};
  const option_command command = {"usage", "summary", "example", table, 0, 2};
  return options_parse(&command, argc, (char **)argv, p->positional, &p->count);
}

#define PARSE(p, ...)                                                       \
  parse((p), (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), \
        (const char *[]){__VA_ARGS__})

static void test_forms(void **state) {
  (void)state;
  parsed p;
  assert_int_equal(PARSE(&p, "x", "--text", "a", "--flag", "one", "--whole=7"), TOOL_OK);
  assert_string_equal(p.text, "a");
  assert_true(p.flag);
  assert_int_equal(p.whole, 7);
  assert_int_equal(p.count, 1);
  assert_string_equal(p.positional[0], "one");
  assert_int_equal(PARSE(&p, "x", "-t", "b", "--number", "-1.5e3", "--", "--flag"), TOOL_OK);
  assert_string_equal(p.text, "b");
  assert_true(p.number == -1500);
  assert_false(p.flag);
  assert_string_equal(p.positional[0], "--flag");
  assert_int_equal(PARSE(&p, "x", "--help"), OPTIONS_HELPED);
}

static void test_refused(void **state) {
  (void)state;
  parsed p;
  assert_int_equal(PARSE(&p, "x", "--texd", "a"), TOOL_USAGE);
  assert_int_equal(PARSE(&p, "x", "--text"), TOOL_USAGE);
  assert_int_equal(PARSE(&p, "x", "--flag=1"), TOOL_USAGE);
  assert_int_equal(PARSE(&p, "x", "--whole", "-1"), TOOL_USAGE);
  assert_int_equal(PARSE(&p, "x", "--whole", "7x"), TOOL_USAGE);
  assert_int_equal(PARSE(&p, "x", "--whole", "99999999999999999999"), TOOL_USAGE);
  assert_int_equal(PARSE(&p, "x", "--number", "nan"), TOOL_USAGE);
  assert_int_equal(PARSE(&p, "x", "--bytes", "12Q"), TOOL_USAGE);
  assert_int_equal(PARSE(&p, "x", "-q"), TOOL_USAGE);
  assert_int_equal(PARSE(&p, "x", "one", "two", "three"), TOOL_USAGE);
}

static void test_nearest(void **state) {
  (void)state;
  static const char *const names[] = {"transa", "transb", "timeline", "type", NULL};
  assert_string_equal(options_nearest("timelin", names), "timeline");
  assert_string_equal(options_nearest("tranb", names), "transb");
  assert_null(options_nearest("completely-other", names));
}

static void test_bytes(void **state) {
  (void)state;
  size_t bytes;
  assert_true(options_bytes("1MB", &bytes) && bytes == 1000000);
  assert_true(options_bytes("16G", &bytes) && bytes == 16000000000u);
  assert_true(options_bytes("1.5GiB", &bytes) && bytes == 1610612736u);
  assert_true(options_bytes("1048576", &bytes) && bytes == 1048576);
  assert_false(options_bytes("", &bytes));
  assert_false(options_bytes("-1", &bytes));
  assert_false(options_bytes("1e30", &bytes));
  assert_false(options_bytes("inf", &bytes));
}

static void test_lists(void **state) {
  (void)state;
  int64_t values[3];
  assert_int_equal(options_whole_list("1,22,333", values, 3), 3);
  assert_int_equal(values[2], 333);
  assert_int_equal(options_whole_list("1,2,3,4", values, 3), -1);
  assert_int_equal(options_whole_list("1,,2", values, 3), -1);
  assert_int_equal(options_whole_list("", values, 3), -1);
}

static void test_homes(void **state) {
  (void)state;
  home h[3];
  assert_int_equal(homes_parse("h,p,13", HOME_AS_IS, h), TOOL_OK);
  assert_int_equal(h[0].kind, HOME_AS_IS);
  assert_int_equal(h[1].kind, HOME_PINNED);
  assert_int_equal(h[2].kind, HOME_DEVICE);
  assert_int_equal(h[2].device, 13);
  assert_int_equal(homes_parse("u", HOME_PINNED, h), TOOL_OK);
  assert_int_equal(h[2].kind, HOME_PAGEABLE);
  static const char *const wrong[] = {"", "h,h", "h,h,h,h", "h,h,", "x,h,h", "h,-1,h", "hhh"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(homes_parse(wrong[i], HOME_PINNED, h), TOOL_USAGE);
  }
}

static void test_scalars(void **state) {
  (void)state;
  scalar s;
  assert_int_equal(parse_scalar("--alpha", "1.5+2j", &s), TOOL_OK);
  assert_true(s.re == 1.5 && s.im == 2);
  assert_int_equal(parse_scalar("--alpha", "-1e2-2.5e-1j", &s), TOOL_OK);
  assert_true(s.re == -100 && s.im == -0.25);
  assert_int_equal(parse_scalar("--alpha", "-2j", &s), TOOL_OK);
  assert_true(s.re == 0 && s.im == -2);
  assert_int_equal(parse_scalar("--alpha", "3", &s), TOOL_OK);
  assert_int_equal(parse_scalar("--alpha", "1+2", &s), TOOL_USAGE);
  assert_int_equal(parse_scalar("--alpha", "one", &s), TOOL_USAGE);
  assert_int_equal(parse_scalar("--alpha", "1+j2", &s), TOOL_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forms),   cmocka_unit_test(test_refused),
      cmocka_unit_test(test_nearest), cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_lists),   cmocka_unit_test(test_homes),
      cmocka_unit_test(test_scalars),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
