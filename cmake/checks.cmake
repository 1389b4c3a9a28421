# SPDX-License-Identifier: Apache-2.0
# `ninja checks`: the core once more, with checks that can be left out (libdl/base/place.h), and
# those of the C++ tests that see the inside. The kernels refuse nothing: their objects are the
# build's own. Without optimisation, so that what follows a check that was left out is what the
# source says. The shared library stands in a folder of its own; LD_LIBRARY_PATH puts it under the
# programs and the Python module of this build.
set(checks_folder ${PROJECT_BINARY_DIR}/checks)
set(checked_sources ${libdl_sources} ${libdl_generated_sources})
list(FILTER checked_sources EXCLUDE REGEX "/kernels/cpu/")
file(GLOB checked_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/core/*.cc)
list(FILTER checked_tests EXCLUDE REGEX "_(kernels|ulp|stress)_test.cc$|/(ulp|large|small_shapes)_test.cc$")

function(libdl_checked target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  libdl_includes(${target})
  target_compile_definitions(${target} PRIVATE LIBDL_SWITCHABLE_CHECKS=1)
  target_compile_options(${target} PRIVATE -O0 -g0 -Wno-return-type -Wno-maybe-uninitialized)
  target_link_libraries(${target} PRIVATE libdl_dependencies)
endfunction()

add_library(libdl_checked OBJECT ${checked_sources} ${PROJECT_SOURCE_DIR}/tests/checks/left_out.cc)
libdl_flags(libdl_checked)
libdl_checked(libdl_checked)
target_compile_definitions(libdl_checked PRIVATE LIBDL_BUILDING=1)
set(checked_objects $<TARGET_OBJECTS:libdl_checked>
    $<FILTER:$<TARGET_OBJECTS:libdl_objects>,INCLUDE,/kernels/cpu/>)

add_library(libdlcore_checked SHARED EXCLUDE_FROM_ALL ${checked_objects})
set_target_properties(libdlcore_checked PROPERTIES
  OUTPUT_NAME dlcore SOVERSION 0 LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY ${checks_folder})
target_link_libraries(libdlcore_checked PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
target_link_options(libdlcore_checked PRIVATE
  -Wl,--version-script,${version_script} -Wl,-z,nodelete -Wl,-z,defs)

add_executable(core_tests_checked ${checked_tests} ${PROJECT_SOURCE_DIR}/tests/checks/listener.cc
                                  ${checked_objects})
set_target_properties(core_tests_checked PROPERTIES
  OUTPUT_NAME core_tests RUNTIME_OUTPUT_DIRECTORY ${checks_folder})
libdl_program_flags(core_tests_checked)
target_compile_features(core_tests_checked PRIVATE cxx_std_20)
libdl_checked(core_tests_checked)
target_link_libraries(core_tests_checked PRIVATE GTest::gtest GTest::gtest_main)

add_custom_target(checks)
add_dependencies(checks libdlcore_checked core_tests_checked)
