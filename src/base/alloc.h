/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All host allocations of the library go through these functions, so that tests can make the nth
 * one fail (tsr_alloc_fail_at in tessera_model.h).
 */
#ifndef TSR_BASE_ALLOC_H
#define TSR_BASE_ALLOC_H

#include <stddef.h>

/* Memory comes from malloc, so users free what the library hands them with free(). A function
 * returns NULL when memory is out; a size of 0 counts as 1. */
void *tsr_alloc(size_t bytes);                   /* not cleared */
void *tsr_alloc_zero(size_t count, size_t size); /* cleared */
void *tsr_realloc(void *pointer, size_t bytes);  /* NULL: pointer is still valid */
char *tsr_strdup(const char *s);
void tsr_dealloc(void *pointer);

#endif
