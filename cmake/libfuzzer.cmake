# SPDX-License-Identifier: Apache-2.0
# tests/libfuzzer: one program a target over the static archive, for Clang alone (the preset
# libfuzzer). The core counts its edges; the kernels do not, and are compiled for one instruction
# set, which is a third of the time: what refuses and what indexes is the same for all of them.
foreach(target libdl_objects_core libdl_objects_doors)
  target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
endforeach()
foreach(target libdl_objects_core libdl_objects_doors libdl_objects_kernels)
  # What Highway's own assertions call is in its library; libdl uses its headers alone.
  target_compile_definitions(${target} PRIVATE LIBDL_ONE_ISA=1 HWY_IS_DEBUG_BUILD=0)
  # Names and lines for reports; the rest of debug information is half of what is written. A deleter
  # of DLPack is called through a struct of libdl's own name: each library writes that struct itself.
  target_compile_options(${target} PRIVATE -gline-tables-only -fno-sanitize=function)
endforeach()

set(libfuzzer_safetensors ${PROJECT_SOURCE_DIR}/tests/libfuzzer/made_file.cc)
set(libfuzzer_dlpack ${PROJECT_SOURCE_DIR}/tests/libfuzzer/foreign.cc)
set(libfuzzer_samples ${PROJECT_BINARY_DIR}/tests/libfuzzer/operator_samples.cc)
file(GLOB libfuzzer_rows CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/samples/*)
add_custom_command(
  OUTPUT ${libfuzzer_samples}
  COMMAND ${Python3_EXECUTABLE} -B tests/libfuzzer/samples.py --headers include/libdl
          --out ${libfuzzer_samples}
  DEPENDS ${libdl_headers} ${libdl_tools} ${libfuzzer_rows} tests/libfuzzer/samples.py
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Writing samples of the operators"
  VERBATIM)
set(libfuzzer_operators ${PROJECT_SOURCE_DIR}/tests/libfuzzer/pool.cc ${libfuzzer_samples})
foreach(name safetensors dlpack operators)
  add_executable(libfuzzer_${name} EXCLUDE_FROM_ALL
                 ${PROJECT_SOURCE_DIR}/tests/libfuzzer/${name}.cc
                 ${PROJECT_SOURCE_DIR}/tests/libfuzzer/entry.cc ${libfuzzer_${name}})
  target_include_directories(libfuzzer_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(libfuzzer_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/libfuzzer)
  target_compile_features(libfuzzer_${name} PRIVATE cxx_std_20)
  libdl_program_flags(libfuzzer_${name})
  target_link_libraries(libfuzzer_${name} PRIVATE libdl::static)
  target_compile_options(libfuzzer_${name} PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(libfuzzer_${name} PRIVATE -fsanitize=fuzzer)
  list(APPEND libfuzzer_programs libfuzzer_${name})
endforeach()
add_custom_target(libfuzzer DEPENDS ${libfuzzer_programs})
