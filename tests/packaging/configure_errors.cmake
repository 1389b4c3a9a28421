# SPDX-License-Identifier: Apache-2.0
# cmake -D SOURCE=... -D SCRATCH=... -P configure_errors.cmake: what configuring says where something
# is missing names it, and what helps. Nothing is removed: it is looked for where it is not.
set(nowhere -DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF)
set(no_headers -DCMAKE_FIND_ROOT_PATH=/nonexistent -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY)
set(failed "")

function(expect name wanted)
  set(folder ${SCRATCH}/${name})
  file(REMOVE_RECURSE ${folder})
  execute_process(COMMAND ${CMAKE_COMMAND} -B ${folder} ${ARGN} WORKING_DIRECTORY ${SOURCE}
                  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE told)
  # CMake breaks lines where it likes.
  string(REGEX REPLACE "[ \n]+" " " told "${told}")
  if(code EQUAL 0 OR NOT told MATCHES "${wanted}")
    message(SEND_ERROR "${name}: wanted an error like\n  ${wanted}\nfound (exit code ${code})\n  ${told}")
  endif()
  file(REMOVE_RECURSE ${folder})
endfunction()

expect(cross "aarch64-linux-gnu-gcc-99 \\(CMAKE_C_COMPILER\\) was not found: apt-get install g\\+\\+-99-aarch64-linux-gnu"
       --preset aarch64 -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc-99)
expect(gcc "g\\+\\+-99 \\(CMAKE_CXX_COMPILER\\) was not found: apt-get install g\\+\\+-99"
       --preset c -DCMAKE_CXX_COMPILER=g++-99)
set(ENV{CXX} "clang++-99 -O2")
expect(environment "clang\\+\\+-99 \\(CMAKE_CXX_COMPILER\\) was not found: apt-get install clang-99"
       --preset c)
unset(ENV{CXX})
unset(ENV{CC})
expect(other "/nonexistent/icpc .* was not found: name one that exists with -DCMAKE_CXX_COMPILER="
       --preset c -DCMAKE_CXX_COMPILER=/nonexistent/icpc)
expect(ninja "Ninja, .*apt-get install ninja-build \\(or configure with -G 'Unix Makefiles'\\)"
       --preset c ${nowhere})
expect(compiler "No compiler was found: apt-get install g\\+\\+" -G "Unix Makefiles" ${nowhere})
expect(headers "apt-get install libhwy-dev nlohmann-json3-dev libxxhash-dev .*-DLIBDL_HIGHWAY_INCLUDE="
       --preset c ${no_headers})
expect(python "Python 3.11 or later, .*apt-get install python3, .*-DPython3_EXECUTABLE="
       --preset c -DPython3_EXECUTABLE=/nonexistent/python)
expect(python_headers "apt-get install python3-dev \\(or configure with -DLIBDL_PYTHON=OFF\\)"
       --preset c -DLIBDL_PYTHON=ON -DPython3_INCLUDE_DIR=/nonexistent)
expect(swig "/bin/true is ''?.*python3 -m venv .venv && .venv/bin/pip install 'swig>=4.5.1'"
       --preset c -DLIBDL_PYTHON=ON -DLIBDL_SWIG=/bin/true)
file(WRITE ${SCRATCH}/cuda/bin/nvcc "")
file(CHMOD ${SCRATCH}/cuda/bin/nvcc PERMISSIONS OWNER_READ OWNER_EXECUTE)
expect(cuda_headers "has no CUDA headers beside it: set LIBDL_CUDA_HEADERS"
       --preset c -DLIBDL_CUDA=ON -DLIBDL_NVCC=${SCRATCH}/cuda/bin/nvcc
       -DLIBDL_CUDA_HEADERS=LIBDL_CUDA_HEADERS-NOTFOUND ${nowhere}
       -DCMAKE_MAKE_PROGRAM=${NINJA} -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX}
       -DLIBDL_HIGHWAY_INCLUDE=/usr/include -DLIBDL_JSON_INCLUDE=/usr/include
       -DLIBDL_XXHASH_INCLUDE=/usr/include)
