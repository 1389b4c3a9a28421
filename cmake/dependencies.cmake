# SPDX-License-Identifier: Apache-2.0
# What is not ours: Highway, nlohmann-json and xxHash (headers only) and OpenBLAS (pthread build).
find_package(Threads REQUIRED)

find_path(LIBDL_HIGHWAY_INCLUDE hwy/highway.h)
find_path(LIBDL_JSON_INCLUDE nlohmann/json.hpp)
find_path(LIBDL_XXHASH_INCLUDE xxhash.h)

# The pthread build by its own folder: the alternatives system may point libopenblas.so at the
# OpenMP build, which hangs in a forked child.
set(openblas_folders openblas-pthread openblas)
find_path(LIBDL_OPENBLAS_INCLUDE cblas.h
          PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread openblas-pthread openblas)
find_library(LIBDL_OPENBLAS_SHARED NAMES libopenblas.so PATH_SUFFIXES ${openblas_folders})
find_library(LIBDL_OPENBLAS_STATIC NAMES libopenblas.a PATH_SUFFIXES ${openblas_folders})

set(libdl_missing "")
macro(libdl_require variable package)
  if(NOT ${variable})
    list(APPEND libdl_missing ${package})
  endif()
endmacro()
libdl_require(LIBDL_HIGHWAY_INCLUDE libhwy-dev)
libdl_require(LIBDL_JSON_INCLUDE nlohmann-json3-dev)
libdl_require(LIBDL_XXHASH_INCLUDE libxxhash-dev)
libdl_require(LIBDL_OPENBLAS_INCLUDE libopenblas-pthread-dev)
if(LIBDL_BLAS STREQUAL "static")
  libdl_require(LIBDL_OPENBLAS_STATIC libopenblas-pthread-dev)
  set(LIBDL_OPENBLAS ${LIBDL_OPENBLAS_STATIC})
else()
  libdl_require(LIBDL_OPENBLAS_SHARED libopenblas-pthread-dev)
  set(LIBDL_OPENBLAS ${LIBDL_OPENBLAS_SHARED})
endif()
if(LIBDL_TESTS)
  find_package(GTest)
  libdl_require(GTest_FOUND libgtest-dev)
endif()
if(libdl_missing)
  list(REMOVE_DUPLICATES libdl_missing)
  list(JOIN libdl_missing " " names)
  message(FATAL_ERROR "libdl needs these Debian packages: apt-get install ${names}")
endif()

add_library(libdl_dependencies INTERFACE)
target_include_directories(libdl_dependencies SYSTEM INTERFACE
  ${LIBDL_HIGHWAY_INCLUDE} ${LIBDL_JSON_INCLUDE} ${LIBDL_XXHASH_INCLUDE}
  ${LIBDL_OPENBLAS_INCLUDE})
target_link_libraries(libdl_dependencies INTERFACE
  ${LIBDL_OPENBLAS} Threads::Threads ${CMAKE_DL_LIBS} m)
get_filename_component(libdl_openblas_folder ${LIBDL_OPENBLAS} DIRECTORY)
get_filename_component(libdl_openblas_name ${LIBDL_OPENBLAS} NAME)
