/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A HIP runtime for tests: the functions that src/engine/hip/functions.h names, over host memory
 * and threads. Its libraries have the names of ROCm's (libamdhip64.so.N, librocblas.so.N), so that
 * the engine loads them as it would load ROCm. TSR_ROCM (5, 6 or 7) is the release that is
 * imitated.
 *
 * It is strict: what HIP's manual forbids or leaves undefined, and what the engine promises not to
 * do, is a misuse. A misuse is written to stderr and to the file TSR_HIP_LOG, the function returns
 * an error, and the process ends with the code 99. Environment, read once:
 *
 *   TSR_HIP_DEVICES  number of devices (2), of which ROCR_VISIBLE_DEVICES and
 *                    HIP_VISIBLE_DEVICES may hide some (visible.c)
 *   TSR_HIP_MEMORY   bytes of each device (1 GiB)
 *   TSR_HIP_PEER     0: no device reaches another one's memory (1)
 *   TSR_HIP_PITCH    largest pitch of a 2D copy in bytes (2^31 - 1)
 *   TSR_HIP_ARCH     what the devices' code is compiled for (gfx90a)
 *   TSR_HIPRTC_...   of the compiler at run time (compiler.c)
 *   TSR_HIP_SLOW     a routine of rocBLAS that is slow: "trsm:2e7" (blas.c); the devices' clocks
 *                    then tell what slow routines take and nothing else, and nobody waits
 *   TSR_HIP_DELAY    seed of random delays before commands; 0: none (0)
 *   TSR_HIP_LOSE     D:N, the device D is lost at its Nth command
 *   TSR_HIP_LOG      a file to which misuses are appended
 *   TSR_HIP_MISUSE   ignore: misuses return errors only
 *
 * A device's memory is an address range that the CPU cannot touch; the data is elsewhere
 * (memory.c), so that host code that follows a device pointer crashes. Addresses are not reused.
 *
 * One lock guards all that this header declares. A function named ..._locked is called with it.
 */
#ifndef TESTS_HIP_RUNTIME_H
#define TESTS_HIP_RUNTIME_H

#include <hip/hip_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_DEVICES = 16 };

extern pthread_mutex_t hip_lock;
extern pthread_cond_t hip_progress; /* a command has ended */

/* ---- Settings (errors.c) --------------------------------------------------- */

typedef struct hip_config {
  int devices, lost_device;
  int physical[MOST_DEVICES]; /* of each device: its number among all that are there */
  size_t memory, max_pitch;
  bool peer, ignores_misuse, slow;
  long lost_at; /* number of the lost device's commands; -1: no device is lost */
  unsigned delay;
  const char *arch, *log;
} hip_config;

const hip_config *hip_settings(void);

/* ---- errors.c -------------------------------------------------------------- */

/* Sets the thread's last error and returns it. From release 7 on a success leaves the last error as
 * it is. */
hipError_t hip_set(hipError_t error);

/* Reports a misuse and returns the error. */
__attribute__((format(printf, 2, 3))) hipError_t hip_misuse(hipError_t error, const char *format,
                                                            ...);

/* ---- Handles --------------------------------------------------------------- */

/* Streams, events, modules, functions and BLAS handles begin with this. They are never deallocated,
 * so that the use of a destroyed one is noticed. */
typedef enum handle_kind { STREAM = 0x5712ea, EVENT, MODULE, FUNCTION, BLAS } handle_kind;
typedef struct hip_handle {
  struct hip_handle *next; /* all that were made */
  handle_kind kind;
  bool destroyed;
  int device;
} hip_handle;

extern hip_handle *hip_handles; /* the newest */

/* Makes a handle of bytes zeros for the thread's current device. */
void *hip_handle_make(handle_kind kind, size_t bytes);

/* Whether the pointer is a handle of the kind that is not destroyed; else a misuse. */
bool hip_handle_check(const void *pointer, handle_kind kind, const char *function);

/* ---- visible.c ------------------------------------------------------------- */

/* The devices that the variables leave of so many. Returns their number. */
int hip_visible(int present, int physical[MOST_DEVICES]);

/* The UUID: 16 hexadecimal digits. */
void hip_uuid(int physical, char text[17]);

/* ---- device.c -------------------------------------------------------------- */

typedef struct stream stream;
typedef struct hip_device {
  bool reaches[MOST_DEVICES]; /* peer access is enabled from this device */
  bool dying, lost;           /* dying: what is in streams no longer runs; lost: functions say so */
  long commands;
  size_t used; /* bytes of memory */
  stream *null;
} hip_device;
extern hip_device hip_devices[MOST_DEVICES];

int hip_current(void);

/* The error of a lost device: hipSuccess while it is not lost. */
hipError_t hip_lost(int device);

/* ---- memory.c -------------------------------------------------------------- */

typedef enum memory_kind { UNKNOWN, PINNED, ON_DEVICE } memory_kind;
typedef struct allocation {
  struct allocation *next;
  memory_kind kind;
  bool registered; /* PINNED: the user's memory */
  int device;      /* ON_DEVICE: whose; PINNED: that was current */
  unsigned flags;
  char *begin; /* as the user sees it */
  char *data;  /* where the bytes are */
  size_t bytes;
  void *mapping; /* what is unmapped when it is freed; NULL: the user's */
  size_t mapped;
} allocation;

/* The live allocation that the pointer points into; NULL: none. */
allocation *hip_find_locked(const void *pointer);

/* Whether the pointer is in the address range of a device's memory, live or not. */
bool hip_is_device_address(const void *pointer);

/* Where [pointer, pointer + bytes) is, for a command of the device: its own memory, that of a
 * device which it reaches, or pinned memory. NULL: a misuse, reported for the function. */
char *hip_reach(const void *pointer, size_t bytes, int device, const char *function);

/* ---- stream.c -------------------------------------------------------------- */

struct stream {
  hip_handle handle;
  pthread_t thread;
  pthread_cond_t work;
  struct command *first, **last; /* first is the one that runs */
  bool ends;
};

/* The stream of a handle; NULL is the current device's. NULL: a misuse, reported. */
stream *hip_stream(hipStream_t given, const char *function);
stream *hip_stream_make(int device);

/* Adds a command; bytes of the argument are copied. When it runs, run gets that copy. */
hipError_t hip_submit(stream *to, void (*run)(void *), const void *argument, size_t bytes);

/* Waits until the device's streams are empty. */
void hip_drain(int device);

/* For tests: the devices' clocks are so many seconds later from now on. */
void hip_test_advance(long seconds);

/* The time of a slow routine passes, on clocks that tell nothing else (TSR_HIP_SLOW). */
void hip_spend(double seconds);

#endif
