/*
 * Matrices in NumPy's .npy files (versions 1.0, 2.0, 3.0), mapped rather than read, so that one may
 * be larger than memory.
 *
 * Source: numpy.lib.format, "Format specification".
 */
#ifndef TESSERA_NPY_H
#define TESSERA_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera.h"

typedef struct npy {
  tsr_type type; /* of the elements as stored: s d c z h b */
  bool fortran;  /* column-major; else row-major */
  int64_t rows, cols;
  void *data;     /* the first element; read-only in a file that was opened */
  bool aligned;   /* data stands at a multiple of the element's size */
  void *mapping;  /* the whole file */
  size_t mapped;  /* bytes */
  int descriptor; /* of the file; 0: none */
  char *path;
  char *temporary; /* a file that is being made; NULL once committed, or opened */
} npy;

/* Why a call returned false; names the path. */
typedef struct npy_reason {
  char text[640];
} npy_reason;

/* Maps an existing file. What is not a matrix of a supported type, or is cut short, or has bytes
 * behind its end, is refused. */
bool npy_open(const char *path, npy *file, npy_reason *reason);

/* Makes a file beside path, as large as it will be, and maps it for writing. */
bool npy_create(const char *path, tsr_type type, bool fortran, int64_t rows, int64_t cols,
                npy *file, npy_reason *reason);

/* Puts a created file in its place, once all of it is on the disk. */
bool npy_commit(npy *file, npy_reason *reason);

/* Unmaps; what was created and not committed is removed. A zeroed npy is allowed. */
void npy_close(npy *file);

/* Removes the file that is being made, if any; for a signal handler. */
void npy_remove_unfinished(void);

#endif
