/*
 * Matrices in NumPy files as distributed ones: each process reads, and writes, what it owns, all of
 * them together by MPI-IO.
 */
#ifndef TESSERA_PGEMM_MATRICES_H
#define TESSERA_PGEMM_MATRICES_H

#include "npy.h"
#include "pgemm.h"

/* What all know of a file. A row-major one is the transpose of a column-major matrix: rows and cols
 * are the file's, and what is read is cols x rows then. */
typedef struct matrix_file {
  tsr_type type;
  bool fortran;
  int64_t rows, cols;
  int64_t offset; /* of the first element in the file */
} matrix_file;

/* The first process looks; what is wrong it says. Collective. */
int matrix_file_open(const char *path, matrix_file *file);

/* Reads all of it into a new matrix of the type, in blocks. conjugate: elements are conjugated.
 * Collective. */
int matrix_read(const char *path, const matrix_file *file, tsr_grid *grid, tsr_type type,
                int64_t block, bool conjugate, tsr_pmatrix *matrix);

/* Writes it, as a Fortran-ordered file or (transposed: it is what a C-ordered file holds, column by
 * column) a C-ordered one, which is there when all of it is. Collective. */
int matrix_write(const char *path, bool fortran, const tsr_pmatrix *matrix);

#endif
