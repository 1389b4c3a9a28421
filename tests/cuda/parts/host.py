# SPDX-License-Identifier: Apache-2.0
"""The host's time of a call that is only queued, beside PyTorch (bench/cuda_calls.py)."""

from __future__ import annotations

from typing import Any

from part import Part


def main() -> None:
    part = Part()
    import libdl
    from bench.cuda_calls import calls
    from bench.cuda_operators import beside, host_time
    from libdl import nn, optim  # noqa: F401

    torch, told = part.torch()
    modules = [libdl, torch] if torch else [libdl]
    # Fewer kernels than a device's queue takes: PyTorch's Adam queues several at each call.
    count, repeats = (5, 2) if part.rehearsal else (50, 101)
    cases = [calls(m) for m in modules]
    rows: list[dict[str, Any]] = []
    for name in cases[0]:
        if part.left() < 0:
            part.fail(f"no time for {name}")
            continue
        sides = [(c[name], m.cuda.synchronize) for c, m in zip(cases, modules, strict=True)]
        found = beside(host_time, sides, count, repeats)
        row: dict[str, Any] = {"kind": "host", "name": name, "unit": "us"}
        row |= {side: found.pop(side) * 1e6 for side in ("libdl", "PyTorch") if side in found}
        rows.append(row | found)
        part.write(rows=rows, beside=told)
    ahead = sum(row.get("ratio", 0) >= 1 for row in rows)
    beside_torch = f"{ahead} of them not slower than {told}" if torch else f"alone: {told}"
    part.write(f"{len(rows)} calls, {beside_torch}")


if __name__ == "__main__":
    main()
