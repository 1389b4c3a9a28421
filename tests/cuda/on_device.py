# SPDX-License-Identifier: Apache-2.0
"""The operators' cases, and the checks of large.py, on the CPU and on the device, in a process of
its own: which driver is loaded is settled once in a process. Reads names, a line each, and answers
each with a line of JSON: the failures, and how many samples were compared. "add 2/8" asks for every
eighth sample of add, from the third."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import re
import sys
from collections.abc import Iterator
from typing import Any

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "cuda"), str(TESTS), str(TESTS / "ops")]

import numpy as np  # noqa: E402

import checks  # noqa: E402
import harness  # noqa: E402
import large  # noqa: E402
import libdl  # noqa: E402
from libdl import autograd  # noqa: E402
from libdl._errors import DeviceError  # noqa: E402
from samples import Case, Sample  # noqa: E402

CASES = {case.name: case for case in harness.cases()}
CHECKERS = {f"large {name}": checker for name, checker in large.CHECKS.items()}
MOST = 12  # failures that are told of a case
ON_HOST = {"allclose", "equal"}  # whose results are Python's
ANYWHERE = {"copy", "fill", "nonzero"}  # elements from another device; only one tensor is read
# Alone; elsewhere they are refused with this.
ON_CPU = {
    "sparse_from_rows": NotImplementedError,
    "sparse_rows": NotImplementedError,
    "pin_memory": DeviceError,
}
# Whose index may lie on the host: it goes where the elements are.
INDEXED = {
    "gather",
    "index",
    "index_fill",
    "index_select",
    "take",
    "take_along_dim",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
}
STRANGER = re.compile(
    r"(\w+: argument \d+ \(\w+\)|x\[\.\.\.\]( = value)?: \w+) is on (cpu|cuda:0), "
    r"wanted (cpu|cuda:0), as argument"
)


def moved(x: Any) -> Any:
    if isinstance(x, (list, tuple)) and any(isinstance(e, libdl.Tensor) for e in x):
        return type(x)(moved(e) for e in x)
    if not isinstance(x, libdl.Tensor) or x.device.type == "cuda":
        return x
    there = x.detach().to("cuda")
    return there.requires_grad_() if x.requires_grad else there


def outcome(case: Case, sample: Sample, args: list[Any]) -> list[Any] | Exception:
    libdl.manual_seed(0)
    try:
        return checks.run(case, sample, args)
    except Exception as e:
        return e


def array(x: Any) -> np.ndarray:
    return checks.array(x.detach().cpu())


def compare(case: Case, found: Any, wanted: Any, what: str) -> None:
    where = "cpu" if case.name in ON_HOST else "cuda"
    assert found.device.type == where, f"{what}: lies on {found.device}"
    assert found.dtype == wanted.dtype, f"{what}: {found.dtype}, wanted {wanted.dtype}"
    f, w = array(found), array(wanted)
    if case.exact or wanted.dtype not in checks.TOLERANCE:
        if w.dtype.kind != "c":
            assert f.shape == w.shape, f"{what}: shape {f.shape}, wanted {w.shape}"
            np.testing.assert_array_equal(f, w, err_msg=what)
            return
    # Elementary functions differ by units of the last place (CUDA's own are within 2), and terms of
    # a sum that cancel: relative to the largest.
    rtol, atol = checks.TOLERANCE.get(wanted.dtype, checks.TOLERANCE[libdl.float32])
    finite = np.abs(w[np.isfinite(w)])
    atol = max(2 * atol, rtol * float(finite.max(initial=0)) if case.scale > 1 else 0.0)
    checks.near(f, w, 2 * rtol * case.scale, atol * case.scale, what)


def values(case: Case, sample: Sample, dtype: Any) -> None:
    args = [checks.tensor(a, dtype if checks.is_float(a) else None) for a in sample.args]
    wanted = outcome(case, sample, args)
    found = outcome(case, sample, [moved(a) for a in args])
    what = f"{case.name}({sample}) in {dtype}"
    if case.name in ON_CPU and not isinstance(wanted, Exception):
        assert isinstance(found, ON_CPU[case.name]), f"{what}: {found!r}, not refused"
        return
    if isinstance(wanted, Exception) or isinstance(found, Exception):
        assert type(found) is type(wanted), f"{what}: {found!r}, on the CPU {wanted!r}"
        return
    for f, w in zip(found, wanted, strict=True):
        if isinstance(w, libdl.Tensor):
            compare(case, f, w, what)
        else:
            assert f == w, f"{what}: {f!r}, wanted {w!r}"


def gradients(case: Case, sample: Sample) -> None:
    if not case.differentiable or not sample.smooth or case.name in ON_CPU:
        return
    xs, rebuild = checks.flat_inputs(sample)
    grads = []
    for where in (lambda x: x, moved):
        leaves = [where(checks.tensor(x, grad=True)) for x in xs]
        libdl.manual_seed(0)
        outs = checks.outputs(case, sample, [where(a) for a in rebuild(leaves)])
        if not leaves or not outs:
            return
        seeds = [where(v) for v in checks.weights(outs, 3)]
        grads.append(autograd.grad(outs, leaves, seeds, allow_unused=True))
    for f, w in zip(grads[1], grads[0], strict=True):
        assert (f is None) == (w is None), f"{case.name}({sample}): a gradient is missing"
        if f is not None:
            what = f"{case.name}({sample}): gradient"
            assert f.device.type == "cuda", f"{what}: lies on {f.device}"
            checks.near(array(f), array(w), 1e-10, 1e-12, what)  # float64, over many roundings


def one_moved(args: list[Any]) -> Iterator[tuple[list[Any], libdl.Tensor, list[libdl.Tensor]]]:
    """The arguments with one of their tensors on the device, that one, and the others."""
    places = [
        (i, j)
        for i, a in enumerate(args)
        for j, e in enumerate(a if isinstance(a, (list, tuple)) else [a])
        if isinstance(e, libdl.Tensor)
    ]
    for at in places:
        new, others = [], []
        for i, a in enumerate(args):
            many = isinstance(a, (list, tuple))
            row = [moved(e) if (i, j) == at else e for j, e in enumerate(a if many else [a])]
            others += [e for j, e in enumerate(row) if (i, j) in places and (i, j) != at]
            new.append(type(a)(row) if many else row[0])
        i, j = at
        yield new, new[i][j] if isinstance(new[i], (list, tuple)) else new[i], others


def strangers(case: Case, sample: Sample) -> None:
    """One tensor alone on the device is refused by name, but for what may lie anywhere."""
    args = [checks.tensor(a, libdl.float32 if checks.is_float(a) else None) for a in sample.args]
    if isinstance(outcome(case, sample, args), Exception):
        return
    for new, stranger, others in one_moved(args):
        if not others or case.name in ANYWHERE | ON_CPU.keys():
            continue
        found = outcome(case, sample, new)
        what = f"{case.name}({sample}) with {tuple(stranger.shape)} on the device"
        if isinstance(found, Exception):
            assert STRANGER.match(str(found)), f"{what}: {found!r}"
            continue
        indexed = case.name in INDEXED and stranger is new[0]
        fits = all(e.dim() == 0 or indexed and not e.is_floating_point() for e in others)
        assert fits or stranger.dim() == 0, f"{what}: not refused"


def failures(case: Case, samples: list[Sample]) -> list[str]:
    failed = []
    for sample in samples:
        tries = [
            lambda s=sample, d=d: values(case, s, d)
            for d in (libdl.float64, libdl.float32, libdl.bfloat16)
        ]
        if "i" in case.dtypes and case.result != "float":
            tries.append(lambda s=sample: values(case, s, libdl.int32))
        tries += [lambda s=sample: gradients(case, s), lambda s=sample: strangers(case, s)]
        for attempt in tries:
            try:
                attempt()
            except Exception as e:
                lines = str(e).strip().splitlines()[:12]
                failed.append(f"{type(e).__name__}: " + "\n    ".join(lines))
                if len(failed) == MOST:
                    return failed
    return failed


def reports() -> list[str]:
    """What a simulated driver has seen since the last time: memory used out of turn or too late."""
    driver = ctypes.CDLL(os.environ.get("LIBDL_CUDA_DRIVER", "libcuda.so.1"))
    if not hasattr(driver, "libdl_simulated_reports"):
        return []
    libdl.cuda.synchronize()
    driver.libdl_simulated_reports.restype = ctypes.c_int64
    driver.libdl_simulated_last_report.restype = ctypes.c_char_p
    if driver.libdl_simulated_reports() == 0:
        return []
    last = driver.libdl_simulated_last_report().decode()
    driver.libdl_simulated_reset(ctypes.c_uint64(int(os.environ.get("LIBDL_SIMULATED_SEED", "1"))))
    return [f"the simulated driver reports: {last}"]


def answer(line: str) -> dict[str, Any]:
    if line in CHECKERS:
        failed = large.failures(CHECKERS[line])
        return {"failures": failed + reports(), "compared": 1}
    name, _, share = line.partition(" ")
    first, _, every = (share or "0/1").partition("/")
    samples = list(CASES[name].samples())[int(first) :: int(every)]
    return {"failures": failures(CASES[name], samples) + reports(), "compared": len(samples)}


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr
    try:
        libdl.ones(1, device="cuda")
        state = "ready"
    except Exception as e:
        state = str(e)
    print(json.dumps(state), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(line.strip())), file=answers, flush=True)


if __name__ == "__main__":
    main()
