/*
 * Host allocations of the library, in one place so that tests can make the nth one fail
 * (tsr_alloc_fail_at in tessera_model.h).
 */
#ifndef TSR_BASE_ALLOC_H
#define TSR_BASE_ALLOC_H

#include <stddef.h>

/* All of it is the C library's: what is handed to users they free with free(). */
void *tsr_alloc(size_t bytes);                   /* not cleared; NULL when memory is out */
void *tsr_alloc_zero(size_t count, size_t size); /* cleared */
void *tsr_realloc(void *pointer, size_t bytes);
char *tsr_strdup(const char *s);
void tsr_dealloc(void *pointer);

#endif
