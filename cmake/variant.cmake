# SPDX-License-Identifier: Apache-2.0
# libdl_variant(NAME DEFINITION [OPTION...]): the core once more with a definition that the tests
# want, and those of the C++ tests that see the inside, as target NAME. The kernels do not change:
# their objects are the build's own. The shared library stands in a folder of that name;
# LD_LIBRARY_PATH puts it under the programs and the Python module of this build. More sources:
# ${NAME}_core for the library and ${NAME}_tests for the tests.
set(variant_sources ${libdl_sources} ${libdl_generated_sources})
list(FILTER variant_sources EXCLUDE REGEX "/kernels/cpu/")
file(GLOB variant_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/core/*.cc)
list(FILTER variant_tests EXCLUDE REGEX "_(kernels|ulp|stress)_test.cc$|/(ulp|large|small_shapes)_test.cc$")

function(libdl_variant name definition)
  set(folder ${PROJECT_BINARY_DIR}/${name})
  function(libdl_varies target)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    libdl_includes(${target})
    target_compile_definitions(${target} PRIVATE ${definition} LIBDL_VARIANT=1)
    target_compile_options(${target} PRIVATE -g0 ${ARGN})
    target_link_libraries(${target} PRIVATE libdl_dependencies)
  endfunction()

  add_library(libdl_${name} OBJECT ${variant_sources} ${${name}_core})
  libdl_flags(libdl_${name})
  libdl_varies(libdl_${name} ${ARGN})
  target_compile_definitions(libdl_${name} PRIVATE LIBDL_BUILDING=1)
  set(objects $<TARGET_OBJECTS:libdl_${name}> $<TARGET_OBJECTS:libdl_objects_kernels>)

  add_library(libdlcore_${name} SHARED EXCLUDE_FROM_ALL ${objects})
  set_target_properties(libdlcore_${name} PROPERTIES
    OUTPUT_NAME dlcore SOVERSION 0 LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY ${folder})
  target_link_libraries(libdlcore_${name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
  target_link_options(libdlcore_${name} PRIVATE
    ${libdl_sanitize_flags} -Wl,--version-script,${version_script} -Wl,-z,nodelete -Wl,-z,defs)

  add_executable(core_tests_${name} ${variant_tests} ${${name}_tests} ${objects})
  set_target_properties(core_tests_${name} PROPERTIES
    OUTPUT_NAME core_tests RUNTIME_OUTPUT_DIRECTORY ${folder})
  libdl_test_flags(core_tests_${name})
  target_compile_features(core_tests_${name} PRIVATE cxx_std_20)
  libdl_varies(core_tests_${name} ${ARGN})
  target_link_libraries(core_tests_${name} PRIVATE GTest::gtest GTest::gtest_main)

  add_custom_target(${name})
  add_dependencies(${name} libdlcore_${name} core_tests_${name})
endfunction()
