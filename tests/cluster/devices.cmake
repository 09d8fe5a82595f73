# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Panels from device to device: the transport for NCCL, over a fabric between emulated devices.
set(EMULATED_SOURCES ${CLUSTER_SOURCES})
list(FILTER EMULATED_SOURCES EXCLUDE REGEX "/fabric\\.c$")
add_library(cluster_emulated SHARED cluster/emulated.c ${EMULATED_SOURCES})
target_compile_options(cluster_emulated PRIVATE -fvisibility=hidden)
target_include_directories(cluster_emulated PRIVATE cluster)
target_link_libraries(cluster_emulated PUBLIC tessera MPI::MPI_C
  PRIVATE tessera_flags tessera_papers Threads::Threads m)
set_target_properties(cluster_emulated PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

function(tessera_devices_program name)
  add_executable(${name} ${ARGN})
  add_dependencies(tests_across_processes ${name})
  target_include_directories(${name} PRIVATE cluster ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE tessera_flags cluster_emulated tessera m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endfunction()

tessera_devices_program(cluster_driver_devices cluster/driver.c cluster/layout.c)
tessera_devices_program(cluster_faults_devices cluster/faults.c cluster/cases.c)
tessera_devices_program(cluster_uses_devices cluster/uses.c cluster/cases.c)
tessera_devices_program(cluster_losses cluster/losses.c cluster/cases.c)
foreach(processes 1 2 4 6)
  tessera_cluster_test(cluster_faults_devices_${processes} faults ${processes} cluster_faults_devices)
  tessera_cluster_test(cluster_uses_devices_${processes} faults ${processes} cluster_uses_devices)
  tessera_cluster_test(cluster_losses_${processes} faults ${processes} cluster_losses)
endforeach()
foreach(processes 2 4 6)
  tessera_cluster_test(cluster_random_devices_${processes} random ${processes} cluster_driver_devices
    --seed 8 --count ${random_${processes}} --transport nccl)
  tessera_sample(sample 1000 40)
  tessera_cluster_test(cluster_sample_devices_${processes} sample ${processes} cluster_driver_devices
    --seed 8 ${sample} --transport nccl)
  tessera_sample(sample 2000 40)
  tessera_cluster_test(cluster_funneled_devices_${processes} sample ${processes} cluster_driver_devices
    --seed 8 ${sample} --level 1 --transport nccl)
endforeach()
