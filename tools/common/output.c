/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "output_file.h"

/* ---- Checks before work begins ---- */

static int fail(const output *o, const char *format, ...) TOOL_PRINTF(2, 3);

static int fail(const output *o, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return tool_fail("%s %s: %s", o->option, o->path, text);
}

/* Whether a file can be made in the folder of the place. */
static int check_folder(const output *o, const char *place) {
  char folder[PATH_MAX];
  struct statvfs disk;
  output_folder(place, folder);
  if (access(folder, W_OK | X_OK) != 0)
    return fail(o, "the folder %s cannot be written: %s", folder, strerror(errno));
  if (statvfs(folder, &disk) == 0 && disk.f_blocks > 0 && disk.f_bavail == 0)
    return fail(o, "the disk is full");
  return TOOL_OK;
}

static int check_existing(const output *o, const char *place, bool force) {
  if (o->kind != OUTPUT_LINES && !force) return fail(o, "the file exists; --force replaces it");
  if (access(place, W_OK) == 0) return TOOL_OK;
  return fail(o, "the file cannot be written: %s", strerror(errno));
}

static int check_inputs(const output *o, const struct stat *status, const char *const *inputs) {
  struct stat input;
  for (; inputs && *inputs; inputs++) {
    if (stat(*inputs, &input) != 0 || !S_ISREG(input.st_mode)) continue;
    if (input.st_dev == status->st_dev && input.st_ino == status->st_ino)
      return fail(o, "this is the input %s, which would be lost; name another file", *inputs);
  }
  return TOOL_OK;
}

/* The error, with its remedy, for a path that cannot be found. */
static int fail_to_find(const output *o) {
  int error = errno;
  char folder[PATH_MAX];
  output_folder(o->path, folder);
  if (error == ENOENT) return fail(o, "there is no folder %s; make it, or name another", folder);
  return fail(o, "the folder %s cannot be used: %s", folder, strerror(error));
}

static int check_one(const output *o, const char *const *inputs, bool force, char place[PATH_MAX]) {
  struct stat status;
  bool exists;
  if (!*o->path) return tool_usage("%s '': the name of a file is needed", o->option);
  if (!output_find_place(o->path, place)) return fail_to_find(o);
  bool file = output_is_for_file(place, &status, &exists);
  if (exists && S_ISDIR(status.st_mode)) return fail(o, "this is a directory; name a file");
  if (o->path[strlen(o->path) - 1] == '/') return fail(o, "this names a folder; name a file");
  if (!file && o->kind == OUTPUT_MAPPED)
    return fail(o, "this is no ordinary file, so the result cannot be mapped; name a file");
  if (!file) return TOOL_OK;
  int code = exists ? check_inputs(o, &status, inputs) : TOOL_OK;
  if (!code && exists) code = check_existing(o, place, force);
  return !code && (!exists || o->kind != OUTPUT_LINES) ? check_folder(o, place) : code;
}

int output_check(const output *outputs, int count, const char *const *inputs, bool force) {
  enum { MOST = 8 };
  char(*places)[PATH_MAX] = calloc(MOST, PATH_MAX);
  struct stat ignored;
  bool exists;
  int code = places && count <= MOST ? TOOL_OK : tool_fail("out of memory");
  for (int i = 0; i < count && !code; i++) {
    if (!outputs[i].path) continue;
    code = check_one(&outputs[i], inputs, force, places[i]);
    for (int j = 0; j < i && !code; j++)
      if (strcmp(places[i], places[j]) == 0 && output_is_for_file(places[i], &ignored, &exists))
        code = fail(&outputs[i], "this is the file of %s, too; name another", outputs[j].option);
  }
  free(places);
  return code;
}

/* ---- Text ---- */

static bool write_all(int descriptor, const char *text) {
  size_t left = strlen(text);
  while (left > 0) {
    ssize_t written = write(descriptor, text, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text += written;
    left -= (size_t)written;
  }
  return true;
}

/* Writes to a pipe, to a device, or to an open descriptor behind what is printed there already. */
static int write_through(const output *o, const char *place, const char *text) {
  int descriptor = output_descriptor(place);
  fflush(stdout);
  int own = descriptor < 0 ? open(place, O_WRONLY | O_CLOEXEC | O_NOCTTY) : -1;
  bool good = (descriptor >= 0 || own >= 0) && write_all(own >= 0 ? own : descriptor, text);
  int error = errno;
  if (own >= 0) close(own);
  return good ? TOOL_OK : fail(o, "cannot be written: %s", strerror(error));
}

int output_write(const output *o, const char *text, bool force) {
  char place[PATH_MAX];
  struct stat status;
  bool exists;
  output_file file = {0};
  file_reason reason = {""};
  if (!output_find_place(o->path, place)) return fail_to_find(o);
  if (!output_is_for_file(place, &status, &exists)) return write_through(o, place, text);
  bool good = output_begin(o->path, force, &file, &reason);
  if (good && !write_all(file.descriptor, text))
    good = file_refuse(&reason, o->path, "cannot be written: %s", strerror(errno));
  good = good && output_commit(&file, &reason);
  output_end(&file);
  return good ? TOOL_OK : tool_fail("%s %s", o->option, reason.text);
}

/* ---- Lines ---- */

/* Whether the stream, at its beginning, has the head as its first line or is empty. */
static bool has_head(FILE *stream, const char *head) {
  int c = fgetc(stream);
  if (c == EOF) return true;
  for (; *head && c == (unsigned char)*head; head++) c = fgetc(stream);
  return !*head && (c == '\n' || c == '\r');
}

int output_lines_check(const output *o, const char *head) {
  struct stat status;
  if (!o->path || stat(o->path, &status) != 0 || !S_ISREG(status.st_mode) ||
      output_descriptor(o->path) >= 0)
    return TOOL_OK;
  FILE *stream = fopen(o->path, "r");
  if (!stream) return fail(o, "cannot be read: %s", strerror(errno));
  bool good = has_head(stream, head);
  fclose(stream);
  return good ? TOOL_OK
              : fail(o, "the file has other columns than this command writes; name another");
}

/* Whether the file's last line has its end. */
static bool is_cut(FILE *stream) {
  return fseek(stream, -1, SEEK_END) == 0 && fgetc(stream) != '\n';
}

/* Writes a line to a pipe, to a device or to an open descriptor, the head before the first one. */
static int add_through(const output *o, const char *place, const char *head, const char *line) {
  static bool headed; /* a command has one such output */
  size_t room = strlen(head) + strlen(line) + 3;
  char *both = malloc(room);
  if (!both) return tool_fail("out of memory");
  snprintf(both, room, "%s%s%s\n", headed ? "" : head, headed ? "" : "\n", line);
  headed = true;
  int code = write_through(o, place, both);
  free(both);
  return code;
}

static int add_to_file(const output *o, const char *head, const char *line) {
  FILE *stream = fopen(o->path, "a+");
  if (!stream) return fail(o, "cannot be written: %s", strerror(errno));
  bool cut = is_cut(stream); /* an earlier run may have ended in the middle of a line */
  fseek(stream, 0, SEEK_END);
  if (ftell(stream) == 0) fprintf(stream, "%s\n", head);
  fprintf(stream, "%s%s\n", cut ? "\n" : "", line);
  bool good = !ferror(stream);
  return fclose(stream) == 0 && good ? TOOL_OK : fail(o, "cannot be written: %s", strerror(errno));
}

int output_lines_add(const output *o, const char *head, const char *line) {
  char place[PATH_MAX];
  struct stat status;
  bool exists;
  if (!output_find_place(o->path, place)) return fail_to_find(o);
  bool file = output_is_for_file(place, &status, &exists);
  return file ? add_to_file(o, head, line) : add_through(o, place, head, line);
}
