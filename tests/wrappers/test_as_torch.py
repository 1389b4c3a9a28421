# SPDX-License-Identifier: Apache-2.0
"""python -m libdl.as_torch runs a program as Python does, with libdl for torch.

Each program runs in a process of its own: the hook stays for the rest of a process."""

import os
import signal
import subprocess
import sys

import pytest


def _paths(*more):
    usual = os.environ.get("PYTHONPATH", "").split(os.pathsep)  # it may be relative
    return os.pathsep.join([*more, *(os.path.abspath(p) for p in usual if p)])


def python(*args, cwd=None, paths=(), typed=None):
    environment = {**os.environ, "PYTHONPATH": _paths(*map(str, paths))}
    return subprocess.run(
        [sys.executable, *map(str, args)],
        cwd=cwd,
        env=environment,
        input=typed,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def program(tmp_path):
    def write(text, name="program.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def run(*args, **options):
    return python("-m", "libdl.as_torch", *args, **options)


def test_torch_is_libdl_under_every_name(program):
    done = run(
        program("""
import sys
import torch, torch.nn as nn, torch.nn.functional as F, torch.optim.lr_scheduler as lr
from torch.utils.data import DataLoader
import libdl
assert torch is libdl and nn is libdl.nn and F is libdl.nn.functional
assert DataLoader is libdl.utils.data.DataLoader and lr is libdl.optim.lr_scheduler
assert sys.modules["torch.nn"] is libdl.nn and libdl.nn.__spec__.name == "libdl.nn"
assert torch.__spec__.name == "libdl"
assert isinstance(torch.ones(1), libdl.Tensor)
print("ran")
""")
    )
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


def test_a_pytorch_installed_beside_is_not_picked_up(program, tmp_path):
    for name in ("torch", "torch/nn", "torch/onlythere"):
        (tmp_path / "beside" / name).mkdir(parents=True)
        (tmp_path / "beside" / name / "__init__.py").write_text("raise SystemExit('the real one')")
    done = run(program("import torch.nn\nimport torch.onlythere"), paths=[tmp_path / "beside"])
    assert done.returncode == 1 and "real one" not in done.stderr
    assert "No module named 'torch.onlythere'" in done.stderr


def test_classes_of_the_program_can_be_pickled(program):
    done = run(
        program("""
import pickle, torch
class Net(torch.nn.Linear): pass
net = pickle.loads(pickle.dumps(Net(2, 3)))
assert type(net) is Net and net.weight.shape == (3, 2)
""")
    )
    assert done.returncode == 0, done.stderr


# What a program can see of how it was started, and how it ends.
SEEN = """
import sys
print(sys.argv, __name__, __file__, sys.path[0], __spec__, __package__, __doc__)
print(sys.modules["__main__"].__dict__ is globals(), sorted(globals()))
"""


@pytest.mark.parametrize(
    "end",
    [
        "",
        "sys.exit(7)",
        "sys.exit('a sentence')",
        "def f(): raise KeyError(1)\nf()",
        "1 +",
        "raise SystemExit",
        "import atexit; atexit.register(print, 'late')",
        "raise KeyboardInterrupt",
    ],
)
def test_a_program_sees_what_python_shows_it(program, tmp_path, end):
    path = program(SEEN + end)
    for cwd, name in ((tmp_path, path.name), (None, path)):
        ours, plain = (
            python(*how, name, "-x", "y", cwd=cwd) for how in (["-m", "libdl.as_torch"], [])
        )
        assert ours.stdout == plain.stdout
        assert ours.stderr == plain.stderr
        assert ours.returncode == plain.returncode


def test_ctrl_c_ends_it_by_the_signal(program):
    path = program("print('up', flush=True)\nimport time\ntime.sleep(60)")
    with subprocess.Popen(
        [sys.executable, "-m", "libdl.as_torch", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"up\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == -signal.SIGINT
    assert errors.endswith(b"KeyboardInterrupt\n") and b"as_torch" not in errors


def test_a_module_runs_as_with_python_m(program, tmp_path):
    program(SEEN + "from torch import nn\n", "part.py")
    ours = python("-m", "libdl.as_torch", "-m", "part", "a", cwd=tmp_path)
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout.startswith(
        f"['{tmp_path}/part.py', 'a'] __main__ {tmp_path}/part.py {tmp_path} "
    )


# Without __file__, which a command does not have.
SEEN_ANYWHERE = """
import sys
print(sys.argv, __name__, sys.path[0], __spec__ and __spec__.name, __package__, __doc__)
print(getattr(__loader__, "__name__", type(__loader__).__name__))
print(sys.modules["__main__"].__dict__ is globals(), sorted(globals()))
"""
ENDS = [
    "sys.exit(7)",
    "def f(): raise KeyError(1)\nf()",
    "1 +",
    "raise KeyboardInterrupt",
    "import helper; print(helper.x)",
]


@pytest.mark.parametrize(
    "how, end",
    [
        *((how, end) for how in ("-c", "-", "-m") for end in ENDS),
        ("-ctogether", ""),
        ("-mtogether", ""),
    ],
)
def test_it_starts_a_program_in_each_of_pythons_ways(program, tmp_path, how, end):
    program("x = 2", "helper.py")
    text = SEEN_ANYWHERE + end
    program(text, "part.py")
    start = {
        "-c": ["-c", text],
        "-ctogether": ["-c" + text],
        "-": ["-"],
        "-m": ["-m", "part"],
        "-mtogether": ["-mpart"],
    }[how]
    ours, plain = (
        python(*before, *start, "-x", "y", cwd=tmp_path, typed=text if how == "-" else None)
        for before in (["-m", "libdl.as_torch"], [])
    )
    assert ours.stdout == plain.stdout and (ours.stdout or "1 +" in end)
    assert ours.stderr == plain.stderr
    assert ours.returncode == plain.returncode


@pytest.mark.parametrize(
    "start", [["-m", "absent"], ["-m", "os.path.absent"], ["-m", "torch.absent"]]
)
def test_a_missing_module_is_told_as_python_tells_it(tmp_path, start):
    ours, plain = run(*start, cwd=tmp_path), python(*start, cwd=tmp_path)
    assert ours.returncode == plain.returncode == 1
    if start[1].startswith("torch"):  # Python may have no torch at all
        assert ours.stderr == f"{sys.executable}: No module named torch.absent\n"
    else:
        assert ours.stderr == plain.stderr


def test_modules_of_torch_can_be_started(tmp_path):
    done = run("-m", "torch.utils.collect_env", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and "cpu kernels: " in done.stdout
    done = run("-c", "import torch; print(torch.ones(2), torch.__name__)", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "tensor([1., 1.]) torch\n"), done.stderr


@pytest.mark.parametrize(
    "wrong, told",
    [
        ([], ""),
        (["-c"], "Argument expected for the -c option\n"),
        (["-m"], "Argument expected"),
        (["-z"], "Unknown option: -z\n"),
    ],
)
def test_what_it_cannot_start_is_refused(wrong, told):
    done = run(*wrong)
    assert done.returncode == 2 and done.stderr.startswith(told)
    assert "usage: python -m libdl.as_torch" in done.stderr and done.stdout == ""


def test_typed_lines_run_as_they_come(tmp_path):
    """`-` at a terminal is an interpreter."""
    pty = pytest.importorskip("pty")
    here, there = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "libdl.as_torch", "-"],
        stdin=there,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": _paths()},
    )
    os.write(here, b"import torch\nprint(torch.ones(1))\nraise SystemExit(3)\n")
    assert b"tensor([1.])" in process.communicate()[0]
    assert process.returncode == 3


def test_a_missing_file_is_told_as_python_tells_it(tmp_path):
    ours, plain = run("absent.py", cwd=tmp_path), python("absent.py", cwd=tmp_path)
    assert (ours.returncode, ours.stderr) == (plain.returncode, plain.stderr)


@pytest.mark.parametrize(
    "line, told",
    [
        (
            "from torch import lienar",
            "torch is libdl here: module 'libdl' has no attribute 'lienar'; near it: ",
        ),
        ("from torch.nn import Linaer", "module 'libdl.nn' has no attribute 'Linaer'; near it: "),
        (
            "import torch.optimm",
            "torch is libdl here: there is no module libdl.optimm; near it: optim",
        ),
        (
            "import torch.nn.zzz.deep",
            "there is no module libdl.nn.zzz; docs/coming-from-pytorch.md",
        ),
        (
            "import torch\ntorch.lienar",
            "AttributeError: module 'libdl' has no attribute 'lienar'; near it: ",
        ),
    ],
)
def test_a_missing_name_is_named_with_its_place_and_what_exists(program, line, told):
    path = program(line)
    done = run(path)
    assert done.returncode == 1
    assert f'File "{path}", line {len(line.splitlines())}' in done.stderr and told in done.stderr


def test_another_missing_module_gets_no_word_about_libdl(program):
    done = run(program("import absent_module"))
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'absent_module'\n")


def test_programs_may_ask_what_there_is(program):
    done = run(
        program("""
import importlib.util
assert importlib.util.find_spec("torch") and importlib.util.find_spec("torch.nn")
assert importlib.util.find_spec("torch.absent") is None
try:
    from torch import absent
except ImportError:
    print("without")
""")
    )
    assert (done.returncode, done.stdout) == (0, "without\n"), done.stderr


def test_packages_compiled_against_pytorch_count_as_absent(program, tmp_path):
    package = tmp_path / "torch_scatter"
    package.mkdir()
    (package / "__init__.py").write_text("print('loaded')")
    path = program(
        "import importlib.util\nprint(importlib.util.find_spec('torch_scatter') is None)\n"
        "import torch_scatter"
    )
    assert run(path).stdout == "False\nloaded\n"  # pure Python, for instance a stand-in of the user
    (package / "_C.so").touch()
    done = run(path)
    assert done.stdout == "True\n" and "torch_scatter is compiled against PyTorch" in done.stderr
    assert "ModuleNotFoundError" in done.stderr


def test_torchvision_is_loaded_with_operators_of_libdl(program, tmp_path):
    package = tmp_path / "torchvision"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import torch\ntorch.ops.load_library(__path__[0] + '/_C.so')"
    )
    (package / "_C.so").touch()
    done = run(
        program("""
import torch, torchvision
boxes = torch.tensor([[0., 0., 2., 2.], [0., 0., 2., 1.9], [5., 5., 6., 6.]])
print(torch.ops.torchvision.nms(boxes, torch.tensor([.1, .9, .5]), .5).tolist())
try:
    torch.ops.load_library(torchvision.__path__[0] + "/image.so")
except OSError as error:
    print("compiled against PyTorch" in str(error))
""")
    )
    assert (done.returncode, done.stdout) == (0, "[1, 2]\nTrue\n"), done.stderr


def test_torch_is_what_is_shown(program):
    """Packages choose by these texts."""
    done = run(
        program("""
import pickle, torch, torch.nn as nn, typing, inspect
class Own(nn.Module): pass
print(torch.__name__, nn.__name__, torch.float32, torch.Size([2]), torch.ones(1).type(), end=" ")
print(torch.strided)
print(torch.Tensor.__module__, torch.dtype.__module__, torch.FloatTensor, torch.contiguous_format)
kinds = nn.Linear, nn.Parameter, torch.optim.Adam, torch.utils.data.DataLoader
for kind in (*kinds, torch.autograd.Function):
    assert kind.__module__.startswith("torch."), kind
    assert inspect.getsourcefile(kind) and pickle.loads(pickle.dumps(kind)) is kind
assert Own.__module__ == "__main__" and typing.get_type_hints(nn.Linear.forward)
print(torch.float32 is torch.float32, torch.fx.symbolic_trace(nn.Sequential(nn.Linear(1, 1))).code)
assert pickle.loads(pickle.dumps(torch.float32)) is torch.float32
assert torch.equal(pickle.loads(pickle.dumps(torch.ones(2))), torch.ones(2))
""")
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split("\n")[:2]
    assert first == "torch torch.nn torch.float32 torch.Size([2]) torch.FloatTensor torch.strided"
    assert second == "torch torch torch.FloatTensor torch.contiguous_format"
    assert "self.0(input)" not in done.stdout and 'getattr(self, "0")' in done.stdout


def test_install_in_a_program_of_ones_own(program):
    done = python(
        program("""
import libdl.as_torch, sys
before = list(sys.meta_path)
libdl.as_torch.install()
libdl.as_torch.install()
import torch
assert torch is libdl and len(sys.meta_path) == len(before) + 1
""")
    )
    assert done.returncode == 0, done.stderr


def test_install_after_pytorch_is_refused(program):
    done = python(
        program("""
import sys, types
sys.modules["torch"] = types.ModuleType("torch")
import libdl.as_torch
libdl.as_torch.install()
""")
    )
    assert "PyTorch itself was imported before install()" in done.stderr


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_that_the_program_starts_have_it_too(program, method):
    done = run(
        program(f"""
import multiprocessing
import torch

def work(x):
    return float(torch.tensor(x) * 2)

if __name__ == "__main__":
    with multiprocessing.get_context({method!r}).Pool(1) as pool:
        print(pool.map(work, [1.0, 2.0]))
""")
    )
    assert (done.returncode, done.stdout) == (0, "[2.0, 4.0]\n"), done.stderr


@pytest.mark.parametrize("first", ["import torch, joblib", "import joblib.externals.loky, torch"])
def test_processes_of_joblib_have_it_too(program, first):
    pytest.importorskip("joblib")
    done = run(
        program(f"""
{first}
import joblib

def work(x):
    import torch
    return float(torch.tensor(x) * 2), torch.version.libdl

if __name__ == "__main__":
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(work)(x) for x in (1.0, 2.0, 3.0))
    assert found == [(2 * x, torch.version.libdl) for x in (1.0, 2.0, 3.0)]
    print("ran")
""")
    )
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


def test_the_package_has_metadata(program):
    done = run(
        program("""
from importlib import metadata
import torch
assert metadata.version("torch") == torch.__version__
assert metadata.distribution("torch").metadata["Name"] == "torch"
try:
    metadata.version("torch-of-nobody")
except metadata.PackageNotFoundError:
    print("ran")
""")
    )
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


def test_programs_that_want_pytorch_2_find_it(program):
    done = run(
        program("""
import torch
assert torch.__version__ >= "2.4" and torch.__version__ >= (2, 0) and torch.__version__ > "2.15.0"
assert int(torch.__version__.split(".")[0]) == 2
assert torch.version.__version__ == torch.__version__
assert torch.__version__ == f"2.15.0+libdl.{torch.version.libdl}"
print("ran")
""")
    )
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr
