# SPDX-License-Identifier: Apache-2.0
# libdlcuda.so: the CUDA backend, a plugin. It links nothing of CUDA; the kernels are images that nvcc
# makes and the driver loads. Beside it, for tests, a driver that is simulated on the host.
option(LIBDL_CUDA "Build the CUDA plugin (needs nvcc)" OFF)
set(LIBDL_CUDA_ARCHITECTURES "80;90" CACHE STRING
    "Compute capabilities to compile for; the last one also as PTX, for devices to come")
set(LIBDL_EMULATED_SANITIZE "" CACHE STRING
    "A sanitizer for the kernels that the simulated driver runs: undefined or address (tests/cuda/sanitized)")
if(NOT LIBDL_CUDA)
  return()
endif()
file(GLOB fetched_nvcc
     ${PROJECT_SOURCE_DIR}/.venv-cuda/lib/python3*/site-packages/nvidia/cu*/bin)
find_program(LIBDL_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda ${fetched_nvcc}
             PATH_SUFFIXES bin)
if(NOT LIBDL_NVCC)
  message(FATAL_ERROR "libdl: LIBDL_CUDA is ON, but nvcc was not found: put it on PATH or set "
                      "LIBDL_NVCC; `make cuda` fetches it from PyPI")
endif()
get_filename_component(nvcc_real ${LIBDL_NVCC} REALPATH)
get_filename_component(cuda_root ${nvcc_real}/../.. ABSOLUTE)
find_path(LIBDL_CUDA_HEADERS cuda.h
          HINTS ${cuda_root}/include ${cuda_root}/targets/x86_64-linux/include)
find_path(LIBDL_CCCL_HEADERS cuda/std/complex
          HINTS ${LIBDL_CUDA_HEADERS}/cccl ${cuda_root}/cccl ${cuda_root}/cccl/include
                ${LIBDL_CUDA_HEADERS}/cccl/include)
foreach(header CUDA CCCL)
  if(NOT LIBDL_${header}_HEADERS)
    message(FATAL_ERROR "libdl: ${LIBDL_NVCC} has no ${header} headers beside it: set "
                        "LIBDL_${header}_HEADERS; `make cuda` fetches all from PyPI")
  endif()
endforeach()
set(cuda_includes ${LIBDL_CUDA_HEADERS} ${LIBDL_CCCL_HEADERS})

set(architectures ${LIBDL_CUDA_ARCHITECTURES})
list(POP_BACK architectures newest)
set(gencode "")
foreach(architecture ${architectures})
  list(APPEND gencode -gencode arch=compute_${architecture},code=sm_${architecture})
endforeach()
list(APPEND gencode -gencode arch=compute_${newest},code=[sm_${newest},compute_${newest}])

file(GLOB cuda_kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cuda/*.cu)
set(images "")
set(declarations "")
set(entries "")
set(assembly "    .section .rodata\n")
set(compiled ${cuda_kernels})
if(LIBDL_SANITIZE)  # for the simulated driver alone, which looks at an image's first word only
  set(compiled "")
  set(declarations "static const char kNothing[] = {0x50, static_cast<char>(0xED), 0x55, static_cast<char>(0xBA)};\n")
  set(entries "  kNothing,\n")
endif()
foreach(source ${compiled})
  get_filename_component(stem ${source} NAME_WE)
  set(image ${PROJECT_BINARY_DIR}/cuda/${stem}.fatbin)
  add_custom_command(
    OUTPUT ${image}
    BYPRODUCTS ${image}.ptxas  # read by tests/gates/registers.py
    COMMAND ${PROJECT_SOURCE_DIR}/tools/ptxas_report ${image}.ptxas
            ${LIBDL_NVCC} -std=c++20 -fatbin ${gencode} --fmad=false --expt-relaxed-constexpr
            -Xcompiler=-Wall -DLIBDL_KERNELS -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/include
            -MD -MF ${image}.d ${source} -o ${image}
    DEPENDS ${source} ${PROJECT_SOURCE_DIR}/tools/ptxas_report DEPFILE ${image}.d
    COMMENT "Compiling kernels/cuda/${stem}.cu for the device" VERBATIM)
  list(APPEND images ${image})
  string(APPEND declarations "extern \"C\" const char libdl_cuda_${stem}[];\n")
  string(APPEND entries "  libdl_cuda_${stem},\n")
  string(APPEND assembly "    .balign 64\n    .globl libdl_cuda_${stem}\n    .hidden libdl_cuda_${stem}\n"
                         "libdl_cuda_${stem}:\n    .incbin \"${image}\"\n")
endforeach()
string(APPEND assembly "    .section .note.GNU-stack,\"\",@progbits\n")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/cuda/images.S CONTENT "${assembly}" @ONLY)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/cuda/modules.cc @ONLY CONTENT
"// Written by cmake/cuda.cmake.
#include \"backends/cuda/modules.h\"

#include <iterator>

${declarations}
namespace libdl::cuda {
static const char* const kImages[] = {
${entries}};
static_assert(std::size(kImages) <= kMostModules);
int module_count() { return static_cast<int>(std::size(kImages)); }
const void* module_image(int module) { return kImages[module]; }
}  // namespace libdl::cuda
")
enable_language(ASM)
set_source_files_properties(${PROJECT_BINARY_DIR}/cuda/images.S PROPERTIES OBJECT_DEPENDS "${images}")

# The plans of the same sources, by the host's compiler.
function(libdl_cuda_sources target)
  set_source_files_properties(${cuda_kernels} PROPERTIES LANGUAGE CXX)
  target_sources(${target} PRIVATE ${cuda_kernels})
  libdl_flags(${target})
  libdl_includes(${target})
  target_include_directories(${target} SYSTEM PRIVATE ${cuda_includes})
  target_compile_options(${target} PRIVATE -x c++)
endfunction()

file(GLOB plugin_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/libdl/backends/cuda/*.cc)
add_library(libdlcuda_objects OBJECT ${plugin_sources} ${PROJECT_BINARY_DIR}/cuda/modules.cc)
libdl_cuda_sources(libdlcuda_objects)
target_compile_definitions(libdlcuda_objects PRIVATE LIBDL_PLANS=1)
add_library(libdlcuda MODULE $<TARGET_OBJECTS:libdlcuda_objects> ${PROJECT_BINARY_DIR}/cuda/images.S)
set_target_properties(libdlcuda PROPERTIES OUTPUT_NAME dlcuda LINKER_LANGUAGE CXX)
target_link_libraries(libdlcuda PRIVATE ${CMAKE_DL_LIBS})
target_link_options(libdlcuda PRIVATE -Wl,-z,relro -Wl,-z,now -Wl,--exclude-libs,ALL
                    ${libdl_sanitize_flags})
if(NOT LIBDL_SANITIZE)  # whose functions come with the program
  target_link_options(libdlcuda PRIVATE -Wl,-z,defs)
endif()
# Beside the core, which looks for it there.
if(SKBUILD)
  install(TARGETS libdlcuda LIBRARY DESTINATION libdl)
else()
  install(TARGETS libdlcuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

if(LIBDL_TESTS)
  # The kernels as functions of the host. Misaligned addresses are told to the simulation, which
  # brings the function that the compiler has called for them.
  # A library of its own: its variables are the kernels' shared memory.
  add_library(libdl_emulated SHARED tests/cuda/planted.cc tests/cuda/shared_memory.cc)
  set_target_properties(libdl_emulated PROPERTIES OUTPUT_NAME emulated_kernels)
  libdl_cuda_sources(libdl_emulated)
  target_include_directories(libdl_emulated PRIVATE ${PROJECT_SOURCE_DIR}/tests/cuda)
  target_compile_definitions(libdl_emulated PRIVATE LIBDL_KERNELS=1 LIBDL_EMULATED=1)
  target_compile_options(libdl_emulated PRIVATE -fsanitize=alignment)
  if(LIBDL_SANITIZE)  # whose libraries know nothing of fibers
    target_compile_options(libdl_emulated PRIVATE -fno-sanitize=all -fsanitize=alignment
                           -fsanitize-recover=alignment)
  endif()
  if(LIBDL_EMULATED_SANITIZE)
    target_compile_options(libdl_emulated PRIVATE -fsanitize=${LIBDL_EMULATED_SANITIZE})
    target_link_options(libdl_emulated PRIVATE -fsanitize=${LIBDL_EMULATED_SANITIZE})
  endif()

  set(simulation accesses.cc blas.cc driver.cc emulator.cc errors.cc fault.cc machine.cc memory.cc steering.cc
      streams.cc virtual_memory.cc)
  list(TRANSFORM simulation PREPEND tests/cuda/)
  add_library(libdl_simulated_cuda MODULE ${simulation})
  # Its kernels are found when it is loaded, not by name.
  target_link_libraries(libdl_simulated_cuda PRIVATE -Wl,--no-as-needed libdl_emulated
                        -Wl,--as-needed)
  libdl_flags(libdl_simulated_cuda)
  libdl_includes(libdl_simulated_cuda)
  if(LIBDL_SANITIZE)
    target_compile_options(libdl_simulated_cuda PRIVATE -fno-sanitize=all)
  endif()
  if(LIBDL_EMULATED_SANITIZE STREQUAL address)
    target_compile_definitions(libdl_simulated_cuda PRIVATE LIBDL_EMULATED_ADDRESS=1)
  endif()
  target_include_directories(libdl_simulated_cuda SYSTEM PRIVATE ${cuda_includes})
  target_include_directories(libdl_simulated_cuda PRIVATE ${PROJECT_SOURCE_DIR}/tests/cuda)
  set_target_properties(libdl_simulated_cuda PROPERTIES
    OUTPUT_NAME simulated_cuda CXX_VISIBILITY_PRESET default)

  add_executable(cuda_tests tests/cuda/plugin_test.cc tests/cuda/threads_test.cc)
  libdl_program_flags(cuda_tests)
  libdl_includes(cuda_tests)
  target_include_directories(cuda_tests PRIVATE ${PROJECT_SOURCE_DIR}/tests/cuda)
  target_compile_features(cuda_tests PRIVATE cxx_std_20)
  target_link_libraries(cuda_tests PRIVATE libdlcore_static libdl_dependencies GTest::gtest
                        GTest::gtest_main)
  add_dependencies(cuda_tests libdlcuda libdl_simulated_cuda)
  add_test(NAME cuda_tests COMMAND cuda_tests WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(cuda_tests PROPERTIES TIMEOUT 600 ENVIRONMENT
                       LIBDL_CUDA_DRIVER=$<TARGET_FILE:libdl_simulated_cuda>)

  # The simulation itself, without the plugin.
  add_executable(simulation_tests tests/cuda/simulation_test.cc tests/cuda/planted_test.cc
                 tests/cuda/virtual_memory_test.cc)
  libdl_program_flags(simulation_tests)
  target_include_directories(simulation_tests SYSTEM PRIVATE ${cuda_includes})
  target_compile_features(simulation_tests PRIVATE cxx_std_20)
  target_link_libraries(simulation_tests PRIVATE GTest::gtest GTest::gtest_main ${CMAKE_DL_LIBS})
  add_dependencies(simulation_tests libdl_simulated_cuda)
  add_test(NAME simulation_tests COMMAND simulation_tests)
  set_tests_properties(simulation_tests PROPERTIES ENVIRONMENT
                       LIBDL_CUDA_DRIVER=$<TARGET_FILE:libdl_simulated_cuda>)
endif()
