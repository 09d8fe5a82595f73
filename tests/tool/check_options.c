/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tools/common/options.c and settings.c: what users type. */
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
  int64_t whole, few;
  double number, part;
  size_t bytes;
  int count;
} parsed;

static bool bare;

static int parse(parsed *p, int argc, const char **argv) {
  *p = (parsed){0};
  const option table[] = {{"text", 't', OPTION_TEXT, &p->text, "S", "a text"},
                          {"flag", 0, OPTION_FLAG, &p->flag, NULL, "a flag"},
                          {"whole", 0, OPTION_WHOLE, &p->whole, "N", "a whole number"},
                          {"number", 0, OPTION_NUMBER, &p->number, "X", "a number"},
                          {"bytes", 0, OPTION_BYTES, &p->bytes, "B", "a size"},
                          {"few", 0, OPTION_WHOLE, &p->few, "N", "1 to 9", 1, 9},
                          {"part", 0, OPTION_NUMBER, &p->part, "X", "0 to 1", 0, 1},
                          {0}};
  const option_command command = {"usage", "summary", "example", table, 0, 2, bare};
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

static void test_ranges(void **state) {
  (void)state;
  parsed p;
  assert_int_equal(PARSE(&p, "x", "--few", "9", "--part", "0"), TOOL_OK);
  assert_int_equal(p.few, 9);
  assert_int_equal(PARSE(&p, "x", "--few", "0"), TOOL_USAGE);
  assert_int_equal(PARSE(&p, "x", "--few", "10"), TOOL_USAGE);
  assert_int_equal(PARSE(&p, "x", "--part", "1.01"), TOOL_USAGE);
  assert_int_equal(PARSE(&p, "x", "--part=-0.1"), TOOL_USAGE);
}

/* Without dashes, where a command has it so. */
static void test_bare(void **state) {
  (void)state;
  parsed p;
  assert_int_equal(PARSE(&p, "x", "text=a", "flag"), TOOL_OK);
  assert_int_equal(p.count, 2);
  bare = true;
  assert_int_equal(PARSE(&p, "x", "text=a b", "flag", "one", "--whole=7"), TOOL_OK);
  assert_string_equal(p.text, "a b");
  assert_true(p.flag);
  assert_int_equal(p.whole, 7);
  assert_int_equal(p.count, 1);
  assert_int_equal(PARSE(&p, "x", "=a"), TOOL_OK);
  assert_int_equal(p.count, 1);
  assert_int_equal(PARSE(&p, "x", "texd=a"), TOOL_USAGE);
  assert_int_equal(PARSE(&p, "x", "few=0"), TOOL_USAGE);
  bare = false;
}

static void test_lines(void **state) {
  (void)state;
  char *words[3], line[] = " one two='a  b'c \t\"d 'e\"\n", open[] = "a 'b", many[] = "a b c d";
  assert_int_equal(options_split(line, words, 3), 3);
  assert_string_equal(words[0], "one");
  assert_string_equal(words[1], "two=a  bc");
  assert_string_equal(words[2], "d 'e");
  assert_int_equal(options_split(open, words, 3), -1);
  assert_int_equal(options_split(many, words, 3), -1);
  char empty[] = " \n";
  assert_int_equal(options_split(empty, words, 3), 0);
}

static void test_given(void **state) {
  (void)state;
  const char *peer = "blas";
  int64_t repeat = -1;
  bool check = false;
  const option table[] = {{"peer", 0, OPTION_TEXT, &peer, "P", "a text"},
                          {"peer-repeat", 0, OPTION_WHOLE, &repeat, "N", "a number"},
                          {"check", 0, OPTION_FLAG, &check, NULL, "a flag"},
                          {0}};
  assert_int_equal(options_refuse(table, "peer-repeat check", "why"), TOOL_OK);
  assert_int_equal(options_refuse(table, "check peer", "why"), TOOL_USAGE);
  repeat = 0;
  assert_int_equal(options_refuse(table, "peer-repeat", "why"), TOOL_USAGE);
  assert_string_equal(options_value(&table[1]), "0");
  assert_null(options_value(&table[2]));
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
  assert_string_equal(tsr_word_nearest("timelin", names), "timeline");
  assert_string_equal(tsr_word_nearest("tranb", names), "transb");
  assert_string_equal(tsr_word_nearest("tpye", names), "type"); /* neighbours are exchanged */
  assert_null(tsr_word_nearest("completely-other", names));
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
  assert_int_equal(options_whole_list("10K,1e4,1.5M", values, 3), 3);
  assert_true(values[0] == 10000 && values[1] == 10000 && values[2] == 1500000);
  static const char *const wrong[] = {"1.5", "1e-3", "0.0001k", "1kk", "1e",   "1e4x",
                                      ".5k", "1e30", "9e15k",   "-1k", "1e999"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(options_whole_list(wrong[i], values, 1), -1);
}

static void test_homes(void **state) {
  (void)state;
  home h[3];
  assert_int_equal(homes_parse("h,p,13", HOME_AS_IS, h), TOOL_OK);
  assert_int_equal(h[0].kind, HOME_AS_IS);
  assert_int_equal(h[1].kind, HOME_PINNED);
  assert_int_equal(h[2].kind, HOME_DEVICE);
  assert_int_equal(h[2].device, 13);
  assert_int_equal(homes_parse_planned("ABC", "h1,ui,m", HOME_PINNED, h), TOOL_OK);
  assert_int_equal(h[0].device, 1);
  assert_int_equal(h[1].kind, HOME_PAGEABLE);
  assert_int_equal(h[1].device, TSR_INTERLEAVED);
  assert_int_equal(h[2].device, 0);
  assert_int_equal(homes_parse("u", HOME_PINNED, h), TOOL_OK);
  assert_int_equal(h[2].kind, HOME_PAGEABLE);
  static const char *const wrong[] = {"",       "h,h", "h,h,h,h", "h,h,", "x,h,h",
                                      "h,-1,h", "hhh", "h1,h,h",  "hi",   "m"};
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
      cmocka_unit_test(test_forms),   cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_bare),    cmocka_unit_test(test_lines),
      cmocka_unit_test(test_given),   cmocka_unit_test(test_refused),
      cmocka_unit_test(test_nearest), cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_lists),   cmocka_unit_test(test_homes),
      cmocka_unit_test(test_scalars),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
