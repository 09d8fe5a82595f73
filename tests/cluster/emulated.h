/* A fabric between emulated devices, in place of NCCL's: what transport_device.c does is tested
 * with it where there are no others. */
#ifndef TESTS_DIST_EMULATED_H
#define TESTS_DIST_EMULATED_H

#include "tessera.h"

/* The nth of what is carried from now on (1: the next) fails: as it is asked for, if it goes up, or
 * later, when it should have been done. 0: none. */
TSR_API void emulated_fail_at(long n, int later);

/* How many were carried. */
TSR_API long emulated_carried(void);

/* Every other mark from now on cannot be set. 0: all can. */
TSR_API void emulated_unset_events(int unset);

/* How many had not been done yet when their fabric was closed. */
TSR_API long emulated_left(void);

/* Grids that are made from now on have no more ways up than this. 0: as many as there are devices.
 */
TSR_API void emulated_limit_ways(int most);

/* How many pieces went on from a relay buffer, and how often something came up before what had
 * set out earlier, by another way. */
TSR_API long emulated_onward(void);
TSR_API long emulated_overtaken(void);

/* Grids that are made from now on have the same device on all processes. */
TSR_API void emulated_share_device(int shared);

#endif
