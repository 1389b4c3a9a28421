# SPDX-License-Identifier: Apache-2.0
# The door functions and the operator table are written from the public headers.
set(libdl_generated ${PROJECT_BINARY_DIR}/generated)
set(libdl_generated_sources ${libdl_generated}/door.cc ${libdl_generated}/op_table.cc)
file(GLOB libdl_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/libdl/*.h)
file(GLOB libdl_tools CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.py
     ${PROJECT_SOURCE_DIR}/tools/generate/*.py)

if(EXISTS ${PROJECT_SOURCE_DIR}/tools/generate.py)
  add_custom_command(
    OUTPUT ${libdl_generated_sources}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${libdl_generated}
    COMMAND ${Python3_EXECUTABLE} -B tools/generate.py --headers include/libdl
            --out ${libdl_generated}
    DEPENDS ${libdl_headers} ${libdl_tools}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMENT "Writing the doors from the headers"
    VERBATIM)
else()
  set(libdl_generated_sources "")
endif()
add_custom_target(generated DEPENDS ${libdl_generated_sources})
