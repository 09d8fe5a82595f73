/*
 * What a panel is made of: rectangles that lie evenly both in the matrix and in the panel, one for
 * each run of k.
 */
#ifndef TSR_CLUSTER_PARTS_H
#define TSR_CLUSTER_PARTS_H

#include <stddef.h>
#include <stdint.h>

/* height runs of width bytes each. */
typedef struct tsr_part {
  const char *from;  /* in the matrix */
  size_t from_pitch; /* bytes between runs there, */
  size_t to;         /* from the beginning of the panel, */
  size_t to_pitch;   /* and between runs there */
  size_t width, height;
} tsr_part;

typedef void (*tsr_part_visit)(void *user, const tsr_part *part);

/* The parts of a panel. visit_lines goes through those of lines at .. at + count - 1; it may be
 * called for any lines in any order, and by several threads. */
typedef struct tsr_parts {
  void (*visit_lines)(const void *panel, int64_t at, int64_t count, tsr_part_visit visit,
                      void *user);
  const void *panel;
} tsr_parts;

/* Puts lines of so many bytes into host memory, tightly. */
void tsr_parts_pack(const tsr_parts *parts, size_t line, int64_t at, int64_t count, char *to);

#endif
