# The kinds of target that this repository has. Sources are listed by hand; USES names folders of src/, LINKS packages.
#
#   reprieve_library(NAME SOURCES ... TESTS ... USES ... LINKS ... TEST_USES ... OPTIMISE -O1)   a folder of src/; TESTS are its x_test.cc
#   reprieve_test(NAME SOURCES ... USES ... LINKS ... LABELS ...)     a GoogleTest program below tests/
#   reprieve_fuzz(NAME SOURCES ... USES ...)                          a libFuzzer program below tests/fuzz
#   reprieve_bench(NAME SOURCES ... USES ...)                         a Google Benchmark program below bench/
#
# The targets reprieve_tests, reprieve_fuzzers and reprieve_benches build all programs of their kind and nothing else.
add_custom_target(reprieve_tests)
add_custom_target(reprieve_fuzzers)
add_custom_target(reprieve_benches)

# 0: each test is a process of its own, which is how a developer wants them. Under a sanitizer starting a process takes longer than
# most tests do; there each program runs in so many parts, the tests of a part one after the other in one process.
set(REPRIEVE_TEST_SHARDS 0 CACHE STRING "Parts in which a test program is run; 0: each test for itself")

# How many sources are compiled as one: a source costs what its headers and the templates of others cost, and those of a
# folder are nearly the same. 1 compiles every source for itself.
set(REPRIEVE_BATCH 64 CACHE STRING "Sources of a folder that are compiled together")

# Puts the sources of a target into batches. CMake's own unity builds name the sources by absolute paths, so that a
# second checkout would not find in the cache what the first one compiled; these name them from the top of the repository.
function(reprieve_batches target)
  list(LENGTH ARGN count)
  if(REPRIEVE_BATCH LESS_EQUAL 1 OR count LESS_EQUAL 1)
    target_sources(${target} PRIVATE ${ARGN})
    return()
  endif()
  # Batches of about the same size: two cores finish together.
  math(EXPR batches "(${count} + ${REPRIEVE_BATCH} - 1) / ${REPRIEVE_BATCH}")
  set(end 0)
  foreach(batch RANGE 1 ${batches})
    set(begin ${end})
    math(EXPR end "${count} * ${batch} / ${batches}")
    math(EXPR length "${end} - ${begin}")
    list(SUBLIST ARGN ${begin} ${length} sources)
    set(text "")
    foreach(source IN LISTS sources)
      file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${source})
      string(APPEND text "#include \"${path}\"\n")
    endforeach()
    set(file ${CMAKE_CURRENT_BINARY_DIR}/batches/${target}_${batch}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
    target_sources(${target} PRIVATE ${file})
  endforeach()
  target_compile_options(${target} PRIVATE -iquote${PROJECT_SOURCE_DIR})
endfunction()

# A library or program of these sources, which may be compiled in batches.
function(reprieve_static_library target)
  add_library(${target} STATIC)
  reprieve_batches(${target} ${ARGN})
endfunction()

function(reprieve_program target)
  add_executable(${target})
  reprieve_batches(${target} ${ARGN})
endfunction()

function(reprieve_link target visibility)
  cmake_parse_arguments(ARG "" "" "USES;LINKS" ${ARGN})
  target_link_libraries(${target} ${visibility} reprieve_flags ${ARG_LINKS})
  foreach(used IN LISTS ARG_USES)
    target_link_libraries(${target} ${visibility} reprieve_${used})
  endforeach()
endfunction()

function(reprieve_library name)
  cmake_parse_arguments(ARG "" "OPTIMISE" "SOURCES;TESTS;USES;LINKS;TEST_USES" ${ARGN})
  reprieve_static_library(reprieve_${name} ${ARG_SOURCES})
  if(ARG_OPTIMISE)
    # For what runs once a request (-Og) or once a demand (-O1), not once a set that is tried: -O2 takes the compiler up to twice
    # as long and a user would not see the difference.
    target_compile_options(reprieve_${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:${ARG_OPTIMISE}>)
  endif()
  if(NOT ARG_OPTIMISE STREQUAL "-Og")
    # Where sanitizers look, -O1 takes clang three times as long as nothing: worth it only where tests spend their time.
    target_compile_options(reprieve_${name} PRIVATE $<$<CONFIG:Debug>:-O1>)
  endif()
  if(REPRIEVE_FUZZ AND name MATCHES "^(base|cel|manifest|record|referee|simulate)$")
    # The folders whose parsers are fuzzed: what an input reaches in them guides the next one.
    target_compile_options(reprieve_${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  reprieve_link(reprieve_${name} PUBLIC USES ${ARG_USES} LINKS ${ARG_LINKS})
  if(REPRIEVE_TESTS AND ARG_TESTS)
    reprieve_test(${name} SOURCES ${ARG_TESTS} USES ${name} ${ARG_TEST_USES} LABELS unit)
    # A unit test's own code runs once; what it tests is compiled as it ships. Not -O0: g++ takes longer for that.
    target_compile_options(${name}_test PRIVATE $<$<CONFIG:RelWithDebInfo>:-Og>)
  endif()
endfunction()

function(reprieve_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;LINKS;LABELS" ${ARGN})
  include(GoogleTest)
  reprieve_program(${name}_test ${ARG_SOURCES})
  reprieve_link(${name}_test PRIVATE USES ${ARG_USES} LINKS GTest::gmock GTest::gtest_main rapidcheck ${ARG_LINKS})
  add_dependencies(reprieve_tests ${name}_test)
  if(REPRIEVE_TEST_SHARDS GREATER 0)
    math(EXPR last "${REPRIEVE_TEST_SHARDS} - 1")
    foreach(shard RANGE ${last})
      add_test(NAME ${name}.part_${shard} COMMAND ${name}_test --gtest_brief=1)
      set_tests_properties(${name}.part_${shard} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${REPRIEVE_TEST_SHARDS};GTEST_SHARD_INDEX=${shard}")
    endforeach()
    return()
  endif()
  # Tests are listed when ctest starts: a build does not run what it built.
  gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600)
endfunction()

function(reprieve_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name}_fuzz ${ARG_SOURCES})
  reprieve_link(${name}_fuzz PRIVATE USES ${ARG_USES})
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name}_fuzz PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  add_dependencies(reprieve_fuzzers ${name}_fuzz)
endfunction()

function(reprieve_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  reprieve_program(${name}_bench ${ARG_SOURCES})
  reprieve_link(${name}_bench PRIVATE USES ${ARG_USES} LINKS benchmark::benchmark_main)
  set_target_properties(${name}_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  add_dependencies(reprieve_benches ${name}_bench)
endfunction()

# Adds the named folders, in this order, that have a CMakeLists.txt.
function(reprieve_folders)
  foreach(folder IN LISTS ARGN)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()
