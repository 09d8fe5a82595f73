/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char MAGIC[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

enum { PREFIX_1 = 10, PREFIX_2 = 12, HEADER_BYTES = 128, MOST_DIMENSIONS = 32 };

/* ---- The header: a Python dictionary with three keys ---- */

typedef struct cursor {
  const char *at, *end;
} cursor;

typedef struct header {
  char descr[64];
  bool fortran, has_descr, has_order, has_shape;
  bool structured; /* descr is a list of fields */
  int dimensions;
  int64_t shape[MOST_DIMENSIONS];
} header;

static void skip_space(cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r')) {
    c->at++;
  }
}

static bool accept(cursor *c, char wanted) {
  skip_space(c);
  if (c->at == c->end || *c->at != wanted) return false;
  c->at++;
  return true;
}

static bool accept_word(cursor *c, const char *word) {
  skip_space(c);
  size_t length = strlen(word);
  if ((size_t)(c->end - c->at) < length || strncmp(c->at, word, length) != 0) return false;
  c->at += length;
  return true;
}

static bool parse_quoted(cursor *c, char *text, size_t room) {
  accept(c, 'u'); /* Python 2 wrote texts as u'...' */
  skip_space(c);
  if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return false;
  char quote = *c->at++;
  size_t length = 0;
  while (c->at < c->end && *c->at != quote) {
    if (length + 1 == room) return false;
    text[length++] = *c->at++;
  }
  text[length] = '\0';
  return accept(c, quote);
}

static bool parse_extent(cursor *c, int64_t *value) {
  skip_space(c);
  if (c->at == c->end || *c->at < '0' || *c->at > '9') return false;
  int64_t number = 0;
  while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
    int digit = *c->at++ - '0';
    if (number > (INT64_MAX - digit) / 10) return false;
    number = 10 * number + digit;
  }
  accept(c, 'L'); /* Python 2 wrote long integers as 12L */
  *value = number;
  return true;
}

static bool parse_shape(cursor *c, header *h) {
  if (!accept(c, '(')) return false;
  while (!accept(c, ')')) {
    if (h->dimensions == MOST_DIMENSIONS) return false;
    if (!parse_extent(c, &h->shape[h->dimensions++])) return false;
    if (!accept(c, ',') && !(c->at < c->end && *c->at == ')')) return false;
  }
  return true;
}

static bool parse_descr(cursor *c, header *h) {
  skip_space(c);
  if (c->at < c->end && *c->at == '[') {
    h->structured = true; /* the caller refuses it, so the rest need not be parsed */
    return true;
  }
  return parse_quoted(c, h->descr, sizeof h->descr);
}

static bool parse_item(cursor *c, header *h) {
  char key[32];
  if (!parse_quoted(c, key, sizeof key) || !accept(c, ':')) return false;
  if (strcmp(key, "descr") == 0 && !h->has_descr) {
    h->has_descr = true;
    return parse_descr(c, h);
  }
  if (strcmp(key, "fortran_order") == 0 && !h->has_order) {
    h->has_order = true;
    h->fortran = accept_word(c, "True");
    return h->fortran || accept_word(c, "False");
  }
  if (strcmp(key, "shape") == 0 && !h->has_shape) {
    h->has_shape = true;
    return parse_shape(c, h);
  }
  return false;
}

static bool parse_header(cursor *c, header *h) {
  if (!accept(c, '{')) return false;
  while (!accept(c, '}')) {
    if (!parse_item(c, h)) return false;
    if (h->structured) return true;
    if (!accept(c, ',') && !(c->at < c->end && *c->at == '}')) return false;
  }
  skip_space(c);
  return c->at == c->end && h->has_descr && h->has_order && h->has_shape;
}

/* ---- Type, shape and length from the header ---- */

/* A type's code, behind a byte order or alone, and its names, which stand alone: as numpy.dtype
 * takes them. The last names are those of NumPy 1. */
typedef struct type_word {
  const char *word;
  tsr_type type;
} type_word;

static const type_word codes[] = {{"f2", TSR_H},
                                  {"e", TSR_H},
                                  {"f4", TSR_S},
                                  {"f", TSR_S},
                                  {"f8", TSR_D},
                                  {"d", TSR_D},
                                  {"c8", TSR_C},
                                  {"F", TSR_C},
                                  {"c16", TSR_Z},
                                  {"D", TSR_Z},
                                  {"V2", TSR_B} /* how NumPy saves bfloat16 */,
                                  {NULL, TSR_D}};

static const type_word names[] = {
    {"float16", TSR_H},  {"half", TSR_H},       {"float32", TSR_S},       {"single", TSR_S},
    {"float64", TSR_D},  {"double", TSR_D},     {"float", TSR_D},         {"complex64", TSR_C},
    {"csingle", TSR_C},  {"complex128", TSR_Z}, {"cdouble", TSR_Z},       {"complex", TSR_Z},
    {"bfloat16", TSR_B}, {"float_", TSR_D},     {"singlecomplex", TSR_C}, {"cfloat", TSR_Z},
    {"complex_", TSR_Z}, {NULL, TSR_D}};

static bool find_type(const type_word *among, const char *word, tsr_type *type) {
  while (among->word && strcmp(among->word, word) != 0) among++;
  if (among->word) *type = among->type;
  return among->word != NULL;
}

static bool type_of_descr(const char *descr, tsr_type *type) {
  bool ordered = descr[0] && strchr("<=|", descr[0]);
  return find_type(codes, descr + ordered, type) || (!ordered && find_type(names, descr, type));
}

static bool accept_type(const char *path, const header *h, npy *file, file_reason *reason) {
  if (h->structured) return file_refuse(reason, path, "contains records, not numbers of one type");
  if (h->descr[0] == '>') {
    return file_refuse(
        reason, path,
        "contains big-endian numbers (%s); convert it with a.astype(a.dtype.newbyteorder('<'))",
        h->descr);
  }
  if (type_of_descr(h->descr, &file->type)) return true;
  return file_refuse(
      reason, path,
      "contains elements of type '%s'; f2, f4, f8, c8, c16 and bfloat16 can be multiplied "
      "(convert it with a.astype('f8'))",
      h->descr);
}

/* columns: one dimension is a column. */
static bool accept_shape(const char *path, const header *h, bool columns, npy *file,
                         file_reason *reason) {
  file->vector = columns && h->dimensions == 1;
  if (h->dimensions == 1 && !columns) {
    return file_refuse(reason, path,
                       "has one dimension, but a matrix has two; save a[:, None] for a column or "
                       "a[None, :] for a row");
  }
  if (h->dimensions != 2 && !file->vector) {
    return file_refuse(reason, path, "has %d dimensions, but a matrix has two", h->dimensions);
  }
  file->rows = h->shape[0];
  file->cols = file->vector ? 1 : h->shape[1];
  file->fortran = h->fortran;
  return true;
}

/* *bytes: of rows x cols elements; false: no file can be that large. */
static bool matrix_bytes(const npy *file, size_t *bytes) {
  int64_t size = (int64_t)element_size(file->type);
  if (file->rows && file->cols > INT64_MAX / 4 / size / file->rows) return false;
  *bytes = (size_t)(file->rows * file->cols * size);
  return true;
}

static bool accept_length(const char *path, size_t offset, npy *file, file_reason *reason) {
  size_t bytes;
  if (!matrix_bytes(file, &bytes)) {
    return file_refuse(reason, path,
                       "has a header with extents %lld x %lld, too large for any file",
                       (long long)file->rows, (long long)file->cols);
  }
  size_t wanted = offset + bytes;
  if (file->mapped < wanted) {
    return file_refuse(reason, path,
                       "is truncated: %lld x %lld elements need %zu bytes, but it has %zu",
                       (long long)file->rows, (long long)file->cols, wanted, file->mapped);
  }
  if (file->mapped > wanted) {
    return file_refuse(reason, path, "has %zu bytes after the end of its array; save it again",
                       file->mapped - wanted);
  }
  return true;
}

/* Finds the header's text in the mapped bytes. */
static bool locate_header(const char *path, const npy *file, size_t *begin, size_t *length,
                          file_reason *reason) {
  const unsigned char *bytes = file->mapping;
  if (file->mapped < PREFIX_1 || memcmp(bytes, MAGIC, sizeof MAGIC) != 0) {
    bool zip = file->mapped >= 4 && memcmp(bytes, "PK\3\4", 4) == 0; /* numpy.savez writes these */
    return file_refuse(reason, path,
                       zip ? "is an archive of arrays (.npz); save one with numpy.save"
                           : "has no array of NumPy's; numpy.save writes such files");
  }
  int major = bytes[6], minor = bytes[7];
  if (major < 1 || major > 3 || minor != 0) {
    return file_refuse(reason, path,
                       "has version %d.%d of the .npy format; 1.0, 2.0 and 3.0 are supported",
                       major, minor);
  }
  *begin = major == 1 ? PREFIX_1 : PREFIX_2;
  if (file->mapped < *begin) return file_refuse(reason, path, "is truncated inside its header");
  *length = bytes[8] | (size_t)bytes[9] << 8;
  if (major > 1) *length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
  if (file->mapped - *begin < *length) {
    return file_refuse(reason, path, "is truncated inside its header");
  }
  return true;
}

static bool interpret(const char *path, bool columns, npy *file, file_reason *reason) {
  size_t begin = 0, length = 0;
  if (!locate_header(path, file, &begin, &length, reason)) return false;
  const char *text = (const char *)file->mapping + begin;
  cursor c = {text, text + length};
  header h = {0};
  if (!parse_header(&c, &h)) {
    return file_refuse(reason, path, "has a header that cannot be read: %.*s",
                       length < 120 ? (int)length : 120, text);
  }
  size_t offset = begin + length;
  if (!accept_type(path, &h, file, reason)) return false;
  if (!accept_shape(path, &h, columns, file, reason)) return false;
  if (!accept_length(path, offset, file, reason)) return false;
  file->data = (char *)file->mapping + offset;
  file->aligned = (uintptr_t)file->data % element_size(file->type) == 0;
  return true;
}

/* ---- Opening ---- */

static bool map_existing(const char *path, int descriptor, npy *file, file_reason *reason) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return file_refuse(reason, path, "%s", strerror(errno));
  if (!S_ISREG(status.st_mode))
    return file_refuse(reason, path, "is not a file that can be mapped");
  if (status.st_size == 0) return file_refuse(reason, path, "is empty");
  file->mapped = (size_t)status.st_size;
  file->mapping = mmap(NULL, file->mapped, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (file->mapping == MAP_FAILED) {
    file->mapping = NULL;
    return file_refuse(reason, path, "cannot be mapped: %s", strerror(errno));
  }
  return true;
}

static bool open_array(const char *path, bool columns, npy *file, file_reason *reason) {
  *file = (npy){0};
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe does not block it */
  if (descriptor < 0) return file_refuse(reason, path, "%s", strerror(errno));
  file->descriptor = descriptor;
  bool good =
      map_existing(path, descriptor, file, reason) && interpret(path, columns, file, reason);
  if (good) file->path = strdup(path);
  if (good && !file->path) good = file_refuse(reason, path, "out of memory");
  if (!good) npy_close(file);
  return good;
}

bool npy_open(const char *path, npy *file, file_reason *reason) {
  return open_array(path, false, file, reason);
}

bool npy_open_columns(const char *path, npy *file, file_reason *reason) {
  return open_array(path, true, file, reason);
}

/* ---- Creating ---- */

static const char *descr_of_type(tsr_type type) {
  switch (type) {
    case TSR_D:
      return "<f8";
    case TSR_C:
      return "<c8";
    case TSR_Z:
      return "<c16";
    case TSR_H:
      return "<f2";
    case TSR_B:
      return "<V2";
    default:
      return "<f4";
  }
}

static void write_header(npy *file) {
  char *bytes = file->mapping;
  memset(bytes, ' ', HEADER_BYTES);
  memcpy(bytes, MAGIC, sizeof MAGIC);
  bytes[6] = 1;
  bytes[7] = 0;
  bytes[8] = HEADER_BYTES - PREFIX_1;
  bytes[9] = 0;
  char cols[32] = "";
  if (!file->vector) snprintf(cols, sizeof cols, " %lld", (long long)file->cols);
  int length = snprintf(bytes + PREFIX_1, HEADER_BYTES - PREFIX_1,
                        "{'descr': '%s', 'fortran_order': %s, 'shape': (%lld,%s), }",
                        descr_of_type(file->type), file->fortran ? "True" : "False",
                        (long long)file->rows, cols);
  bytes[PREFIX_1 + length] = ' '; /* where snprintf put its NUL */
  bytes[HEADER_BYTES - 1] = '\n';
}

/* Allocates the file's blocks and maps it. If the disk is full, that is an error here and not a bus
 * error in the middle of the work. */
static bool map_new(const char *path, npy *file, file_reason *reason) {
  int error = posix_fallocate(file->descriptor, 0, (off_t)file->mapped);
  if (error) {
    return file_refuse(reason, path, "cannot take %zu bytes: %s", file->mapped, strerror(error));
  }
  file->mapping = mmap(NULL, file->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor, 0);
  if (file->mapping == MAP_FAILED) {
    file->mapping = NULL;
    return file_refuse(reason, path, "cannot be mapped: %s", strerror(errno));
  }
  return true;
}

/* Creates the file of an array whose type and extents file has. */
static bool create_array(const char *path, bool force, npy *file, file_reason *reason) {
  size_t bytes;
  if (!matrix_bytes(file, &bytes)) return file_refuse(reason, path, "is too large for a file");
  file->mapped = HEADER_BYTES + bytes;
  if (!output_begin(path, force, &file->output, reason)) return false;
  file->descriptor = file->output.descriptor;
  if (!map_new(path, file, reason)) {
    npy_close(file);
    return false;
  }
  write_header(file);
  file->data = (char *)file->mapping + HEADER_BYTES;
  file->aligned = true;
  return true;
}

bool npy_create(const char *path, bool force, tsr_type type, bool fortran, int64_t rows,
                int64_t cols, npy *file, file_reason *reason) {
  *file =
      (npy){.type = type == TSR_T ? TSR_S : type, .fortran = fortran, .rows = rows, .cols = cols};
  return create_array(path, force, file, reason);
}

bool npy_create_vector(const char *path, bool force, tsr_type type, int64_t length, npy *file,
                       file_reason *reason) {
  *file = (npy){.type = type, .rows = length, .cols = 1, .vector = true};
  return create_array(path, force, file, reason);
}

bool npy_commit(npy *file, file_reason *reason) {
  return output_commit(&file->output, reason);
}

matrix_view npy_view(const npy *file) {
  return matrix_of(file->type, file->data, file->fortran, file->rows, file->cols);
}

void npy_close(npy *file) {
  if (file->mapping) munmap(file->mapping, file->mapped);
  if (file->descriptor > 0 && !file->output.place) close(file->descriptor);
  output_end(&file->output);
  free(file->path);
  *file = (npy){0};
}
