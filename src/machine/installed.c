/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "machine/installed.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/loaded.h"
#include "tessera_model.h"

#define FOLDER "share/tessera/machines/"
#define SUFFIX ".json"

static const char place = 0; /* an address in the library's file */

/* Shortens a directory that ends in a slash to the one above it; false: there is none. */
static bool go_up(char *directory) {
  size_t length = strlen(directory);
  if (length < 2) return false;
  directory[length - 1] = '\0';
  char *slash = strrchr(directory, '/');
  directory[slash != NULL ? slash - directory + 1 : 0] = '\0';
  return true;
}

/* The folder is found from the library's own file, so that an installed tree can be moved: PREFIX
 * is one to three directories above it (PREFIX/lib, PREFIX/lib/x86_64-linux-gnu, ...). A build tree
 * is laid out alike. Links in the directory are followed first: where /lib is a link to /usr/lib,
 * the loader names the library by /lib, and PREFIX is /usr. */
static bool find_folder(char folder[TSR_INSTALLED_PATH]) {
  char named[TSR_INSTALLED_PATH], directory[PATH_MAX + 1];
  if (!tsr_loaded_directory(&place, named, sizeof named) || !realpath(named, directory))
    return false;
  strcat(directory, "/"); /* realpath writes at most PATH_MAX bytes, with the 0 */
  for (int up = 0; up < 3 && go_up(directory); up++) {
    int length = snprintf(folder, TSR_INSTALLED_PATH, "%s" FOLDER, directory);
    if (length > 0 && length < TSR_INSTALLED_PATH && access(folder, R_OK | X_OK) == 0) return true;
  }
  return false;
}

/* ---- Listing ---- */

static void insert(tsr_installed *installed, const char *name, size_t length) {
  if (length == 0 || length >= TSR_INSTALLED_NAME || installed->count == TSR_INSTALLED_MOST) return;
  char entry[TSR_INSTALLED_NAME];
  memcpy(entry, name, length);
  entry[length] = '\0';
  if (!tsr_installed_is_name(entry)) return;
  int at = installed->count++;
  for (; at > 0 && strcmp(entry, installed->name[at - 1]) < 0; at--)
    memcpy(installed->name[at], installed->name[at - 1], TSR_INSTALLED_NAME);
  memcpy(installed->name[at], entry, sizeof entry);
}

void tsr_installed_list(tsr_installed *installed) {
  char folder[TSR_INSTALLED_PATH];
  installed->count = 0;
  DIR *entries = find_folder(folder) ? opendir(folder) : NULL;
  if (entries == NULL) return;
  for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    size_t length = strlen(entry->d_name), tail = sizeof SUFFIX - 1;
    if (length > tail && strcmp(entry->d_name + length - tail, SUFFIX) == 0)
      insert(installed, entry->d_name, length - tail);
  }
  (void)closedir(entries);
}

/* ---- By name ---- */

bool tsr_installed_is_name(const char *text) {
  for (const char *c = text; *c != '\0'; c++) {
    bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
    if (!letter && !(*c >= '0' && *c <= '9') && *c != '-' && *c != '_') return false;
  }
  return text[0] != '\0';
}

bool tsr_installed_find(const char *name, char path[TSR_INSTALLED_PATH]) {
  if (!tsr_installed_is_name(name) || !find_folder(path)) return false;
  size_t length = strlen(path), room = TSR_INSTALLED_PATH - length;
  int more = snprintf(path + length, room, "%s" SUFFIX, name);
  return more > 0 && (size_t)more < room && access(path, F_OK) == 0;
}

/* ---- Misspelt names ---- */

/* The text in small letters, without the number of devices behind it ("H100x3": "h100"). */
static void find_stem(const char *name, char stem[TSR_INSTALLED_NAME]) {
  size_t length = 0;
  for (; name[length] != '\0' && length + 1 < TSR_INSTALLED_NAME; length++) {
    char c = name[length];
    stem[length] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  size_t digits = length;
  while (digits > 0 && stem[digits - 1] >= '0' && stem[digits - 1] <= '9') digits--;
  if (digits > 1 && digits < length && stem[digits - 1] == 'x') length = digits - 1;
  stem[length] = '\0';
}

/* Appends the names that have the stem in them, or else the name that is most like it: "h100x1,
 * h100x2 or h100x4"; "4090" is in rtx4090x1. */
static void add_meant(const tsr_installed *installed, const char *stem, tsr_text *text) {
  const char *names[TSR_INSTALLED_MOST + 1] = {NULL};
  int count = 0;
  for (int i = 0; i < installed->count; i++)
    if (strstr(installed->name[i], stem) != NULL) names[count++] = installed->name[i];
  if (count == 0) {
    for (int i = 0; i < installed->count; i++) names[i] = installed->name[i];
    names[0] = tsr_word_nearest(stem, names);
    count = names[0] != NULL;
  }
  for (int i = 0; i < count; i++)
    tsr_text_add(text, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
}

static void add_all(const tsr_installed *installed, tsr_text *text) {
  for (int i = 0; i < installed->count; i++)
    tsr_text_add(text, "%s%s", i > 0 ? ", " : "", installed->name[i]);
  if (installed->count == 0) tsr_text_add(text, "none");
}

tsr_status tsr_installed_refuse(const char *name) {
  tsr_installed installed;
  char stem[TSR_INSTALLED_NAME];
  tsr_text meant = TSR_TEXT_INIT, all = TSR_TEXT_INIT;
  tsr_installed_list(&installed);
  find_stem(name, stem);
  add_meant(&installed, stem, &meant);
  add_all(&installed, &all);
  tsr_status status;
  if (meant.length > 0 && !meant.broken)
    status = tsr_fail(
        TSR_ERR_MACHINE,
        "the machine \"%.64s\" is no file and is not installed; did you mean %s? (tessera machine "
        "--list has all; a string such as \"gpu*4@nvswitch:300 pcie:25\" describes another)",
        name, meant.bytes);
  else
    status = tsr_fail(
        TSR_ERR_MACHINE,
        "the machine \"%.64s\" is no file and is not installed (installed: %s); give an installed "
        "name, the path of a machine file, or a string such as \"gpu*4@nvswitch:300 pcie:25\"",
        name, all.broken ? "none" : all.bytes);
  tsr_text_free(&meant);
  tsr_text_free(&all);
  return status;
}
