# SPDX-License-Identifier: Apache-2.0
"""The package as a whole: names, small values, threads, interruption, types, other packages."""

import copy
import math
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy
import pytest

import libdl

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(code: str, timeout: float = 60) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment,
        text=True,
        capture_output=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_lean():
    code = """
    import sys
    before = set(sys.modules)
    import libdl
    print(*set(sys.modules) - before)
    """
    loaded = run(code).split()
    assert not {"numpy", "inspect", "libdl.nn", "libdl.optim"} & set(loaded), sorted(loaded)
    # Of which two in three are Python's own: what is loaded is what the time goes to.
    assert len(loaded) < 91, sorted(loaded)


def test_missing_names_say_what_is_near():
    for wrong, near in (("softmaxx", "softmax"), ("Linear", "libdl.nn"), ("zeross", "zeros")):
        with pytest.raises(AttributeError, match=near):
            getattr(libdl, wrong)
    assert not hasattr(libdl, "no_such_thing")
    for module, wrong, near in (
        (libdl.nn, "Linea", "Linear"),
        (libdl.nn, "zeros", "in libdl"),
        (libdl.nn.functional, "reluu", "relu"),
        (libdl.utils, "checkpointing", "checkpoint"),
        (libdl.optim, "Adams", "Adam"),
    ):
        with pytest.raises(AttributeError, match=near):
            getattr(module, wrong)
    assert run("import libdl; print(libdl.utils.checkpoint.checkpoint.__name__)") == "checkpoint\n"
    assert "annotations" not in dir(libdl) and "Any" not in dir(libdl.func)


def test_default_device():
    libdl.set_default_device("cpu")
    assert libdl.get_default_device() == libdl.device("cpu")
    with pytest.raises(RuntimeError):
        libdl.set_default_device("cuda:63")


def test_help_is_worth_reading():
    text = libdl.softmax.__doc__
    for part in ("Arguments:", "dim:", "Returns:", "Gradient:", "Raises:"):
        assert part in text
    for name in libdl._functions.__all__:
        function = getattr(libdl, name)
        assert function.__doc__ and len(function.__doc__) > 40, name
    assert "max(input, dim, keepdim=False)" in libdl.max.__doc__
    assert libdl.Tensor.view.__doc__


def test_dtypes():
    assert repr(libdl.float32) == "libdl.float32"
    assert libdl.float is libdl.float32 and libdl.double is libdl.float64
    assert libdl.complex64.to_real() is libdl.float32
    assert copy.deepcopy(libdl.int8) is libdl.int8
    assert libdl.promote_types(libdl.int64, libdl.float16) is libdl.float16
    assert libdl.can_cast(libdl.float64, libdl.float32)
    assert not libdl.can_cast(libdl.float32, libdl.int64)
    assert libdl.zeros(1, dtype=float).dtype is libdl.float64
    libdl.set_default_dtype(libdl.float64)
    assert libdl.zeros(1).dtype is libdl.float64 and libdl.tensor(1.0).dtype is libdl.float64
    with pytest.raises(TypeError):
        libdl.set_default_dtype(libdl.int64)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo(name):
    mine, wanted = libdl.finfo(getattr(libdl, name)), numpy.finfo(name)
    assert mine.eps == wanted.eps and mine.max == wanted.max and mine.min == wanted.min
    assert mine.tiny == wanted.tiny and mine.bits == wanted.bits
    assert mine.resolution == wanted.resolution


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "uint16", "int32", "int64"])
def test_iinfo(name):
    mine, wanted = libdl.iinfo(getattr(libdl, name)), numpy.iinfo(name)
    assert (mine.min, mine.max, mine.bits) == (wanted.min, wanted.max, wanted.bits)


def test_size_and_device():
    x = libdl.zeros(2, 3)
    assert isinstance(x.shape, libdl.Size) and x.shape == (2, 3) and x.shape.numel() == 6
    assert repr(x.shape) == "libdl.Size([2, 3])"
    assert isinstance(x.shape[1:], libdl.Size) and x.shape[0] == 2
    assert x.size() == (2, 3) and x.size(-1) == 3 and x.stride() == (3, 1)
    assert x.device == libdl.device("cpu") and str(x.device) == "cpu"
    assert str(libdl.device("cuda", 1)) == "cuda:1" and libdl.device("cuda:1").index == 1
    with pytest.raises(RuntimeError):
        libdl.device("abacus")
    with pytest.raises(RuntimeError):
        libdl.zeros(1, device="cuda:63")


def test_generators():
    a, b = libdl.Generator().manual_seed(5), libdl.Generator().manual_seed(5)
    assert libdl.equal(libdl.randn(4, generator=a), libdl.randn(4, generator=b))
    state = a.get_state()
    first = libdl.rand(3, generator=a)
    a.set_state(state)
    assert libdl.equal(libdl.rand(3, generator=a), first)
    assert a.initial_seed() == 5
    libdl.manual_seed(7)
    x, state = libdl.randn(3), libdl.get_rng_state()
    y = libdl.randn(3)
    libdl.set_rng_state(state)
    assert libdl.equal(libdl.randn(3), y)
    libdl.manual_seed(7)
    assert libdl.equal(libdl.randn(3), x)


def test_the_default_generator_is_seeded_once_a_process():
    code = "import libdl; print(libdl.initial_seed(), libdl.rand(1).item(), libdl.initial_seed())"
    first, second = run(code).split(), run(code).split()
    assert first[0] == first[2] and first[:2] != second[:2]
    assert 0 <= int(first[0]) < 2**53
    assert run("import libdl; print(libdl.Generator().initial_seed())") == "67280421310721\n"
    again = f"import libdl; libdl.manual_seed({first[0]}); print(libdl.rand(1).item())"
    assert run(again).strip() == first[1]
    before = libdl.initial_seed()
    chosen = libdl.seed()
    assert chosen == libdl.initial_seed() != before


def test_threads_give_the_same_bits():
    before = libdl.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            libdl.set_num_threads(threads)
            assert libdl.get_num_threads() == threads
            libdl.manual_seed(1)
            x = libdl.randn(300, 400)
            results.append((x @ x.t()).sum().item())
    finally:
        libdl.set_num_threads(before)
    assert results[0] == results[1] == results[2]
    with pytest.raises(ValueError):
        libdl.set_num_threads(0)


def test_overloads():
    x = libdl.tensor([[1.0, 5.0], [7.0, 3.0]])
    assert libdl.max(x).item() == 7 and x.max().item() == 7
    values, indices = x.max(1)
    assert values.tolist() == [5, 7] and indices.tolist() == [1, 0]
    assert x.max(dim=0, keepdim=True).values.tolist() == [[7, 5]]
    assert libdl.max(x, libdl.tensor(4.0)).tolist() == [[4, 5], [7, 4]]
    assert x.sum().item() == 16 and x.sum(1).tolist() == [6, 10]
    assert x.sum(dim=(0, 1)).item() == 16 and x.mean(-1, keepdim=True).shape == (2, 1)
    assert x.view(4).shape == (4,) and x.view(-1, 1).shape == (4, 1)
    assert x.view((1, 4)).shape == (1, 4)
    assert x.view(libdl.int32).dtype is libdl.int32
    assert [t.shape[0] for t in libdl.arange(5).split(2)] == [2, 2, 1]
    assert [t.shape[0] for t in libdl.split(libdl.arange(5), [1, 4])] == [1, 4]
    assert libdl.where(x > 4, x, 0.0).tolist() == [[0, 5], [7, 0]]
    assert [i.tolist() for i in libdl.where(x > 4)] == [[0, 1], [1, 0]]
    assert libdl.randint(3, (4,)).max().item() < 3
    assert libdl.randint(5, 6, (4,)).tolist() == [5] * 4
    assert x.std().item() == pytest.approx(x.numpy().std(ddof=1))
    assert x.var(unbiased=False).item() == pytest.approx(x.numpy().var())
    assert x.permute(1, 0).shape == (2, 2) and x.permute((1, 0)).tolist() == x.t().tolist()
    assert libdl.zeros(2, 3).shape == libdl.zeros((2, 3)).shape == libdl.zeros(size=(2, 3)).shape


def test_out():
    x, out = libdl.ones(3), libdl.zeros(3)
    assert libdl.add(x, 2, out=out) is out and out.tolist() == [3, 3, 3]
    values, indices = libdl.zeros(1), libdl.zeros(1, dtype=libdl.int64)
    libdl.max(libdl.tensor([[1.0, 4.0]]), 1, out=(values, indices))
    assert values.item() == 4 and indices.item() == 1
    with pytest.raises(RuntimeError):
        libdl.add(x.requires_grad_(), 1, out=out)
    with pytest.raises(RuntimeError):
        libdl.add(libdl.ones(3), 1, out=libdl.zeros(4))


def test_wrong_arguments_are_type_errors():
    x = libdl.ones(2)
    for call in (
        lambda: libdl.softmax(x, "a"),
        lambda: libdl.softmax(x),
        lambda: libdl.exp("x"),
        lambda: libdl.exp(x, 1),
        lambda: libdl.cat(x),
        lambda: libdl.zeros("a"),
        lambda: x.view("a"),
        lambda: libdl.sum(x, dim=1.5),
        lambda: libdl.add(x, None),
        lambda: libdl.zeros(1, dtype="float32"),
        lambda: x.sum(nonsense=1),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(IndexError):
        libdl.softmax(x, 5)
    with pytest.raises(IndexError):
        x.sum(2**40)


def test_printing():
    assert repr(libdl.tensor([1.0, 2.0])) == "tensor([1., 2.])"
    assert repr(libdl.tensor([0.5, 1.25])) == "tensor([0.5000, 1.2500])"
    assert repr(libdl.tensor(3)) == "tensor(3)"
    assert repr(libdl.tensor([[1, 2], [3, 40]])) == "tensor([[ 1,  2],\n        [ 3, 40]])"
    assert repr(libdl.tensor([True, False])) == "tensor([ True, False])"
    assert repr(libdl.tensor([1.0, 1e5])) == "tensor([1.0000e+00, 1.0000e+05])"
    assert repr(libdl.ones(1, dtype=libdl.float64)) == "tensor([1.], dtype=libdl.float64)"
    assert "requires_grad=True" in repr(libdl.ones(1, requires_grad=True))
    assert "grad_fn=<MulBackward0>" in repr(libdl.ones(1, requires_grad=True) * 2)
    assert repr(libdl.zeros(0, 3)) == "tensor([], size=(0, 3))"
    assert "..." in repr(libdl.zeros(2000))
    assert repr(libdl.tensor([1 + 2j])) == "tensor([1.+2.j])"
    assert repr(libdl.tensor([math.nan, math.inf, 1.0])) == "tensor([nan, inf, 1.])"
    try:
        libdl.set_printoptions(precision=2)
        assert repr(libdl.tensor([0.123456])) == "tensor([0.12])"
        libdl.set_printoptions(precision=0, sci_mode=True)
        assert repr(libdl.tensor([1.5])) == "tensor([2e+00])"
        libdl.set_printoptions(threshold=math.inf, sci_mode=False)
        assert "..." not in repr(libdl.zeros(2000))
        libdl.set_printoptions(threshold=0, edgeitems=1)
        assert repr(libdl.zeros(3)) == "tensor([0.,  ..., 0.])"
    finally:
        libdl.set_printoptions(profile="default")
    assert "Parameter containing:" in repr(libdl.nn.Parameter(libdl.ones(1)))


def test_a_subclass_prints_under_its_name():
    class P(libdl.Tensor):
        pass

    class Positions(libdl.Tensor):
        pass

    x = libdl.zeros(2, 2, 1)
    for kind in (P, Positions):
        indent = "\n" + " " * (len(kind.__name__) + 2)
        assert repr(x.as_subclass(kind)) == (
            f"{kind.__name__}([[[0.],{indent} [0.]],\n{indent}[[0.],{indent} [0.]]])"
        )


def test_numbers_of_numpy_keep_their_dtype_in_lists():
    for data, dtype in (
        ([numpy.float64(1), 2], libdl.float64),
        ([numpy.float16(1)], libdl.float16),
        ([numpy.float32(1), 2.5], libdl.float32),
        ([numpy.int8(1), 2], libdl.int64),
        ([[numpy.int32(1)], [numpy.int16(2)]], libdl.int32),
        ([numpy.bool_(True)], libdl.bool),
        ([numpy.zeros(2), numpy.arange(2)], libdl.float64),
        ([numpy.complex64(1), 2], libdl.complex64),
        ([libdl.tensor(1), 2.5], libdl.float32),
        ([libdl.ones((), dtype=libdl.float64)], libdl.float64),
        ([True, 1.5], libdl.float32),
        ([numpy.zeros(0, dtype=numpy.int32)], libdl.int32),
    ):
        made = libdl.tensor(data)
        assert made.dtype is dtype, (data, made.dtype)
        assert made.tolist() == numpy.asarray(data).tolist()


def test_config():
    assert "libdl" in libdl.show_config() and "threads" in libdl.show_config()
    assert libdl.__version__ in run("import runpy; runpy.run_module('libdl', run_name='__main__')")
    assert libdl.cuda.is_available() is (libdl.cuda.device_count() > 0)


def test_torch_function():
    class Loud(libdl.Tensor):
        calls = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.calls.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = libdl.ones(2).as_subclass(Loud)
    assert type(x + 1) is Loud and type(1 + x) is Loud
    assert type(libdl.softmax(x, dim=0)) is Loud
    assert type(x[0]) is Loud
    x[0] = 5
    x += 1
    assert x.tolist() == [6, 2]
    for name in ("add", "softmax", "__getitem__", "__setitem__", "add_"):
        assert name in Loud.calls, Loud.calls

    class Diagonal:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, types

    assert libdl.exp(Diagonal()) == ("exp", (Diagonal,))
    assert libdl.ones(2) + Diagonal() == ("add", (Diagonal,))


def test_interruption_within_a_second():
    code = """
    import os, signal, threading, time
    import libdl
    # A shell's background job is started with the signal ignored, and its children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    x = libdl.randn(1500, 1500)
    threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.perf_counter()
    try:
        while True:
            y = x
            for _ in range(50):
                y = libdl.tanh(y @ x)
    except KeyboardInterrupt:
        print(time.perf_counter() - start)
    """
    assert float(run(code)) < 1.4


def test_long_work_releases_the_interpreter():
    x, ticks, done = libdl.randn(1200, 1200), [], []

    def work():
        for _ in range(4):
            x @ x
        done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    while not done:
        ticks.append(time.perf_counter())
        time.sleep(0.0005)
    thread.join()
    assert len(ticks) > 3


def test_signal_handlers_of_the_program():
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
        libdl.ones(10) + 1
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [signal.SIGUSR1]


def test_fork():
    if pid := os.fork():
        assert os.waitpid(pid, 0)[1] == 0
    else:
        ok = (libdl.ones(300, 300) @ libdl.ones(300, 300)).sum().item() == 300**3
        os._exit(not ok)


@pytest.fixture(scope="module")
def strictly(tmp_path_factory):
    """What mypy --strict says of files; it reads the package once."""
    cache = tmp_path_factory.mktemp("mypy")
    found = next(p for p in sys.path if (pathlib.Path(p) / "libdl" / "py.typed").exists())

    def check(folder, *files):
        return subprocess.run(
            [
                sys.executable,
                "-m",
                "mypy",
                "--strict",
                "--ignore-missing-imports",
                "--cache-dir",
                str(cache),
                *map(str, files),
            ],
            env={**os.environ, "MYPYPATH": found},
            capture_output=True,
            text=True,
            cwd=folder,
        )

    return check


def test_types_are_accepted_by_a_strict_checker(tmp_path, strictly):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
        import libdl
        from libdl import Tensor, nn

        def loss(net: nn.Module, x: Tensor, y: Tensor) -> Tensor:
            return nn.functional.cross_entropy(net(x), y)

        net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
        optimizer = libdl.optim.Adam(net.parameters(), lr=1e-3)
        x: Tensor = libdl.randn(4, 2, requires_grad=True)
        values, indices = libdl.max(x, 1)
        n: int = x.numel()
        y: Tensor = (x + 1).sum(dim=(0, 1), keepdim=True).softmax(0)
        shape: tuple[int, ...] = x.shape
        g = x.grad
        if g is not None:
            print(g.tolist(), n, shape, y[0, ...])
    """)
    )
    done = strictly(tmp_path, program, *sorted((ROOT / "examples").glob("*.py")))
    assert done.returncode == 0, done.stdout


def test_types_are_known_and_typos_are_not(tmp_path, strictly):
    """Each line and what a strict checker makes of it: the revealed type, or an error."""
    pytest.importorskip("mypy")
    lines = {
        "x.max(0).values": "libdl._C.Tensor",
        "x.max()": "libdl._C.Tensor",
        "x.max(x)": "libdl._C.Tensor",
        "x.max(dim=0, keepdim=True).indices": "libdl._C.Tensor",
        "libdl.max(x)": "libdl._C.Tensor",
        "libdl.min(x, 0).indices": "libdl._C.Tensor",
        "libdl.max(x, x)": "libdl._C.Tensor",
        "libdl.min(x, axis=1).values": "libdl._C.Tensor",
        "libdl.float": "libdl._types.dtype",
        "libdl.bool": "libdl._types.dtype",
        "libdl.softmx(x)": "error",
        "x.sofmax(0)": "error",
        "nn.Lineer(1, 1)": "error",
        "nn.functional.softmx(x)": "error",
        "libdl.optim.Adamm([x])": "error",
        "libdl.max()": "error",
        "x.max(0).value": "error",
        "libdl.cudaa": "error",
    }
    program = tmp_path / "program.py"
    program.write_text(
        "import libdl\nfrom libdl import nn\nx = libdl.ones(2, 2)\n"
        + "".join(f"reveal_type({line})\n" for line in lines)
    )
    done = strictly(tmp_path, program)
    for number, (line, wanted) in enumerate(lines.items(), 4):
        told = [t for t in done.stdout.splitlines() if t.startswith(f"program.py:{number}:")]
        if wanted == "error":
            assert any(": error:" in t for t in told), (line, told)
        else:
            assert [t.split('"')[1] for t in told] == [wanted], (line, told)


def test_debugger():
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pdb",
            "-c",
            "n",
            "-c",
            "n",
            "-c",
            "p x",
            "-c",
            "pp x.shape",
            "-c",
            "q",
            "-",
        ]
        if False
        else [
            sys.executable,
            "-c",
            "import pdb, io, libdl\nx = libdl.ones(2)\n"
            "d = pdb.Pdb(stdin=io.StringIO('p x\\npp x.shape\\nwhatis x\\nc\\n'))\n"
            "d.use_rawinput = False\nd.set_trace()\nprint('end')",
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "tensor([1., 1.])" in done.stdout and "Size([2])" in done.stdout, done.stderr
