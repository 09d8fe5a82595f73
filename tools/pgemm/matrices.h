/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reads NumPy files into distributed matrices and writes them: by MPI-IO, each process its own
 * part, all together.
 */
#ifndef TESSERA_PGEMM_MATRICES_H
#define TESSERA_PGEMM_MATRICES_H

#include "npy.h"
#include "pgemm.h"

/* The head of a file, known to all processes. rows and cols are the file's. A row-major file is
 * read as its transpose, a column-major matrix of cols x rows. */
typedef struct matrix_file {
  tsr_type type;
  bool fortran;
  int64_t rows, cols;
  int64_t offset; /* bytes, of the first element in the file */
} matrix_file;

/* Where the blocks of one direction end; the last entry is the extent. */
typedef struct block_list {
  int64_t *ends, count;
} block_list;

/* How a matrix is cut into blocks: block x block, or as the lists say, if there are any. */
typedef struct matrix_blocks {
  int64_t block;
  const block_list *rows, *cols; /* both or none */
} matrix_blocks;

/* Makes an m x n matrix in these blocks. Collective. */
tsr_status matrix_create(tsr_grid *grid, tsr_type type, int64_t m, int64_t n,
                         const matrix_blocks *blocks, tsr_pmatrix *matrix);

/* Reads the head of a file on the first process, which prints errors. Collective; the same exit
 * code on all. */
int matrix_file_open(const char *path, matrix_file *file);

/* Reads the whole file into a new distributed matrix of the type, in the given blocks of the
 * matrix, which is the file's transpose if that is row-major. conjugate: conjugates the elements.
 * Collective; the exit code. */
int matrix_read(const char *path, const matrix_file *file, tsr_grid *grid, tsr_type type,
                const matrix_blocks *blocks, bool conjugate, tsr_pmatrix *matrix);

/* The file of a result, which the first process has created. Zeroed: none. */
typedef struct matrix_output {
  npy file; /* of the first process */
} matrix_output;

/* Creates the file with all its bytes, as npy_create does. Collective; the same exit code on
 * all. */
int matrix_output_open(const char *path, bool force, tsr_type type, bool fortran, int64_t rows,
                       int64_t cols, matrix_output *to);

/* Writes the matrix to a Fortran-ordered file, or its transpose to a C-ordered file, and puts the
 * file in its place. Collective; the exit code. */
int matrix_write(matrix_output *to, const tsr_pmatrix *matrix);

/* Removes the file unless it was written. */
void matrix_output_close(matrix_output *to);

#endif
