# SPDX-License-Identifier: Apache-2.0
# Each bench/NAME.cc measures internals over the static archive, each bench/NAME.c the C ABI over
# the shared library; `ninja benchmarks` builds them, the default build does not.
file(GLOB internal CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cc)
file(GLOB outside CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.c)
add_custom_target(benchmarks)
foreach(file ${internal} ${outside})
  get_filename_component(name ${file} NAME_WE)
  add_executable(bench_${name} EXCLUDE_FROM_ALL ${file})
  set_target_properties(bench_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench C_STANDARD 11)
  libdl_program_flags(bench_${name})
  if(file IN_LIST internal)
    libdl_includes(bench_${name})
    target_compile_features(bench_${name} PRIVATE cxx_std_20)
    target_link_libraries(bench_${name} PRIVATE libdlcore_static libdl_dependencies)
  else()
    target_link_libraries(bench_${name} PRIVATE libdl::core Threads::Threads m)
  endif()
  add_dependencies(benchmarks bench_${name})
endforeach()
