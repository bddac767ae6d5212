# Compiler and linker flags of every target. Strict IEEE (no contraction) on an AVX2 baseline: language.md section 10.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
# Objects are position independent, so that the same ones can go into a shared library; the program itself is linked
# at a fixed address, which spares LLVM's relocations at start.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -D_GLIBCXX_ASSERTIONS")

add_compile_options(-march=x86-64-v3 -ffp-contract=off -fno-semantic-interposition -ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections -Wl,--build-id)   # the cache of compiled code belongs to one build: codegen/jit/build_id.h
if(NOT TERCET_FUZZ)
  add_link_options(-no-pie)
endif()
set(tercet_warnings -Wall -Wextra)                # for our own sources only, see Layers.cmake

if(TERCET_SANITIZE)
  add_compile_options(-fsanitize=${TERCET_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TERCET_SANITIZE})
endif()

# The fastest linker at hand: the static LLVM makes linking the slow step of a rebuild.
find_program(tercet_mold mold)
find_program(tercet_lld ld.lld)
if(tercet_mold)
  add_link_options(-fuse-ld=mold)
elseif(tercet_lld)
  add_link_options(-fuse-ld=lld)
endif()

find_program(tercet_ccache ccache)
if(tercet_ccache AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness lets ccache work with the precompiled header of the tests.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${tercet_ccache})
endif()
