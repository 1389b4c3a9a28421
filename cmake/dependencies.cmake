# SPDX-License-Identifier: Apache-2.0
# What is not ours: Highway, nlohmann-json and xxHash, headers only.
find_package(Threads REQUIRED)

find_path(LIBDL_HIGHWAY_INCLUDE hwy/highway.h)
find_path(LIBDL_JSON_INCLUDE nlohmann/json.hpp)
find_path(LIBDL_XXHASH_INCLUDE xxhash.h)

set(libdl_missing "")
macro(libdl_require variable package)
  if(NOT ${variable})
    list(APPEND libdl_missing ${package})
  endif()
endmacro()
libdl_require(LIBDL_HIGHWAY_INCLUDE libhwy-dev)
libdl_require(LIBDL_JSON_INCLUDE nlohmann-json3-dev)
libdl_require(LIBDL_XXHASH_INCLUDE libxxhash-dev)
if(LIBDL_TESTS)
  find_package(GTest)
  libdl_require(GTest_FOUND libgtest-dev)
endif()
if(libdl_missing)
  list(REMOVE_DUPLICATES libdl_missing)
  list(JOIN libdl_missing " " names)
  message(FATAL_ERROR "libdl needs these Debian packages: apt-get install ${names}\n"
                      "Elsewhere, say where their headers are: -DLIBDL_HIGHWAY_INCLUDE= "
                      "-DLIBDL_JSON_INCLUDE= -DLIBDL_XXHASH_INCLUDE= (GTest is for LIBDL_TESTS alone)")
endif()

add_library(libdl_dependencies INTERFACE)
target_include_directories(libdl_dependencies SYSTEM INTERFACE
  ${LIBDL_HIGHWAY_INCLUDE} ${LIBDL_JSON_INCLUDE} ${LIBDL_XXHASH_INCLUDE})
target_link_libraries(libdl_dependencies INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
