# tercet-kernel, the Jupyter kernel: a program of its own, so that `tercet` starts without the libraries of the protocol
# (docs/decisions/0027). It is left out where xeus is not installed.
find_package(xeus 2.4 CONFIG QUIET)
if(TERCET_SANITIZE MATCHES thread)
  message(STATUS "The Jupyter kernel is left out: the thread sanitizer would report the libraries of the protocol, which it has not compiled")
elseif(xeus_FOUND)
  set(shared_sources cache display driver input interrupt lsp_text options progress)   # with `tercet`
  list(TRANSFORM shared_sources REPLACE "(.+)" "repl/\\1.cpp")
  tercet_program(tercet-kernel SOURCES repl/kernel/*.cpp ${shared_sources} LIBRARIES tercet_embed tercet_cli11 xeus)
else()
  message(STATUS "The Jupyter kernel is left out: it needs xeus 2.4 (Debian: xeus-dev)")
endif()
