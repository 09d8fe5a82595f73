/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Locks among the processes of a user: what one of them measures or makes for the cache, the others
 * wait for.
 */
#ifndef TSR_BASE_SYSTEM_CACHE_LOCK_H
#define TSR_BASE_SYSTEM_CACHE_LOCK_H

/* Takes the lock of this name, which is a file of the cache. While another process, or thread,
 * holds it, waits for at most so many seconds. Returns the lock, which ends with the process if not
 * earlier; -1: others held it all the time, or there is no cache to write. */
int tsr_cache_lock(const char *name, double seconds);

/* lock may be -1. */
void tsr_cache_unlock(int lock);

#endif
