/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Devices: how many, which is current, what they are, and which reach each other. */
#include "runtime.h"

#include <stdio.h>
#include <string.h>

pthread_mutex_t hip_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t hip_progress = PTHREAD_COND_INITIALIZER;
hip_device hip_devices[MOST_DEVICES];

static _Thread_local int current;

int hip_current(void) {
  return current;
}

/* ROCm 7 reports what a failed command left behind as a launch failure; before, as unknown. While a
 * device is dying its commands no longer run, and nobody is told that one of them is complete. */
hipError_t hip_lost(int device) {
  hip_device *d = &hip_devices[device];
  pthread_mutex_lock(&hip_lock);
  while (d->dying && !d->lost) pthread_cond_wait(&hip_progress, &hip_lock);
  bool lost = d->lost;
  pthread_mutex_unlock(&hip_lock);
  if (!lost) return hipSuccess;
  return TSR_ROCM >= 7 ? hipErrorLaunchFailure : hipErrorUnknown;
}

static bool exists(int device) {
  return device >= 0 && device < hip_settings()->devices;
}

/* ---- Which ------------------------------------------------------------------- */

hipError_t hipRuntimeGetVersion(int *version) {
  *version = TSR_ROCM == 5 ? 50221153 : TSR_ROCM * 10000000 + 100000;
  return hip_set(hipSuccess);
}

hipError_t hipGetDeviceCount(int *count) {
  *count = hip_settings()->devices;
  return hip_set(*count > 0 ? hipSuccess : hipErrorNoDevice);
}

hipError_t hipSetDevice(int device) {
  if (!exists(device)) return hip_misuse(hipErrorInvalidDevice, "hipSetDevice(%d)", device);
  current = device;
  return hip_set(hipSuccess);
}

hipError_t hipGetDevice(int *device) {
  *device = current;
  return hip_set(hip_settings()->devices > 0 ? hipSuccess : hipErrorNoDevice);
}

/* ---- What ---------------------------------------------------------------------- */

hipError_t hipDeviceGetName(char *name, int bytes, hipDevice_t device) {
  if (!exists(device)) return hip_misuse(hipErrorInvalidDevice, "hipDeviceGetName(%d)", device);
  snprintf(name, (size_t)bytes, "HIP test device (ROCm %d)", TSR_ROCM);
  return hip_set(hip_lost(device));
}

hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device) {
  if (!exists(device)) return hip_misuse(hipErrorInvalidDevice, "hipDeviceGetUuid(%d)", device);
  char text[17];
  hip_uuid(hip_settings()->physical[device], text);
  memcpy(uuid->bytes, text, sizeof uuid->bytes);
  return hip_set(hip_lost(device));
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device) {
  if (!exists(device))
    return hip_misuse(hipErrorInvalidDevice, "hipDeviceGetAttribute of %d", device);
  switch (attribute) {
    case hipDeviceAttributeMultiprocessorCount:
      *value = 2;
      break;
    case hipDeviceAttributeMaxPitch:
      *value = (int)hip_settings()->max_pitch;
      break;
    case hipDeviceAttributePciDomainID: /* a domain that no computer has */
      *value = 0x7e55;
      break;
    case hipDeviceAttributePciBusId:
      *value = hip_settings()->physical[device] + 1;
      break;
    case hipDeviceAttributePciDeviceId:
      *value = 0;
      break;
    default:
      return hip_misuse(hipErrorInvalidValue,
                        "hipDeviceGetAttribute: the attribute %d is not known", (int)attribute);
  }
  return hip_set(hip_lost(device));
}

hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = 1;
  *greatest = -1;
  return hip_set(hip_lost(current));
}

/* ---- Peer access ------------------------------------------------------------------ */

hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer) {
  if (!exists(device) || !exists(peer))
    return hip_misuse(hipErrorInvalidDevice, "hipDeviceCanAccessPeer(%d, %d)", device, peer);
  *can = device != peer && hip_settings()->peer;
  return hip_set(hip_lost(device));
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (!exists(peer) || peer == current || flags != 0)
    return hip_misuse(hipErrorInvalidDevice, "hipDeviceEnablePeerAccess(%d, %u) of device %d", peer,
                      flags, current);
  if (!hip_settings()->peer)
    return hip_misuse(hipErrorPeerAccessUnsupported,
                      "hipDeviceEnablePeerAccess: device %d cannot reach device %d", current, peer);
  hipError_t error = hip_lost(current);
  if (error != hipSuccess) return hip_set(error);
  pthread_mutex_lock(&hip_lock);
  bool *reaches = &hip_devices[current].reaches[peer], was = *reaches;
  *reaches = true;
  pthread_mutex_unlock(&hip_lock);
  return hip_set(was ? hipErrorPeerAccessAlreadyEnabled : hipSuccess);
}
