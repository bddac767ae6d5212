# Third-party libraries, all from Debian packages (`./dev setup` installs them). Each becomes one target.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(TBB REQUIRED)
find_package(simdjson REQUIRED)

# A library that pkg-config knows, as target tercet_NAME.
function(tercet_pkg name module)
  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${module})
  add_library(tercet_${name} INTERFACE)
  target_link_libraries(tercet_${name} INTERFACE PkgConfig::${name})
endfunction()

tercet_pkg(utf8proc libutf8proc)
tercet_pkg(edit libedit)
tercet_pkg(zlib zlib)
tercet_pkg(zstd libzstd)

# re2.pc asks for C++11, which would override our standard: only its library and folder are taken.
find_library(tercet_re2_library re2 REQUIRED)
add_library(tercet_re2 INTERFACE)
target_link_libraries(tercet_re2 INTERFACE ${tercet_re2_library} Threads::Threads)

# LAPACK and BLAS of netlib, by their own paths: the system may have put others, whose results hang on CPU and threads,
# behind the common names (docs/decisions/0022). Code for shared libraries, as libtercet needs it.
find_library(tercet_lapack_library NAMES liblapack_pic.a REQUIRED)
find_library(tercet_blas_library NAMES libblas.a PATH_SUFFIXES blas NO_CACHE REQUIRED
             PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/blas NO_DEFAULT_PATH)
add_library(tercet_lapack INTERFACE)
target_link_libraries(tercet_lapack INTERFACE ${tercet_lapack_library} ${tercet_blas_library} gfortran)

find_path(tercet_sentencepiece_include sentencepiece_processor.h REQUIRED)
find_library(tercet_sentencepiece_library sentencepiece REQUIRED)
add_library(tercet_sentencepiece INTERFACE)
target_link_libraries(tercet_sentencepiece INTERFACE ${tercet_sentencepiece_library})

find_path(tercet_cli11_include CLI/CLI.hpp REQUIRED)
add_library(tercet_cli11 INTERFACE)

if(TERCET_LLVM)
  # LLVM's configuration accepts its exact major.minor only, hence "19.1".
  find_package(LLVM ${TERCET_LLVM} CONFIG REQUIRED)
  message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
  llvm_map_components_to_libnames(tercet_llvm_libraries orcjit native passes)
  add_library(tercet_llvm INTERFACE)
  target_include_directories(tercet_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
  separate_arguments(tercet_llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
  target_compile_definitions(tercet_llvm INTERFACE ${tercet_llvm_definitions} TERCET_HAS_LLVM=1)
  target_link_libraries(tercet_llvm INTERFACE ${tercet_llvm_libraries})
endif()
