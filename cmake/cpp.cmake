# SPDX-License-Identifier: Apache-2.0
# libdl::cpp: one header over libdl::core, written from the public headers.
set(libdl_cpp_folder ${libdl_generated}/cpp)
file(GLOB libdl_cpp_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/wrappers/cpp/*)
add_custom_command(
  OUTPUT ${libdl_cpp_folder}/libdl.hpp
  COMMAND ${Python3_EXECUTABLE} -B wrappers/cpp/generate.py --headers include/libdl
          --out ${libdl_cpp_folder}
  COMMAND ${CMAKE_COMMAND} -E touch ${libdl_cpp_folder}/libdl.hpp
  DEPENDS ${libdl_headers} ${libdl_tools} ${libdl_cpp_sources}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Writing libdl.hpp from the headers"
  VERBATIM)
add_custom_target(libdl_cpp_header ALL DEPENDS ${libdl_cpp_folder}/libdl.hpp)

add_library(libdlcpp INTERFACE)
add_library(libdl::cpp ALIAS libdlcpp)
set_target_properties(libdlcpp PROPERTIES EXPORT_NAME cpp)
add_dependencies(libdlcpp libdl_cpp_header)
target_compile_features(libdlcpp INTERFACE cxx_std_17)
target_include_directories(libdlcpp INTERFACE
  $<BUILD_INTERFACE:${libdl_cpp_folder}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(libdlcpp INTERFACE libdlcore)
