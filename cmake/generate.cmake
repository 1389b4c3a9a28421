# SPDX-License-Identifier: Apache-2.0
# The door functions, the C++ entries and the operator table are written from the public headers.
set(libdl_generated ${PROJECT_BINARY_DIR}/generated)
set(libdl_generated_sources ${libdl_generated}/op_table.cc
    ${libdl_generated}/function_parameters.cc ${libdl_generated}/door_optim.cc)
set(libdl_entries ${libdl_generated}/entries/optim.h)
file(STRINGS ${PROJECT_SOURCE_DIR}/tools/areas.txt areas)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/areas.txt)
foreach(area IN LISTS areas)
  list(APPEND libdl_generated_sources ${libdl_generated}/door_${area}.cc
       ${libdl_generated}/entries/${area}.cc)
  list(APPEND libdl_entries ${libdl_generated}/entries/${area}.h)
endforeach()
file(GLOB libdl_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/libdl/*.h)
file(GLOB libdl_tools CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.py)

add_custom_command(
  OUTPUT ${libdl_generated_sources} ${libdl_entries} ${libdl_generated}/op_ids.h
  COMMAND ${Python3_EXECUTABLE} -B tools/generate.py --headers include/libdl --out ${libdl_generated}
  DEPENDS ${libdl_headers} ${libdl_tools}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Writing doors and entries from the headers"
  VERBATIM)
add_custom_target(generated DEPENDS ${libdl_generated_sources})
