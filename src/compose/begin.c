/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The beginning and the end of composition. After a failure, what the lost devices held is
 * forgotten, and what failed jobs should have made; then the calls of the journal whose results are
 * missing are made again. If they cannot be, results are lost, and tsr_sync says so.
 */
#include "base/log.h"
#include "compose/inside.h"

/* ---- Making calls again ------------------------------------------------------ */

/* Brings what is newer on devices home, since a call that is made again begins and ends there. */
static tsr_status bring_home(tsr_directory *directory, const tsr_journal_entry *e) {
  tsr_region region[TSR_OPERANDS];
  tsr_compose_regions(directory, &e->call, &e->binding, region);
  for (int x = 0; x < TSR_OPERANDS && directory->store != NULL; x++) {
    if (region[x].base == NULL) continue;
    TSR_TRY(tsr_compose_write_back_crossing(directory, &region[x], true));
    TSR_TRY(tsr_compose_write_back_aligned(directory, &region[x], TSR_GENERAL, true));
  }
  return TSR_OK;
}

/* Forgets what devices have of the results of calls that are made again. */
static tsr_status forget_results(tsr_directory *directory, const tsr_journal *journal) {
  tsr_region part, region[TSR_OPERANDS];
  for (size_t k = 0; k < journal->entries.count && directory->store != NULL; k++) {
    const tsr_journal_entry *e = &journal->entries.items[k];
    tsr_compose_regions(directory, &e->call, &e->binding, region);
    if (region[TSR_C_].base == NULL) continue;
    TSR_TRY(tsr_store_forget(directory->store, &region[TSR_C_]));
    if (tsr_store_crossing(directory->store, &region[TSR_C_], &part))
      return tsr_fail(TSR_ERR_DEVICE, "results of calls lie across each other on the devices");
  }
  return TSR_OK;
}

static tsr_status make_again(tsr_directory *directory, const tsr_journal *journal) {
  for (size_t k = 0; k < journal->entries.count; k++) {
    const tsr_journal_entry *e = &journal->entries.items[k];
    TSR_TRY(bring_home(directory, e));
    TSR_TRY(directory->again(directory->context, &e->call, &e->binding, e->exchanged));
  }
  return TSR_OK;
}

/* Parts whose write-back failed count as newer on the devices again. */
static bool renew(tsr_directory *directory, const tsr_journal *journal, const tsr_losses *losses) {
  bool done = true;
  for (size_t i = 0; i < journal->entries.count && done && directory->store != NULL; i++)
    if (tsr_journal_is_missing(journal, i, losses))
      done = tsr_store_renew(directory->store, &journal->entries.items[i].region[TSR_C_]);
  return done;
}

typedef TSR_VEC(tsr_journal_entry) entries;

static bool list_missing(const tsr_journal *journal, const tsr_losses *losses, entries *missing) {
  for (size_t i = 0; i < journal->entries.count; i++)
    if (tsr_journal_is_missing(journal, i, losses) &&
        !TSR_VEC_PUSH(missing, journal->entries.items[i]))
      return false;
  return true;
}

static tsr_status write_back_again(tsr_directory *directory, const entries *missing) {
  for (size_t i = 0; i < missing->count && directory->store != NULL; i++) {
    const tsr_journal_entry *e = &missing->items[i];
    TSR_TRY(tsr_compose_write_back_aligned(directory, &e->region[TSR_C_], e->uplo, true));
  }
  return TSR_OK;
}

/* *newer: something is lost that is newer on the devices than at home. */
static tsr_status make_good_by(tsr_directory *directory, tsr_journal *journal,
                               const tsr_losses *losses, bool *newer) {
  entries missing = {NULL, 0, 0};
  bool can = !losses->incomplete && (losses->jobs.count == 0 || losses->by_device) &&
             list_missing(journal, losses, &missing) && renew(directory, journal, losses) &&
             tsr_journal_judge(journal, losses);
  tsr_status status = can ? forget_results(directory, journal) : TSR_ERR_DEVICE;
  *newer = directory->store != NULL &&
           tsr_store_drop_lost(directory->store, directory->lost, losses->first);
  if (status == TSR_OK) status = make_again(directory, journal);
  if (status == TSR_OK) status = write_back_again(directory, &missing);
  if (status == TSR_OK && losses->jobs.count > 0)
    tsr_log(TSR_LOG_INFO, "a device failed: %zu calls and %zu write-backs were made again",
            journal->entries.count, missing.count);
  TSR_VEC_FREE(&missing);
  return status;
}

/* Takes the journal over: what is done to make its calls again is not noted in it. */
static tsr_status make_good(tsr_directory *directory, const tsr_losses *losses, bool *newer) {
  tsr_journal journal = directory->journal;
  directory->journal = (tsr_journal){0};
  tsr_status status = make_good_by(directory, &journal, losses, newer);
  tsr_journal_free(&journal);
  tsr_journal_free(&directory->journal);
  directory->journal = (tsr_journal){0};
  return status;
}

/* ---- Losses -------------------------------------------------------------------- */

static bool is_told(const tsr_losses *losses) {
  for (size_t i = 0; i < losses->jobs.count; i++)
    if (!losses->jobs.items[i].told) return false;
  return losses->unlisted == 0 && losses->first != UINT64_MAX;
}

/* The error that tsr_sync returns, unless who waited for the job that failed has it. */
static void note_lost(tsr_directory *directory, const tsr_losses *losses) {
  directory->dropped = true;
  if (is_told(losses)) return;
  tsr_status status =
      losses->first != UINT64_MAX
          ? tsr_error_put(&losses->error)
          : tsr_fail(TSR_ERR_DEVICE,
                     "results of earlier calls were on a device that has failed: compute them "
                     "again");
  tsr_calls_note_error(directory->calls, status);
}

/* Devices that fail while calls are made again are asked by a later function: what makes them fail
 * may have passed by then. */
static void recover(tsr_directory *directory) {
  tsr_runner *runner = directory->calls->runner;
  tsr_losses losses;
  bool failed = tsr_runner_failures(runner) != directory->failures;
  uint32_t all = directory->plans->all_devices;
  if (!failed && !tsr_runner_may_ask(runner) && (all & ~tsr_runner_well(runner)) == directory->lost)
    return;
  tsr_runner_drain(runner);
  if (failed)
    tsr_runner_ask_all(runner);
  else
    tsr_runner_ask(runner, UINT32_MAX);
  uint32_t well = tsr_runner_well(runner), lost = all & ~well;
  if (well != atomic_load(&directory->plans->devices)) tsr_plans_use(directory->plans, well);
  failed = tsr_runner_failures(runner) != directory->failures;
  if (!failed && lost == directory->lost) return;
  directory->lost = lost;
  directory->failures = tsr_runner_failures(runner);
  tsr_runner_take_losses(runner, &losses);
  bool newer;
  tsr_status status = make_good(directory, &losses, &newer);
  if (status != TSR_OK || newer) note_lost(directory, &losses);
  TSR_VEC_FREE(&losses.jobs);
  if (directory->plans->check && directory->store != NULL) tsr_store_stamp_all(directory->store);
}

bool tsr_compose_has_losses(tsr_directory *directory, tsr_status status) {
  if (status != TSR_ERR_DEVICE && status != TSR_ERR_CHECK) return false;
  pthread_mutex_lock(&directory->lock);
  bool any = tsr_runner_failures(directory->calls->runner) != directory->failures;
  pthread_mutex_unlock(&directory->lock);
  return any;
}

/* ---- Beginning and end ---------------------------------------------------------- */

void tsr_compose_begin(tsr_directory *directory) {
  pthread_mutex_lock(&directory->lock);
  recover(directory);
}

void tsr_compose_end(tsr_directory *directory) {
  pthread_mutex_unlock(&directory->lock);
}

void tsr_compose_await_write_backs(tsr_directory *directory, const tsr_region *region) {
  uint64_t number;
  if (region->base == NULL || !tsr_compose_find_write_back(directory, region, &number)) return;
  tsr_runner_await(directory->calls->runner, number);
  recover(directory);
}

tsr_status tsr_compose_check_dropped(const tsr_directory *directory) {
  if (!directory->dropped) return TSR_OK;
  return tsr_fail(TSR_ERR_DEVICE,
                  "results of earlier calls were lost when a call failed: tsr_sync, or the call "
                  "that waited for "
                  "it, says which error that was; compute them again");
}

void tsr_compose_note_event(tsr_directory *directory, uint64_t number) {
  tsr_compose_begin(directory);
  tsr_journal_spend(&directory->journal, number);
  tsr_compose_end(directory);
}

bool tsr_compose_try_event(tsr_directory *directory, uint64_t number) {
  if (pthread_mutex_trylock(&directory->lock) != 0) return false;
  recover(directory);
  tsr_journal_spend(&directory->journal, number);
  tsr_compose_end(directory);
  return true;
}

void tsr_compose_note_sync(tsr_directory *directory) {
  uint64_t completed = tsr_runner_completed(directory->calls->runner);
  tsr_compose_begin(directory);
  tsr_journal_forget(&directory->journal, completed);
  directory->dropped = false;
  tsr_compose_end(directory);
}

bool tsr_compose_begin_if(tsr_directory *directory, bool (*has)(const tsr_store *store)) {
  tsr_compose_begin(directory);
  if (directory->store != NULL && has(directory->store)) return true;
  tsr_compose_end(directory);
  return false;
}
