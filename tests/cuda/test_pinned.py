# SPDX-License-Identifier: Apache-2.0
"""Pinned memory of the host, copies that go on when a call returns, and which calls wait."""

from __future__ import annotations

import ctypes
import os
import sys
import warnings

import pytest

import libdl

SIMULATED = "LIBDL_CUDA_DRIVER" in os.environ
only_simulated = pytest.mark.skipif(not SIMULATED, reason="counts the simulated driver's waits")


def waits() -> int:
    driver = ctypes.CDLL(os.environ["LIBDL_CUDA_DRIVER"])
    driver.libdl_simulated_waits.restype = ctypes.c_int64
    return int(driver.libdl_simulated_waits())


def calls_of(name: str) -> int:
    driver = ctypes.CDLL(os.environ["LIBDL_CUDA_DRIVER"])
    driver.libdl_simulated_calls_of.restype = ctypes.c_int64
    return int(driver.libdl_simulated_calls_of(name.encode()))


def test_pinned_memory_is_the_hosts() -> None:
    x = libdl.arange(6.0).reshape(2, 3)
    pinned = x.pin_memory()
    assert pinned.is_pinned() and not x.is_pinned()
    assert pinned.device.type == "cpu" and pinned.tolist() == x.tolist()
    assert pinned.pin_memory() is pinned or pinned.pin_memory().data_ptr() == pinned.data_ptr()
    assert pinned[1].is_pinned() and not (pinned + 1).is_pinned()
    turned = x.t().pin_memory()
    assert turned.stride() == (1, 3) and turned.tolist() == x.t().tolist()
    x.requires_grad_()
    (x.pin_memory() * 2).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [[2.0] * 3] * 2


def test_what_cannot_be_pinned_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"pin_memory.*input.*cuda:0"):
        libdl.ones(2, device="cuda").pin_memory()


@pytest.mark.parametrize(
    "make",
    [
        lambda: libdl.empty(3, pin_memory=True),
        lambda: libdl.zeros(3, pin_memory=True),
        lambda: libdl.ones(2, 2, pin_memory=True),
        lambda: libdl.full((3,), 7, pin_memory=True),
        lambda: libdl.tensor([1.0, 2.0], pin_memory=True),
        lambda: libdl.arange(5, pin_memory=True),
        lambda: libdl.randn(5, pin_memory=True),
        lambda: libdl.randint(5, (3,), pin_memory=True),
        lambda: libdl.ones(3).new_zeros(4, pin_memory=True),
        lambda: libdl.zeros_like(libdl.ones(3), pin_memory=True),
        lambda: libdl.tensor(3, pin_memory=True),
    ],
)
def test_creators_pin(make) -> None:  # type: ignore[no-untyped-def]
    assert make().is_pinned()


@only_simulated
def test_copies_of_pinned_memory_do_not_wait() -> None:
    host = libdl.randn(300, 1000, pin_memory=True)
    on_device = libdl.empty(300, 1000, device="cuda")
    before, copies = waits(), calls_of("cuMemcpyAsync")
    on_device.copy_(host, non_blocking=True)
    back = (on_device * 2).to("cpu", non_blocking=True)
    into = libdl.empty(300, 1000, pin_memory=True)
    into.copy_(on_device, non_blocking=True)
    assert waits() == before
    assert calls_of("cuMemcpyAsync") == copies + 3
    assert back.is_pinned()
    libdl.cuda.synchronize()
    assert back.equal(host * 2) and into.equal(host)


@only_simulated
def test_only_what_may_stay_queued_does() -> None:
    on_device = libdl.ones(300, 1000, device="cuda")
    pageable, pinned = libdl.empty(300, 1000), libdl.empty(300, 1000, pin_memory=True)
    for into, non_blocking in ((pageable, True), (pageable, False), (pinned, False)):
        before = waits()
        into.copy_(on_device, non_blocking=non_blocking)
        assert waits() > before
        assert into.equal(libdl.ones(300, 1000))


def test_without_non_blocking_the_host_may_write_at_once() -> None:
    host = libdl.ones(300, 1000, pin_memory=True)
    on_device = host.to("cuda")
    host.zero_()
    assert on_device.cpu().equal(libdl.ones(300, 1000))


def test_freed_pinned_memory_waits_for_its_copies() -> None:
    copied = []
    for i in range(40):
        host = libdl.full((1000,), float(i), pin_memory=True)
        copied.append(host.to("cuda", non_blocking=True))
        del host
    assert [x[-1].item() for x in copied] == [float(i) for i in range(40)]


def test_pinned_memory_is_used_again() -> None:
    addresses = set()
    for _ in range(5):
        host = libdl.ones(1000, pin_memory=True)
        addresses.add(host.data_ptr())
        host.to("cuda", non_blocking=True)
        del host
        libdl.cuda.synchronize()
    assert len(addresses) == 1


def test_a_loader_pins_its_batches() -> None:
    data = libdl.utils.data.TensorDataset(libdl.arange(8.0), libdl.arange(8))
    for batch in libdl.utils.data.DataLoader(data, batch_size=4, pin_memory=True):
        assert all(x.is_pinned() for x in batch)


# -- waits that nobody asked for ------------------------------------------------------------------


@pytest.fixture
def mode():  # type: ignore[no-untyped-def]
    yield libdl.cuda.set_sync_debug_mode
    libdl.cuda.set_sync_debug_mode("default")


WAITING = {
    "item": lambda x: x[0].item(),
    "tolist": lambda x: x.tolist(),
    "cpu": lambda x: x.cpu(),
    "nonzero": lambda x: x.nonzero(),
    "mask": lambda x: x[x > 0],
    "condition": lambda x: bool((x > 0).all()),
    "print": repr,
    "copy_": lambda x: libdl.empty(3).copy_(x, non_blocking=True),
}


@pytest.mark.parametrize("name", WAITING)
def test_calls_that_wait_tell_it(name: str, mode) -> None:  # type: ignore[no-untyped-def]
    x = libdl.arange(3.0, device="cuda")
    mode("warn")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        WAITING[name](x)
    assert told and "waits for cuda:0" in str(told[0].message)
    assert told[0].filename == __file__
    mode("error")
    with pytest.raises(RuntimeError, match="waits for cuda:0"):
        WAITING[name](x)
    mode("default")
    WAITING[name](x)


def test_the_line_that_waits_is_named(mode) -> None:  # type: ignore[no-untyped-def]
    x = libdl.arange(3.0, device="cuda")
    mode("warn")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        line = sys._getframe().f_lineno + 1
        x[0].item()
    assert [(w.filename, w.lineno) for w in told] == [(__file__, line)]


def test_work_that_does_not_wait_says_nothing(mode) -> None:  # type: ignore[no-untyped-def]
    mode("error")
    x = libdl.randn(100, 100, device="cuda", requires_grad=True)
    y = libdl.randn(100, 100).to("cuda")
    (x @ y).relu().sum().backward()
    x.grad.cpu  # noqa: B018
    kept = x.grad.to("cpu", non_blocking=True)
    libdl.cuda.synchronize()
    libdl.cuda.current_stream().synchronize()
    assert kept.shape == (100, 100)


def test_modes_have_names_and_numbers(mode) -> None:  # type: ignore[no-untyped-def]
    for number, name in enumerate(("default", "warn", "error")):
        mode(name)
        assert libdl.cuda.get_sync_debug_mode() == number
        mode(0)
        mode(number)
        assert libdl.cuda.get_sync_debug_mode() == number
    for wrong in ("loud", 3, -1):
        with pytest.raises(RuntimeError):
            mode(wrong)
