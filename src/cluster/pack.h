/*
 * Copying by several threads: packing a panel by one is slower than the network.
 */
#ifndef TSR_CLUSTER_PACK_H
#define TSR_CLUSTER_PACK_H

#include <stdint.h>

#include "base/status.h"

typedef struct tsr_packers tsr_packers;

/* Threads start when they are first needed; the number follows from the processors that this
 * process may use, at most four. TSR_ERR_MEMORY. */
tsr_status tsr_packers_create(tsr_packers **packers);
void tsr_packers_destroy(tsr_packers *packers); /* NULL is accepted */

/* Calls work(what, at, count) for parts that make up 0 .. lines-1, from several threads and the
 * calling one, and waits. bytes: how much it is in all; what is little is done by the calling
 * thread. One caller at a time. */
typedef void (*tsr_pack_work)(void *what, int64_t at, int64_t count);
void tsr_packers_run(tsr_packers *packers, tsr_pack_work work, void *what, int64_t lines,
                     size_t bytes);

#endif
