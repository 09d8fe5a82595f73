/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/print/trace.h"

#include <math.h>

#include "plan/names.h"

/* ---- Kinds of commands ---- */

static const char *const kinds[TSR_TRACE_KINDS] = {
    "copy of A",   "copy of B",   "copy of C",    "copy of W", "copy of RA", "copy of RB",
    "copy of RA2", "copy of RB2", "copy of V",    "gemm",      "add",        "scale",
    "triangle",    "residues",    "residue gemm", "invert"};

const char *tsr_trace_kind_name(int kind) {
  return kinds[kind];
}

int tsr_trace_kind(const tsr_plan *plan, const tsr_command *command) {
  if (command->kind == TSR_COMMAND_COPY)
    return tsr_call_asked_matrix(&plan->call, plan->buffers.items[command->buffer[0]].matrix);
  if (tsr_kernel_makes_form(command->kernel)) return TSR_TRACE_RESIDUES;
  if (tsr_kernel_multiplies_forms(command->kernel)) return TSR_TRACE_RESIDUE_GEMM;
  switch (command->kernel) {
    case TSR_KERNEL_GEMM:
    case TSR_KERNEL_GEMMT:
      return TSR_TRACE_GEMM;
    case TSR_KERNEL_ADD:
      return TSR_TRACE_ADD;
    case TSR_KERNEL_SCALE:
      return TSR_TRACE_SCALE;
    case TSR_KERNEL_INVERT:
      return TSR_TRACE_INVERT;
    default:
      return TSR_TRACE_ROUTINE;
  }
}

/* ---- Trace events ---- */

/* Process numbers: locations as predicted are 0 .., as measured MEASURED_PROCESSES .., and
 * CALLS_PROCESS has whole calls and the host. */
enum { MEASURED_PROCESSES = 1000, CALLS_PROCESS = 999 };
enum { CALLS_THREAD, HOST_THREAD };

/* Queues of the same role and index in different plans are one thread. */
static int thread_of(const tsr_plan_queue *queue) {
  return queue->role * TSR_TRACE_INDICES + queue->index;
}

static void trace_name(tsr_text *text, const char *what, int process, int thread,
                       const char *before, const char *name) {
  tsr_text_add(text,
               "{\"ph\":\"M\",\"name\":\"%s_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":"
               "\"%s%s\"}},\n",
               what, process, thread, before, name);
}

static void trace_queue(const tsr_plan *plan, const tsr_plan_queue *queue, bool measured,
                        tsr_text *text) {
  int process = queue->location + (measured ? MEASURED_PROCESSES : 0);
  tsr_name name;
  trace_name(text, "process", process, 0, measured ? "measured: " : "predicted: ",
             tsr_plan_location_name(plan, queue->location, &name));
  trace_name(text, "thread", process, thread_of(queue), "", tsr_queue_name(queue, &name));
}

static void trace_names(const tsr_plan *plan, bool measured, tsr_text *text) {
  for (int q = 0; q < plan->queues; q++) trace_queue(plan, &plan->queue[q], measured, text);
}

/* times = NULL: predicted times. */
static void trace_events(const tsr_plan *plan, const float *times, double at, tsr_text *text) {
  int base = times != NULL ? MEASURED_PROCESSES : 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *command = &plan->commands.items[i];
    const tsr_plan_queue *queue = &plan->queue[command->queue];
    double begin = times != NULL ? times[2 * i] : command->begin;
    double end = times != NULL ? times[2 * i + 1] : command->end;
    if (!isfinite(begin) || !isfinite(end)) continue;
    tsr_text_add(text,
                 "{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,"
                 "\"args\":{\"command\":%zu,\"m\":%lld,\"n\":%lld,\"k\":%d}},\n",
                 kinds[tsr_trace_kind(plan, command)], base + queue->location, thread_of(queue),
                 (at + begin) * 1e6, fmax(end - begin, 0) * 1e6, i,
                 (long long)tsr_asked_rows(&plan->call, command->m, command->n),
                 (long long)tsr_asked_cols(&plan->call, command->m, command->n), command->k);
  }
}

static void trace_head(const tsr_machine *machine, tsr_text *text) {
  tsr_text_add(text, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"machine\":\"");
  tsr_text_add_json(text, machine == NULL ? "" : machine->name);
  tsr_text_add(text, "\"},\"traceEvents\":[\n");
}

/* Ends the list with an event that has no comma after it. */
static void trace_tail(const char *label, tsr_text *text) {
  tsr_text_add(text, "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":0,\"args\":{\"labels\":");
  tsr_text_add(text, "\"%s\"}}\n]}\n", label);
}

void tsr_trace_write(const tsr_plan *plan, const tsr_machine *machine, const float *times,
                     tsr_text *text) {
  tsr_name name;
  trace_head(machine, text);
  trace_names(plan, false, text);
  trace_events(plan, NULL, 0, text);
  if (times != NULL) {
    trace_names(plan, true, text);
    trace_events(plan, times, 0, text);
  }
  trace_tail(tsr_call_name(&plan->call, &name), text);
}

/* ---- Sequences ---- */

void tsr_trace_begin(tsr_trace *trace, const tsr_machine *machine, tsr_text *text) {
  *trace = (tsr_trace){.text = text};
  trace_head(machine, text);
  trace_name(text, "process", CALLS_PROCESS, 0, "", "calls");
  trace_name(text, "thread", CALLS_PROCESS, CALLS_THREAD, "", "on the devices");
  trace_name(text, "thread", CALLS_PROCESS, HOST_THREAD, "", "on the host");
}

/* A call's event begins with its first command, since until then the call waited for earlier
 * calls. */
static void trace_call(const tsr_plan *plan, const float *times, double at, tsr_text *text) {
  double begin = INFINITY, end = 0;
  tsr_name name;
  for (size_t i = 0; i < plan->commands.count; i++) {
    begin = fmin(begin, times[2 * i]);
    end = fmax(end, times[2 * i + 1]);
  }
  if (!(begin <= end)) return;
  tsr_text_add(text,
               "{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,"
               "\"args\":{\"m\":%lld,\"n\":%lld,\"k\":%lld}},\n",
               plan->moves ? "move" : tsr_call_name(&plan->call, &name), CALLS_PROCESS,
               CALLS_THREAD, (at + begin) * 1e6, (end - begin) * 1e6,
               (long long)tsr_asked_rows(&plan->call, plan->call.m, plan->call.n),
               (long long)tsr_asked_cols(&plan->call, plan->call.m, plan->call.n),
               (long long)plan->call.k);
}

void tsr_trace_plan(tsr_trace *trace, const tsr_plan *plan, const float *times, double at) {
  for (int q = 0; q < plan->queues; q++) {
    const tsr_plan_queue *queue = &plan->queue[q];
    bool *named = &trace->named[queue->location][queue->role][queue->index];
    if (!*named) trace_queue(plan, queue, true, trace->text);
    *named = true;
  }
  trace_call(plan, times, at, trace->text);
  trace_events(plan, times, at, trace->text);
}

void tsr_trace_host(tsr_trace *trace, const char *name, double at, double seconds) {
  tsr_text_add(trace->text, "{\"ph\":\"X\",\"name\":\"");
  tsr_text_add_json(trace->text, name);
  tsr_text_add(trace->text, "\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f},\n", CALLS_PROCESS,
               HOST_THREAD, at * 1e6, seconds * 1e6);
}

void tsr_trace_end(tsr_trace *trace) {
  trace_tail("", trace->text);
}
