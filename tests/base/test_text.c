/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/vec.h"
#include "tessera_model.h"

static void text_grows(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_INIT;
  char *bytes = NULL;
  for (int i = 0; i < 1000; i++) tsr_text_add(&text, "%03d ", i);
  tsr_text_add(&text, "%0500d", 7); /* longer than the small buffer */
  assert_int_equal(text.length, 4500);
  assert_int_equal(tsr_text_take(&text, &bytes), TSR_OK);
  assert_memory_equal(bytes, "000 001 ", 8);
  assert_memory_equal(bytes + 3996, "999 0000", 8);
  assert_int_equal(strlen(bytes), 4500);
  assert_null(text.bytes);
  free(bytes);
}

static void empty_text_is_a_string(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_INIT;
  char *bytes = NULL;
  assert_int_equal(tsr_text_take(&text, &bytes), TSR_OK);
  assert_string_equal(bytes, "");
  free(bytes);
}

static void escapes(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_INIT;
  tsr_text_add_json(&text, "a\"b\\c\nd\x01");
  assert_string_equal(text.bytes, "a\\\"b\\\\c\\nd\\u0001");
  tsr_text_free(&text);
  tsr_text_add_xml(&text, "<a & 'b'>\x02");
  assert_string_equal(text.bytes, "&lt;a &amp; &#39;b&#39;&gt;");
  tsr_text_free(&text);
}

static void broken_text_reports_once(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_INIT;
  char *bytes = NULL;
  tsr_alloc_fail_at(1);
  tsr_text_add(&text, "lost");
  tsr_text_add(&text, "lost as well");
  assert_int_equal(tsr_text_take(&text, &bytes), TSR_ERR_MEMORY);
  assert_null(bytes);
  tsr_text_add(&text, "kept");
  assert_int_equal(tsr_text_take(&text, &bytes), TSR_OK);
  assert_string_equal(bytes, "kept");
  free(bytes);
}

static void numbers(void **state) {
  (void)state;
  const char *bad[] = {"", "x", "-", ".", "inf", "nan", "0x10", "1e999", "+1", " 1"};
  const char *end;
  double value = 7;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(tsr_c_number(bad[i], &end, &value));
    assert_ptr_equal(end, bad[i]);
  }
  assert_true(value == 7);
  assert_true(tsr_c_number("1.5e3x", &end, &value));
  assert_true(value == 1500);
  assert_string_equal(end, "x");
  assert_true(tsr_c_number("-.5", &end, &value) && value == -0.5);
}

/* A locale with a decimal comma must not change numbers that the library reads and writes. */
static void locale_does_not_matter(void **state) {
  (void)state;
  const char *end;
  double value = 0;
  if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) skip();
  tsr_text text = TSR_TEXT_INIT;
  tsr_text_add(&text, "%g", 1.5);
  assert_string_equal(text.bytes, "1.5");
  assert_true(tsr_c_number("2.5", &end, &value) && value == 2.5);
  tsr_text_free(&text);
  setlocale(LC_ALL, "C");
}

/* A pipe without a writer, a device without an end and a file that would fill memory are errors at
 * once. */
static void files_without_end(void **state) {
  (void)state;
  char folder[] = "/tmp/tessera-text-XXXXXX", path[64];
  char *bytes = NULL;
  size_t length = 0;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/file", folder);
  alarm(300);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(tsr_text_read_file(path, &bytes, &length), TSR_ERR_IO);
  assert_non_null(strstr(tsr_message(), "is a pipe"));
  assert_int_equal(unlink(path), 0);
  assert_int_equal(tsr_text_read_file("/dev/zero", &bytes, &length), TSR_ERR_IO);
  assert_non_null(strstr(tsr_message(), "/dev/zero is a device"));
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(ftruncate(fileno(file), ((off_t)64 << 20) + 1), 0);
  fclose(file);
  assert_int_equal(tsr_text_read_file(path, &bytes, &length), TSR_ERR_IO);
  assert_non_null(strstr(tsr_message(), "64 MiB"));
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0);
  assert_null(bytes);
  alarm(0);
}

static void files(void **state) {
  (void)state;
  char folder[] = "/tmp/tessera-text-XXXXXX", path[64];
  char *bytes = NULL;
  size_t length = 0;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/file", folder);
  assert_int_equal(tsr_text_read_file(path, &bytes, &length), TSR_ERR_IO);
  assert_non_null(strstr(tsr_message(), path));
  assert_int_equal(tsr_text_write_file(path, "one", 3), TSR_OK);
  assert_int_equal(tsr_text_write_file(path, "a\0b", 3), TSR_OK);
  assert_int_equal(tsr_text_read_file(path, &bytes, &length), TSR_OK);
  assert_int_equal(length, 3);
  assert_memory_equal(bytes, "a\0b", 4);
  free(bytes);
  assert_int_equal(tsr_text_read_file(folder, &bytes, &length), TSR_ERR_IO);
  assert_non_null(strstr(tsr_message(), "is a directory"));
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0); /* no temporary was left */
  assert_int_equal(tsr_text_write_file(path, "x", 1), TSR_ERR_IO);
  assert_int_equal(tsr_text_write_file("/dev/null", "x", 1), TSR_OK);
}

static void vectors(void **state) {
  (void)state;
  TSR_VEC(int) v = {0};
  for (int i = 0; i < 100; i++) assert_true(TSR_VEC_PUSH(&v, i));
  while (v.count < v.room) assert_true(TSR_VEC_PUSH(&v, -1));
  size_t count = v.count;
  tsr_alloc_fail_at(1);
  assert_false(TSR_VEC_PUSH(&v, 5));
  assert_int_equal(v.count, count);
  assert_int_equal(v.items[99], 99);
  assert_true(TSR_VEC_PUSH(&v, 5));
  assert_false(TSR_VEC_RESERVE(&v, SIZE_MAX / 2));
  TSR_VEC_FREE(&v);
  assert_null(v.items);
  assert_int_equal(v.room, 0);
}

static void messages(void **state) {
  (void)state;
  tsr_error error;
  assert_int_equal(tsr_fail(TSR_ERR_DEVICE, "device %d", 3), TSR_ERR_DEVICE);
  tsr_error_take(TSR_ERR_DEVICE, &error);
  tsr_fail(TSR_ERR_IO, "again: %s", tsr_message()); /* the last message as an argument */
  assert_string_equal(tsr_message(), "again: device 3");
  assert_int_equal(tsr_error_put(&error), TSR_ERR_DEVICE);
  assert_string_equal(tsr_message(), "device 3");
  tsr_fail(TSR_ERR_IO, "%01000d", 0);
  assert_int_equal(strlen(tsr_message()), sizeof error.message - 1);
  for (int s = TSR_OK; s <= TSR_ERR_INTERNAL; s++)
    assert_memory_equal(tsr_status_name((tsr_status)s), "TSR_", 4);
  assert_non_null(tsr_status_name((tsr_status)99));
  assert_string_equal(tsr_version(), "0.2.0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_grows),
      cmocka_unit_test(empty_text_is_a_string),
      cmocka_unit_test(escapes),
      cmocka_unit_test(broken_text_reports_once),
      cmocka_unit_test(numbers),
      cmocka_unit_test(locale_does_not_matter),
      cmocka_unit_test(files),
      cmocka_unit_test(vectors),
      cmocka_unit_test(files_without_end),
      cmocka_unit_test(messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
