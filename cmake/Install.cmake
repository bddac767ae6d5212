# The library for embedding (include/tercet/), and what `cmake --install` puts where: headers, libtercet.so, the program,
# a package for find_package(Tercet) and one for pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(tercet_abi 0)                                 # TCT_ABI_VERSION in include/tercet/tercet.h
tercet_glob(embed_files GLOB embed/*.cpp)
add_library(tercet_library SHARED ${embed_files})
target_compile_options(tercet_library PRIVATE ${tercet_warnings})
target_compile_definitions(tercet_library PRIVATE TERCET_BUILDING TERCET_VERSION="${PROJECT_VERSION}")
# The layers as archives, not as targets: those bring the static ANTLR, which is not position independent.
set(layers tercet_interpreter tercet_grammar tercet_runtime tercet_base tercet_antlr)
if(TERCET_LLVM)
  list(PREPEND layers tercet_codegen)
endif()
find_library(antlr4_runtime_shared NAMES libantlr4-runtime.so REQUIRED)
foreach(layer ${layers})
  add_dependencies(tercet_library ${layer})
  list(APPEND archives $<TARGET_FILE:${layer}>)
endforeach()
target_link_libraries(tercet_library PRIVATE ${archives} fmt::fmt TBB::tbb tercet_re2 tercet_utf8proc tercet_lapack tercet_sentencepiece simdjson::simdjson
                      ${antlr4_runtime_shared} Threads::Threads)
if(TERCET_LLVM)
  target_link_libraries(tercet_library PRIVATE tercet_llvm)   # after the archives that need it
endif()
target_include_directories(tercet_library PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
# Only tct_* is seen from outside: a host may have another LLVM of its own.
target_link_options(tercet_library PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${PROJECT_SOURCE_DIR}/embed/exports.map)
set_target_properties(tercet_library PROPERTIES OUTPUT_NAME tercet EXPORT_NAME tercet VERSION ${tercet_abi}.${PROJECT_VERSION}
  SOVERSION ${tercet_abi} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/embed/exports.map LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
target_include_directories(tercet_library INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
add_library(Tercet::tercet ALIAS tercet_library)

install(TARGETS tercet_library EXPORT TercetTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tercet RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET tercet-kernel)
  install(TARGETS tercet-kernel RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/tercet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Tercet)
install(EXPORT TercetTargets NAMESPACE Tercet:: FILE TercetConfig.cmake DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TercetConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TercetConfigVersion.cmake DESTINATION ${package})

# Paths in the file are relative to where it lies, so that the installed tree may be moved.
file(WRITE ${PROJECT_BINARY_DIR}/tercet.pc
"prefix=\${pcfiledir}/../..
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: Tercet
Description: An array language for text in batches, embedded
Version: ${PROJECT_VERSION}
Libs: -L\${libdir} -ltercet
Cflags: -I\${includedir}
")
install(FILES ${PROJECT_BINARY_DIR}/tercet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
