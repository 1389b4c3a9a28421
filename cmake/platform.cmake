# SPDX-License-Identifier: Apache-2.0
# libdl says where it runs before anything is compiled.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "libdl builds on 64-bit little-endian Linux; this is ${CMAKE_SYSTEM_NAME}.")
endif()
if(NOT CMAKE_SIZEOF_VOID_P EQUAL 8 OR NOT CMAKE_CXX_BYTE_ORDER STREQUAL "LITTLE_ENDIAN")
  message(FATAL_ERROR "libdl builds on 64-bit little-endian Linux; this compiler makes "
                      "${CMAKE_SIZEOF_VOID_P}-byte pointers, ${CMAKE_CXX_BYTE_ORDER}.")
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  message(WARNING "libdl is tested on x86-64; on aarch64 it is expected to work, not promised.")
elseif(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  message(FATAL_ERROR "libdl builds on x86-64 (aarch64 untested); this is "
                      "${CMAKE_SYSTEM_PROCESSOR}.")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "libdl needs GCC 12 or later; this is ${CMAKE_CXX_COMPILER_VERSION}: "
                      "apt-get install g++-12, and configure with -DCMAKE_C_COMPILER=gcc-12 "
                      "-DCMAKE_CXX_COMPILER=g++-12")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  message(FATAL_ERROR "libdl needs Clang 14 or later; this is ${CMAKE_CXX_COMPILER_VERSION}: "
                      "apt-get install clang-14, and configure with -DCMAKE_C_COMPILER=clang-14 "
                      "-DCMAKE_CXX_COMPILER=clang++-14")
elseif(NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$")
  message(FATAL_ERROR "libdl builds with GCC or Clang; this is ${CMAKE_CXX_COMPILER_ID}: configure "
                      "with -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++")
endif()
