# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Tests run more processes than cores, so a waiting process must yield its core. Open MPI's mpirun
# must be allowed to do so and to run as root; messages within one host need no network. Other MPIs
# ignore these variables.
set(TESSERA_MPI_ENVIRONMENT ${TESSERA_TEST_ENVIRONMENT}
  "OMPI_ALLOW_RUN_AS_ROOT=1" "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
  "OMPI_MCA_rmaps_base_oversubscribe=1" "OMPI_MCA_mpi_yield_when_idle=1"
  "OMPI_MCA_hwloc_base_binding_policy=none" "OMPI_MCA_btl=self,vader"
  "OMPI_MCA_btl_vader_single_copy_mechanism=none"
  # Open MPI leaks memory in components that are unloaded before leaks are looked for, and the other
  # tests' suppressions do not match the libraries that it loads.
  "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1"
  # The thread sanitizer does not see what MPI does inside, so it must ignore calls from there.
  "TSAN_OPTIONS=allocator_may_return_null=1:ignore_noninstrumented_modules=1")

# What these tests and dropin_test_pblas need, for builds with another MPI that need no more.
add_custom_target(tests_across_processes)
add_dependencies(tests_across_processes tessera_command tessera_pgemm tessera_blas)
if(TARGET tessera_pblas)
  add_dependencies(tests_across_processes dropin_manglings dropin_closed
    fake_scalapack fake_scalapack_one fake_scalapack_other)
endif()

function(tessera_cluster_program name)
  add_executable(${name} ${ARGN})
  add_dependencies(tests_across_processes ${name})
  target_include_directories(${name} PRIVATE cluster ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE tessera_flags tessera_mpi tessera m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endfunction()

# A process alone waits more than it computes; several keep both cores busy, since they wait without rest.
# Those come last (COST), so that no core is idle until there are two for the next of them. More processes than
# cores take turns: such tests are slow, and those of more than four have the label "many".
function(tessera_cluster_test name labels processes program)
  if(processes GREATER 2)
    list(APPEND labels slow)
  endif()
  if(processes GREATER 4)
    list(APPEND labels many)
  endif()
  set(cores 2)
  set(cost -1)
  if(processes EQUAL 1)
    set(cores 1)
    set(cost 0)
  endif()
  add_test(NAME ${name}
    COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${processes} $<TARGET_FILE:${program}>
      ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS "${labels}" PROCESSORS ${cores} COST ${cost}
    ENVIRONMENT "${TESSERA_MPI_ENVIRONMENT}")
endfunction()

tessera_cluster_program(cluster_driver cluster/driver.c cluster/layout.c)
tessera_cluster_program(cluster_faults cluster/faults.c cluster/cases.c)
tessera_cluster_program(cluster_uses cluster/uses.c cluster/cases.c)
tessera_cluster_program(cluster_async cluster/async.c cluster/cases.c)
tessera_cluster_program(cluster_arithmetic cluster/arithmetic.c cluster/cases.c)
tessera_cluster_program(cluster_launcher cluster/launcher.c)
tessera_cluster_program(cluster_dealt cluster/dealt.c)

# Every function of tessera_mpi.h on one process, each time with another failing allocation.
tessera_cluster_program(cluster_sweep_calls cluster/sweep_calls.c sweep/sweep.c)
target_include_directories(cluster_sweep_calls PRIVATE sweep ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(cluster_sweep_calls PRIVATE
  TESSERA_INCLUDE="${CMAKE_SOURCE_DIR}/include/")
tessera_cluster_test(cluster_sweep_sample faults 1 cluster_sweep_calls --stride 2)
tessera_cluster_test(cluster_sweep_long long 1 cluster_sweep_calls)

foreach(processes 1 2 4 6 9)
  set(label faults)
  if(processes EQUAL 9) # a minute of two cores, for the ways that 6 processes go
    set(label long)
  endif()
  tessera_cluster_test(cluster_faults_${processes} ${label} ${processes} cluster_faults)
  tessera_cluster_test(cluster_uses_${processes} faults ${processes} cluster_uses)
  tessera_cluster_test(cluster_arithmetic_${processes} ${label} ${processes} cluster_arithmetic)
  tessera_cluster_test(cluster_async_${processes} faults ${processes} cluster_async)
  tessera_cluster_test(cluster_async_funneled_${processes} faults ${processes} cluster_async --level 1)
endforeach()

# The random problems: 1440 in all, fewer on many processes, because more processes than cores take
# turns; and a sample of 40 for each number of processes. A second MPI runs 250, most of them on few
# processes, because its processes wait busily.
set(random_1 400)
set(random_2 400)
set(random_4 400)
set(random_6 160)
set(random_9 80)
set(again_1 100)
set(again_2 100)
set(again_4 30)
set(again_6 10)
set(again_9 20)
foreach(processes 1 2 4 6 9)
  set(label turn) # `make test` has the samples of few processes
  if(processes GREATER 2)
    set(label sample)
  endif()
  tessera_cluster_test(cluster_random_${processes} random ${processes} cluster_driver
    --seed 7 --count ${random_${processes}})
  tessera_sample(sample 1000 40)
  tessera_cluster_test(cluster_sample_${processes} ${label} ${processes} cluster_driver
    --seed 7 ${sample})
  tessera_cluster_test(cluster_again_${processes} random_again ${processes} cluster_driver
    --seed 7 --first 3000 --count ${again_${processes}} --turns ${again_${processes}})
  tessera_sample(sample 2000 40)
  tessera_cluster_test(cluster_funneled_${processes} ${label} ${processes} cluster_driver
    --seed 7 ${sample} --level 1)
  tessera_cluster_test(cluster_emulating_${processes} ${label} ${processes} cluster_driver
    --seed 7 ${sample})
  set_property(TEST cluster_emulating_${processes} APPEND PROPERTY ENVIRONMENT
    "TESSERA_ARITHMETIC=emulated")
  tessera_cluster_test(cluster_long_${processes} long ${processes} cluster_driver
    --seed 7 --first 100000 --count 3000)
endforeach()

# Products through ScaLAPACK's symbols: the program is linked with our library first, then with the
# ScaLAPACK that goes with this MPI.
if(TESSERA_MPI_SONAME MATCHES "mpich")
  set(scalapack libscalapack-mpich.so.2.2 libscalapack-mpich.so)
else()
  set(scalapack libscalapack-openmpi.so.2.2 libscalapack-openmpi.so)
endif()
find_library(TESSERA_TEST_SCALAPACK NAMES ${scalapack})
if(TESSERA_TEST_SCALAPACK)
  tessera_cluster_program(cluster_pblas cluster/pblas.c cluster/pblas_operand.c cluster/layout.c)
  target_link_libraries(cluster_pblas PRIVATE
    tessera_pblas ${TESSERA_TEST_SCALAPACK} MPI::MPI_C ${CMAKE_DL_LIBS})
  get_filename_component(scalapack ${TESSERA_TEST_SCALAPACK} NAME)
  target_compile_definitions(cluster_pblas PRIVATE SCALAPACK="${scalapack}")
  set_target_properties(cluster_pblas PROPERTIES ENABLE_EXPORTS ON) # its error exit is to be found

  # tests/dropin/test_pblas.sh counts what went to devices.
  function(tessera_pblas_test name label processes)
    tessera_cluster_test(${name} ${label} ${processes} cluster_pblas ${ARGN})
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
      "TESSERA_ENGINE=host;TESSERA_DEVICES=2;TESSERA_TILE=7;TESSERA_OFFLOAD=always")
  endfunction()
  foreach(processes 1 2 4 6)
    tessera_pblas_test(cluster_pblas_${processes} random ${processes} --seed 3 --count 150)
    tessera_sample(sample 1000 30)
    tessera_pblas_test(cluster_pblas_sample_${processes} sample ${processes} --seed 3 ${sample})
    tessera_pblas_test(cluster_pblas_long_${processes} long ${processes}
      --seed 3 --first 100000 --count 2000)
  endforeach()
endif()

# The command across processes uses both cores.
set_tests_properties(cluster_test_pgemm PROPERTIES PROCESSORS 2 COST -1)

# Plans and refused calls need no processes.
foreach(alone plans cancel)
  tessera_cluster_program(cluster_${alone} cluster/${alone}.c)
  target_link_libraries(cluster_${alone} PRIVATE PkgConfig::CMOCKA)
  add_test(NAME cluster_${alone} COMMAND cluster_${alone})
  set_tests_properties(cluster_${alone} PROPERTIES TIMEOUT 600 LABELS cmocka
    ENVIRONMENT "${TESSERA_TEST_ENVIRONMENT}")
endforeach()

# The table of knobs is inside the library.
tessera_cluster_program(cluster_knobs cluster/knobs.c ${CMAKE_SOURCE_DIR}/src/cluster/plan/knobs.c)
target_link_libraries(cluster_knobs PRIVATE PkgConfig::CMOCKA)
add_test(NAME cluster_knobs COMMAND cluster_knobs)
set_tests_properties(cluster_knobs PROPERTIES TIMEOUT 600 LABELS cmocka
  ENVIRONMENT "${TESSERA_TEST_ENVIRONMENT}")

# Golden plans across processes.
tessera_cluster_program(cluster_golden cluster/golden.c plan/golden_file.c plan/golden_program.c)
target_include_directories(cluster_golden PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(cluster_golden PRIVATE PkgConfig::CMOCKA)
add_test(NAME cluster_golden COMMAND cluster_golden)
set_tests_properties(cluster_golden PROPERTIES TIMEOUT 600 LABELS cmocka
  ENVIRONMENT "${TESSERA_TEST_ENVIRONMENT}")
