/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tools/common/npy.c: files made byte by byte, good and odd. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "elements.h"
#include "npy.h"

static char directory[] = "/tmp/tessera-npy-XXXXXX";
static char path[128];

/* Writes a file of that version with that header, padded to 128 bytes, and bytes of data. */
static void write_file(int version, const char *header, size_t data) {
  unsigned char start[128];
  int prefix = version == 1 ? 10 : 12, length = 128 - prefix;
  memset(start, ' ', sizeof start);
  memcpy(start, "\x93NUMPY", 6);
  start[6] = (unsigned char)version;
  start[7] = 0;
  start[8] = (unsigned char)length;
  start[9] = 0;
  if (version > 1) start[10] = start[11] = 0;
  memcpy(start + prefix, header, strlen(header));
  start[127] = '\n';
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fwrite(start, 1, sizeof start, file);
  for (size_t i = 0; i < data; i++) fputc((int)(i & 0xff), file);
  fclose(file);
}

static void accepts(int version, const char *header, size_t data, tsr_type type, bool fortran,
                    int64_t rows, int64_t cols) {
  npy file;
  file_reason reason = {""};
  write_file(version, header, data);
  if (!npy_open(path, &file, &reason)) fail_msg("refused: %s", reason.text);
  assert_int_equal(file.type, type);
  assert_int_equal(file.fortran, fortran);
  assert_int_equal(file.rows, rows);
  assert_int_equal(file.cols, cols);
  if (data > 1) assert_int_equal(((unsigned char *)file.data)[1], 1);
  npy_close(&file);
}

static void refuses(int version, const char *header, size_t data, const char *because) {
  npy file;
  file_reason reason = {""};
  write_file(version, header, data);
  assert_false(npy_open(path, &file, &reason));
  if (!strstr(reason.text, because)) fail_msg("'%s' has no '%s'", reason.text, because);
  assert_non_null(strstr(reason.text, path));
}

static void test_types(void **state) {
  (void)state;
  accepts(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", 48, TSR_D, false, 2, 3);
  accepts(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 24, TSR_S, true, 2, 3);
  accepts(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (2, 3), }", 48, TSR_C, false, 2, 3);
  accepts(2, "{'descr': '<c16', 'fortran_order': False, 'shape': (1, 1), }", 16, TSR_Z, false, 1,
          1);
  accepts(3, "{'descr': '<f2', 'fortran_order': False, 'shape': (4, 1), }", 8, TSR_H, false, 4, 1);
  accepts(1, "{'descr': '<V2', 'fortran_order': False, 'shape': (4, 1), }", 8, TSR_B, false, 4, 1);
  accepts(1, "{'descr': '|V2', 'fortran_order': False, 'shape': (4, 1), }", 8, TSR_B, false, 4, 1);
  accepts(1, "{'descr': 'bfloat16', 'fortran_order': False, 'shape': (4, 1), }", 8, TSR_B, false, 4,
          1);
}

/* Every word that numpy.dtype takes for the types that there are, as NumPy reads them. */
static void test_words_of_types(void **state) {
  (void)state;
  static const struct {
    tsr_type type;
    size_t bytes;
    const char *codes[3], *names[8];
  } rows[] = {
      {TSR_H, 2, {"f2", "e"}, {"half", "float16"}},
      {TSR_S, 4, {"f4", "f"}, {"single", "float32"}},
      {TSR_D, 8, {"f8", "d"}, {"double", "float64", "float", "float_"}},
      {TSR_C, 8, {"c8", "F"}, {"csingle", "complex64", "singlecomplex"}},
      {TSR_Z, 16, {"c16", "D"}, {"cdouble", "complex128", "complex", "cfloat", "complex_"}},
      {TSR_B, 2, {"V2"}, {"bfloat16"}},
  };
  static const char *const orders[] = {"", "<", "=", "|"};
  const char *const format = "{'descr': '%s%s', 'fortran_order': False, 'shape': (3, 1), }";
  char header[120];
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    for (int w = 0; rows[r].codes[w]; w++) {
      for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        snprintf(header, sizeof header, format, orders[o], rows[r].codes[w]);
        accepts(1, header, 3 * rows[r].bytes, rows[r].type, false, 3, 1);
      }
      snprintf(header, sizeof header, format, ">", rows[r].codes[w]);
      refuses(1, header, 3 * rows[r].bytes, "newbyteorder('<')");
    }
    for (int w = 0; rows[r].names[w]; w++) {
      snprintf(header, sizeof header, format, "", rows[r].names[w]);
      accepts(1, header, 3 * rows[r].bytes, rows[r].type, false, 3, 1);
      snprintf(header, sizeof header, format, "<", rows[r].names[w]); /* nor does NumPy */
      refuses(1, header, 3 * rows[r].bytes, rows[r].names[w]);
    }
  }
  accepts(1, "{u'descr': u'<f8', u'fortran_order': False, u'shape': (2L, 3L), }", 48, TSR_D, false,
          2, 3);
  refuses(1, "{'descr': '', 'fortran_order': False, 'shape': (2, 3), }", 48, "elements of type ''");
  refuses(1, "{'descr': '<', 'fortran_order': False, 'shape': (2, 3), }", 48,
          "elements of type '<'");
}

static void test_spacing(void **state) {
  (void)state;
  accepts(1, "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f8\"}", 48, TSR_D, false, 2, 3);
  accepts(1, "  { 'shape' : ( 2 , 3 , ) , 'descr' :'<f8','fortran_order' :False }", 48, TSR_D,
          false, 2, 3);
  accepts(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L), }", 48, TSR_D, false, 2,
          3);
}

static void test_empty(void **state) {
  (void)state;
  accepts(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", 0, TSR_D, false, 0, 3);
  accepts(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 0), }", 0, TSR_D, true, 3, 0);
}

static void test_lengths(void **state) {
  (void)state;
  const char *header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
  refuses(1, header, 47, "truncated");
  refuses(1, header, 0, "truncated");
  refuses(1, header, 49, "1 bytes after");
  refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 8,
          "too large for any file");
  refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 1), }", 8,
          "cannot be read");
}

static void test_odd_headers(void **state) {
  (void)state;
  refuses(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3), }", 48, "big-endian");
  refuses(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }", 48, "'<i8'");
  refuses(1, "{'descr': '', 'fortran_order': False, 'shape': (2, 3), }", 48, "type");
  refuses(1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2, 3), }", 48, "records");
  refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", 48, "one dimension");
  refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3), }", 48, "3 dimensions");
  refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 8, "0 dimensions");
  refuses(1, "{'descr': '<f8', 'shape': (2, 3), }", 48, "cannot be read");
  refuses(1, "{'descr': '<f8', 'fortran_order': 1, 'shape': (2, 3), }", 48, "cannot be read");
  refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (-2, 3), }", 48, "cannot be read");
  refuses(1, "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", 48,
          "cannot be read");
  refuses(1, "not a dictionary", 48, "cannot be read");
  refuses(4, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", 48, "version 4.0");
}

/* Every beginning of a good file is refused, and none is read beyond its end. */
static void test_beginnings(void **state) {
  (void)state;
  npy file;
  file_reason reason;
  for (long length = 0; length < 176; length++) {
    write_file(2, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", 48);
    assert_int_equal(truncate(path, length), 0);
    assert_false(npy_open(path, &file, &reason));
  }
}

static void test_not_files(void **state) {
  (void)state;
  npy file;
  file_reason reason;
  assert_false(npy_open("/nowhere/at/all.npy", &file, &reason));
  assert_non_null(strstr(reason.text, "No such file"));
  assert_false(npy_open(directory, &file, &reason));
  FILE *text = fopen(path, "w");
  fputs("hello, this is no matrix\n", text);
  fclose(text);
  assert_false(npy_open(path, &file, &reason));
  assert_non_null(strstr(reason.text, "has no array of NumPy"));
}

static void round_trip(tsr_type type, bool fortran, int64_t rows, int64_t cols) {
  npy file, again;
  file_reason reason;
  size_t bytes = (size_t)(rows * cols) * element_size(type);
  unlink(path);
  assert_true(npy_create(path, false, type, fortran, rows, cols, &file, &reason));
  assert_int_equal(access(path, F_OK), -1); /* not before it is complete */
  memset(file.data, 0x5a, bytes);
  assert_true(npy_commit(&file, &reason));
  npy_close(&file);
  assert_true(npy_open(path, &again, &reason));
  assert_int_equal(again.type, type == TSR_T ? TSR_S : type);
  assert_int_equal(again.fortran, fortran);
  assert_int_equal(again.rows, rows);
  assert_int_equal(again.cols, cols);
  assert_int_equal((uintptr_t)again.data % 64, 0);
  if (bytes) assert_int_equal(((unsigned char *)again.data)[bytes - 1], 0x5a);
  npy_close(&again);
}

static void test_round_trips(void **state) {
  (void)state;
  static const char types[] = "sdczhbt";
  for (const char *t = types; *t; t++) {
    round_trip((tsr_type)*t, false, 5, 7);
    round_trip((tsr_type)*t, true, 1, 9);
    round_trip((tsr_type)*t, false, 0, 9);
  }
}

/* An array of one dimension is a column only where that is asked for, and keeps its dimension. */
static void test_vectors(void **state) {
  (void)state;
  npy file;
  file_reason reason;
  unlink(path);
  assert_true(npy_create_vector(path, false, TSR_Z, 5, &file, &reason));
  assert_true(file.vector);
  assert_true(npy_commit(&file, &reason));
  npy_close(&file);
  assert_false(npy_open(path, &file, &reason));
  assert_true(npy_open_columns(path, &file, &reason));
  assert_true(file.vector);
  assert_int_equal(file.rows, 5);
  assert_int_equal(file.cols, 1);
  npy_close(&file);
}

static void test_abandoned(void **state) {
  (void)state;
  npy file;
  file_reason reason;
  unlink(path);
  assert_true(npy_create(path, true, TSR_D, false, 3, 3, &file, &reason));
  assert_int_equal(access(path, F_OK), -1); /* it has no name, or a temporary one */
  npy_close(&file);
  assert_int_equal(rmdir(directory), 0); /* nothing is left in it */
  assert_int_equal(access(path, F_OK), -1);
  assert_false(npy_create(path, true, TSR_D, false, 3, 3, &file, &reason));
  assert_non_null(strstr(reason.text, "No such file"));
  assert_non_null(mkdtemp(strcpy(directory, "/tmp/tessera-npy-XXXXXX")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_types),       cmocka_unit_test(test_words_of_types),
      cmocka_unit_test(test_spacing),     cmocka_unit_test(test_empty),
      cmocka_unit_test(test_lengths),     cmocka_unit_test(test_odd_headers),
      cmocka_unit_test(test_beginnings),  cmocka_unit_test(test_not_files),
      cmocka_unit_test(test_round_trips), cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_abandoned),
  };
  if (!mkdtemp(directory)) return 1;
  snprintf(path, sizeof path, "%s/a.npy", directory);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(path);
  rmdir(directory);
  return failed;
}
