/*
 * The options by which every subcommand shapes its context, and where operands live.
 */
#ifndef TESSERA_TOOL_SETTINGS_H
#define TESSERA_TOOL_SETTINGS_H

#include "options.h"

/* The options as given; all zero when none is. */
typedef struct settings {
  const char *engine, *devices, *machine;
  const char *memory; /* "16G", or device by device "16G,4G" */
  int64_t tile;
  bool reproducible, check;
  bool trace; /* keep measured times; not an option */
} settings;

/* Rows of an option table. */
#define SETTINGS_ENGINE(s)                                                                  \
  {                                                                                         \
    "engine", 0, OPTION_TEXT, &(s)->engine, "host|cuda|cpu",                                \
        "emulated devices, NVIDIA GPUs, or the CPU's BLAS (default: the best that is here)" \
  }
#define SETTINGS_DEVICES(s)                                                                \
  {                                                                                        \
    "devices", 0, OPTION_TEXT, &(s)->devices, "N|LIST",                                    \
        "how many devices, or which: 0,2 or 3,; ..4: at most (default: as the model says)" \
  }
#define SETTINGS_MACHINE(s)                                                         \
  {                                                                                 \
    "machine", 0, OPTION_TEXT, &(s)->machine, "FILE|STRING",                        \
        "plan for this machine, such as 'host:200 gpu*8@nvswitch:300 pcie:25/pair'" \
  }
#define SETTINGS_MEMORY(s)                                                                       \
  {                                                                                              \
    "memory", 0, OPTION_TEXT, &(s)->memory, "BYTES",                                             \
        "budget for each device: 16G, 1.5GiB; 16G,4G one by one (default: 80 % of what is free)" \
  }
#define SETTINGS_TILE(s) \
  { "tile", 0, OPTION_WHOLE, &(s)->tile, "N", "tiles of N elements (default: by the model)" }
#define SETTINGS_REPRODUCIBLE(s)                              \
  {                                                           \
    "reproducible", 0, OPTION_FLAG, &(s)->reproducible, NULL, \
        "the same bits on any number of devices"              \
  }
#define SETTINGS_CHECK(s) \
  { "check", 0, OPTION_FLAG, &(s)->check, NULL, "verify every plan, poison buffers (slow)" }

/* Makes the context; an exit code after a message. */
int settings_open(const settings *s, tsr_context **context);

/* What it is made with, for who makes one in another way; the texts are not copied. An exit code
 * after a message. */
int settings_options(const settings *s, tsr_options *options);

/* What is forced on a context that was made so: the extent of tiles. */
tsr_status settings_force(const settings *s, tsr_context *context);

/* Whether memory and machine can be read, for who opens nothing, or not at once; an exit code after
 * a message. */
int settings_check(const settings *s);

/* Whether the devices are emulated ones, as far as the options and the environment tell. */
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
  int device;
} home;

/* "h,h,h", "0,0,3", or one letter for all. h_means: what h stands for. Not m: there is no such
 * memory but in plans. */
int homes_parse(const char *text, home_kind h_means, home homes[3]);

/* The same, with m, for operands with those letters, "AC": the last is what is written, homes[2].
 */
int homes_parse_of(const char *operands, const char *text, home_kind h_means, home homes[3]);

tsr_home home_for_library(home place);

/* ---- Letters ---- */

/* --type, --transa and so on; name is the option's in the message. */
int parse_type(const char *name, const char *text, tsr_type *type);
int parse_op(const char *name, const char *text, tsr_op *op);

/* "1.5", "1.5+2j", "-2j". */
typedef struct scalar {
  double re, im;
} scalar;
int parse_scalar(const char *name, const char *text, scalar *value);

/* A scalar as the library takes it for a type. */
typedef union scalar_value {
  float s[2];
  double d[2];
} scalar_value;
scalar_value scalar_for(tsr_type type, scalar value);

#endif
