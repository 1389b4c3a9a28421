# SPDX-License-Identifier: Apache-2.0
"""Changes what defaults mean, and expects the museum's programs to notice.

    planted.py BUILD    each change is preloaded before the library in BUILD

A signature stays as it is when NULL dims mean another dimension, so no other gate sees that.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

HEAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libdl/libdl.h>
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
"""

# The program that has to notice, and the changed function.
PLANTS = {
    "sum without dims sums dimension 0": ("tests/museum/meaning", """
libdl_error *libdl_sum(const libdl_tensor *input, const int64_t *dims, int32_t dims_count,
                       libdl_bool keepdim, libdl_dtype dtype, libdl_tensor **out) {
  const int64_t zero = 0;
  return NEXT(libdl_sum)(input, dims ? dims : &zero, dims ? dims_count : 1, keepdim, dtype, out);
}"""),
    "argmax without dim takes dimension 0": ("tests/museum/meaning", """
libdl_error *libdl_argmax(const libdl_tensor *input, const int64_t *dim, libdl_bool keepdim,
                          libdl_tensor **out) {
  const int64_t zero = 0;
  return NEXT(libdl_argmax)(input, dim ? dim : &zero, keepdim, out);
}"""),
    "softmax without dtype is float32": ("tests/museum/meaning", """
libdl_error *libdl_softmax(const libdl_tensor *input, int32_t dim, libdl_dtype dtype,
                           libdl_tensor **out) {
  return NEXT(libdl_softmax)(input, dim, dtype ? dtype : LIBDL_DTYPE_FLOAT32, out);
}"""),
    "gradcheck's eps is a thousand times larger": ("tests/capi/capi_defaults", """
libdl_error *libdl_gradcheck(libdl_gradcheck_function fn, void *ctx, void (*destroy)(void *ctx),
                             const libdl_tensor *const *inputs, int64_t inputs_count,
                             int64_t outputs_count, const libdl_gradcheck_options *options) {
  libdl_gradcheck_options changed = {0};
  if (options) changed = *options;
  changed.struct_size = sizeof changed;
  if (changed.eps == 0) changed.eps = 1e-3;
  return NEXT(libdl_gradcheck)(fn, ctx, destroy, inputs, inputs_count, outputs_count, &changed);
}"""),
    "SGD has some weight decay": ("tests/capi/capi_defaults", """
libdl_error *libdl_sgd_step(const libdl_sgd_options *options, libdl_tensor *const *params,
                            int64_t count, const libdl_tensor *const *grads, int64_t grads_count,
                            libdl_tensor *const *momentum_buffers, int64_t momentum_count) {
  libdl_sgd_options changed = *options;
  if (changed.weight_decay == 0) changed.weight_decay = 1e-4;
  return NEXT(libdl_sgd_step)(&changed, params, count, grads, grads_count, momentum_buffers,
                              momentum_count);
}"""),
}


def fails(build: Path, program: str, preloaded: str) -> bool:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(build), "LD_PRELOAD": preloaded}
    run = subprocess.run([build / program], env=environment, cwd=ROOT, capture_output=True)
    return run.returncode != 0


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    missed = [program for program in sorted({p for p, _ in PLANTS.values()})
              if fails(build, program, "")]
    if missed:
        print(f"planted: without a change fail already: {missed}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        for name, (program, changed) in PLANTS.items():
            source, library = Path(folder, "plant.c"), Path(folder, "plant.so")
            source.write_text(HEAD + changed + "\n")
            subprocess.run(["cc", "-shared", "-fPIC", "-w", f"-I{ROOT}/include", source, "-o",
                            library, "-ldl"], check=True)
            if not fails(build, program, str(library)):
                missed.append(name)
    for name in missed:
        print(f"planted: nobody notices that {name}", file=sys.stderr)
    print(f"planted: {len(PLANTS) - len(missed)} of {len(PLANTS)} changed defaults are found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
