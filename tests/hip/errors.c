/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Settings and errors. */
#include "runtime.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Settings --------------------------------------------------------------- */

static hip_config read_once;
static pthread_once_t reading = PTHREAD_ONCE_INIT;

static unsigned long number(const char *name, unsigned long otherwise) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoul(text, NULL, 10) : otherwise;
}

static void read_settings(void) {
  hip_config *s = &read_once;
  const char *lose = getenv("TSR_HIP_LOSE"), *arch = getenv("TSR_HIP_ARCH");
  const char *misuse = getenv("TSR_HIP_MISUSE");
  s->devices = (int)number("TSR_HIP_DEVICES", 2);
  if (s->devices > MOST_DEVICES) s->devices = MOST_DEVICES;
  s->devices = hip_visible(s->devices, s->physical);
  s->memory = number("TSR_HIP_MEMORY", 1ul << 30);
  s->max_pitch = number("TSR_HIP_PITCH", INT32_MAX);
  s->peer = number("TSR_HIP_PEER", 1) != 0;
  s->delay = (unsigned)number("TSR_HIP_DELAY", 0);
  s->arch = arch != NULL ? arch : "gfx90a";
  s->log = getenv("TSR_HIP_LOG");
  s->slow = getenv("TSR_HIP_SLOW") != NULL;
  s->ignores_misuse = misuse != NULL && strcmp(misuse, "ignore") == 0;
  s->lost_at = -1;
  if (lose != NULL) sscanf(lose, "%d:%ld", &s->lost_device, &s->lost_at);
}

const hip_config *hip_settings(void) {
  pthread_once(&reading, read_settings);
  return &read_once;
}

/* ---- Errors ------------------------------------------------------------------ */

static _Thread_local hipError_t last_error;

hipError_t hip_set(hipError_t error) {
  if (error != hipSuccess || TSR_ROCM < 7) last_error = error;
  return error;
}

hipError_t hipGetLastError(void) {
  hipError_t error = last_error;
  last_error = hipSuccess;
  return error;
}

static const struct {
  hipError_t error;
  const char *name, *text;
} errors[] = {
    {hipSuccess, "hipSuccess", "no error"},
    {hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {hipErrorInvalidConfiguration, "hipErrorInvalidConfiguration",
     "invalid configuration argument"},
    {hipErrorInvalidPitchValue, "hipErrorInvalidPitchValue", "invalid pitch argument"},
    {hipErrorInvalidDevicePointer, "hipErrorInvalidDevicePointer", "invalid device pointer"},
    {hipErrorInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {hipErrorNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {hipErrorInvalidDeviceFunction, "hipErrorInvalidDeviceFunction", "invalid device function"},
    {hipErrorInvalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    {hipErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu",
     "no kernel image is available for execution on the device"},
    {hipErrorPeerAccessUnsupported, "hipErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {hipErrorInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {hipErrorNotFound, "hipErrorNotFound", "named symbol not found"},
    {hipErrorNotReady, "hipErrorNotReady", "device not ready"},
    {hipErrorIllegalAddress, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {hipErrorPeerAccessAlreadyEnabled, "hipErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {hipErrorPeerAccessNotEnabled, "hipErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {hipErrorHostMemoryAlreadyRegistered, "hipErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {hipErrorHostMemoryNotRegistered, "hipErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {hipErrorLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    {hipErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
    {hipErrorUnknown, "hipErrorUnknown", "unknown error"},
};
enum { ERRORS = sizeof errors / sizeof *errors };

const char *hipGetErrorName(hipError_t error) {
  for (int i = 0; i < ERRORS; i++)
    if (errors[i].error == error) return errors[i].name;
  return "hipErrorUnknown";
}

const char *hipGetErrorString(hipError_t error) {
  for (int i = 0; i < ERRORS; i++)
    if (errors[i].error == error) return errors[i].text;
  return "unknown error";
}

/* ---- Misuse -------------------------------------------------------------------- */

enum { CODE_OF_MISUSE = 99 };
static atomic_int misuses;

hipError_t hip_misuse(hipError_t error, const char *format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  hip_set(error);
  if (hip_settings()->ignores_misuse) return error;
  misuses++;
  fprintf(stderr, "misuse of HIP: %s\n", text);
  if (hip_settings()->log == NULL) return error;
  FILE *log = fopen(hip_settings()->log, "a");
  if (log != NULL) {
    fprintf(log, "misuse of HIP: %s\n", text);
    fclose(log);
  }
  return error;
}

/* Ends the process with a code of its own when the library is unloaded. */
__attribute__((destructor)) static void tell_misuses(void) {
  if (misuses == 0) return;
  fprintf(stderr, "%d misuses of HIP\n", (int)misuses);
  fflush(NULL);
  _exit(CODE_OF_MISUSE);
}

/* ---- Handles --------------------------------------------------------------------- */

hip_handle *hip_handles;

void *hip_handle_make(handle_kind kind, size_t bytes) {
  hip_handle *made = calloc(1, bytes);
  if (made == NULL) abort();
  made->kind = kind;
  made->device = hip_current();
  pthread_mutex_lock(&hip_lock);
  made->next = hip_handles;
  hip_handles = made;
  pthread_mutex_unlock(&hip_lock);
  return made;
}

bool hip_handle_check(const void *pointer, handle_kind kind, const char *function) {
  const hip_handle *given = pointer;
  if (given != NULL && given->kind == kind && !given->destroyed) return true;
  const char *how = given == NULL         ? "NULL"
                    : given->kind != kind ? "no handle of this kind"
                                          : "destroyed";
  hip_misuse(hipErrorInvalidHandle, "%s: the handle %p is %s", function, pointer, how);
  return false;
}
