# SPDX-License-Identifier: Apache-2.0
"""What operators of each kind move or compute a second, beside PyTorch (bench/cuda_operators.py).
The first row is a copy by the driver, which sets the roof of bandwidth."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from part import Part


def copy_by_driver(libdl: Any, size: int) -> Any:
    """Bytes from one tensor to another without a kernel of anybody's."""
    cuda = ctypes.CDLL(os.environ.get("LIBDL_CUDA_DRIVER", "libcuda.so.1"))
    copy = cuda.cuMemcpyAsync
    copy.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
    x, y = (libdl.zeros(size, device="cuda") for _ in range(2))
    return lambda: (copy(x.data_ptr(), y.data_ptr(), 4 * size, None), x, y)[0]


def main() -> None:
    part = Part()
    import libdl
    from bench.cuda_operators import SMALL, WHOLE, Operator, measured, operators, strict
    from libdl import nn, optim  # noqa: F401

    torch, told = part.torch()
    if torch and torch is not libdl:
        strict(torch)
    modules = [libdl, torch] if torch else [libdl]
    sizes = SMALL if part.rehearsal else WHOLE
    rows: list[dict[str, Any]] = []
    roof = Operator(
        "copy",
        "copy by the driver",
        "GB/s",
        8 * sizes.elements / 1e9,
        lambda m: copy_by_driver(m, sizes.elements),
        same=False,
    )
    late = 0
    for operator in [roof, *operators(sizes)]:
        if part.left() < 0:
            late += 1
            continue
        try:
            row = measured(operator, modules[:1] if operator is roof else modules, sizes)
            part.expect(row.get("same", True), f"{operator.name}: the libraries' values differ")
            rows.append(row)
        except Exception as e:
            part.fail(f"{operator.name}: {type(e).__name__}: {e}")
        for m in modules:
            m.cuda.empty_cache()
        part.write(rows=rows, beside=told)
    part.expect(not late, f"no time for {late} operators")
    part.write(f"{len(rows)} operators, {'beside' if torch else 'alone:'} {told}")


if __name__ == "__main__":
    main()
