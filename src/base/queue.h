/* What a queue is for; engines may map it to a priority. */
#ifndef TSR_BASE_QUEUE_H
#define TSR_BASE_QUEUE_H

typedef enum tsr_queue_role {
  TSR_QUEUE_IN,      /* host to device copies */
  TSR_QUEUE_OUT,     /* device to host copies */
  TSR_QUEUE_PEER,    /* device to device copies, pushed by the sender */
  TSR_QUEUE_COMPUTE, /* kernels */
  TSR_QUEUE_ADD,     /* small kernels that go before COMPUTE */
  TSR_QUEUE_STAGING, /* host threads (never an engine's) */
  TSR_QUEUE_USER     /* wraps the user's stream, given as native */
} tsr_queue_role;

#endif
