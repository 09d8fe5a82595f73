/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Reading a context's machine, for libtessera_papers, which is a library of its own. */
#ifndef TSR_FRONT_ASK_READ_H
#define TSR_FRONT_ASK_READ_H

#include "machine/machine.h"

/* Answers a question by the machine and the budgets of its devices [bytes], which do not change
 * before the function returns. */
typedef tsr_status tsr_context_reader(const tsr_machine *machine, const size_t *budget,
                                      void *question);

/* Calls the reader with what the context plans for, and returns its status. TSR_ERR_ARGUMENT: the
 * context is NULL, or of another process. */
TSR_API tsr_status tsr_context_read(tsr_context *context, tsr_context_reader *reader,
                                    void *question);

#endif
