# SPDX-License-Identifier: Apache-2.0
# Each examples/NAME.c is a C99 program that needs nothing but the public headers, each NAME.cc a
# C++17 program over libdl.hpp and the headers beside it.
file(GLOB libdl_examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.c)
add_custom_target(examples)
foreach(file ${libdl_examples})
  get_filename_component(name ${file} NAME_WE)
  add_executable(example_${name} ${file})
  set_target_properties(example_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples
    C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
  libdl_program_flags(example_${name})
  target_compile_options(example_${name} PRIVATE -pedantic)
  target_link_libraries(example_${name} PRIVATE libdl::core m)
  add_dependencies(examples example_${name})
endforeach()

file(GLOB libdl_cpp_examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cc)
foreach(file ${libdl_cpp_examples})
  get_filename_component(name ${file} NAME_WE)
  add_executable(example_cpp_${name} ${file})
  set_target_properties(example_cpp_${name} PROPERTIES
    OUTPUT_NAME ${name}_cpp RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  libdl_program_flags(example_cpp_${name})
  target_compile_options(example_cpp_${name} PRIVATE -pedantic)
  target_link_libraries(example_cpp_${name} PRIVATE libdl::cpp)
  add_dependencies(examples example_cpp_${name})
endforeach()

# What builds apart against an installed libdl (examples/plugins/CMakeLists.txt) is built here with what
# that target stands for.
set(plugins ${PROJECT_SOURCE_DIR}/examples/plugins)
foreach(name abacus rotations)
  add_library(example_${name} MODULE ${plugins}/${name}.cc)
  set_target_properties(example_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples/plugins)
  libdl_flags(example_${name})
  libdl_includes(example_${name})
  add_dependencies(examples example_${name})
endforeach()
add_executable(example_regression ${plugins}/regression.c)
set_target_properties(example_regression PROPERTIES
  OUTPUT_NAME regression RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples/plugins
  C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
libdl_program_flags(example_regression)
target_compile_options(example_regression PRIVATE -pedantic)
target_link_libraries(example_regression PRIVATE libdl::core m)
add_dependencies(examples example_regression)
