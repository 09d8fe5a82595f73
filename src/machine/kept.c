/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Where measurements of machines are kept: in files of the user's cache. */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/system/cache_folder.h"
#include "base/text.h"
#include "machine/machine.h"

/* What file names begin with, the newest form first. A build reads the forms that it knows and does
 * not see newer ones: since form 2 files may have the fields "about" and "origins", which older
 * builds refuse. */
static const char *const forms[] = {"2.", ""};
enum { FORMS = sizeof forms / sizeof *forms };

/* The first 64 bytes of the identity, letters and digits only, since an identity may have any
 * characters; then a digest, so that no two identities have one name. */
static tsr_status file_name(const char *form, const char *identity, char **name) {
  tsr_text text = TSR_TEXT_INIT;
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  tsr_text_add(&text, "%s", form);
  for (const char *c = identity; *c != '\0'; c++) {
    bool plain = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
    if (c - identity < 64) tsr_text_add(&text, "%c", plain ? *c : '_');
    digest = (digest ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  }
  tsr_text_add(&text, "-%016llx.json", (unsigned long long)digest);
  return tsr_text_take(&text, name);
}

static tsr_status find(const char *form, const char *identity,
                       tsr_status (*find_file)(const char *, char **), char **path) {
  char *name;
  TSR_TRY(file_name(form, identity, &name));
  tsr_status status = find_file(name, path);
  tsr_dealloc(name);
  return status;
}

/* *path is replaced by the file of an older form if that is there; on failure it is freed. */
static tsr_status replace_if_there(const char *form, const char *identity, char **path) {
  char *older = NULL;
  tsr_status status = find(form, identity, tsr_cache_file, &older);
  if (status == TSR_OK && access(older, R_OK) != 0) {
    tsr_dealloc(older);
    return TSR_OK;
  }
  tsr_dealloc(*path);
  *path = older;
  return status;
}

/* The newest form that is there; if none is, the newest. */
tsr_status tsr_machine_cache_path(const char *identity, char **path) {
  TSR_TRY(find(forms[0], identity, tsr_cache_file, path));
  for (int i = 1; i < FORMS && access(*path, R_OK) != 0; i++)
    TSR_TRY(replace_if_there(forms[i], identity, path));
  return TSR_OK;
}

tsr_status tsr_machine_cache_path_to_write(const char *identity, char **path) {
  return find(forms[0], identity, tsr_cache_file_to_write, path);
}

/* ---- All that are kept of a host ---- */

static bool is_of(const char *form, const char *file, const char *host) {
  size_t i = 0;
  if (strncmp(file, form, strlen(form)) != 0) return false;
  file += strlen(form);
  for (; host[i] != '\0'; i++) {
    bool same = file[i] == host[i] || (file[i] == '_' && (host[i] == '.' || host[i] == '-'));
    if (!same) return false;
  }
  size_t length = strlen(file);
  return file[i] == '_' && length > 5 && strcmp(file + length - 5, ".json") == 0;
}

static bool visit_in(const char *form, const char *folder, const char *host,
                     bool (*visit)(const char *path, void *user), void *user) {
  DIR *opened = opendir(folder);
  bool taken = false;
  if (opened == NULL) return false;
  for (struct dirent *entry; !taken && (entry = readdir(opened)) != NULL;) {
    tsr_text path = TSR_TEXT_INIT;
    if (!is_of(form, entry->d_name, host)) continue;
    tsr_text_add(&path, "%s%s", folder, entry->d_name);
    taken = !path.broken && visit(path.bytes, user);
    tsr_text_free(&path);
  }
  closedir(opened);
  return taken;
}

static bool visit_form(const char *form, const char *host,
                       bool (*visit)(const char *path, void *user), void *user) {
  bool taken = false;
  char *folder;
  for (int i = 0; !taken && tsr_cache_folder(i, &folder); i++) {
    taken = folder != NULL && visit_in(form, folder, host, visit, user);
    tsr_dealloc(folder);
  }
  return taken;
}

bool tsr_machine_cache_visit(const char *host, bool (*visit)(const char *path, void *user),
                             void *user) {
  bool taken = false;
  for (int i = 0; !taken && i < FORMS; i++) taken = visit_form(forms[i], host, visit, user);
  return taken;
}
