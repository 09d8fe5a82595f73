/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Matrices in NumPy's .npy files (versions 1.0, 2.0, 3.0). Files are mapped, not read, so that a
 * matrix may be larger than memory.
 *
 * Source: numpy.lib.format, "Format specification".
 */
#ifndef TESSERA_NPY_H
#define TESSERA_NPY_H

#include "elements.h"
#include "output_file.h"

typedef struct npy {
  tsr_type type; /* of the elements as stored: s d c z h b */
  bool fortran;  /* column-major; else row-major */
  int64_t rows, cols;
  bool vector;    /* the array has one dimension: a matrix of one column */
  void *data;     /* the first element; read-only in a file that was opened */
  bool aligned;   /* the address of data is a multiple of the element's size */
  void *mapping;  /* the whole file */
  size_t mapped;  /* bytes of the mapping */
  int descriptor; /* of the file; 0: none */
  char *path;
  output_file output; /* of a created file; its descriptor is the file's */
} npy;

/* Maps an existing file for reading. False, with the reason: it cannot be opened, is no matrix of a
 * supported type, or is shorter or longer than its header says. */
bool npy_open(const char *path, npy *file, file_reason *reason);

/* As npy_open; an array of one dimension is a matrix of one column. */
bool npy_open_columns(const char *path, npy *file, file_reason *reason);

/* Creates a file of its final size, as output_begin does, and maps it for writing. */
bool npy_create(const char *path, bool force, tsr_type type, bool fortran, int64_t rows,
                int64_t cols, npy *file, file_reason *reason);

/* As npy_create, for an array of one dimension. */
bool npy_create_vector(const char *path, bool force, tsr_type type, int64_t length, npy *file,
                       file_reason *reason);

/* Puts a created file in its place, as output_commit does. */
bool npy_commit(npy *file, file_reason *reason);

/* The matrix in the file. */
matrix_view npy_view(const npy *file);

/* Unmaps and closes the file; removes a created file that was not committed. A zeroed npy is
 * allowed. */
void npy_close(npy *file);
#endif
