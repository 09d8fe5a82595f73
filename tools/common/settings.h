/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The options from which every subcommand makes its context, the homes of operands, and values of
 * options.
 */
#ifndef TESSERA_TOOL_SETTINGS_H
#define TESSERA_TOOL_SETTINGS_H

#include "options.h"

/* The options as given; all zero if none is. */
typedef struct settings {
  const char *engine, *devices, *machine;
  const char *memory; /* "16G", or one budget for each device: "16G,4G" */
  int64_t tile;
  const char *arithmetic;
  bool reproducible, check;
  bool trace; /* keep measured times of commands; set by --timeline */
} settings;

/* Rows of an option table. */
#define SETTINGS_ENGINE(s)                                                                     \
  {                                                                                            \
    "engine", 0, OPTION_TEXT, &(s)->engine, "cuda|hip|host|cpu",                               \
        "NVIDIA GPUs, AMD GPUs, emulated devices, or the CPU's BLAS (default: GPUs if found, " \
        "else cpu)"                                                                            \
  }
#define SETTINGS_DEVICES(s)                                                            \
  {                                                                                    \
    "devices", 0, OPTION_TEXT, &(s)->devices, "N|LIST",                                \
        "a count, or a list: 0,2 or 3,; ..4: at most 4 (default: the planner chooses)" \
  }
#define SETTINGS_MACHINE(s)                                                      \
  {                                                                              \
    "machine", 0, OPTION_TEXT, &(s)->machine, "NAME|FILE|STRING",                \
        "plan for this machine: an installed one ('tessera machine --list'), a " \
        "file, or a string such as 'host:200 gpu*8@nvswitch:300 pcie:25/pair'"   \
  }
#define SETTINGS_MEMORY(s)                                                                         \
  {                                                                                                \
    "memory", 0, OPTION_TEXT, &(s)->memory, "BYTES",                                               \
        "budget of each device: 16G, 1.5GiB; or a list: 16G,4G (default: 80 % of its free memory)" \
  }
#define SETTINGS_TILE(s) \
  { "tile", 0, OPTION_WHOLE, &(s)->tile, "N", "tiles of N x N (default: the planner chooses)" }
#define SETTINGS_REPRODUCIBLE(s)                              \
  {                                                           \
    "reproducible", 0, OPTION_FLAG, &(s)->reproducible, NULL, \
        "the same bits on any number of devices"              \
  }
#define SETTINGS_ARITHMETIC(s)                                                                     \
  {                                                                                                \
    "arithmetic", 0, OPTION_TEXT, &(s)->arithmetic, "WORD",                                        \
        "native; emulated, from products of 8-bit integers, with as good an accuracy; emulated:M " \
        "with M moduli; emulated:X, accurate to X; auto or auto:X, the faster of both (default: "  \
        "native)"                                                                                  \
  }
#define SETTINGS_CHECK(s) \
  { "check", 0, OPTION_FLAG, &(s)->check, NULL, "verify every plan, poison buffers (slow)" }

/* Makes the context; the exit code, after a message if it fails. */
int settings_open(const settings *s, tsr_context **context);

/* Fills the options of a context, for a caller that makes the context by another function and then
 * calls settings_force. Texts are not copied. The exit code, after a message if memory cannot be
 * read. */
int settings_options(const settings *s, tsr_options *options);

/* Sets the extent of tiles of a context, which tsr_options cannot. */
tsr_status settings_force(const settings *s, tsr_context *context);

/* Checks memory and machine without making a context on devices; the exit code, after a message if
 * one cannot be read. */
int settings_check(const settings *s);

/* Whether --engine or TESSERA_ENGINE asks for emulated devices. */
bool settings_emulated(const settings *s);

/* ---- Homes ---- */

typedef enum home_kind {
  HOME_AS_IS,
  HOME_PINNED,
  HOME_PAGEABLE,
  HOME_MANAGED,
  HOME_DEVICE
} home_kind;

typedef struct home {
  home_kind kind;
  int device; /* or the host memory node; TSR_INTERLEAVED: all nodes */
} home;

/* The words of --home, for its help and for the error: of a command whose h is pinned memory, of
 * tessera gemm, whose h is the memory that a file is mapped to, and of plans. */
#define HOMES_PLACES "p pinned host, u pageable host, 0.. a device"
#define HOMES_PINNED "h or " HOMES_PLACES
#define HOMES_AS_IS "h as mapped, " HOMES_PLACES
#define HOMES_PLANNED                                                                 \
  HOMES_PINNED                                                                        \
  ", m managed; behind h, p and u, 1.. is a memory node (h1; else node 0) and i all " \
  "nodes, interleaved (hi)"

/* Reads homes of A, B, C such as "h,h,h" or "0,0,3", or one for all; the exit code. h_means: the
 * kind that h stands for. What only plans can have is refused: m (managed), and nodes of host
 * memory (h1, or hi for interleaved). */
int homes_parse(const char *text, home_kind h_means, home homes[3]);

/* As homes_parse, for operands with the given letters ("AC"). The last is the written matrix,
 * homes[2]. */
int homes_parse_of(const char *operands, const char *text, home_kind h_means, home homes[3]);

/* As homes_parse_of, with all that plans can have. */
int homes_parse_planned(const char *operands, const char *text, home_kind h_means, home homes[3]);

/* The home as tsr_plan_level3 takes it. */
tsr_home home_for_library(home place);

/* ---- Letters ---- */

/* Read the value of --type, --transa and so on; the exit code. name: the option's name in the
 * message. */
int parse_type(const char *name, const char *text, tsr_type *type);
int parse_op(const char *name, const char *text, tsr_op *op);

typedef struct scalar {
  double re, im;
} scalar;
/* Reads a number such as "1.5", "1.5+2j" or "-2j"; the exit code. */
int parse_scalar(const char *name, const char *text, scalar *value);

/* A scalar in the form in which the library takes it for a type. */
typedef union scalar_value {
  float s[2];
  double d[2];
} scalar_value;
scalar_value scalar_for(tsr_type type, scalar value);

#endif
