# SPDX-License-Identifier: Apache-2.0
"""Fails where a source of the library costs the compiler too much: python compile_cost.py BUILD

The cost is reckoned by the machine code that comes out of a source: gcc makes some 20 to 40 kB of
it in a second, most of it of templates. Unlike a time that is the same on every day and machine. An
object has at most BUDGET kB, or what the table grants its source; one that grew beyond has
instances that it can do without (fewer types at a time, one type for several functors, a table of
functions that others share: kernels/cpu/gemm/micro_kernel.cc), or is two sources.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUDGET = 200  # kB; three instruction sets are in the kernels' objects
# What is above, with a sixth to spare for other compilers than gcc 12. This list only shrinks.
GRANTED = {
    "kernels/cpu/conv/depthwise/depthwise_rows.cc": 680,
    "kernels/cpu/conv/depthwise/grouped_rows.cc": 375,
    "kernels/cpu/conv/patches/spanned.cc": 325,
    "kernels/cpu/conv/winograd/winograd.cc": 250,
    "kernels/cpu/conv/winograd/winograd_panels.cc": 240,
    "kernels/cpu/gemm/few_rows.cc": 220,
    "kernels/cpu/gemm/matmul_integer.cc": 210,
    "kernels/cpu/gemm/micro_kernel.cc": 375,
    "kernels/cpu/image/grid_sample.cc": 285,
    "kernels/cpu/indexing/scatter.cc": 490,
    "kernels/cpu/indexing/sort.cc": 235,
    "kernels/cpu/nn/batch_norm.cc": 265,
    "kernels/cpu/nn/batch_norm_backward.cc": 300,
    "kernels/cpu/nn/softmax.cc": 675,
    "kernels/cpu/optim/optimizer.cc": 315,
    "kernels/cpu/pointwise/special_floats.cc": 250,
    "kernels/cpu/reduction/reduce_complex.cc": 260,
    "kernels/cpu/reduction/reduce_double.cc": 360,
    "kernels/cpu/reduction/reduce_float.cc": 370,
    "kernels/cpu/reduction/reduce_integer.cc": 415,
    "kernels/cpu/reduction/reduce_logsumexp.cc": 355,
    "kernels/cpu/reduction/reduce_norm_double.cc": 375,
    "kernels/cpu/reduction/reduce_norm_float.cc": 375,
    "kernels/cpu/reduction/reduce_variance_double.cc": 360,
    "kernels/cpu/reduction/reduce_variance_float.cc": 360,
    "kernels/cpu/scan/running_extremum.cc": 275,
    "kernels/cpu/tiles/tiles_f32.cc": 380,
    "kernels/cpu/tiles/tiles_f64.cc": 425,
    "kernels/cpu/tiles/tiles_narrow.cc": 285,
    "kernels/cpu/traverse/convert.cc": 325,
}


def sizes(build: pathlib.Path) -> dict[str, int]:
    """The bytes of machine code and constants that came out of each source of the library."""
    sources = {
        str(build / made[1]): entry["file"].removeprefix(f"{ROOT}/")
        for entry in json.loads((build / "compile_commands.json").read_text())
        if (made := re.search(r" -o (CMakeFiles/libdl_objects_\w+\.dir/\S+\.o) ", entry["command"]))
    }
    lines = subprocess.run(["size", *sources], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in lines.splitlines()[1:]]
    return {sources[row[5]]: int(row[0]) for row in rows}


def complaints(found: dict[str, int]) -> list[str]:
    said = [
        f"{source}: {size / 1000:.0f} kB of machine code, at most {budget} kB are granted"
        for source, size in sorted(found.items())
        if size > 1000 * (budget := GRANTED.get(source, BUDGET))
    ]
    gone = sorted(GRANTED.keys() - found)
    return said + [f"{source}: is granted more, and does not exist" for source in gone]


def main() -> int:
    found = sizes(pathlib.Path(sys.argv[1]).resolve())
    said = complaints(found)
    print(*said, sep="\n", end="\n" if said else "")
    all_of_it = sum(found.values()) / 1e6
    print(f"compile cost: {len(found)} sources make {all_of_it:.1f} MB, {len(said)} make too much")
    return int(bool(said) or len(found) < 300)


if __name__ == "__main__":
    sys.exit(main())
