# SPDX-License-Identifier: Apache-2.0
# tests/core/*.cc become one GoogleTest program over the static archive, where internals are
# reachable; each tests/capi/*.c is a program of its own over the shared library.
file(GLOB core_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/core/*.cc)
file(GLOB capi_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/capi/*.c)
find_program(VALGRIND valgrind)
# MPFR is the reference of the ulp tests, which are left out where it is missing.
find_path(MPFR_HEADERS mpfr.h)
find_library(MPFR_LIBRARY mpfr)
if(NOT MPFR_HEADERS OR NOT MPFR_LIBRARY)
  list(FILTER core_tests EXCLUDE REGEX "ulp_test.cc$")
  set(MPFR_LIBRARY "")
endif()

add_custom_target(tests)

if(core_tests AND NOT LIBDL_CORE_ARCHIVE)
  add_executable(core_tests ${core_tests})
  libdl_test_flags(core_tests)
  libdl_includes(core_tests)
  target_compile_features(core_tests PRIVATE cxx_std_20)
  target_link_libraries(core_tests PRIVATE libdlcore_static libdl_dependencies GTest::gtest
                        GTest::gtest_main ${MPFR_LIBRARY})
  add_test(NAME core_tests COMMAND core_tests --gtest_filter=-Large*
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(core_tests PROPERTIES TIMEOUT 900)
  # What a process does once, in a process of its own.
  add_test(NAME plugin_opens COMMAND core_tests --gtest_filter=NoLock.WhereAPluginOpens)
  set_tests_properties(plugin_opens PROPERTIES ENVIRONMENT LIBDL_TEST_ALONE=1)
  # 5 GB and some 10^10 elements: for the code that users run, not for the sanitizers'.
  if(NOT LIBDL_SANITIZE)
    add_test(NAME large_tests COMMAND core_tests --gtest_filter=Large*)
    set_tests_properties(large_tests PROPERTIES TIMEOUT 900)
  endif()
  add_dependencies(tests core_tests)
endif()

foreach(file ${capi_tests})
  get_filename_component(name ${file} NAME_WE)
  add_executable(capi_${name} ${file})
  set_target_properties(capi_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/capi
    C_STANDARD 11 C_STANDARD_REQUIRED ON)
  libdl_program_flags(capi_${name})
  target_link_libraries(capi_${name} PRIVATE libdl::core Threads::Threads m)
  # A sanitizer's frames are larger than what small_stack allows, and its own allocator is not made
  # for the forks of threads at work (fork_busy): those two are for the code that users run. What
  # races does so on purpose, in its values: the thread sanitizer would tell of these.
  if((LIBDL_SANITIZE AND name MATCHES "^(small_stack|fork_busy)$") OR
     (LIBDL_SANITIZE MATCHES "thread" AND name STREQUAL "races"))
    continue()
  endif()
  add_test(NAME capi_${name} COMMAND capi_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(capi_${name} PROPERTIES TIMEOUT 600)
  add_dependencies(tests capi_${name})
endforeach()

foreach(plugin other_build namesake lacking)  # that are refused
  add_library(${plugin} MODULE ${PROJECT_SOURCE_DIR}/tests/capi/plugins/${plugin}.cc)
  set_target_properties(${plugin} PROPERTIES
    PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/capi)
  libdl_flags(${plugin})
  libdl_includes(${plugin})
  add_dependencies(capi_plugins ${plugin})
endforeach()
add_dependencies(capi_plugins example_abacus example_rotations)
target_compile_definitions(capi_plugins PRIVATE
  PLUGINS="${PROJECT_BINARY_DIR}/examples/plugins/"
  REFUSED="${PROJECT_BINARY_DIR}/tests/capi/")
target_link_libraries(capi_plugins PRIVATE ${CMAKE_DL_LIBS})

# Samples of calls, which several programs are written from.
file(GLOB sample_rows CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/samples/*)

# What each operator answers with its defaults; tests/museum/meaning/generate.py tells more.
set(meaning_folder ${PROJECT_BINARY_DIR}/tests/museum)
set(meaning_source ${PROJECT_SOURCE_DIR}/tests/museum/meaning)
file(GLOB meaning_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/libdl/*.h)
add_custom_command(
  OUTPUT ${meaning_folder}/meaning.c
  COMMAND ${Python3_EXECUTABLE} -B ${meaning_source}/generate.py
          --headers ${PROJECT_SOURCE_DIR}/include/libdl --out ${meaning_folder}
  DEPENDS ${meaning_headers} ${meaning_source}/generate.py ${meaning_source}/meaning.c.in
          ${meaning_source}/answers.txt ${sample_rows}
          ${PROJECT_SOURCE_DIR}/tools/operators.py
  COMMENT "Writing what the operators mean from the headers")
add_executable(meaning ${meaning_folder}/meaning.c)
set_target_properties(meaning PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${meaning_folder} C_STANDARD 11)
libdl_program_flags(meaning)
# One long function, which takes the optimiser a minute and runs for a second.
target_compile_options(meaning PRIVATE -O0)
target_link_libraries(meaning PRIVATE libdl::core m)
add_test(NAME meaning COMMAND meaning WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
add_test(NAME meaning_imports COMMAND ${Python3_EXECUTABLE} -B
         ${PROJECT_SOURCE_DIR}/tests/museum/imports.py ${PROJECT_BINARY_DIR})
add_test(NAME other_minor COMMAND ${PROJECT_SOURCE_DIR}/tests/museum/other_minor
         ${PROJECT_BINARY_DIR})
if(NOT LIBDL_SANITIZE)  # whose library would come behind what is preloaded
  add_test(NAME meaning_planted COMMAND ${Python3_EXECUTABLE} -B ${meaning_source}/planted.py
           ${PROJECT_BINARY_DIR})
  add_test(NAME museum_planted COMMAND ${PROJECT_SOURCE_DIR}/tests/museum/planted
           ${PROJECT_BINARY_DIR})
endif()
add_dependencies(tests meaning)

add_test(NAME configure_errors COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR}
         -D SCRATCH=${PROJECT_BINARY_DIR}/tests/configure_errors -D NINJA=${CMAKE_MAKE_PROGRAM}
         -D CC=${CMAKE_C_COMPILER} -D CXX=${CMAKE_CXX_COMPILER}
         -P ${PROJECT_SOURCE_DIR}/tests/packaging/configure_errors.cmake)

# tests/attack: every function with bad arguments, one at a time, as the headers tell them.
set(attack_folder ${PROJECT_BINARY_DIR}/tests/attack)
file(GLOB attack_scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/attack/*.py
     ${PROJECT_SOURCE_DIR}/tests/fuzz/host_fixture*.h
     ${PROJECT_SOURCE_DIR}/tests/capi/dlpack_structs.h)
add_custom_command(
  OUTPUT ${attack_folder}/attack_calls.c ${attack_folder}/attacks.txt
  COMMAND ${Python3_EXECUTABLE} -B tests/attack/generate.py --headers include/libdl
          --out ${attack_folder}
  DEPENDS ${libdl_headers} ${libdl_tools} ${sample_rows} ${attack_scripts}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Writing the attacks from the headers"
  VERBATIM)
file(GLOB attack_program CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/attack/*.cc)
list(FILTER attack_program EXCLUDE REGEX "main.cc$")
add_library(attack_objects OBJECT ${attack_program} ${attack_folder}/attack_calls.c
                                  ${attack_folder}/attacks.txt)
add_executable(attack tests/attack/main.cc $<TARGET_OBJECTS:attack_objects>)
set_target_properties(attack PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${attack_folder})
foreach(target attack attack_objects)
  set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/attack)
  target_compile_features(${target} PRIVATE cxx_std_20)
  libdl_test_flags(${target})
  target_link_libraries(${target} PRIVATE libdl::core)
endforeach()
# On a stack of 96 KiB: what a call may take of it, and what the C library and the attack itself do. A
# sanitizer's frames are larger.
set(attack_stack 96)
if(LIBDL_SANITIZE)
  set(attack_stack "")
endif()
add_test(NAME attack COMMAND attack ${attack_folder}/attacks.txt
                             ${PROJECT_SOURCE_DIR}/tests/attack/legal.txt ${attack_stack})
# Seconds; ten times as long under a sanitizer.
set_tests_properties(attack PROPERTIES TIMEOUT 300)
add_dependencies(tests attack)

# tests/fault_injection: operator new is replaced there, so it is a program of its own. What it calls is
# what tests/attack calls.
file(GLOB fault_injection_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fault_injection/*.cc)
if(fault_injection_tests AND NOT LIBDL_CORE_ARCHIVE)
  add_executable(fault_injection_tests ${fault_injection_tests} tests/core/sanitizer_options.cc
                 $<TARGET_OBJECTS:attack_objects>)
  libdl_test_flags(fault_injection_tests)
  libdl_includes(fault_injection_tests)
  target_include_directories(fault_injection_tests PRIVATE ${PROJECT_SOURCE_DIR}/tests/attack)
  target_compile_definitions(fault_injection_tests PRIVATE LIBDL_ATTACKS="${attack_folder}/attacks.txt")
  target_compile_features(fault_injection_tests PRIVATE cxx_std_20)
  target_link_libraries(fault_injection_tests PRIVATE libdlcore_static libdl_dependencies GTest::gtest
                        GTest::gtest_main)
  if(LIBDL_SANITIZE)  # a third; which one the commit says
    set(in_turn sh -c [[GTEST_TOTAL_SHARDS=3 GTEST_SHARD_INDEX=$((${LIBDL_TURN:-0} % 3)) exec "$0"]])
  endif()
  add_test(NAME fault_injection_tests COMMAND ${in_turn} $<TARGET_FILE:fault_injection_tests>
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(fault_injection_tests PROPERTIES TIMEOUT 900)
  add_dependencies(tests fault_injection_tests)
endif()

# tests/fuzz: random sequences of calls.
set(fuzz_folder ${PROJECT_BINARY_DIR}/tests/fuzz)
set(fuzz_sources ${PROJECT_SOURCE_DIR}/tests/fuzz)
file(GLOB fuzz_scripts CONFIGURE_DEPENDS ${fuzz_sources}/*.py ${fuzz_sources}/host_fixture*.h)
add_custom_command(
  OUTPUT ${fuzz_folder}/fuzz_calls.c ${fuzz_folder}/fuzz.txt
  COMMAND ${Python3_EXECUTABLE} -B tests/fuzz/table.py --headers include/libdl --out ${fuzz_folder}
  DEPENDS ${libdl_headers} ${libdl_tools} ${sample_rows} ${attack_scripts} ${fuzz_scripts}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Writing the fuzzer's table from the headers"
  VERBATIM)
file(GLOB fuzz_program CONFIGURE_DEPENDS ${fuzz_sources}/*.cc)
add_library(fuzz_objects OBJECT ${fuzz_program} ${fuzz_folder}/fuzz_calls.c ${fuzz_folder}/fuzz.txt)
set_target_properties(fuzz_objects PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
target_include_directories(fuzz_objects PRIVATE ${fuzz_sources} ${PROJECT_SOURCE_DIR}/tests/attack)
target_compile_features(fuzz_objects PRIVATE cxx_std_20)
libdl_test_flags(fuzz_objects)
target_link_libraries(fuzz_objects PRIVATE libdl::core)
add_executable(fuzz $<TARGET_OBJECTS:fuzz_objects>)
add_executable(fuzz_planted $<TARGET_OBJECTS:fuzz_objects> ${fuzz_sources}/planted.c)
foreach(program fuzz fuzz_planted)
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${fuzz_folder})
  libdl_program_flags(${program})
  target_link_libraries(${program} PRIVATE libdl::core ${CMAKE_DL_LIBS})
  add_dependencies(tests ${program})
endforeach()
add_test(NAME fuzz COMMAND fuzz ${fuzz_folder}/fuzz.txt ${fuzz_sources} ${fuzz_sources}/rare.txt
                           --sequences 4000 --out ${fuzz_folder})
set(fuzz_sanitized "")
if(LIBDL_SANITIZE MATCHES "address")
  string(JOIN " " fuzz_flags ${libdl_sanitize_flags})
  set(fuzz_sanitized --sanitized "--flags=${fuzz_flags}")
endif()
add_test(NAME fuzz_planted COMMAND ${Python3_EXECUTABLE} -B ${fuzz_sources}/planted.py
                                   ${PROJECT_BINARY_DIR} --compiler ${CMAKE_C_COMPILER}
                                   ${fuzz_sanitized})
set_tests_properties(fuzz fuzz_planted PROPERTIES TIMEOUT 300)

# tests/cpp: the C++ layer, and the modules of the examples, as their users see them.
file(GLOB cpp_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cpp/*.cc)
if(NOT LIBDL_CORE_ARCHIVE)
  add_executable(cpp_tests ${cpp_tests})
  set_target_properties(cpp_tests PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
  libdl_test_flags(cpp_tests)
  # As strict as any program that includes the header.
  target_compile_options(cpp_tests PRIVATE -Wshadow -Wconversion -Wpedantic)
  target_compile_definitions(cpp_tests PRIVATE LIBDL_HPP_PATH="${libdl_cpp_folder}/libdl.hpp")
  target_include_directories(cpp_tests PRIVATE ${PROJECT_SOURCE_DIR}/examples)
  target_link_libraries(cpp_tests PRIVATE libdl::cpp GTest::gtest GTest::gtest_main)
  add_test(NAME cpp_tests COMMAND cpp_tests)
  set_tests_properties(cpp_tests PROPERTIES TIMEOUT 300)
  add_dependencies(tests cpp_tests)
endif()

# The hot calls that tests/gates/instructions.py counts.
if(EXISTS ${PROJECT_SOURCE_DIR}/tests/gates/calls.c)
  add_executable(gate_calls tests/gates/calls.c)
  set_target_properties(gate_calls PROPERTIES
    OUTPUT_NAME calls RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/gates C_STANDARD 11)
  libdl_program_flags(gate_calls)
  target_link_libraries(gate_calls PRIVATE libdl::core)
  add_dependencies(tests gate_calls)
endif()

# The errors that tests/gates/sanitize plants.
if(LIBDL_SANITIZE)
  add_executable(gate_planted tests/gates/planted.c)
  set_target_properties(gate_planted PROPERTIES
    OUTPUT_NAME planted RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/gates C_STANDARD 11)
  libdl_program_flags(gate_planted)
  target_link_libraries(gate_planted PRIVATE libdl::core Threads::Threads)
  add_dependencies(tests gate_planted)
endif()
