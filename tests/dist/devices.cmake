# Panels from device to device: the transport for NCCL, over a fabric between emulated devices.
set(EMULATED_SOURCES ${DIST_SOURCES})
list(FILTER EMULATED_SOURCES EXCLUDE REGEX "/fabric\\.c$")
add_library(dist_emulated SHARED dist/emulated.c ${EMULATED_SOURCES})
target_compile_options(dist_emulated PRIVATE -fvisibility=hidden)
target_include_directories(dist_emulated PRIVATE dist)
target_link_libraries(dist_emulated PUBLIC tessera MPI::MPI_C
  PRIVATE tessera_flags Threads::Threads m)
set_target_properties(dist_emulated PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

function(tessera_devices_program name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE dist)
  target_link_libraries(${name} PRIVATE tessera_flags dist_emulated tessera m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endfunction()

tessera_devices_program(dist_driver_devices dist/driver.c dist/layout.c)
tessera_devices_program(dist_faults_devices dist/faults.c dist/cases.c)
tessera_devices_program(dist_uses_devices dist/uses.c dist/cases.c)
tessera_devices_program(dist_losses dist/losses.c dist/cases.c)
foreach(processes 1 2 4 6)
  tessera_dist_test(dist_faults_devices_${processes} faults ${processes} dist_faults_devices)
  tessera_dist_test(dist_uses_devices_${processes} faults ${processes} dist_uses_devices)
  tessera_dist_test(dist_losses_${processes} faults ${processes} dist_losses)
endforeach()
foreach(processes 2 4 6)
  tessera_dist_test(dist_random_devices_${processes} random ${processes} dist_driver_devices
    --seed 8 --count 400 --transport nccl)
  tessera_dist_test(dist_sample_devices_${processes} sample ${processes} dist_driver_devices
    --seed 8 --first 1000 --count 40 --transport nccl)
  tessera_dist_test(dist_funneled_devices_${processes} sample ${processes} dist_driver_devices
    --seed 8 --first 2000 --count 40 --level 1 --transport nccl)
endforeach()
