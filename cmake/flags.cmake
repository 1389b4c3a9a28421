# SPDX-License-Identifier: Apache-2.0
# libdl_flags(target): how every object of libdl is compiled. Nothing here depends on the machine
# that builds, and nothing relaxes floating-point arithmetic.
find_program(CCACHE ccache)
if(CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  # Without these ccache keeps nothing that is compiled with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

if(PROJECT_IS_TOP_LEVEL)
  # Debug information is always made: abidw reads it, `cmake --install --strip` drops it. Reports
  # of sanitizers name lines. A demo alone does without, and -O2 is for its kernels.
  foreach(language C CXX)
    set(CMAKE_${language}_FLAGS_RELEASE "-O2 -g -DNDEBUG")
    set(CMAKE_${language}_FLAGS_DEMO "-O1 -DNDEBUG")
    set(CMAKE_${language}_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")
  endforeach()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

set(libdl_sanitize_flags "")
if(LIBDL_SANITIZE)
  string(REPLACE ";" "," sanitizers "${LIBDL_SANITIZE}")
  set(libdl_sanitize_flags -fsanitize=${sanitizers} -fno-sanitize-recover=all)
  # GCC's analysis of what is initialised loses its way in code that the thread sanitizer watches.
  if(LIBDL_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND libdl_sanitize_flags -Wno-maybe-uninitialized)
  endif()
endif()

# Under the undefined-behaviour sanitizer one vector kernel takes minutes to compile, and under the
# address sanitizer's watch over scopes a quarter of them: those files get the address sanitizer
# without it. What converts and indexes is checked by both.
function(libdl_sanitize_vector_kernels)
  if(NOT LIBDL_SANITIZE MATCHES "undefined")
    return()
  endif()
  foreach(source ${ARGN})
    file(STRINGS ${source} vector REGEX "foreach_target" LIMIT_COUNT 1)
    if(vector)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS
        -fno-sanitize=undefined -fno-sanitize-address-use-after-scope)
    endif()
  endforeach()
endfunction()

# The kernels for the instruction set of this machine's processor alone. Highway is read once for all
# of them, by GCC, which then says of the processor's intrinsics that they read what is not set, as
# they do on purpose.
function(libdl_native_kernels target)
  target_compile_definitions(${target} PRIVATE LIBDL_ONE_ISA=1)
  target_compile_options(${target} PRIVATE -march=native)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT LIBDL_SANITIZE)
    target_compile_options(${target} PRIVATE -Wno-uninitialized -Wno-maybe-uninitialized)
    target_precompile_headers(${target} PRIVATE
      ${PROJECT_SOURCE_DIR}/kernels/cpu/simd/precompiled.h)
  endif()
endfunction()

# Highway's targets of SVE (bits 20 to 27): their vectors have no size that a table of them could have.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  add_compile_definitions(HWY_BROKEN_TARGETS=0xFF00000)
endif()

function(libdl_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20 c_std_99)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF C_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra $<$<BOOL:${LIBDL_WERROR}>:-Werror>
    -ffp-contract=off -fno-semantic-interposition -ftls-model=initial-exec
    ${libdl_sanitize_flags})
  target_link_options(${target} PRIVATE ${libdl_sanitize_flags})
  if(LIBDL_SANITIZE)
    target_compile_definitions(${target} PRIVATE LIBDL_SANITIZE=1)
  endif()
endfunction()

# libdl_precompile(target): the standard headers, which are most of what a source of the core reads,
# are parsed once. Of GCC alone: Clang reads each source as it stands (tests/gates), so that none
# forgets an include.
function(libdl_precompile target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND PROJECT_IS_TOP_LEVEL AND NOT LIBDL_UNITY)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <atomic> <bit> <cmath> <complex> <cstring> <limits> <memory> <mutex>
      <optional> <span> <string> <string_view> <unordered_map> <utility> <vector>)
  endif()
endfunction()

# libdl_unite_by_folder(target...): up to some eight sources of a folder are one unit of the compiler,
# which reads the headers once for all of them: half the time. GCC inlines otherwise then, which costs
# the shortest calls two instructions of a hundred, so a library that is kept does without. A source's
# place follows from its name alone, so that a new one recompiles its own unit only.
# tests/gates/united.py tells whose names clash.
function(libdl_unite_by_folder)
  if(NOT LIBDL_UNITY)
    return()
  endif()
  foreach(target ${ARGN})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    set(folders "")
    foreach(source ${sources})
      cmake_path(GET source PARENT_PATH folder)
      foreach(root ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
        string(REPLACE "${root}/" "" folder "${folder}")
      endforeach()
      string(MAKE_C_IDENTIFIER "${folder}" key)
      list(APPEND folders ${key})
      list(APPEND sources_${key} ${source})
    endforeach()
    list(REMOVE_DUPLICATES folders)
    foreach(key ${folders})
      list(LENGTH sources_${key} count)
      math(EXPR units "(${count} + 7) / 8")
      foreach(source ${sources_${key}})
        cmake_path(GET source FILENAME name)
        string(MD5 digest ${name})
        string(SUBSTRING ${digest} 0 4 digits)
        math(EXPR unit "0x${digits} % ${units}")
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${key}_${unit})
      endforeach()
    endforeach()
  endforeach()
endfunction()

# libdl_program_flags(target): for tests and examples, which are ordinary users of the library.
function(libdl_program_flags target)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<BOOL:${LIBDL_WERROR}>:-Werror>
                         -ffp-contract=off ${libdl_sanitize_flags})
  target_link_options(${target} PRIVATE ${libdl_sanitize_flags})
  if(LIBDL_SANITIZE)
    target_compile_definitions(${target} PRIVATE LIBDL_SANITIZE=1)
  endif()
endfunction()

# libdl_test_flags(target): for tests of internals, which take longer to compile than to run.
function(libdl_test_flags target)
  libdl_program_flags(${target})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1 -g1>)
endfunction()
