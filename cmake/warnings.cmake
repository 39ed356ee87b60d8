# Warnings are errors, for our own targets only.
add_library(reprieve_flags INTERFACE)
target_compile_options(reprieve_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror
  -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 implements std::stable_sort with a function that it deprecates itself; clang blames the caller.
  target_compile_options(reprieve_flags INTERFACE -Wno-deprecated-declarations)
  if(REPRIEVE_BATCH GREATER 1)
    # In a batch, clang takes a name in a function for one that hides another file's; g++ and the tidy build still look.
    target_compile_options(reprieve_flags INTERFACE -Wno-shadow)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The compiler's own memory is not collected below a gigabyte: that saves a fifteenth of its time.
  target_compile_options(reprieve_flags INTERFACE "SHELL:--param ggc-min-heapsize=1048576")
endif()
# Without optimisation simdjson has other members, unless told; folders with and without meet in one program.
target_compile_definitions(reprieve_flags INTERFACE SIMDJSON_DEVELOPMENT_CHECKS=0)
target_include_directories(reprieve_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
