/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An operand of a random problem where the problem wants it: storage with guards before and
 * behind it and NaN in everything that is not the matrix, and an image on the host of what it
 * must still hold afterwards.
 */
#ifndef TSR_TESTS_OPERAND_H
#define TSR_TESTS_OPERAND_H

#include "problem.h"
#include "tessera.h"

typedef struct operand {
  tsr_context *context;
  char type, home;
  stored shape;
  int64_t ld;
  size_t bytes;          /* of the storage, guards included */
  size_t start;          /* of the matrix in the storage, bytes */
  unsigned char *memory; /* the storage, at its home */
  unsigned char *image;  /* what was put there */
  void *registered;      /* the part that is, or is to be, registered */
  size_t registered_bytes;
} operand;

typedef enum operand_content {
  CONTENT_RANDOM,
  CONTENT_DOMINANT, /* random, the diagonal so large that the condition is small */
  CONTENT_REAL,     /* random, a diagonal whose imaginary parts are not stored has zeros there */
  CONTENT_DEFINITE, /* random, the diagonal so large that the matrix is positive definite */
  CONTENT_NAN       /* must not be read */
} operand_content;

size_t element_size(char type);
/* Elements as numbers; 16-bit types round to nearest even. Independent of the library. */
void element_put(char type, void *at, double re, double im);
void element_get(char type, const void *at, double *re, double *im);

/* Makes and fills the storage of one operand (0 A, 1 B, 2 C) in that shape. What is not stored, of
 * a shape where it stands for something, is NaN; of one where it does not (the other triangle of
 * C), numbers and NaN. */
tsr_status operand_create(const problem *p, tsr_context *context, int which, const stored *shape,
                          operand_content content, rng *random, operand *made);
/* Writes an element of the image, along ld and across, to where the operand is, too. */
tsr_status operand_set(operand *o, int64_t i, int64_t j, double re);
void operand_destroy(operand *o);

/* Registers, asynchronously, what is to be so; and undoes it. */
tsr_status operand_register(operand *o);
tsr_status operand_unregister(operand *o);

/* The address to call with; NULL for an operand that was not made. */
void *operand_pointer(const operand *o);

/* Element (i along ld, j across) of the image, or of bytes laid out as it. */
const void *operand_at(const operand *o, const unsigned char *bytes, int64_t i, int64_t j);

/* The number that element (i, j) stands for, stored or not. */
void operand_value(const operand *o, const unsigned char *bytes, int64_t i, int64_t j, double *re,
                   double *im);

/* Brings the storage to the host. *bytes is made with malloc. */
tsr_status operand_fetch(const operand *o, unsigned char **bytes);

/* The first byte outside of what is stored (or, with all, anywhere) that is not as in the image; -1
 * if there is none. */
int64_t operand_first_change(const operand *o, const unsigned char *bytes, bool all);

#endif
