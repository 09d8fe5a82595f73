/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The journal: what asynchronous calls have been asked to do since the last tsr_sync. Until then
 * the program leaves the matrices as they are, so that calls whose results a failed device has lost
 * can be made again from what the host's memory holds, if nothing in it has become newer than they
 * expect. The journal judges that; the directory, whose lock guards it, does it.
 */
#ifndef TSR_COMPOSE_JOURNAL_H
#define TSR_COMPOSE_JOURNAL_H

#include "base/vec.h"
#include "blas/call.h"
#include "run/region.h"
#include "run/runner.h"

typedef enum tsr_journal_kind {
  TSR_JOURNAL_CALL,   /* a call changes its C, on the devices */
  TSR_JOURNAL_HOME,   /* a job writes parts of a region to host memory */
  TSR_JOURNAL_COVER,  /* with jobs from .. number, all of a region is current in host memory */
  TSR_JOURNAL_CHANGED /* the program, or a blocking call, has set the region in host memory */
} tsr_journal_kind;

typedef struct tsr_journal_entry {
  tsr_journal_kind kind;
  tsr_call call; /* CALL */
  tsr_binding binding;
  bool exchanged;
  bool rootless; /* C was newer on the devices before the journal began */
  bool spent;    /* an event told the program that the call is complete: it may use the memory */
  bool again;    /* CALL: it is to be made again (tsr_journal_judge) */
  bool evicts;   /* HOME: what is written is forgotten on the devices */
  tsr_uplo uplo; /* HOME: the part of the region that is written */
  bool straight; /* HOME: devices copy to host memory without a staging thread */
  tsr_region region[TSR_OPERANDS]; /* CALL: of the operands, base NULL if one is not read or
                                      written; else region[TSR_C_] is the region */
  uint64_t from, number;           /* the job's number; from: COVER alone */
} tsr_journal_entry;

typedef struct tsr_journal {
  TSR_VEC(tsr_journal_entry) entries;
  bool incomplete; /* host memory was short, or there are too many entries */
  bool dirty;      /* results were newer on the devices when the journal began */
} tsr_journal;

/* Adds an entry. dirty: results are newer on the devices, for a journal that begins. */
void tsr_journal_add(tsr_journal *journal, const tsr_journal_entry *entry, bool dirty);

/* A call's entry. newer: its C is newer on the devices. */
tsr_journal_entry tsr_journal_call(const tsr_journal *journal, const tsr_call *call,
                                   const tsr_binding *binding, bool exchanged, uint64_t number,
                                   bool newer);

/* Forgets the entries before the first one of a job from number on; for tsr_sync. */
void tsr_journal_forget(tsr_journal *journal, uint64_t number);
/* Calls of jobs before number cannot be made again. */
void tsr_journal_spend(tsr_journal *journal, uint64_t number);

/* Whether entry i is a write-back that has not brought home all it should have. */
bool tsr_journal_is_missing(const tsr_journal *journal, size_t i, const tsr_losses *losses);

/* Keeps in the journal only the calls to make again after the losses. False: some cannot be. */
bool tsr_journal_judge(tsr_journal *journal, const tsr_losses *losses);

void tsr_journal_free(tsr_journal *journal);

#endif
