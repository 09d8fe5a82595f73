/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * nvcc's code calls the functions that src/engine/hip/launch.c has for hipcc's, with the same
 * arguments, under CUDA's names; CMakeLists.txt has the linker join them. Two functions that only
 * nvcc's code calls are here: they prepare what CUDA's runtime does later, and launch.c at once.
 */
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFatBinaryEnd(void **handle) {
  (void)handle;
}

char __cudaInitModule(void **handle);
char __cudaInitModule(void **handle) {
  (void)handle;
  return 1;
}
