# SPDX-License-Identifier: Apache-2.0
"""The caching allocator: values survive a churn of sizes on several streams, the figures add up,
and after memory has run out the device works on."""

from __future__ import annotations

import functools
import random
import time
from typing import Any

from part import Part


def churn(part: Part, libdl: Any, rounds: int, most: int, seconds: float) -> int:
    """Tensors of random sizes, each filled with its number and compared when it is released."""
    draw = random.Random(1)
    end = time.monotonic() + seconds
    streams = [libdl.cuda.default_stream(), *(libdl.cuda.Stream() for _ in range(3))]
    held: list[tuple[int, Any, Any]] = []
    count = 0
    while count < rounds and time.monotonic() < end:
        count += 1
        stream = draw.choice(streams)
        with libdl.cuda.stream(stream):
            size = int(most ** draw.random())
            held.append(
                (
                    count % 1000,
                    libdl.full((size,), float(count % 1000), device="cuda"),
                    stream.record_event(),
                )
            )
            if len(held) > 40:
                wanted, x, made = held.pop(draw.randrange(len(held)))
                stream.wait_event(made)  # of another stream, mostly
                least, most_found = x.min().item(), x.max().item()
                part.expect(
                    least == most_found == wanted,
                    f"{x.numel()} elements lie between {least} and {most_found}, wanted {wanted}",
                )
                del x
    held.clear()
    return count


def runs_out(part: Part, libdl: Any) -> int:
    """Takes a sixteenth of the memory at a time, until there is none; the bytes that it got."""
    libdl.cuda.empty_cache()
    free, total = libdl.cuda.mem_get_info()
    step = total // 16 // 4  # float32
    held = []
    error = ""
    for _ in range(17):
        try:
            held.append(libdl.empty(step, device="cuda"))
        except libdl.cuda.OutOfMemoryError as e:
            error = str(e)
            break
    got: int = 4 * step * len(held)
    part.expect(bool(error), f"{got} bytes were given, of {total}")
    part.expect(any(c.isdigit() for c in error), f"the error has no figures: {error}")
    part.expect(got >= free - 2 * 4 * step, f"{got} bytes were given, though {free} were free")
    del held
    x = libdl.full((1000,), 3.0, device="cuda")
    part.expect((x + x).sum().item() == 6000.0, "the device does not work on")
    return got


def times(libdl: Any, torch: Any, count: int) -> list[dict[str, Any]]:
    """The host's time of an allocation that the cache serves, and its release."""
    from bench.cuda_operators import beside, host_time

    modules = [libdl, torch] if torch else [libdl]
    rows = []
    for size in (100, 100_000, 10_000_000):
        sides = [
            (functools.partial(m.empty, size, device="cuda"), m.cuda.synchronize) for m in modules
        ]
        found = beside(host_time, sides, count, 9)
        row: dict[str, Any] = {"kind": "allocation", "name": f"empty({size:,})", "unit": "us"}
        row |= {side: found.pop(side) * 1e6 for side in ("libdl", "PyTorch") if side in found}
        rows.append(row | found)
    return rows


def main() -> None:
    part = Part()
    import libdl

    torch, told = part.torch()
    rounds, most = (60, 5_000) if part.rehearsal else (200_000, 50_000_000)
    rows = times(libdl, torch, 5 if part.rehearsal else 1000)
    part.write(rows=rows, beside=told)
    if torch:
        torch.cuda.empty_cache()
    count = churn(part, libdl, rounds, most, part.left() * 0.6)
    libdl.cuda.synchronize()
    kept = libdl.cuda.memory_allocated()
    part.expect(kept == 0, f"{kept} bytes are allocated after all tensors were released")
    libdl.cuda.empty_cache()
    kept = libdl.cuda.memory_reserved()
    part.expect(kept == 0, f"{kept} bytes are reserved after the cache was emptied")
    part.write(churned=count)
    got = runs_out(part, libdl)
    part.write(
        f"{count:,} allocations of random sizes on 4 streams; memory ran out after "
        f"{got / 2**30:.1f} GiB: {part.found['failed']} failures",
        statistics=libdl.cuda.memory_stats(),
    )


if __name__ == "__main__":
    main()
