/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Overlap: a job with arenas of its own may run concurrently with earlier jobs. Two jobs may share
 * cached blocks and the user's memory. Before a command uses a cached block, its queue waits for
 * the last commands of earlier jobs on that block. If one job writes user memory that the other
 * reads or writes, the later job waits for the end of the earlier one.
 *
 * The events to wait for are found when the job is posted, while the plans of the earlier jobs are
 * known to live. A job starts only when the earlier ones are submitted completely, so that all
 * these events are recorded.
 */
#include "base/alloc.h"
#include "plan/axes.h"
#include "plan/names.h"
#include "plan/residency.h"
#include "run/inside.h"
#include "run/region.h"

/* ---- The user's memory ---- */

static tsr_region region_of(const tsr_job *job, int x) {
  const tsr_call *call = &job->plan->call;
  const tsr_operand *o = &call->operand[x];
  return (tsr_region){job->binding.base[x], o->rows, o->cols, o->ld, tsr_matrix_element(call, x)};
}

/* Whether operand x of a and operand y of b share bytes. Disjoint blocks of one matrix do not, even
 * if their ranges of addresses overlap. */
static bool share_bytes(const tsr_job *a, int x, const tsr_job *b, int y) {
  tsr_region first = region_of(a, x), second = region_of(b, y);
  tsr_rect at;
  return first.base != NULL && tsr_region_relate(&first, &second, &at) != TSR_DISJOINT;
}

/* Whether an operand in set_a of job a shares bytes with one in set_b of job b. */
static bool meet(const tsr_job *a, uint8_t set_a, const tsr_job *b, uint8_t set_b) {
  for (int x = 0; x < TSR_OPERANDS; x++)
    for (int y = 0; y < TSR_OPERANDS; y++)
      if ((set_a >> x & 1) && (set_b >> y & 1) && share_bytes(a, x, b, y)) return true;
  return false;
}

/* Whether one job writes user memory that the other reads or writes. The earlier job's reads of its
 * own C need no check: they fill cached blocks that this job then writes, and a later job that
 * writes this C to the user's memory waits for those blocks. */
static bool share_homes(const tsr_job *earlier, const tsr_job *later) {
  const tsr_program *e = earlier->program, *l = later->program;
  uint8_t inputs = e->homes_read & (uint8_t) ~(1 << TSR_C_);
  return meet(earlier, e->homes_written, later, l->homes_read | l->homes_written) ||
         meet(earlier, inputs, later, l->homes_written);
}

/* A job without arenas of its own waits for the end of every earlier one, and needs the results of
 * those whose memory it shares. */
static bool must_end_first(const tsr_job *earlier, const tsr_job *later) {
  if (!later->own_arenas) return share_homes(earlier, later);
  if (!earlier->own_arenas || !later->own_arenas || earlier->tied || later->tied) return true;
  return earlier->program == later->program || share_homes(earlier, later);
}

/* ---- Cached blocks ---- */

/* rect of cached block r, in the coordinates of the entry to which the block belongs. */
static tsr_rect in_entry(const tsr_job *job, size_t r, tsr_rect rect) {
  const tsr_cached_block *block = &job->plan->after->blocks.items[r];
  int64_t size = (int64_t)tsr_matrix_element(&job->plan->call, block->matrix);
  int64_t offset = ((char *)job->blocks[r] - (char *)job->entries[r]) / size;
  int64_t row = offset % block->ld - block->rect.row0, col = offset / block->ld - block->rect.col0;
  return (tsr_rect){rect.row0 + row, rect.col0 + col, rect.row1 + row, rect.col1 + col};
}

/* Adds waits for the earlier job's last uses of the entry to which the cached block belongs. False:
 * no host memory. */
static bool add_waits(tsr_job *job, size_t block, tsr_job *earlier) {
  const tsr_program *p = earlier->program;
  for (size_t r = 0; r < tsr_residency_count(earlier->plan->after); r++) {
    if (earlier->entries[r] != job->entries[block]) continue;
    for (uint32_t u = p->use_first[r]; u < p->use_first[r + 1]; u++) {
      tsr_block_wait wait = {earlier, tsr_job_event(earlier, p->use[u].command),
                             in_entry(earlier, r, p->use[u].rect), p->use[u].wrote};
      if (!TSR_VEC_PUSH(&job->block_waits, wait)) return false;
    }
  }
  return true;
}

static bool find_waits(tsr_job *job) {
  size_t blocks = tsr_residency_count(job->plan->after);
  job->block_first = tsr_alloc_zero(blocks + 1, sizeof *job->block_first);
  if (job->block_first == NULL) return false;
  for (size_t r = 0; r < blocks; r++) {
    bool is_new = job->plan->after->blocks.items[r].bytes > 0;
    for (int i = 0; i < job->earlier_count && !is_new; i++)
      if (!job->earlier[i].must_end && !add_waits(job, r, job->earlier[i].job)) return false;
    job->block_first[r + 1] = (uint32_t)job->block_waits.count;
  }
  job->met = tsr_alloc_zero(job->block_waits.count * (size_t)job->plan->queues + 1, 1);
  return job->met != NULL;
}

/* ---- Jobs ---- */

bool tsr_overlap_find(tsr_job *job) {
  tsr_runner *runner = job->runner;
  uint64_t completed = atomic_load(&runner->completed);
  for (uint64_t n = completed; n < job->number; n++) {
    if (job->number - n >= TSR_RUN_JOBS) continue; /* the job waits for the end of job n anyway */
    tsr_job *earlier = runner->recent[n % TSR_RUN_JOBS];
    if (atomic_load_explicit(&earlier->done, memory_order_acquire)) continue;
    atomic_fetch_add(&earlier->references, 1);
    job->earlier[job->earlier_count++] = (tsr_earlier){earlier, must_end_first(earlier, job)};
  }
  return !job->own_arenas || find_waits(job);
}

/* Whether the earlier jobs that are not complete let the job start. */
static bool is_allowed(const tsr_job *job) {
  if (!job->own_arenas) return false;
  for (int i = 0; i < job->earlier_count; i++) {
    tsr_job *earlier = job->earlier[i].job;
    if (atomic_load_explicit(&earlier->done, memory_order_acquire)) continue;
    if (job->earlier[i].must_end) return false;
    if (atomic_load_explicit(&earlier->to_submit, memory_order_acquire) > 0) return false;
  }
  return true;
}

bool tsr_overlap_may_start(const tsr_job *job) {
  uint64_t completed = atomic_load_explicit(&job->runner->completed, memory_order_acquire);
  if (completed == job->number) return true;
  return job->number - completed < TSR_RUN_JOBS && is_allowed(job);
}

/* TSR_ERR_DEVICE if the earlier job failed: it may have left events unrecorded and cached blocks
 * unwritten. */
static tsr_status check_earlier(tsr_job *earlier) {
  if (!tsr_job_failed(earlier)) return TSR_OK;
  pthread_mutex_lock(&earlier->runner->pool);
  tsr_error error = earlier->error;
  pthread_mutex_unlock(&earlier->runner->pool);
  return tsr_fail(TSR_ERR_DEVICE, "a call whose results this one uses has failed: %s",
                  error.message);
}

void tsr_overlap_check(tsr_job *job) {
  for (int i = 0; i < job->earlier_count && !tsr_job_failed(job); i++) {
    tsr_status status = job->earlier[i].must_end ? check_earlier(job->earlier[i].job) : TSR_OK;
    if (status != TSR_OK) tsr_job_fail(job, status);
  }
}

/* Makes the queue wait for the earlier uses of the cached block that conflict with operand's, for
 * each event at most once (met). */
static tsr_status wait_for_block(tsr_job *job, const tsr_command *c, int operand, size_t block,
                                 tsr_queue *queue) {
  bool writes = operand == (c->kind == TSR_COMMAND_COPY ? 1 : 2);
  bool *met = job->met + c->queue * job->block_waits.count;
  tsr_rect rect = in_entry(job, block, tsr_command_rect(c, operand));
  for (uint32_t i = job->block_first[block]; i < job->block_first[block + 1]; i++) {
    const tsr_block_wait *wait = &job->block_waits.items[i];
    if (met[i] || !(writes || wait->wrote) || !tsr_rect_meet(wait->rect, rect)) continue;
    TSR_TRY(check_earlier(wait->job));
    TSR_TRY(tsr_enter_wait(job->runner->engine, queue, wait->event));
    met[i] = true;
  }
  return TSR_OK;
}

tsr_status tsr_overlap_wait(tsr_job *job, uint32_t command, tsr_queue *queue) {
  if (job->block_waits.count == 0) return TSR_OK;
  const tsr_command *c = &job->plan->commands.items[command];
  for (int x = 0; x < (c->kind == TSR_COMMAND_COPY ? 2 : 3); x++) {
    if (c->buffer[x] == TSR_NO_BUFFER) continue;
    const tsr_buffer *b = &job->plan->buffers.items[c->buffer[x]];
    if (b->role == TSR_BUFFER_CACHED) TSR_TRY(wait_for_block(job, c, x, b->offset, queue));
  }
  return TSR_OK;
}
