# SPDX-License-Identifier: Apache-2.0
"""Settings of the gates. No verdict depends on the day: what Hypothesis draws is the same each
time.

LIBDL_LOOK_ON=1: every call of every test is shown to an interceptor that does nothing. Results must
not depend on it; and test builds of the core (cmake/variant.cmake) refuse a kernel that runs in no
call that was shown.

LIBDL_SHARE=n: one n-th of the tests; which one LIBDL_TURN says, that make takes from the commit's
id.
"""

import ctypes
import gc
import os
import signal
import zlib
from collections.abc import Generator, Iterator

import hypothesis
import pytest

hypothesis.settings.register_profile("one_verdict", derandomize=True, deadline=None)
hypothesis.settings.load_profile("one_verdict")

# A shell starts what it runs in the background with SIGINT ignored, and programs inherit that: the
# tests of Ctrl-C would send it to deaf ones.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class _Options(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("wanted", ctypes.c_uint32),
        ("ctx", ctypes.c_void_p),
        ("destroy", ctypes.c_void_p),
        ("before", ctypes.c_void_p),
        ("after", ctypes.c_void_p),
    )


def _core() -> ctypes.CDLL:
    """The core that the Python module is linked with."""
    from libdl import _C

    module = ctypes.CDLL(_C.__file__)
    assert module.libdl_tensor_retain  # found through the module
    return module


@pytest.fixture(autouse=True, scope="session")
def look_on() -> Iterator[None]:
    if os.environ.get("LIBDL_LOOK_ON") != "1":
        yield
        return
    core = _core()
    core.libdl_interceptor_push_options.restype = ctypes.c_void_p
    # after(NULL, call) by a function that gives NULL for NULL, and so never an error.
    nothing = ctypes.cast(core.libdl_tensor_retain, ctypes.c_void_p)
    options = _Options(ctypes.sizeof(_Options), 1, None, None, None, nothing)
    assert not core.libdl_interceptor_push_options(ctypes.byref(options))
    yield
    core.libdl_interceptor_pop.restype = ctypes.c_void_p
    assert not core.libdl_interceptor_pop()


@pytest.fixture(autouse=True, scope="module")
def kept() -> Iterator[None]:
    """What lives on when a file's tests have ended, such as what they imported, stays as well."""
    yield
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    shares = int(os.environ.get("LIBDL_SHARE", "1"))
    turn = int(os.environ.get("LIBDL_TURN", "0")) % shares
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        (kept if zlib.crc32(item.nodeid.encode()) % shares == turn else left).append(item)
    items[:] = kept
    if left:
        config.hook.pytest_deselected(items=left)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """No collection of garbage walks over the tests, which stay to the end: each gc.collect() of a
    test of leaks took 0.2 s, and a third of the collection's time was spent on looking in vain.
    """
    gc.disable()
    try:
        found = yield
        gc.collect()
        gc.freeze()
    finally:
        gc.enable()
    return found
