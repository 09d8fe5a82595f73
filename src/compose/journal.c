/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "compose/journal.h"

#include <string.h>

#include "blas/family.h"
#include "compose/tuning.h"

/* ---- Writing it ------------------------------------------------------------ */

void tsr_journal_add(tsr_journal *journal, const tsr_journal_entry *entry, bool dirty) {
  if (journal->entries.count == 0) journal->dirty = dirty;
  if (journal->entries.count >= TSR_TUNE_JOURNAL_ENTRIES ||
      !TSR_VEC_PUSH(&journal->entries, *entry))
    journal->incomplete = true;
}

static bool meets(const tsr_region *a, const tsr_region *b) {
  tsr_rect at;
  return a->base != NULL && b->base != NULL && tsr_region_relate(a, b, &at) != TSR_DISJOINT;
}

static bool contains(const tsr_region *outer, const tsr_region *inner) {
  tsr_rect at;
  if (inner->base == NULL || outer->base == NULL) return false;
  return tsr_region_relate(inner, outer, &at) == TSR_ALIGNED &&
         tsr_rect_contains(tsr_region_all(outer), at);
}

/* Whether the call needs C as it was. */
static bool reads_c(const tsr_journal_entry *e) {
  return e->call.beta != TSR_ZERO || tsr_is_in_place(e->call.operation);
}

tsr_journal_entry tsr_journal_call(const tsr_journal *journal, const tsr_call *call,
                                   const tsr_binding *binding, bool exchanged, uint64_t number,
                                   bool newer) {
  tsr_journal_entry e = {.kind = TSR_JOURNAL_CALL,
                         .call = *call,
                         .binding = *binding,
                         .exchanged = exchanged,
                         .rootless = newer,
                         .number = number};
  size_t size = tsr_type_get(call->type)->size;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const tsr_operand *o = &call->operand[x];
    bool used = x == TSR_C_ || !tsr_call_scales_only(call);
    e.region[x] = (tsr_region){used ? binding->base[x] : NULL, o->rows, o->cols, o->ld, size};
  }
  for (size_t i = 0; i < journal->entries.count; i++) {
    const tsr_journal_entry *before = &journal->entries.items[i];
    if (before->kind == TSR_JOURNAL_CALL && meets(&before->region[TSR_C_], &e.region[TSR_C_]))
      e.rootless = false; /* what is newer is of a call in the journal, which has a root or not */
  }
  return e;
}

static void keep_from(tsr_journal *journal, size_t first) {
  journal->entries.count -= first;
  if (first == 0 || journal->entries.count == 0) return;
  memmove(journal->entries.items, journal->entries.items + first,
          journal->entries.count * sizeof *journal->entries.items);
}

void tsr_journal_forget(tsr_journal *journal, uint64_t number) {
  size_t first = 0;
  while (first < journal->entries.count &&
         !(journal->entries.items[first].number >= number &&
           journal->entries.items[first].kind != TSR_JOURNAL_CHANGED))
    first++;
  keep_from(journal, first);
  journal->dirty = true; /* for the calls that are left */
  journal->incomplete &= journal->entries.count > 0;
}

void tsr_journal_spend(tsr_journal *journal, uint64_t number) {
  for (size_t i = 0; i < journal->entries.count; i++)
    if (journal->entries.items[i].number < number) journal->entries.items[i].spent = true;
}

void tsr_journal_free(tsr_journal *journal) {
  TSR_VEC_FREE(&journal->entries);
}

/* ---- Judging it -------------------------------------------------------------- */

/* How much a job has written to host memory: all that it should, nothing, or some parts. */
typedef enum writes { WRITES_DONE, WRITES_NONE, WRITES_PARTS } writes;

static writes writes_of(const tsr_journal_entry *e, const tsr_losses *losses) {
  for (size_t i = 0; i < losses->jobs.count; i++)
    if (losses->jobs.items[i].number == e->number)
      return losses->jobs.items[i].left == TSR_JOB_LEFT_ALL ? WRITES_NONE : WRITES_PARTS;
  return e->straight && e->number > losses->first ? WRITES_PARTS : WRITES_DONE;
}

static bool has_failed(const tsr_losses *losses, uint64_t from, uint64_t number) {
  for (size_t i = 0; i < losses->jobs.count; i++)
    if (losses->jobs.items[i].number >= from && losses->jobs.items[i].number <= number) return true;
  return false;
}

static bool is_sure_cover(const tsr_journal_entry *e, const tsr_losses *losses) {
  if (e->kind == TSR_JOURNAL_CHANGED) return true;
  if (e->kind != TSR_JOURNAL_COVER || has_failed(losses, e->from, e->number)) return false;
  return !e->straight || e->number < losses->first;
}

/* Whether the call's result has come home, or is not wanted any more. */
static bool is_settled(const tsr_journal *journal, size_t k, const tsr_losses *losses) {
  const tsr_region *c = &journal->entries.items[k].region[TSR_C_];
  for (size_t h = k + 1; h < journal->entries.count; h++) {
    const tsr_journal_entry *e = &journal->entries.items[h];
    if (is_sure_cover(e, losses) && contains(&e->region[TSR_C_], c)) return true;
  }
  return false;
}

/* Whether a call from k on, but before h, changes a part of the region. */
static bool is_changed(const tsr_journal *journal, size_t k, size_t h, const tsr_region *region) {
  for (size_t j = k; j < h; j++) {
    const tsr_journal_entry *e = &journal->entries.items[j];
    if (e->kind == TSR_JOURNAL_CALL && meets(&e->region[TSR_C_], region)) return true;
  }
  return false;
}

/* Whether entry h makes host memory differ from what call k finds in a region that it reads. */
static bool spoils_read(const tsr_journal *journal, size_t k, size_t h, const tsr_region *read,
                        const tsr_losses *losses) {
  const tsr_journal_entry *e = &journal->entries.items[h];
  if (e->kind == TSR_JOURNAL_COVER || !meets(&e->region[TSR_C_], read)) return false;
  if (e->kind == TSR_JOURNAL_CHANGED) return true;
  writes w = writes_of(e, losses);
  if (w == WRITES_NONE) return false;
  return w == WRITES_PARTS || is_changed(journal, k, h, &e->region[TSR_C_]);
}

/* Whether a call to be made again before k gives the region all its values. */
static bool is_made_before(const tsr_journal *journal, size_t k, const tsr_region *region) {
  for (size_t i = 0; i < k; i++) {
    const tsr_journal_entry *e = &journal->entries.items[i];
    if (e->again && !reads_c(e) && contains(&e->region[TSR_C_], region)) return true;
  }
  return false;
}

/* Whether call k, made again, would overwrite what came later and is not made again. */
static bool spoils_result(const tsr_journal *journal, size_t k, size_t h) {
  const tsr_journal_entry *e = &journal->entries.items[h];
  if (!meets(&e->region[TSR_C_], &journal->entries.items[k].region[TSR_C_])) return false;
  if (e->kind == TSR_JOURNAL_CHANGED) return true;
  return e->kind == TSR_JOURNAL_CALL && !e->again;
}

static bool can_be_again(const tsr_journal *journal, size_t k, const tsr_losses *losses) {
  const tsr_journal_entry *e = &journal->entries.items[k];
  if (e->spent || (e->rootless && reads_c(e))) return false;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    bool reads = e->region[x].base != NULL && (x != TSR_C_ || reads_c(e));
    if (!reads || is_made_before(journal, k, &e->region[x])) continue;
    for (size_t h = 0; h < journal->entries.count; h++) {
      bool later = h > k, parts = journal->entries.items[h].kind == TSR_JOURNAL_HOME &&
                                  writes_of(&journal->entries.items[h], losses) == WRITES_PARTS;
      if ((later || parts) && spoils_read(journal, k, h, &e->region[x], losses)) return false;
    }
  }
  for (size_t h = k + 1; h < journal->entries.count; h++)
    if (spoils_result(journal, k, h)) return false;
  return true;
}

bool tsr_journal_is_missing(const tsr_journal *journal, size_t i, const tsr_losses *losses) {
  const tsr_journal_entry *e = &journal->entries.items[i];
  return e->kind == TSR_JOURNAL_HOME && writes_of(e, losses) != WRITES_DONE;
}

/* Whether a part that was forgotten on the devices did not come home and may be older than the
 * journal, so that no call of the journal makes it again. */
static bool loses_older(const tsr_journal *journal, const tsr_losses *losses) {
  for (size_t h = 0; h < journal->entries.count && journal->dirty; h++)
    if (journal->entries.items[h].evicts && tsr_journal_is_missing(journal, h, losses)) return true;
  return false;
}

bool tsr_journal_judge(tsr_journal *journal, const tsr_losses *losses) {
  size_t kept = 0;
  for (size_t k = 0; k < journal->entries.count; k++) {
    tsr_journal_entry *e = &journal->entries.items[k];
    e->again = e->kind == TSR_JOURNAL_CALL && !is_settled(journal, k, losses);
  }
  if (journal->incomplete || loses_older(journal, losses)) return false;
  for (size_t k = 0; k < journal->entries.count; k++)
    if (journal->entries.items[k].again && !can_be_again(journal, k, losses)) return false;
  for (size_t k = 0; k < journal->entries.count; k++)
    if (journal->entries.items[k].again) journal->entries.items[kept++] = journal->entries.items[k];
  journal->entries.count = kept;
  return true;
}
