# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Panels from device to device by RCCL, over the runtime and the RCCL of tests/hip, between processes of
# which each has a device.
foreach(rocm 5 6 7)
  tessera_cluster_test(cluster_rccl_rocm${rocm}_2 sample 2 cluster_driver
    --seed 8 --count 12 --engine hip --transport nccl)
  set_property(TEST cluster_rccl_rocm${rocm}_2 APPEND PROPERTY ENVIRONMENT
    "TSR_HIP_DEVICES=4;TSR_HIP_MEMORY=8589934592;XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/hip/cache"
    "LD_LIBRARY_PATH=${CMAKE_CURRENT_BINARY_DIR}/hip/rocm${rocm}")
endforeach()
