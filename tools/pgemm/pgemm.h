/* tessera-pgemm: what its subcommands share. */
#ifndef TESSERA_PGEMM_H
#define TESSERA_PGEMM_H

#include "settings.h"
#include "tessera_mpi_model.h"

/* How products are cut, as options say; 0: by the model. */
typedef struct cut_options {
  int64_t depth, lookahead;
  const char *blocks;       /* "RxC" */
  double network, up, down; /* GB/s */
} cut_options;

#define CUT_OPTIONS(c)                                                                              \
  {"depth", 0, OPTION_WHOLE, &(c)->depth, "N", "extent of panels in k (default: by model)"},        \
      {"lookahead",                                                                                 \
       0,                                                                                           \
       OPTION_WHOLE,                                                                                \
       &(c)->lookahead,                                                                             \
       "N",                                                                                         \
       "panels on their way while one is multiplied (default: by model)",                           \
       0,                                                                                           \
       16},                                                                                         \
      {"blocks",     0,     OPTION_TEXT,                                                            \
       &(c)->blocks, "RxC", "blocks of C in a process's own rows and columns (default: by model)"}, \
  {                                                                                                 \
    "network", 0, OPTION_NUMBER, &(c)->network, "GB/S",                                             \
        "what a process sends, and receives, for predictions (default: as the machine says)", 0,    \
        1e6                                                                                         \
  }

/* The worst code of all processes. Collective. */
int all_agree(int code);
bool is_first(void);

/* "2x3": whole numbers of at least 1. name is the option's in the message. */
int parse_pair(const char *name, const char *text, int64_t pair[2]);

/* Whether they can be read; an exit code after a message. */
int cut_check(const cut_options *options);

/* Sets them on a grid. */
int cut_apply(const cut_options *options, tsr_grid *grid);

/* Says it where panels of several processes with GPUs go through host memory unasked: whoever reads
 * the times should know. Of one process. */
void tell_detour(tsr_context *context, const tsr_grid *grid);

/* The subcommands; argv[0] is the subcommand's name. */
int pgemm_run(int argc, char **argv);
int pgemm_plan(int argc, char **argv);

#endif
