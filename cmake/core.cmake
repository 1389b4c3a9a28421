# SPDX-License-Identifier: Apache-2.0
# Every object is compiled once and goes into libdlcore.so.0 and libdlcore.a alike.
file(GLOB_RECURSE libdl_sources CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/libdl/*.cc ${PROJECT_SOURCE_DIR}/kernels/cpu/*.cc)
list(FILTER libdl_sources EXCLUDE REGEX "/libdl/backends/")  # libraries of their own

# Objects must not change when another commit is checked out, so the id covers only what the core
# and its plugins share.
file(GLOB shared_with_plugins CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/kernels/*.h ${PROJECT_SOURCE_DIR}/kernels/*.def
     ${PROJECT_SOURCE_DIR}/kernels/args/*.h ${PROJECT_SOURCE_DIR}/libdl/device/backend.h)
set(build_id "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${PROJECT_VERSION}")
foreach(file ${shared_with_plugins})
  file(SHA256 ${file} digest)
  string(APPEND build_id " ${digest}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endforeach()
string(SHA256 build_id "${build_id}")
string(SUBSTRING ${build_id} 0 16 LIBDL_BUILD_ID)
configure_file(${PROJECT_SOURCE_DIR}/cmake/build_info.h.in ${libdl_generated}/build_info.h @ONLY)

function(libdl_includes target)
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/libdl ${PROJECT_SOURCE_DIR}
    ${libdl_generated})
endfunction()

set(public_includes $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)

set(scalar_kernels gemm/matmul_complex.cc gemm/matmul_integer.cc gemm/matmul_outer.cc
    image/grid_sample.cc image/resample.cc nn/sum_rows.cc scan/scan.cc tiles/tiles_complex.cc
    tiles/tiles_integer.cc tiles/tiles_narrow.cc traverse/convert.cc)

if(LIBDL_CORE_ARCHIVE)
  set(core_contents -Wl,--whole-archive ${LIBDL_CORE_ARCHIVE} -Wl,--no-whole-archive)
  set(core_source ${PROJECT_BINARY_DIR}/empty.cc)
  file(TOUCH ${core_source})
  # The version script alone hides what is not the door: --exclude-libs would hide the door too.
  set(unexport "")
else()
  # Three sets of objects, for each is compiled in a way of its own.
  set(kernel_sources ${libdl_sources})
  list(FILTER kernel_sources INCLUDE REGEX "/kernels/cpu/")
  set(doors ${libdl_sources} ${libdl_generated_sources})
  list(FILTER doors INCLUDE REGEX "/(libdl/capi/|generated/[a-z_]*.cc)")
  set(behind_doors ${libdl_sources} ${libdl_generated_sources})
  list(REMOVE_ITEM behind_doors ${doors} ${kernel_sources})
  add_library(libdl_objects_core OBJECT ${behind_doors})
  add_library(libdl_objects_doors OBJECT ${doors})
  add_library(libdl_objects_kernels OBJECT ${kernel_sources})
  set(core_source "")
  foreach(target libdl_objects_core libdl_objects_doors libdl_objects_kernels)
    libdl_flags(${target})
    libdl_includes(${target})
    target_compile_definitions(${target} PRIVATE LIBDL_BUILDING=1)
    target_link_libraries(${target} PRIVATE libdl_dependencies)
    list(APPEND core_source $<TARGET_OBJECTS:${target}>)
  endforeach()
  libdl_unite_by_folder(libdl_objects_core libdl_objects_doors)
  # Not of the kernels, which read Highway for each instruction set; the debug information of the doors
  # has to be that of their sources.
  libdl_precompile(libdl_objects_core)
  libdl_sanitize_vector_kernels(${kernel_sources})
  target_compile_options(libdl_objects_kernels PRIVATE $<$<CONFIG:Demo>:-O2>)
  if(LIBDL_NATIVE)
    libdl_native_kernels(libdl_objects_kernels)
  endif()
  # Of debug information lines are enough, a quarter of the time less, but for the doors, whose types
  # the ABI gate reads.
  if(PROJECT_IS_TOP_LEVEL)
    foreach(target libdl_objects_core libdl_objects_kernels)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-g1>)
    endforeach()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Doors with equal bodies must not be folded into one: the other would lose the debug information
    # that the ABI gate reads.
    target_compile_options(libdl_objects_doors PRIVATE -fno-ipa-icf)
    # Kernels in scalar code, whose loops only -O3 turns into vectors.
    if(NOT LIBDL_SANITIZE)
      list(TRANSFORM scalar_kernels PREPEND ${PROJECT_SOURCE_DIR}/kernels/cpu/)
      set_property(SOURCE ${scalar_kernels} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
    endif()
  endif()
  set(core_contents "")
  set(unexport -Wl,--exclude-libs,ALL)

  add_library(libdlcore_static STATIC ${core_source})
  add_library(libdl::static ALIAS libdlcore_static)
  set_target_properties(libdlcore_static PROPERTIES OUTPUT_NAME dlcore EXPORT_NAME static
                        LINKER_LANGUAGE CXX)
  target_include_directories(libdlcore_static INTERFACE ${public_includes})
  target_link_libraries(libdlcore_static PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
endif()

# Before 1.0 a minor version may break what was promised: all symbols bear the node of the present
# one, and the loader refuses a program of another by name. From 1.0 on each minor version adds a node.
if(PROJECT_VERSION_MAJOR GREATER 0)
  message(FATAL_ERROR "libdlcore.map wants one node a minor version from 1.0 on.")
endif()
set(LIBDL_NODE ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(version_script ${PROJECT_BINARY_DIR}/generated/libdlcore.map)
configure_file(${PROJECT_SOURCE_DIR}/libdl/capi/libdlcore.map.in ${version_script} @ONLY)
add_library(libdlcore SHARED ${core_source})
add_library(libdl::core ALIAS libdlcore)
# No VERSION: wheels hold no links, so a second name would be a second copy.
set_target_properties(libdlcore PROPERTIES
  OUTPUT_NAME dlcore EXPORT_NAME core SOVERSION 0 LINKER_LANGUAGE CXX
  LINK_DEPENDS ${version_script})
target_include_directories(libdlcore INTERFACE ${public_includes})
target_link_libraries(libdlcore PRIVATE ${core_contents} Threads::Threads ${CMAKE_DL_LIBS} m)
target_link_options(libdlcore PRIVATE
  ${libdl_sanitize_flags} ${unexport} -Wl,--version-script,${version_script}
  -Wl,-z,nodelete -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--gc-sections)
