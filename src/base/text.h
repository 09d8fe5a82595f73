/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A growing string. Appending never fails: after a failed allocation the text is marked broken, and
 * tsr_text_take() reports that.
 */
#ifndef TSR_BASE_TEXT_H
#define TSR_BASE_TEXT_H

#include "base/status.h"

typedef struct tsr_text {
  char *bytes;
  size_t length, room;
  int broken;
} tsr_text;

#define TSR_TEXT_INIT \
  { NULL, 0, 0, 0 }

void tsr_text_add(tsr_text *text, const char *format, ...) TSR_PRINTF(2, 3);

/* Appends s as the inside of a JSON or XML string, escaped. */
void tsr_text_add_json(tsr_text *text, const char *s);
void tsr_text_add_xml(tsr_text *text, const char *s);

/* Appends `said` in lines of at most 80 characters, broken at blanks, each ended. The lines begin
 * at column `indent`, the first one behind the label. */
void tsr_text_add_lines(tsr_text *text, const char *label, int indent, const char *said);

/* Hands the bytes (never NULL on TSR_OK) to the caller, who frees them; empties text. */
tsr_status tsr_text_take(tsr_text *text, char **bytes);

void tsr_text_free(tsr_text *text);

/* Reads a whole file into *bytes, which the caller frees, and puts a NUL after it. The library
 * reads all its files by this function. TSR_ERR_IO names the path: the file cannot be read, is not
 * a regular file (reading a pipe may wait, a device may have no end), or has more than 64 MiB. */
tsr_status tsr_text_read_file(const char *path, char **bytes, size_t *length);

/* Writes a whole file: a temporary file beside it is written and renamed, so that the path has the
 * old or the new content, never half of it. A pipe or a device is written to directly. */
tsr_status tsr_text_write_file(const char *path, const char *bytes, size_t length);

#endif
