/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera doctor: host memory nodes, and which GPUs are near each. */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* Whether the kernel has more than one host memory node, or nodes of another number than 0. */
static bool has_several_nodes(void) {
  const char *nodes = doctor_line_of("/sys/devices/system/node/online");
  return *nodes && strcmp(nodes, "0") != 0;
}

static void tell_unknown(doctor *d, const tsr_topology_facts *facts) {
  bool matters = has_several_nodes();
  doctor_add(d, matters ? GRADE_WARN : GRADE_OK, "topology", "The topology is unknown: %s.%s",
             facts->source,
             matters ? " This computer has several host memory nodes: install hwloc 2 (Debian: "
                       "libhwloc15), so that Tessera learns which GPUs are near each."
                     : "");
}

/* ", near GPUs 0, 1, 2, 3"; "": no GPU is known to be near the node. */
static const char *gpus_near(const tsr_topology_facts *facts, int node) {
  static char text[256];
  size_t length = 0;
  int count = 0;
  text[0] = '\0';
  for (int g = 0; g < facts->devices; g++) count += facts->near[g] == node;
  for (int g = 0, said = 0; g < facts->devices; g++)
    if (facts->near[g] == node)
      length += (size_t)snprintf(text + length, sizeof text - length, "%s%d",
                                 said++ > 0  ? ", "
                                 : count > 1 ? ", near GPUs "
                                             : ", near GPU ",
                                 g);
  return text;
}

static void tell_node(doctor *d, const tsr_topology_facts *facts, int node) {
  char memory[64];
  bool known = facts->memory[node] > 0;
  snprintf(memory, sizeof memory, "%s%s", known ? ", " : "",
           known ? tool_bytes(facts->memory[node]) : "");
  doctor_add(d, GRADE_OK, "topology",
             "Host memory node %d: %d CPU%s, of which this process may use %d%s%s.",
             facts->number[node], facts->cpus[node], facts->cpus[node] == 1 ? "" : "s",
             facts->allowed[node], memory, gpus_near(facts, node));
}

static void tell_gpus_near_none(doctor *d, const tsr_topology_facts *facts) {
  for (int g = 0; g < facts->devices; g++)
    if (facts->near[g] < 0)
      doctor_add(d, GRADE_WARN, "topology",
                 "Which host memory node is near GPU %d is unknown: a virtual machine may hide it. "
                 "Its copies are planned as from any node.",
                 g);
}

/* A process that a scheduler has bound to CPUs of one socket keeps to them. */
static void tell_nodes_without_cpus(doctor *d, const tsr_topology_facts *facts) {
  for (int i = 0; i < facts->nodes; i++)
    if (facts->allowed[i] == 0 && *gpus_near(facts, i))
      doctor_add(d, GRADE_WARN, "topology",
                 "This process may use no CPU of node %d%s: their threads run elsewhere. Ask the "
                 "scheduler for CPUs near the GPUs.",
                 facts->number[i], gpus_near(facts, i));
}

static void tell_binding(doctor *d, const tsr_topology_facts *facts) {
  const char *setting = getenv("TESSERA_BIND");
  if (facts->binds)
    doctor_add(
        d, GRADE_OK, "topology",
        "Threads for a device run on CPUs of its node; TESSERA_BIND=0 leaves them anywhere.");
  else if (facts->here && setting)
    doctor_add(d, GRADE_OK, "topology", "TESSERA_BIND=%s: threads run anywhere.", setting);
}

void doctor_check_topology(doctor *d) {
  tsr_topology_facts facts;
  if (tsr_settings_error() != NULL) return; /* which is told with the settings */
  if (tsr_topology_describe(d->engine, &facts) != TSR_OK) {
    doctor_add(d, GRADE_FAIL, "topology", "%s.", tsr_message());
    return;
  }
  if (facts.nodes == 0) {
    tell_unknown(d, &facts);
    return;
  }
  doctor_add(
      d, GRADE_OK, "topology", "%d host memory node%s, by %s%s.", facts.nodes,
      facts.nodes == 1 ? "" : "s", facts.source,
      facts.here ? "" : ", from a description of another computer (a variable HWLOC_... is set)");
  if (facts.nodes == 1) return;
  for (int i = 0; i < facts.nodes; i++) tell_node(d, &facts, i);
  tell_gpus_near_none(d, &facts);
  tell_nodes_without_cpus(d, &facts);
  tell_binding(d, &facts);
}
