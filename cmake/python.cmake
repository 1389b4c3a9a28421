# SPDX-License-Identifier: Apache-2.0
# The Python that runs the generators, and whose headers the module is compiled against: the
# caller's choice, the project's .venv, the system's, then whatever is on the path.
if(NOT Python3_EXECUTABLE AND NOT SKBUILD)
  foreach(candidate ${PROJECT_SOURCE_DIR}/.venv/bin/python /usr/bin/python3)
    if(EXISTS ${candidate})
      execute_process(COMMAND ${candidate} -c "import sys; sys.exit(sys.version_info < (3, 11))"
                      RESULT_VARIABLE unfit OUTPUT_QUIET ERROR_QUIET)
      if(unfit EQUAL 0)
        set(Python3_EXECUTABLE ${candidate} CACHE FILEPATH "Python 3.11 or later")
        break()
      endif()
    endif()
  endforeach()
endif()
find_package(Python3 3.11 COMPONENTS Interpreter)
if(NOT Python3_Interpreter_FOUND)
  message(FATAL_ERROR "libdl's generators need Python 3.11 or later, with nothing installed in it: "
                      "apt-get install python3, or name one with -DPython3_EXECUTABLE=")
endif()

if(LIBDL_PYTHON)
  find_package(Python3 3.11 COMPONENTS Interpreter Development.Module)
  if(NOT Python3_Development.Module_FOUND)
    message(FATAL_ERROR "The Python module needs Python's headers: apt-get install python3-dev "
                        "(or configure with -DLIBDL_PYTHON=OFF)")
  endif()
  get_filename_component(python_folder ${Python3_EXECUTABLE} DIRECTORY)
  find_program(LIBDL_SWIG swig HINTS ${python_folder} ${PROJECT_SOURCE_DIR}/.venv/bin)
  if(NOT LIBDL_SWIG)
    message(FATAL_ERROR "The Python module needs SWIG 4.4.1 or later, which is on PyPI: "
                        "python3 -m venv .venv && .venv/bin/pip install 'swig>=4.5.1' "
                        "(or configure with -DLIBDL_PYTHON=OFF)")
  endif()
  execute_process(COMMAND ${LIBDL_SWIG} -version OUTPUT_VARIABLE swig_version)
  string(REGEX MATCH "SWIG Version ([0-9.]+)" _ "${swig_version}")
  if(CMAKE_MATCH_1 VERSION_LESS 4.4.1)
    message(FATAL_ERROR "The Python module needs SWIG 4.4.1 or later; ${LIBDL_SWIG} is "
                        "'${CMAKE_MATCH_1}': python3 -m venv .venv && .venv/bin/pip install "
                        "'swig>=4.5.1', and -ULIBDL_SWIG (or configure with -DLIBDL_PYTHON=OFF)")
  endif()
endif()
