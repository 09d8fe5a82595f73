/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/c_locale.h"
#include "base/open.h"

static bool make_room(tsr_text *text, size_t extra) {
  if (text->broken) return false;
  if (text->length + extra + 1 <= text->room) return true;
  size_t room = text->room + text->room / 2 + extra + 64;
  char *moved = tsr_realloc(text->bytes, room);
  if (moved == NULL) {
    text->broken = 1;
    return false;
  }
  text->bytes = moved;
  text->room = room;
  return true;
}

static void add_bytes(tsr_text *text, const char *bytes, size_t length) {
  if (!make_room(text, length)) return;
  memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
  text->bytes[text->length] = '\0';
}

void tsr_text_add(tsr_text *text, const char *format, ...) {
  char small[256];
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = tsr_c_format(small, sizeof small, format, args);
  if (length < 0) {
    text->broken = 1;
  } else if ((size_t)length < sizeof small) {
    add_bytes(text, small, (size_t)length);
  } else if (make_room(text, (size_t)length)) {
    tsr_c_format(text->bytes + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
  va_end(args);
}

static void add_json_char(tsr_text *text, char c) {
  switch (c) {
    case '"':
      add_bytes(text, "\\\"", 2);
      break;
    case '\\':
      add_bytes(text, "\\\\", 2);
      break;
    case '\n':
      add_bytes(text, "\\n", 2);
      break;
    case '\t':
      add_bytes(text, "\\t", 2);
      break;
    default:
      if ((unsigned char)c < 0x20)
        tsr_text_add(text, "\\u%04x", (unsigned)c);
      else
        add_bytes(text, &c, 1);
  }
}

void tsr_text_add_json(tsr_text *text, const char *s) {
  for (; *s != '\0'; s++) add_json_char(text, *s);
}

static void add_xml_char(tsr_text *text, char c) {
  switch (c) {
    case '&':
      add_bytes(text, "&amp;", 5);
      break;
    case '<':
      add_bytes(text, "&lt;", 4);
      break;
    case '>':
      add_bytes(text, "&gt;", 4);
      break;
    case '"':
      add_bytes(text, "&quot;", 6);
      break;
    case '\'':
      add_bytes(text, "&#39;", 5);
      break;
    default:
      /* XML has no way to write the other control characters. */
      if ((unsigned char)c >= 0x20 || c == '\n' || c == '\t') add_bytes(text, &c, 1);
  }
}

void tsr_text_add_xml(tsr_text *text, const char *s) {
  for (; *s != '\0'; s++) add_xml_char(text, *s);
}

void tsr_text_free(tsr_text *text) {
  tsr_dealloc(text->bytes);
  *text = (tsr_text)TSR_TEXT_INIT;
}

enum { LINE_WIDTH = 80 };

/* Characters of the next line: up to the last blank within the width, or the whole first word. */
static size_t line_length(const char *said, size_t width) {
  size_t length = strlen(said), at = width;
  if (length <= width) return length;
  while (at > 0 && said[at] != ' ') at--;
  return at > 0 ? at : strcspn(said, " ");
}

void tsr_text_add_lines(tsr_text *text, const char *label, int indent, const char *said) {
  while (*said != '\0') {
    size_t length = line_length(said, (size_t)(LINE_WIDTH - indent));
    tsr_text_add(text, "%-*s%.*s\n", indent, label, (int)length, said);
    said += length;
    said += strspn(said, " ");
    label = "";
  }
}

tsr_status tsr_text_take(tsr_text *text, char **bytes) {
  add_bytes(text, "", 0);
  if (text->broken) {
    tsr_text_free(text);
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for a text: free some");
  }
  *bytes = text->bytes;
  *text = (tsr_text)TSR_TEXT_INIT;
  return TSR_OK;
}

/* ---- Files ---- */

static tsr_status fail_io(const char *what, const char *path, int error) {
  return tsr_fail(TSR_ERR_IO, "%s cannot be %s: %s", path, what, strerror(error));
}

/* The files that the library uses have some KB. The limit also ends the reading of a file that
 * grows meanwhile. */
static const size_t most_of_file = (size_t)64 << 20, piece = (size_t)16 << 10;

static tsr_status check_regular(int file, const char *path) {
  struct stat what;
  if (fstat(file, &what) != 0) return fail_io("read", path, errno);
  if (S_ISREG(what.st_mode)) return TSR_OK;
  const char *kind = S_ISDIR(what.st_mode)    ? "a directory"
                     : S_ISFIFO(what.st_mode) ? "a pipe"
                                              : "a device";
  return tsr_fail(TSR_ERR_IO, "%s is %s, which may have no end; give a regular file", path, kind);
}

static tsr_status read_all(int file, const char *path, tsr_text *text) {
  while (make_room(text, piece)) {
    ssize_t got = read(file, text->bytes + text->length, piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_io("read", path, errno);
    if (got == 0) return TSR_OK;
    text->length += (size_t)got;
    if (text->length > most_of_file)
      return tsr_fail(
          TSR_ERR_IO,
          "%s has more than %zu MiB; Tessera reads no file of that size; check the path", path,
          most_of_file >> 20);
  }
  return TSR_OK; /* a broken text is reported by tsr_text_take() */
}

/* O_NONBLOCK: opening a pipe would else wait for its other end. */
tsr_status tsr_text_read_file(const char *path, char **bytes, size_t *length) {
  int file = tsr_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  if (file < 0) return fail_io("opened", path, errno);
  tsr_text text = TSR_TEXT_INIT;
  tsr_status status = check_regular(file, path);
  if (status == TSR_OK) status = read_all(file, path, &text);
  close(file);
  size_t count = text.length;
  if (status == TSR_OK) status = tsr_text_take(&text, bytes);
  if (status == TSR_OK) *length = count;
  tsr_text_free(&text);
  return status;
}

static int write_all(int file, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t done = write(file, bytes, length);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    bytes += done;
    length -= (size_t)done;
  }
  return 0;
}

/* Opens, writes and closes the file. Returns 0, or the errno of the step that failed. */
static int write_path(const char *path, int flags, const char *bytes, size_t length) {
  int file = tsr_open(path, O_WRONLY | flags, 0666);
  if (file < 0) return errno;
  int error = write_all(file, bytes, length);
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

/* Writes a temporary file beside the path and renames it to the path. */
static tsr_status write_beside(const char *path, const char *bytes, size_t length) {
  static atomic_uint serial;
  tsr_text beside = TSR_TEXT_INIT;
  char *name = NULL;
  tsr_text_add(&beside, "%s.%ld-%u.tmp", path, (long)getpid(), atomic_fetch_add(&serial, 1));
  TSR_TRY(tsr_text_take(&beside, &name));
  int error = write_path(name, O_CREAT | O_EXCL, bytes, length);
  if (error == 0 && rename(name, path) != 0) error = errno;
  if (error != 0 && error != EEXIST) unlink(name);
  tsr_dealloc(name);
  return error == 0 ? TSR_OK : fail_io("written", path, error);
}

tsr_status tsr_text_write_file(const char *path, const char *bytes, size_t length) {
  struct stat what;
  /* A pipe, a terminal or /dev/null is written to, not replaced. */
  if (stat(path, &what) != 0 || S_ISREG(what.st_mode)) return write_beside(path, bytes, length);
  int error = write_path(path, 0, bytes, length);
  return error == 0 ? TSR_OK : fail_io("written", path, error);
}
