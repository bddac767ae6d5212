# How targets are made: sources are found by pattern, so that a new file needs no edit here.

# Files matching patterns, relative to the repository.
function(tercet_glob out mode)
  set(patterns)
  foreach(pattern ${ARGN})
    list(APPEND patterns ${PROJECT_SOURCE_DIR}/${pattern})
  endforeach()
  set(files)
  if(patterns)
    file(${mode} files CONFIGURE_DEPENDS ${patterns})
  endif()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# tercet_layer(NAME SOURCES patterns… [RECURSE] [GENERATED files…] LIBRARIES targets…)
# A static library, or a mere bundle of its libraries while the layer has no sources.
function(tercet_layer name)
  cmake_parse_arguments(arg "RECURSE" "" "SOURCES;GENERATED;LIBRARIES" ${ARGN})
  set(mode GLOB)
  if(arg_RECURSE)
    set(mode GLOB_RECURSE)
  endif()
  tercet_glob(files ${mode} ${arg_SOURCES})
  if(files OR arg_GENERATED)
    add_library(${name} STATIC ${files} ${arg_GENERATED})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_compile_options(${name} PRIVATE ${tercet_warnings})
    target_link_libraries(${name} PUBLIC ${arg_LIBRARIES})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${name} INTERFACE ${arg_LIBRARIES})
  endif()
endfunction()

# tercet_program(NAME SOURCES patterns… LIBRARIES targets…): nothing while there are no sources.
function(tercet_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  tercet_glob(files GLOB ${arg_SOURCES})
  if(files)
    add_executable(${name} ${files})
    target_compile_options(${name} PRIVATE ${tercet_warnings})
    target_compile_definitions(${name} PRIVATE TERCET_VERSION="${PROJECT_VERSION}")
    target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  endif()
endfunction()

# Inner loops over arrays gain from -O3; the rest of the program does not.
function(tercet_optimize_hard)
  tercet_glob(files GLOB ${ARGN})
  set_property(SOURCE ${files} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>
               -fno-trapping-math -fno-math-errno)   # neither changes a value; without them math loops stay scalar
endfunction()

# stdlib/*.tct as one C++ file, see interpreter/elaborate/stdlib.h.
function(tercet_embed_stdlib out)
  tercet_glob(files GLOB stdlib/*.tct)
  set(result ${PROJECT_BINARY_DIR}/generated/stdlib_sources.cpp)
  add_custom_command(
    OUTPUT ${result}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${result} -DFOLDER=${PROJECT_SOURCE_DIR}/stdlib
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedStdlib.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/EmbedStdlib.cmake
    COMMENT "Embedding stdlib/" VERBATIM)
  set(${out} ${result} PARENT_SCOPE)
endfunction()
