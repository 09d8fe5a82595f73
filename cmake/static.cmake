# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# libtessera.a, for programs that carry the library in themselves: target tessera::tessera_static,
# pkg-config's tessera-static.
#
# The archive has one object. So nothing is left out that an engine asks for when it is loaded, and what
# is hidden in libtessera.so is local in it: the program can have functions of the same names.
include(GNUInstallDirs)

set(object ${PROJECT_BINARY_DIR}/tessera_static.o)
add_custom_command(OUTPUT ${object}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${object}
    $<TARGET_OBJECTS:tessera_base> $<TARGET_OBJECTS:tessera_objects>
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${object}
  DEPENDS tessera_base tessera_objects $<TARGET_OBJECTS:tessera_base> $<TARGET_OBJECTS:tessera_objects>
  COMMAND_EXPAND_LISTS VERBATIM)
add_library(tessera_static STATIC ${object})
set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
# In build trees and installed alike by what the linker takes: cJSON may be elsewhere on the machine
# of the program.
target_link_libraries(tessera_static INTERFACE cjson Threads::Threads ${CMAKE_DL_LIBS} m)
# Engines that are loaded find base/ in the program.
target_link_options(tessera_static INTERFACE -rdynamic)
target_include_directories(tessera_static INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(tessera_static PROPERTIES OUTPUT_NAME tessera LINKER_LANGUAGE C)

install(TARGETS tessera_static EXPORT tessera_static_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT tessera_static_targets NAMESPACE tessera:: FILE tesseraStaticTargets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)
file(RELATIVE_PATH PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/tessera-static.pc.in ${PROJECT_BINARY_DIR}/tessera-static.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tessera-static.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
