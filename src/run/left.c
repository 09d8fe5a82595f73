/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which parts of C a failed job has left undone. After an error of a device nobody knows which of
 * its commands were carried out, but for those that were seen complete before. Such commands are
 * doubtful, and so is every command that may have used their results: one that waits for a doubtful
 * command, and one that follows a doubtful command in a device's queue. Staging threads ask the
 * devices before they overwrite C, so that a staging queue's command is never doubtful.
 */
#include "base/alloc.h"
#include "plan/axes.h"
#include "run/inside.h"

typedef struct survey {
  tsr_job *job;
  bool *doubtful;                /* by command */
  bool doubted[TSR_PLAN_QUEUES]; /* by queue: an earlier command was doubtful */
  bool started, wrong;           /* something of C was written; it may be wrong */
} survey;

/* Whether the command may have been carried out. */
static bool has_started(const tsr_job *job, uint32_t command, int device) {
  return tsr_job_flagged(job, command) || (device >= 0 && job->torn[device] == command + 1);
}

static bool is_doubtful(survey *s, uint32_t command, int device) {
  const tsr_plan *plan = s->job->plan;
  const tsr_command *c = &plan->commands.items[command];
  if (device < 0) return false;
  bool broken = (atomic_load(&s->job->broken) >> device & 1) != 0;
  bool doubtful = s->doubted[c->queue] || (broken && !tsr_command_is_complete(s->job, command));
  for (uint32_t w = 0; w < c->waits; w++) doubtful |= s->doubtful[plan->waits.items[c->wait + w]];
  s->doubted[c->queue] |= doubtful;
  return s->doubtful[command] = doubtful;
}

static bool writes_home(const tsr_plan *plan, const tsr_command *c) {
  int32_t to = c->buffer[c->kind == TSR_COMMAND_COPY ? 1 : 2];
  return plan->buffers.items[to].role == TSR_BUFFER_HOME;
}

/* Notes a part of C that the command was to write. Several kernels may add to one element. */
static void note_write(survey *s, uint32_t command, bool started, bool doubtful) {
  tsr_job *job = s->job;
  const tsr_command *c = &job->plan->commands.items[command];
  tsr_shape part = tsr_shape_of(tsr_command_rect(c, 2));
  if (c->kind == TSR_COMMAND_COPY) part.uplo = tsr_form_unpack(c->form).uplo;
  s->started |= started;
  s->wrong |= started && (doubtful || c->kind == TSR_COMMAND_KERNEL);
  if (!started && !TSR_VEC_PUSH(&job->left_parts, part)) s->wrong = true;
}

static void look_at(survey *s, uint32_t command) {
  const tsr_plan *plan = s->job->plan;
  const tsr_command *c = &plan->commands.items[command];
  int device = tsr_job_is_staged(s->job, command) ? -1 : plan->queue[c->queue].location;
  bool doubtful = is_doubtful(s, command, device);
  if (writes_home(plan, c)) note_write(s, command, has_started(s->job, command, device), doubtful);
}

static void find_left(tsr_job *job) {
  uint32_t commands = (uint32_t)job->plan->commands.count;
  survey s = {.job = job, .doubtful = tsr_alloc_zero(commands + 1, sizeof *s.doubtful)};
  job->left_kind = TSR_JOB_LEFT_UNKNOWN;
  if (s.doubtful == NULL) return;
  for (uint32_t i = 0; i < commands; i++) look_at(&s, i);
  tsr_dealloc(s.doubtful);
  job->left_kind = !s.started ? TSR_JOB_LEFT_ALL
                   : s.wrong  ? TSR_JOB_LEFT_UNKNOWN
                              : TSR_JOB_LEFT_PARTS;
}

/* A device whose commands read what a failed device should have written may have failed a check. */
static void note_doubted(tsr_job *job) {
  uint32_t doubted = atomic_load(&job->broken) & ~atomic_load(&job->blamed);
  if (job->error.status != TSR_ERR_DEVICE || doubted == 0) return;
  atomic_fetch_or(&job->runner->out, doubted);
  atomic_fetch_or(&job->runner->doubted, doubted);
}

static void note_loss(tsr_job *job) {
  tsr_losses *losses = &job->runner->losses;
  tsr_loss loss = {job->number, job->left_kind, false};
  pthread_mutex_lock(&job->runner->pool);
  if (!TSR_VEC_PUSH(&losses->jobs, loss)) {
    losses->incomplete = true;
    losses->unlisted++;
  }
  if (job->number < losses->first) {
    losses->first = job->number;
    losses->error = job->error;
    losses->by_device = tsr_job_lost_device(job);
  }
  pthread_mutex_unlock(&job->runner->pool);
}

void tsr_job_find_left(tsr_job *job) {
  find_left(job);
  note_doubted(job);
  if (job->kept) note_loss(job);
}

void tsr_job_note_told(const tsr_job *job) {
  tsr_losses *losses = &job->runner->losses;
  pthread_mutex_lock(&job->runner->pool);
  bool listed = false;
  for (size_t i = 0; i < losses->jobs.count; i++)
    if (losses->jobs.items[i].number == job->number) listed = losses->jobs.items[i].told = true;
  if (!listed && job->kept && losses->unlisted > 0) losses->unlisted--;
  pthread_mutex_unlock(&job->runner->pool);
}

void tsr_runner_take_losses(tsr_runner *runner, tsr_losses *losses) {
  pthread_mutex_lock(&runner->pool);
  *losses = runner->losses;
  runner->losses = (tsr_losses){.first = UINT64_MAX};
  pthread_mutex_unlock(&runner->pool);
}

/* ---- A job ---- */

bool tsr_job_lost_device(const tsr_job *job) {
  return job->error.status == TSR_ERR_DEVICE && atomic_load(&job->blamed) != 0;
}

tsr_job_left_kind tsr_job_left(const tsr_job *job, const tsr_rects **parts) {
  if (parts != NULL) *parts = &job->left_parts;
  return job->left_kind;
}
