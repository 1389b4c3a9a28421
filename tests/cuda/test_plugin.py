# SPDX-License-Identifier: Apache-2.0
"""The CUDA plugin from Python: on the simulated driver, and where something is missing. Each case
is a process of its own, for a process opens one driver."""

import pytest

from cuda.simulated import SIMULATION, run

pytestmark = pytest.mark.skipif(
    not SIMULATION.exists(), reason="the CUDA plugin was not built: no nvcc was found"
)


MOVE = """
    import libdl
    assert {available} == libdl.cuda.is_available()
    try:
        libdl.ones(2).to("cuda")
    except RuntimeError as error:
        print(error)
"""


def test_without_a_driver_the_error_names_the_library():
    text = run(MOVE.format(available=False), LIBDL_CUDA_DRIVER="libno_such_driver.so")
    assert "no NVIDIA driver" in text and "libno_such_driver.so" in text


def test_a_driver_that_is_too_old_is_told_with_both_versions():
    text = run(MOVE.format(available=False), LIBDL_SIMULATED_VERSION="11040")
    assert "too old" in text and "11.4" in text


def test_without_a_device_the_count_is_told():
    text = run(MOVE.format(available=False), LIBDL_SIMULATED_DEVICES="0")
    assert "there are 0" in text


def test_elements_go_there_and_come_back():
    text = run("""
        import libdl
        x = libdl.arange(6.0).reshape(2, 3)
        y = x.to("cuda")
        assert y.device.type == "cuda" and y.cpu().tolist() == x.tolist()
        assert y.t().cpu().tolist() == x.t().tolist()
        assert y[0, 1].item() == 1.0 and y.to(libdl.int16).tolist() == [[0, 1, 2], [3, 4, 5]]
        z = libdl.zeros(2, 3, device="cuda")
        z.copy_(x.t().contiguous().t())
        x.copy_(z * 2)
        print(x.tolist(), z)
    """)
    assert text == (
        "[[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]] tensor([[0., 1., 2.],\n"
        "        [3., 4., 5.]], device='cuda:0')\n"
    )


def test_the_gradient_goes_the_way_back():
    assert (
        run("""
        import libdl
        x = libdl.tensor([1.0, 2.0], requires_grad=True)
        y = x.to("cuda")
        (y * y * 3).backward(libdl.ones(2, device="cuda"))
        print(x.grad)
    """)
        == "tensor([ 6., 12.])\n"
    )


def test_operands_on_two_devices_are_refused_by_name():
    text = run("""
        import libdl
        x, y = libdl.ones(3).to("cuda"), libdl.ones(3)
        for call in (lambda: x + y, lambda: libdl.matmul(x, y), lambda: libdl.cat([x, y]),
                     lambda: libdl.add(x, x, out=y), lambda: x.numpy()):
            try:
                call()
            except (RuntimeError, TypeError) as error:
                print(error)
        print((x + 2 + libdl.tensor(1.0)).cpu().tolist())
    """).splitlines()
    assert text[0].startswith("add: argument 2 (other) is on cpu, wanted cuda:0")
    assert text[1].startswith("matmul: argument 2") and text[2].startswith("cat: argument 1")
    assert (
        text[3].startswith("add: argument 4 (out)")
        and len(text) == 6
        and text[5] == "[4.0, 4.0, 4.0]"
    )


def test_the_memory_statistics_are_the_devices_own():
    assert (
        run("""
        import libdl
        assert libdl.cuda.memory_allocated() == 0
        x = libdl.zeros(1000, device="cuda")
        assert libdl.cuda.memory_allocated() == 4096  # blocks are multiples of 512 bytes
        del x
        assert libdl.cuda.memory_allocated() == 0 and libdl.cuda.memory_reserved() > 0
        libdl.cuda.empty_cache()
        print(libdl.cuda.memory_reserved(), libdl.cuda.get_device_name())
    """)
        == "0 simulated device\n"
    )


def test_streams_order_the_work_of_a_thread():
    text = run("""
        import libdl
        from libdl import cuda
        first, second = cuda.Stream(), cuda.Stream(priority=-1)
        assert first != second and first != cuda.default_stream() == cuda.current_stream()
        assert cuda.default_stream().cuda_stream == 0 and first.device == libdl.device("cuda:0")
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        x = libdl.arange(1000, dtype=libdl.float32).to("cuda")
        with cuda.stream(first):
            first.wait_stream(cuda.default_stream())
            start.record()
            y = x * 2 + 1
            end.record()
            with cuda.stream(second) as current:
                assert current == second == cuda.current_stream()
                second.wait_event(end)
                z = y * y
            assert cuda.current_stream() == first
        with cuda.stream(None):
            assert cuda.current_stream() == cuda.default_stream()
        second.synchronize()
        assert second.query() and end.query() and start.elapsed_time(end) >= 0
        assert cuda.ExternalStream(first.cuda_stream) == first
        print(z[:4].tolist(), first)
    """)
    assert text.startswith("[1.0, 9.0, 25.0, 49.0] <libdl.cuda.Stream device=cuda:0 cuda_stream=0x")


def test_a_stream_that_does_not_wait_is_seen():
    """The simulated driver tells of an access that no event orders: without the wait this one."""
    with pytest.raises(AssertionError, match="simulated driver:"):
        run("""
            import libdl
            from libdl import cuda
            first, second = cuda.Stream(), cuda.Stream()
            with cuda.stream(first):
                y = libdl.zeros(1000, device="cuda") + 1
            with cuda.stream(second):
                (y + 1).cpu()
        """)


def test_what_streams_and_events_refuse():
    text = run("""
        import libdl
        from libdl import cuda
        timed, never = cuda.Event(enable_timing=True), cuda.Event()
        timed.record()
        assert never.query() and never.synchronize() is None and never.wait() is None
        for call in (lambda: cuda.Event(interprocess=True), lambda: timed.elapsed_time(never),
                     lambda: timed.elapsed_time(cuda.Event(enable_timing=True)),
                     lambda: cuda.set_stream(3), lambda: cuda.Stream("cuda:63")):
            try:
                call()
            except (RuntimeError, ValueError, TypeError) as error:
                print(error)
    """).splitlines()
    assert len(text) == 5 and "interprocess" in text[0] and "enable_timing=True" in text[1]
    assert "never recorded" in text[2] and "wanted a Stream" in text[3] and "cuda:63" in text[4]


def test_without_a_driver_a_stream_says_what_is_missing():
    text = run(
        """
        from libdl import cuda
        try:
            cuda.Stream()
        except RuntimeError as error:
            print(error)
        on_cpu = cuda.Stream("cpu")  # its work is always done
        assert on_cpu.query() and on_cpu.device.type == "cpu"
    """,
        LIBDL_CUDA_DRIVER="libno_such_driver.so",
    )
    assert "stream_new" in text and "no NVIDIA driver" in text


def two(program: str, seed: int) -> str:
    return run(program, LIBDL_SIMULATED_DEVICES="2", LIBDL_SIMULATED_SEED=str(seed))


@pytest.mark.parametrize("seed", range(1, 6))
def test_each_device_computes_and_hands_over(seed):
    assert (
        two(
            """
        import libdl
        from libdl import cuda
        assert cuda.device_count() == 2
        x, y = (libdl.arange(6.0).to(f"cuda:{i}") for i in (0, 1))
        assert (y + y).cpu().tolist() == [0, 2, 4, 6, 8, 10] and (y + y).device.index == 1
        assert x.to("cuda:1").device.index == 1 and (y * 2).to("cuda:0").sum().item() == 30
        assert libdl.zeros(6, device="cuda:0").copy_(y).tolist() == [0, 1, 2, 3, 4, 5]
        for _ in range(10):  # what is copied may be overwritten and released at once
            z = (x + 1).to("cuda:1")
            libdl.full((6,), 9.0, device="cuda:0")
            assert z.tolist() == [1, 2, 3, 4, 5, 6]
        a = libdl.ones(3, device="cuda:0", requires_grad=True)
        b = (a * 2).to("cuda:1")
        (b * b).sum().backward()
        assert a.grad.device.index == 0 and a.grad.tolist() == [8, 8, 8]
        side = cuda.Stream("cuda:1")
        with cuda.stream(side):
            c = libdl.ones(1000, device="cuda:1") * 2
        cuda.default_stream("cuda:1").wait_event(side.record_event())
        print(c.to("cuda:0").sum().item())
    """,
            seed,
        )
        == "2000.0\n"
    )


@pytest.mark.parametrize("seed", range(1, 4))
def test_threads_work_on_both_devices(seed):
    assert (
        two(
            """
        import threading, libdl
        done = []
        def work():
            for i in range(20):
                for device in ("cuda:0", "cuda:1"):
                    assert (libdl.ones(10, device=device) * 3).sum().item() == 30
            done.append(1)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        print(len(done))
    """,
            seed,
        )
        == "3\n"
    )


def test_an_error_is_its_devices_alone():
    assert (
        two(
            """
        import ctypes, os, libdl
        from libdl import cuda
        x, y = (libdl.arange(5.0).to(f"cuda:{i}") for i in (0, 1))
        y.gather(0, libdl.tensor([7]).to("cuda:1"))
        cuda.synchronize("cuda:0")
        try:
            cuda.synchronize("cuda:1")
        except IndexError as error:
            print(error)
        ctypes.CDLL(os.environ["LIBDL_CUDA_DRIVER"]).libdl_simulated_fault(700)
        for _ in range(2):
            try:
                (y + y).cpu()
            except RuntimeError as error:
                assert "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access" in str(error)
            else:
                raise AssertionError
        assert (x + x).sum().item() == 20 and (libdl.ones(2) + 1).sum().item() == 4
    """,
            1,
        )
        == "gather: an index on cuda:1 is 7 at element 0, wanted -5 to 4\n"
    )
