# SPDX-License-Identifier: Apache-2.0
"""What tests/gates/registers.py finds: in kernels planted for it, and in tables that differ from
what was compiled."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import subprocess
import sys

import pytest

import libdl

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(libdl.__file__).absolute().parents[2]
pytestmark = pytest.mark.skipif(
    not (BUILD / "libdlcuda.so").exists(), reason="the CUDA plugin was not built"
)
sys.path.insert(0, str(ROOT / "tests" / "gates"))

import registers  # noqa: E402
from registers import Kernel  # noqa: E402

# An array with an index that is not constant, more values than registers, and neither.
PLANTED = r"""
extern "C" __global__ void dense_f16_frame(float* x, int n) {
  float of[64] = {};
  for (int j = 0; j < n; ++j) of[j] = x[j];
  for (int j = 0; j < n; ++j) x[64 + j] = of[(j + n) & 63];
}
extern "C" __global__ void __launch_bounds__(1024) dense_f16_spills(float* x) {
  float of[128];
#pragma unroll
  for (int j = 0; j < 128; ++j) of[j] = x[j * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 128; ++j) x[j * 1024 + threadIdx.x] = of[127 - j] * of[j];
}
extern "C" __global__ void dense_f16_neither(float* x) { x[threadIdx.x] *= 2; }
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Kernel]:
    """The kernels above, as registers.py reads them in a report of the real ptxas."""
    folder = tmp_path_factory.mktemp("planted")
    source, report = folder / "planted.cu", folder / "report"
    source.write_text(PLANTED)
    cache = (BUILD / "CMakeCache.txt").read_text()
    nvcc = re.search(r"^LIBDL_NVCC:\w+=(.+)$", cache, re.MULTILINE)
    assert nvcc
    command = [ROOT / "tools" / "ptxas_report", report, nvcc[1], "-fatbin", "-arch=sm_90"]
    subprocess.run([*command, source, "-o", folder / "image"], check=True)
    return registers.read_report(report.read_text())


def hot(**kernels: Kernel) -> registers.Kernels:
    """These kernels of pointwise.cu, and one without fault for every other hot source."""
    every = {source: {f"{source}_f32": Kernel(32)} for source in registers.HOT}
    return every | {"pointwise": kernels}


def test_a_planted_frame_is_found(planted: dict[str, Kernel]) -> None:
    kernel = planted["dense_f16_frame"]
    assert kernel.stack == 64 * 4 and kernel.stored == 0
    (sentence,) = registers.with_frames(hot(**planted | {"dense_f16_spills": Kernel(32)}))
    assert sentence.startswith("dense_f16_frame is hot")


def test_planted_spills_are_found(planted: dict[str, Kernel]) -> None:
    kernel = planted["dense_f16_spills"]
    assert kernel.stored > 0 and kernel.loaded > 0
    (sentence,) = registers.with_frames(hot(**planted | {"dense_f16_frame": Kernel(32)}))
    assert sentence.startswith("dense_f16_spills is hot")


def test_a_kernel_with_neither_passes(planted: dict[str, Kernel]) -> None:
    kernel = planted["dense_f16_neither"]
    assert (kernel.stack, kernel.stored, kernel.loaded) == (0, 0, 0)
    assert registers.with_frames(hot(dense_f16_neither=kernel)) == []


def test_the_frame_for_large_angles_passes_but_no_spill() -> None:
    assert registers.with_frames(hot(dense_f16_sin=Kernel(30, stack=32))) == []
    spilled = Kernel(30, stack=32, stored=4, loaded=4)
    assert len(registers.with_frames(hot(dense_f16_sin=spilled))) == 1


def test_a_hot_source_without_kernels_is_told() -> None:
    assert len(registers.with_frames({"pointwise": {"dense_f32_add": Kernel(32)}})) == 4


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"stack": 8}, "a stack frame"),
        ({"stored": 4}, "a spill"),
        ({"loaded": 4}, "a spill that is loaded"),
        ({"shared": 2049}, "more shared memory"),
        ({"registers": 44}, "registers for fewer blocks"),
    ],
)
def test_a_kernel_that_takes_more_is_wrong(change: dict[str, int], what: str) -> None:
    was = Kernel(34, shared=2048)
    now = dataclasses.replace(was, **change)
    wrong, told = registers.differences({"sort": {"sort_it": now}}, {"sort": {"sort_it": was}})
    assert [s.split(":")[0] for s in wrong] == ["sort_it"] and told == [], what


@pytest.mark.parametrize("count", [33, 35, 40, 43])
def test_registers_within_a_step_and_a_few_beyond_are_only_told(count: int) -> None:
    wrong, told = registers.differences(
        {"sort": {"sort_it": Kernel(count)}}, {"sort": {"sort_it": Kernel(34)}}
    )
    assert wrong == [] and len(told) == 1
    assert ("fewer blocks" in told[0]) == (count > 40)


def test_a_new_kernel_and_one_that_is_gone_are_wrong() -> None:
    wrong, told = registers.differences(
        {"sort": {"sort_new": Kernel(32)}}, {"sort": {"sort_old": Kernel(32)}}
    )
    assert wrong == ["sort_new is not committed: 32", "sort_old is no longer there"]
    assert told == []


def test_blocks_at_once_are_those_of_the_programming_guide() -> None:
    # 65,536 registers, 256 threads, and eight registers at a time: 32 -> 8 blocks, 33 -> 40 -> 6.
    counts = {32: 8, 33: 6, 40: 6, 41: 5, 48: 5, 64: 4, 65: 3, 80: 3, 81: 2, 128: 2, 129: 1, 255: 1}
    assert {r: registers.blocks_at_once(r) for r in counts} == counts


def test_the_table_reads_as_it_was_written() -> None:
    text = registers.FILE.read_text()
    kernels, made_by = registers.read_table(text)
    assert made_by.startswith("nvcc V")
    assert registers.table(kernels, made_by) == text


def test_of_two_architectures_the_right_one_is_read() -> None:
    report = """\
ptxas info    : Compiling entry function 'add' for 'sm_80'
ptxas info    : Function properties for add
    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers, 16 bytes cumulative stack size
ptxas info    : Compiling entry function 'add' for 'sm_90'
ptxas info    : Function properties for add
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers, 64 bytes cumulative stack size, 512 bytes smem
ptxas info    : Function properties for called
    48 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
"""
    assert registers.read_report(report) == {"add": Kernel(24, 64, 512, 4, 8)}
