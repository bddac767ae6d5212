# bench_runner: bench/*.cpp, for bench/run.py. Built by its name (`./dev bench` does).
tercet_glob(bench_files GLOB bench/*.cpp)
add_executable(bench_runner EXCLUDE_FROM_ALL ${bench_files})
target_compile_options(bench_runner PRIVATE ${tercet_warnings})
target_link_libraries(bench_runner PRIVATE tercet_codegen)

# bench_libraries: our products beside libraries that are opened at run time, for bench/libraries.py.
add_executable(bench_libraries EXCLUDE_FROM_ALL bench/libraries/libraries.cpp)
target_compile_options(bench_libraries PRIVATE ${tercet_warnings})
target_link_libraries(bench_libraries PRIVATE tercet_runtime ${CMAKE_DL_LIBS})
