# SPDX-License-Identifier: Apache-2.0
"""What waits for the device tells: index errors exactly once, faults in every call; and it lets
other threads run. Each case is a process of its own, on the simulated driver."""

import pytest

from cuda.simulated import SIMULATION, run

pytestmark = pytest.mark.skipif(
    not SIMULATION.exists(), reason="the CUDA plugin was not built: no nvcc was found"
)

BAD = """
    import ctypes, os, threading
    import libdl
    from libdl import cuda
    driver = ctypes.CDLL(os.environ["LIBDL_CUDA_DRIVER"])
    x = libdl.arange(10.0).to("cuda")

    def bad(value, stream=None):
        with cuda.stream(stream):
            return libdl.index_select(x, 0, libdl.tensor([1, value]).to("cuda"))

    def told(call):
        try:
            call()
        except IndexError as error:
            return str(error)
        return None
"""


def test_emptying_the_cache_does_not_swallow_an_index_error():
    text = run(
        BAD
        + """
    y = bad(77)
    cuda.empty_cache()
    print(told(cuda.synchronize))
    print(told(cuda.synchronize), x.sum().item())
    """
    ).splitlines()
    assert "index_select" in text[0] and "is 77 at element 1" in text[0]
    assert text[1] == "None 45.0", "it is told once, and the device works on"


def test_memory_that_runs_out_does_not_swallow_an_index_error():
    text = run(
        BAD
        + """
    y = bad(-11)
    try:
        libdl.zeros(10 ** 9, device="cuda")
    except MemoryError:
        print("memory")
    print(told(cuda.synchronize))
    """
    ).splitlines()
    assert text[0] == "memory" and "is -11 at element 1" in text[1]


def test_each_streams_complaint_is_told_once():
    text = run(
        BAD
        + """
    streams = [cuda.Stream() for _ in range(3)]
    for i, s in enumerate(streams):
        s.wait_stream(cuda.default_stream())
        bad(100 + i, s)
    for s in reversed(streams):
        print(told(s.synchronize))
    print(told(cuda.synchronize), [told(s.synchronize) for s in streams])
    """
    ).splitlines()
    for line, value in zip(text, (102, 101, 100), strict=False):
        assert f"is {value} at element 1" in line
    assert text[3] == "None [None, None, None]"


def test_what_another_stream_read_is_complained_of_there():
    """Its reader may be the only one that waits."""
    text = run(
        BAD
        + """
    side = cuda.Stream()
    side.wait_stream(cuda.default_stream())
    y = bad(50, side)
    cuda.current_stream().wait_stream(side)
    print(told(lambda: y.sum().item()))
    print(told(side.synchronize))
    """
    ).splitlines()
    assert "is 50 at element 1" in text[0] and text[1] == "None"


def test_threads_that_wait_at_once_lose_none_and_tell_none_twice():
    assert (
        run(
            BAD
            + """
    import collections
    heard = collections.Counter()
    lock = threading.Lock()

    def work(number):
        own = cuda.Stream()
        own.wait_stream(cuda.default_stream())
        for i in range(20):
            value = 1000 * number + i + 10
            bad(value, own)
            text = told(own.synchronize)
            with lock:
                heard[text.split(" is ")[1].split()[0] if text else None] += 1

    cuda.synchronize()
    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert told(cuda.synchronize) is None
    print(len(heard), set(heard.values()), None in heard)
    """
        )
        == "80 {1} False\n"
    )


FAULT = """
    import ctypes, os
    import libdl
    from libdl import cuda
    driver = ctypes.CDLL(os.environ["LIBDL_CUDA_DRIVER"])
    x = libdl.ones(1000, device="cuda") * 2
    cuda.synchronize()

    def told(call):
        try:
            call()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None
"""


def test_a_fault_is_told_by_every_call_with_the_kernels_before_it():
    text = run(
        FAULT
        + """
    y = libdl.softmax(x, 0)
    m = x.reshape(20, 50)
    m @ m.t()  # by the library
    driver.libdl_simulated_fault(700)
    z = x * 3
    calls = {
        "wait": cuda.synchronize,
        "launch": lambda: x + 1,
        "memory": lambda: libdl.empty(10 ** 8, device="cuda"),
        "copy": lambda: x.cpu(),
        "event": lambda: cuda.Event().record(),
    }
    for name, call in calls.items():
        print(name, told(call))
    print((libdl.ones(3) + 1).tolist())
    os._exit(0)
    """,
        LIBDL_SIMULATED_BLAS="1",
    ).splitlines()
    for line in text[:5]:
        assert "MemoryError" not in line, "a fault is no lack of memory"
        assert "CUDA_ERROR" in line and "softmax" in line and "cublasLtMatmul" in line, line
    assert text[5] == "[2.0, 2.0, 2.0]", "the CPU works on"


@pytest.mark.parametrize(
    "wait",
    [
        "y.sum().item()",
        "y.tolist()",
        "cuda.synchronize()",
        "y.cpu()",
        "y[y > 0]",
        "float(y.sum())",
        "cuda.current_stream().synchronize()",
    ],
)
def test_other_threads_run_while_one_waits(wait):
    """The simulated device works only while somebody waits for it. A thread that cannot run
    meanwhile sees one long gap."""
    assert (
        run(f"""
    import threading, time
    import libdl
    from libdl import cuda
    x = libdl.ones(200, 200, device="cuda") * 0.01
    times, stop = [], False

    def other():
        while not stop:
            times.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=other)
    y = x
    for _ in range(12):
        y = libdl.softmax(y * 2, 0) + x
    thread.start()
    begin = time.perf_counter()
    {wait}
    end = time.perf_counter()
    stop = True
    thread.join()
    inside = [begin, *(t for t in times if begin < t < end), end]
    longest = max(b - a for a, b in zip(inside, inside[1:]))
    print(end - begin > 0.02, longest < (end - begin) / 2)
    """)
        == "True True\n"
    )


def test_a_missing_library_is_warned_of_once_with_the_places():
    text = run(
        """
    import warnings
    import libdl
    x = libdl.ones(3, 3, device="cuda")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        print((x @ x)[0, 0].item(), (x @ x)[0, 0].item())
    print(len(seen), seen[0].message)
    """,
        LIBDL_SIMULATED_CUBLASLT="/nowhere/libcublasLt.so.13",
    ).splitlines()
    assert text[0] == "3.0 3.0"
    assert text[1].startswith("1 cuda: cuBLASLt was not found") and "/nowhere/" in text[1]


def test_a_consumer_without_a_stream_works_on_the_default_one():
    """The simulated driver reports what no event orders."""
    assert (
        run("""
    import libdl
    from libdl import cuda
    side = cuda.Stream()
    with cuda.stream(side):
        x = libdl.ones(1000, device="cuda") * 3
        capsule = x.__dlpack__()
    y = libdl.from_dlpack(capsule) + 1  # on the default stream
    print(y[0].item())
    """)
        == "4.0\n"
    )


def test_an_import_waits_for_the_producers_stream():
    assert (
        run("""
    import libdl
    from libdl import cuda

    class Producer:
        def __init__(self, x): self.x = x
        def __dlpack__(self, **keywords):
            self.asked = keywords.get("stream")
            return self.x.__dlpack__(**keywords)
        def __dlpack_device__(self): return self.x.__dlpack_device__()

    first, second = cuda.Stream(), cuda.Stream()
    with cuda.stream(first):
        producer = Producer(libdl.ones(1000, device="cuda") * 3)
        with cuda.stream(second):
            pass
    # The producer's work is on the stream that is current where it exports.
    with cuda.stream(first):
        capsule = producer.x.__dlpack__(stream=second.cuda_stream)
    with cuda.stream(second):
        print((libdl.from_dlpack(capsule) + 1)[0].item())
        second.wait_stream(first)
        libdl.from_dlpack(producer)
    print(producer.asked == second.cuda_stream)
    """)
        == "4.0\nTrue\n"
    )


def test_memory_that_is_not_aligned_is_copied():
    """Elements 1 to 6 of eight floats as complex numbers, as another library may export them, read
    and written through copies."""
    assert run("""
    import ctypes
    import libdl

    class Exported(ctypes.Structure):  # DLTensor
        _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2),
                    ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                    ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                    ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

    def seen_as(x, code, bits, count):
        capsule = x.__dlpack__()
        t = Exported.from_address(pointer(capsule, b"dltensor"))
        t.offset, t.code, t.bits, t.shape[0] = 4, code, bits, count
        return libdl.from_dlpack(capsule)

    x = libdl.arange(8.0).to("cuda")
    odd = seen_as(x, 5, 64, 3)
    assert odd.dtype == libdl.complex64 and odd.data_ptr() % 8 == 4
    print(odd.tolist(), (odd * 2).tolist(), odd.sum().item())
    odd *= 10
    print(x.tolist())
    i = libdl.tensor([0, 2]).to("cuda")
    print(odd[i].tolist())
    odd[i] = libdl.zeros(2, dtype=libdl.complex64, device="cuda")
    print(x.tolist())
    w = seen_as(libdl.arange(6.0).to("cuda"), 2, 64, 2)  # as on the CPU the import copies it
    print(w.data_ptr() % 8, tuple(w.shape))
    """).splitlines() == [
        "[(1+2j), (3+4j), (5+6j)] [(2+4j), (6+8j), (10+12j)] (9+12j)",
        "[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 7.0]",
        "[(10+20j), (50+60j)]",
        "[0.0, 0.0, 0.0, 30.0, 40.0, 0.0, 0.0, 7.0]",
        "0 (2,)",
    ]


def test_what_need_not_wait_does_not():
    """Queued work of the simulated driver is left queued: a call that waits would finish it."""
    assert (
        run("""
    import ctypes, os
    import libdl
    from libdl import cuda
    driver = ctypes.CDLL(os.environ["LIBDL_CUDA_DRIVER"])
    driver.libdl_simulated_waits.restype = ctypes.c_int64
    a = libdl.arange(1, 13, device="cuda").reshape(3, 4)
    w = [libdl.randn(20, device="cuda", requires_grad=True) for _ in range(160)]
    for p in w: p.grad = p.detach() * 3
    big = libdl.zeros(3_000_000)
    mask = libdl.tensor([True, False, True])
    x = libdl.randn(3, 4, device="cuda", requires_grad=True)
    y = x.prod()
    cuda.synchronize()
    for name, call in {
        "arange": lambda: libdl.arange(100, device="cuda"),
        "linspace": lambda: libdl.linspace(0, 1, 1000, device="cuda"),
        "randperm": lambda: libdl.randperm(100, device="cuda"),
        "floor_divide": lambda: a // a,
        "remainder": lambda: a % 5,
        "clip": lambda: libdl.nn.utils.clip_grad_norm_(w, 1.0),
        "prod": lambda: y.backward(),
        "to": lambda: mask.to("cuda"),
        "large": lambda: big.to("cuda"),
        "fill": lambda: libdl.full((3,), 2.5, device="cuda"),
    }.items():
        before = driver.libdl_simulated_waits()
        call()
        if driver.libdl_simulated_waits() != before:
            print(name, "waits")
    """)
        == ""
    )


def test_a_division_by_zero_is_told_by_the_next_wait():
    text = run("""
    import libdl
    a = libdl.tensor([4, 5, 6]).to("cuda")
    b = libdl.tensor([2, 0, 3]).to("cuda")
    for call in (lambda: a // b, lambda: a % b):
        y = call()
        try:
            libdl.cuda.synchronize()
        except ValueError as error:
            print(error)
        print(y.tolist())
    """).splitlines()
    assert text[0].startswith("floor_divide: argument 2 (other) holds 0") and text[1] == "[2, 0, 2]"
    assert text[2].startswith("remainder: argument 2 (other) holds 0") and text[3][1] == "0"


def test_gradients_of_prod_are_right_beside_zeros():
    assert (
        run("""
    import libdl
    for values in ([2.0, 3.0, 4.0], [2.0, 0.0, 4.0], [0.0, 0.0, 4.0]):
        grads = []
        for device in ("cpu", "cuda"):
            x = libdl.tensor([values, values[::-1]], device=device, requires_grad=True)
            (x.prod(1) * libdl.tensor([1.0, 2.0], device=device)).sum().backward()
            grads.append(x.grad.cpu().tolist())
            z = x.detach().clone().requires_grad_()
            z.prod().backward()
            grads.append(z.grad.cpu().tolist())
        assert grads[0] == grads[2] and grads[1] == grads[3], grads
    print("equal")
    """)
        == "equal\n"
    )


def test_pinned_blocks_are_not_reused_before_they_are_read():
    """More than all blocks hold, with copies that nobody waits for in between."""
    assert (
        run(
            """
    import libdl
    many = [libdl.full((3_000_000,), float(i)) for i in range(12)]  # 12 MB each
    there = [x.to("cuda") for x in many]
    for x in many: x.fill_(-1)
    print([x[2_999_999].item() for x in there] == list(range(12)))
    print(all((x == i).all().item() for i, x in enumerate(there)))
    libdl.cuda.empty_cache()
    print(libdl.arange(5_000_000, device="cuda")[-1].item())
    """,
            LIBDL_SIMULATED_MEMORY=str(1 << 30),
        )
        == "True\nTrue\n4999999\n"
    )


def test_clipping_gives_what_it_gives_on_the_cpu():
    """Within the norm and beyond it, of tensors whose own norms are exact in float32, to which the
    CPU rounds them."""
    assert (
        run("""
    import libdl
    for length in (2.0 ** -12, 4.0):
        found = []
        for device in ("cpu", "cuda"):
            w = [libdl.zeros(20, device=device, requires_grad=True) for _ in range(5)]
            for i, p in enumerate(w):
                grad = libdl.zeros(20)
                grad[i], grad[19 - i] = 3 * (i + 1) * length, -4 * (i + 1) * length
                p.grad = grad.to(device)
            norm = libdl.nn.utils.clip_grad_norm_(w, 1.0)
            found.append([norm.item(), [p.grad.tolist() for p in w]])
        print(found[0] == found[1])
    """)
        == "True\nTrue\n"
    )
