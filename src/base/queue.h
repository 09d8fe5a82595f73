/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What a queue is for; engines may map it to a priority. */
#ifndef TSR_BASE_QUEUE_H
#define TSR_BASE_QUEUE_H

typedef enum tsr_queue_role {
  TSR_QUEUE_IN,      /* host to device copies */
  TSR_QUEUE_OUT,     /* device to host copies */
  TSR_QUEUE_PEER,    /* device to device copies; the queue is the sending device's */
  TSR_QUEUE_COMPUTE, /* kernels */
  TSR_QUEUE_ADD,     /* small kernels, which run before those that wait in COMPUTE */
  TSR_QUEUE_STAGING, /* staging threads of the host; engines have none */
  TSR_QUEUE_USER     /* the user's stream, which queue_create() gets as native */
} tsr_queue_role;

#endif
