# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# What makes the HIP engine run on an NVIDIA GPU (README.md). src/engine/hip/CMakeLists.txt includes this
# where -DTESSERA_HIP_NVIDIA=ON asks for it.
if(NOT TARGET tessera_cuda)
  message(FATAL_ERROR "-DTESSERA_HIP_NVIDIA=ON needs the CUDA engine: nvcc, and -DTESSERA_CUDA=ON")
endif()
find_package(CUDAToolkit REQUIRED)
set(TESSERA_HIP_NVIDIA_FOLDER ${CMAKE_CURRENT_LIST_DIR})

# The kernels for the CUDA engine's architectures. CUDA 12 and 13 both have the legacy launch.
get_target_property(architectures tessera_cuda CUDA_ARCHITECTURES)
set(code)
foreach(architecture ${architectures})
  list(APPEND code
    -gencode=arch=compute_${architecture},code=[compute_${architecture},sm_${architecture}])
endforeach()
set(kernels)
foreach(source ${TESSERA_GPU_KERNELS} ${TESSERA_GPU_EXACT_KERNELS})
  get_filename_component(name ${source} NAME_WE)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}-nvidia.o)
  set(exact)
  if(source IN_LIST TESSERA_GPU_EXACT_KERNELS)
    set(exact -fmad=false)
  endif()
  add_custom_command(OUTPUT ${object}
    COMMAND ${NVCC} ${code} -O3 -std=c++17 ${exact}
      -Xcompiler=-D__NV_LEGACY_LAUNCH,-fPIC,-fno-exceptions,-fvisibility=hidden
      -I${TESSERA_HIP_NVIDIA_FOLDER} -I${CMAKE_CURRENT_SOURCE_DIR} -I${CMAKE_SOURCE_DIR}/src
      -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d
    COMMENT "Building the HIP engine's ${name} with nvcc" VERBATIM)
  list(APPEND kernels ${object})
endforeach()

# The functions of launch.c by the names that nvcc's code calls.
set(TESSERA_HIP_NVIDIA_NAMES
  cudaLaunchKernel=hipLaunchKernel cudaGetLastError=hipGetLastError
  __cudaPushCallConfiguration=__hipPushCallConfiguration
  __cudaPopCallConfiguration=__hipPopCallConfiguration
  __cudaRegisterFatBinary=__hipRegisterFatBinary __cudaRegisterFunction=__hipRegisterFunction
  __cudaUnregisterFatBinary=__hipUnregisterFatBinary)
list(TRANSFORM TESSERA_HIP_NVIDIA_NAMES PREPEND "LINKER:--defsym=")

# ROCm's libraries over CUDA's, in lib/hip-nvidia of the build.
function(tessera_hip_nvidia_library name version source)
  set(target hip_nvidia_${name})
  add_library(${target} SHARED ${TESSERA_HIP_NVIDIA_FOLDER}/${source})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} VERSION ${version} SOVERSION ${version}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/hip-nvidia
    BUILD_RPATH "${CUDAToolkit_LIBRARY_DIR}")
  list(TRANSFORM CUDAToolkit_INCLUDE_DIRS REPLACE "(.+)" "\"-I\\1\"" OUTPUT_VARIABLE headers)
  list(JOIN headers "," headers)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE __HIP_PLATFORM_AMD__
    TSR_CUDA_HEADERS=${headers})
  target_compile_options(${target} PRIVATE
    $<TARGET_PROPERTY:tessera_flags,INTERFACE_COMPILE_OPTIONS>)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_include_directories(${target} SYSTEM PRIVATE ${HIP_INCLUDE} ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(${target} PRIVATE ${ARGN})
endfunction()
tessera_hip_nvidia_library(amdhip64 6 runtime.c CUDA::cudart)
tessera_hip_nvidia_library(rocblas 4 rocblas.c CUDA::cudart CUDA::cublas)
tessera_hip_nvidia_library(hiprtc 6 compiler.c CUDA::nvrtc)

function(tessera_hip_nvidia target)
  target_sources(${target} PRIVATE ${TESSERA_HIP_NVIDIA_FOLDER}/registration.c)
  target_link_options(${target} PRIVATE ${TESSERA_HIP_NVIDIA_NAMES})
  set_target_properties(${target} PROPERTIES BUILD_RPATH "\$ORIGIN/hip-nvidia")
  add_dependencies(${target} hip_nvidia_amdhip64 hip_nvidia_rocblas hip_nvidia_hiprtc)
  install(CODE "message(FATAL_ERROR \"This build is for tests on an NVIDIA GPU \
(-DTESSERA_HIP_NVIDIA=ON); it is not installed.\")")
endfunction()
