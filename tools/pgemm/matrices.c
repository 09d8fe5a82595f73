/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "matrices.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elements.h"

static int check_mpi(int code, const char *what, const char *path) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return TOOL_OK;
  MPI_Error_string(code, text, &length);
  return tool_fail("%s: cannot %s: %s", path, what, text);
}

/* ---- Heads ---------------------------------------------------------------------- */

static int look(const char *path, matrix_file *file) {
  npy found;
  file_reason reason;
  if (!npy_open(path, &found, &reason)) return tool_fail("%s", reason.text);
  *file = (matrix_file){.type = found.type,
                        .fortran = found.fortran,
                        .rows = found.rows,
                        .cols = found.cols,
                        .offset = (char *)found.data - (char *)found.mapping};
  npy_close(&found);
  return TOOL_OK;
}

int matrix_file_open(const char *path, matrix_file *file) {
  int code = is_first() ? look(path, file) : TOOL_OK;
  code = all_agree(code);
  if (code == TOOL_OK) MPI_Bcast(file, sizeof *file, MPI_BYTE, 0, MPI_COMM_WORLD);
  return code;
}

/* ---- The part of a file that a process owns ---------------------------------------- */

/* The blocks of one direction that a coordinate owns: where each begins in the whole, and its
 * extent. */
typedef struct own_blocks {
  MPI_Aint *begins;
  int *extents, count;
} own_blocks;

static bool own_blocks_find(const int64_t *ends, int64_t blocks, int count, int me,
                            own_blocks *own) {
  int64_t room = blocks / count + 1;
  *own = (own_blocks){malloc((size_t)room * sizeof *own->begins),
                      malloc((size_t)room * sizeof *own->extents), 0};
  if (own->begins == NULL || own->extents == NULL) return false;
  for (int64_t b = me; b < blocks; b += count) {
    int64_t begin = b > 0 ? ends[b - 1] : 0;
    own->begins[own->count] = (MPI_Aint)begin;
    own->extents[own->count++] = (int)(ends[b] - begin);
  }
  return true;
}

static void own_blocks_free(own_blocks *own) {
  free(own->begins);
  free(own->extents);
}

/* *type: own blocks of `unit`, which is `bytes` bytes from one to the next. */
static int list_blocks(own_blocks *own, MPI_Aint bytes, MPI_Datatype unit, MPI_Datatype *type) {
  for (int i = 0; i < own->count; i++) own->begins[i] *= bytes;
  return MPI_Type_create_hindexed(own->count, own->extents, own->begins, unit, type);
}

/* The part of a matrix in irregular blocks: of each own column the own rows. */
static int make_irregular(const tsr_pmatrix *x, const int grid[2], const int me[2],
                          MPI_Datatype element, size_t size, MPI_Datatype *part) {
  own_blocks rows = {0}, cols = {0};
  MPI_Datatype pieces, column;
  MPI_Aint length = (MPI_Aint)x->m * (MPI_Aint)size;
  int code = MPI_ERR_NO_MEM;
  if (own_blocks_find(x->row_ends, x->row_blocks, grid[0], me[0], &rows) &&
      own_blocks_find(x->col_ends, x->col_blocks, grid[1], me[1], &cols))
    code = list_blocks(&rows, (MPI_Aint)size, element, &pieces);
  if (code == MPI_SUCCESS) {
    MPI_Type_create_resized(pieces, 0, length, &column);
    code = list_blocks(&cols, length, column, part);
    MPI_Type_free(&column);
    MPI_Type_free(&pieces);
  }
  own_blocks_free(&rows);
  own_blocks_free(&cols);
  return code;
}

/* *part: this process's part of the matrix as MPI's block-cyclic array type. Its elements in order
 * are the local column-major matrix. */
static int make_part(const tsr_pmatrix *x, size_t size, MPI_Datatype *part) {
  int rows, cols, row, col;
  if (x->m > INT_MAX || x->n > INT_MAX)
    return tool_fail("matrices above %d rows or columns cannot be read or written", INT_MAX);
  tsr_grid_place(x->grid, &rows, &cols, &row, &col);
  MPI_Datatype element;
  int sizes[2] = {(int)x->m, (int)x->n}, grid[2] = {rows, cols};
  int cyclic[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
  int blocks[2] = {(int)x->mb, (int)x->nb};
  MPI_Type_contiguous((int)size, MPI_BYTE, &element);
  MPI_Type_commit(&element);
  int me[2] = {row, col};
  int code = x->row_ends != NULL
                 ? make_irregular(x, grid, me, element, size, part)
                 : MPI_Type_create_darray(rows * cols, row * cols + col, 2, sizes, cyclic, blocks,
                                          grid, MPI_ORDER_FORTRAN, element, part);
  MPI_Type_free(&element);
  if (code != MPI_SUCCESS) return tool_fail("MPI cannot describe the matrix");
  MPI_Type_commit(part);
  return TOOL_OK;
}

/* The type of a local column of contiguous elements. Counting columns keeps counts within MPI's
 * int. */
static MPI_Datatype column_type(int64_t rows, size_t size) {
  MPI_Datatype element, column;
  MPI_Type_contiguous((int)size, MPI_BYTE, &element);
  MPI_Type_contiguous((int)rows, element, &column);
  MPI_Type_commit(&column);
  MPI_Type_free(&element);
  return column;
}

static int transfer(MPI_File file, const char *path, int64_t offset, const tsr_pmatrix *x,
                    size_t size, void *data, bool writes) {
  MPI_Datatype part;
  int64_t rows = 0, cols = 0;
  int code = tool_status(tsr_pmatrix_extents(x, &rows, &cols));
  if (!code) code = make_part(x, size, &part);
  code = all_agree(code);
  if (code) return code;
  MPI_Datatype column = column_type(rows, size), element;
  MPI_Type_contiguous((int)size, MPI_BYTE, &element);
  MPI_Type_commit(&element);
  int count = rows > 0 ? (int)cols : 0;
  code = check_mpi(MPI_File_set_view(file, offset, element, part, "native", MPI_INFO_NULL), "see",
                   path);
  if (!code && writes)
    code =
        check_mpi(MPI_File_write_all(file, data, count, column, MPI_STATUS_IGNORE), "write", path);
  if (!code && !writes)
    code = check_mpi(MPI_File_read_all(file, data, count, column, MPI_STATUS_IGNORE), "read", path);
  MPI_Type_free(&element);
  MPI_Type_free(&column);
  MPI_Type_free(&part);
  return all_agree(code);
}

/* ---- Reading -------------------------------------------------------------------- */

typedef struct reading {
  const char *path;
  const matrix_file *file;
  tsr_pmatrix *matrix;
  bool conjugate;
} reading;

static int read_data(const reading *r, void *data) {
  MPI_File file;
  int code =
      check_mpi(MPI_File_open(MPI_COMM_WORLD, r->path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                "open", r->path);
  code = all_agree(code);
  if (code) return code;
  code =
      transfer(file, r->path, r->file->offset, r->matrix, element_size(r->file->type), data, false);
  MPI_File_close(&file);
  return code;
}

/* Converts elements from the file's type to the matrix's; in both the leading dimension is the
 * number of local rows. */
static void convert(const reading *r, const void *data, int64_t count) {
  enum { AT_ONCE = 512 };
  double re[AT_ONCE], im[AT_ONCE];
  for (int64_t at = 0; at < count; at += AT_ONCE) {
    int64_t some = count - at < AT_ONCE ? count - at : AT_ONCE;
    element_load(r->file->type, data, at, some, re, im);
    for (int64_t i = 0; i < some && r->conjugate; i++) im[i] = -im[i];
    element_store(r->matrix->type, r->matrix->data, at, some, re, im);
  }
}

static int fill(const reading *r) {
  int64_t rows, cols;
  tsr_pmatrix_extents(r->matrix, &rows, &cols);
  if (r->file->type == r->matrix->type && !r->conjugate) return read_data(r, r->matrix->data);
  void *data = malloc((size_t)(rows * cols) * element_size(r->file->type) + 1);
  int code = all_agree(data ? TOOL_OK : tool_fail("%s: out of memory", r->path));
  if (!code) code = read_data(r, data);
  if (!code) convert(r, data, rows * cols);
  free(data);
  return code;
}

tsr_status matrix_create(tsr_grid *grid, tsr_type type, int64_t m, int64_t n,
                         const matrix_blocks *blocks, tsr_pmatrix *matrix) {
  if (blocks->rows == NULL)
    return tsr_pmatrix_create(grid, type, m, n, blocks->block, blocks->block, 0, 0, matrix);
  return tsr_pmatrix_create_irregular(grid, type, blocks->rows->count, blocks->rows->ends,
                                      blocks->cols->count, blocks->cols->ends, 0, 0, matrix);
}

int matrix_read(const char *path, const matrix_file *file, tsr_grid *grid, tsr_type type,
                const matrix_blocks *blocks, bool conjugate, tsr_pmatrix *matrix) {
  int64_t m = file->fortran ? file->rows : file->cols, n = file->fortran ? file->cols : file->rows;
  tsr_status status = matrix_create(grid, type, m, n, blocks, matrix);
  if (status != TSR_OK) return is_first() ? tool_status(status) : TOOL_FAILED;
  reading r = {path, file, matrix, conjugate};
  return m > 0 && n > 0 ? fill(&r) : TOOL_OK;
}

/* ---- Writing -------------------------------------------------------------------- */

int matrix_output_open(const char *path, bool force, tsr_type type, bool fortran, int64_t rows,
                       int64_t cols, matrix_output *to) {
  file_reason reason;
  *to = (matrix_output){0};
  bool good = !is_first() || npy_create(path, force, type, fortran, rows, cols, &to->file, &reason);
  return all_agree(good ? TOOL_OK : tool_fail("-o %s", reason.text));
}

/* How the first process's file is named for all processes, and by which numbers they know it. */
typedef struct address {
  char path[PATH_MAX];
  dev_t device;
  ino_t inode;
} address;

/* Whether this process finds the file of the address, and no other one, under its path. */
static bool finds(const address *at) {
  struct stat status;
  return stat(at->path, &status) == 0 && status.st_dev == at->device &&
         status.st_ino == at->inode && access(at->path, R_OK | W_OK) == 0;
}

/* The address by the first process's descriptor, for processes of its host. */
static void address_here(const matrix_output *to, address *at) {
  struct stat status;
  if (!is_first()) return;
  snprintf(at->path, sizeof at->path, "/proc/%ld/fd/%d", (long)getpid(), to->file.descriptor);
  if (fstat(to->file.descriptor, &status) != 0) return;
  at->device = status.st_dev;
  at->inode = status.st_ino;
}

/* The address that all processes have. The file has no name while processes of one host write it,
 * so that a killed program leaves nothing. If one process does not find it under the descriptor
 * (it runs on another host or in another container), the file gets a temporary name for the time
 * in which it is written; the first process removes it if a signal ends the program. */
static int find_address(matrix_output *to, address *at) {
  file_reason reason;
  *at = (address){.path = ""};
  address_here(to, at);
  MPI_Bcast(at, sizeof *at, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (all_agree(finds(at) ? TOOL_OK : TOOL_FAILED) == TOOL_OK) return TOOL_OK;
  bool named = !is_first() || output_show(&to->file.output, &reason);
  int code = all_agree(named ? TOOL_OK : tool_fail("-o %s", reason.text));
  if (is_first() && named) snprintf(at->path, sizeof at->path, "%s", to->file.output.temporary);
  MPI_Bcast(at, sizeof *at, MPI_BYTE, 0, MPI_COMM_WORLD);
  return code;
}

static int write_data(matrix_output *to, const tsr_pmatrix *x) {
  MPI_File file;
  address at;
  int64_t offset = is_first() ? (char *)to->file.data - (char *)to->file.mapping : 0;
  int code = find_address(to, &at);
  if (code) return code;
  MPI_Bcast(&offset, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  code = check_mpi(MPI_File_open(MPI_COMM_WORLD, at.path, MPI_MODE_RDWR, MPI_INFO_NULL, &file),
                   "open", at.path);
  code = all_agree(code);
  if (code) return code;
  code = transfer(file, at.path, offset, x, element_size(x->type), x->data, true);
  int closed = check_mpi(MPI_File_close(&file), "close", at.path);
  return all_agree(code ? code : closed);
}

int matrix_write(matrix_output *to, const tsr_pmatrix *x) {
  file_reason reason;
  int code = x->m > 0 && x->n > 0 ? write_data(to, x) : TOOL_OK;
  if (!code && is_first() && !npy_commit(&to->file, &reason))
    code = tool_fail("-o %s", reason.text);
  return all_agree(code);
}

void matrix_output_close(matrix_output *to) {
  npy_close(&to->file);
}
