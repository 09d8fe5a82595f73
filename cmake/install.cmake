# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# What is installed: the library with its headers, a pkg-config file, a CMake package
# (find_package(tessera), target tessera::tessera; COMPONENTS mpi: tessera::tessera_mpi) and what
# explains it. The command and the CUDA engine install themselves.
include(CMakePackageConfigHelpers)

set(PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)

install(TARGETS tessera tessera_blas tessera_papers EXPORT tessera_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES
  ${PROJECT_SOURCE_DIR}/include/tessera.h ${PROJECT_SOURCE_DIR}/include/tessera_model.h
  ${PROJECT_SOURCE_DIR}/include/tessera_papers.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/bindings/cpp/tessera.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/cpp/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tessera_targets NAMESPACE tessera:: FILE tesseraTargets.cmake
  DESTINATION ${PACKAGE_DIR})

# The library across processes, where it was built: target tessera::tessera_mpi, in a file of its own,
# since a program that has no use for it need not have MPI.
if(TARGET tessera_mpi)
  install(TARGETS tessera_mpi tessera_pblas EXPORT tessera_mpi_targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  # What the PBLAS door loads, from where it is itself.
  install(TARGETS tessera_pblas_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES
    ${PROJECT_SOURCE_DIR}/include/tessera_mpi.h ${PROJECT_SOURCE_DIR}/include/tessera_mpi_model.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT tessera_mpi_targets NAMESPACE tessera:: FILE tesseraMpiTargets.cmake
    DESTINATION ${PACKAGE_DIR})
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tesseraConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tesseraConfig.cmake INSTALL_DESTINATION ${PACKAGE_DIR})
# 0.x: each minor version may differ.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tesseraConfig.cmake
  ${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake DESTINATION ${PACKAGE_DIR})

# The prefix is found from the file's own place, so that an installed tree can be moved.
file(RELATIVE_PATH PC_UP
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/tessera.pc.in ${PROJECT_BINARY_DIR}/tessera.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(${CMAKE_CURRENT_LIST_DIR}/install_docs.cmake)

# The machines that --machine finds by their names. The library looks for share/tessera/machines
# above its own file, in an installed tree and in a build tree alike.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/machines DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera
  FILES_MATCHING PATTERN "*.json" PATTERN "README.md")
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/tessera)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/machines ${PROJECT_BINARY_DIR}/share/tessera/machines SYMBOLIC)
