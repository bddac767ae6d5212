# tercet_grammar: grammar/*.cpp and the parser that ANTLR makes from grammar/*.g4.
# The generated C++ is older than C++20 (u8 literals), hence its own options; only its headers meet ours.
tercet_glob(grammars GLOB grammar/*.g4)
set(antlr_libraries)
if(grammars)
  find_program(ANTLR4 antlr4 REQUIRED)
  set(generated ${PROJECT_BINARY_DIR}/generated/grammar)
  set(generated_sources)
  foreach(file ${grammars})
    get_filename_component(name ${file} NAME_WE)
    if(name MATCHES "(Lexer|Parser)$")
      set(outputs ${generated}/${name}.cpp)
    else()
      set(outputs ${generated}/${name}Lexer.cpp ${generated}/${name}Parser.cpp)
    endif()
    add_custom_command(
      OUTPUT ${outputs}
      COMMAND ${ANTLR4} -Dlanguage=Cpp -no-visitor -no-listener -Werror -lib ${PROJECT_SOURCE_DIR}/grammar
              -o ${generated} ${file}
      DEPENDS ${grammars} COMMENT "ANTLR ${name}" VERBATIM)
    list(APPEND generated_sources ${outputs})
  endforeach()
  find_library(antlr4_runtime NAMES libantlr4-runtime.a antlr4-runtime REQUIRED)
  add_library(tercet_antlr STATIC ${generated_sources})
  target_compile_options(tercet_antlr PRIVATE -fno-char8_t -w)
  target_include_directories(tercet_antlr SYSTEM PUBLIC ${generated} /usr/include/antlr4-runtime)
  target_link_libraries(tercet_antlr PUBLIC ${antlr4_runtime} Threads::Threads)
  set(antlr_libraries tercet_antlr)
endif()
tercet_layer(tercet_grammar SOURCES grammar/*.cpp LIBRARIES tercet_base ${antlr_libraries})
