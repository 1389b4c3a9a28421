# SPDX-License-Identifier: Apache-2.0
"""Whole modules and other objects in PyTorch's format. They are pickled, so that loading runs code:
only if the caller says weights_only=False in that call. Files with torch in their names are
PyTorch's own (torch_objects.py wrote them)."""

import builtins
import copyreg
import enum
import os
import pickle
import subprocess
import sys
from collections import OrderedDict, defaultdict, namedtuple
from pathlib import Path

import libdl
import pytest
from libdl import nn, serialization

sys.path.append(str(Path(__file__).parent))
import mutations  # noqa: E402
from made import DATA, pickled, refused, same, stored, tensor  # noqa: E402
from torch_objects import FOLDER, OBJECTS, said_by  # noqa: E402

Pair = namedtuple("Pair", "left right")


class Colour(enum.IntEnum):
    RED = 1


class Marked(libdl.Tensor):
    pass


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Settings:
    def __init__(self, **values):
        self.__dict__.update(values)

    def __eq__(self, other):
        return vars(self) == vars(other)


class Told:
    """Tells when it is made."""

    made = 0

    def __setstate__(self, state):
        Told.made += 1
        self.__dict__.update(state)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.again = nn.Linear(2, 3), nn.Linear(2, 3)
        self.again.weight = self.first.weight
        self.register_buffer("steps", libdl.zeros(1), persistent=False)
        self.settings = Settings(lr=0.5)

    def forward(self, x):
        return self.first(x) + self.again(x)


def whole(value, **options):
    return libdl.load(stored(value, **options), weights_only=False)


# -- modules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"pickle_protocol": 4}, {"pickle_module": pickle}])
def test_a_module_comes_back_whole(options):
    net = Net()
    found = whole(net, **options)
    assert type(found) is Net and found is not net and found.settings == net.settings
    assert found.first.weight is found.again.weight and isinstance(found.first.weight, nn.Parameter)
    assert libdl.equal(found(libdl.ones(1, 2)), net(libdl.ones(1, 2)))
    found(libdl.ones(1, 2)).sum().backward()
    assert found.first.weight.grad is not None and list(found.state_dict()) == list(
        net.state_dict()
    )


def test_a_training_comes_back_whole():
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    optimizer = libdl.optim.Adam(net.parameters())
    schedule = libdl.optim.lr_scheduler.StepLR(optimizer, 2)
    net(libdl.ones(3, 2)).sum().backward()
    optimizer.step()
    net2, optimizer2, schedule2 = whole([net, optimizer, schedule])
    assert schedule2.optimizer is optimizer2
    assert optimizer2.param_groups[0]["params"][0] is net2[0].weight
    for n, o in ((net, optimizer), (net2, optimizer2)):
        o.zero_grad()
        n(libdl.arange(6.0).view(3, 2)).square().sum().backward()
        o.step()
    same(net2.state_dict(), net.state_dict())


@pytest.mark.parametrize("name", OBJECTS)
def test_pytorchs_whole_objects_load(name):
    found = libdl.load(FOLDER / f"{name}_object.pt", weights_only=False)
    assert said_by(libdl, name, found) == said_by(libdl, name, OBJECTS[name](libdl))
    refused(FOLDER / f"{name}_object.pt", "weights_only=False", "trust")


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_have_pytorchs_names_in_files(name):
    """So that PyTorch finds their classes; tests/oracle/checkpoints.py has it load them."""
    import pickletools

    def names(data):
        ops = pickletools.genops(mutations.records_of(data)["data.pkl"])
        return {argument for op, argument, _ in ops if op.name == "GLOBAL"}

    ours = names(stored(OBJECTS[name](libdl)).getvalue())
    theirs = names((FOLDER / f"{name}_object.pt").read_bytes())
    assert not [path for path in ours if path.startswith("libdl")]
    assert ours == theirs


# -- other objects ---------------------------------------------------------------------------------

_loop = Settings()
_loop.self = [_loop]
ANY = {
    "a namedtuple": Pair(1, libdl.ones(2)),
    "an enum": Colour.RED,
    "settings": Settings(a=[1]),
    "slots": Slotted(3),
    "a class": Settings,
    "a function": stored,
    "a module's function": os.getcwd,
    "a defaultdict": {"a": defaultdict(Settings)},
    "a range": range(3),
    "a slice": slice(1, 2),
    "an ellipsis": ...,
    "a path": Path("a"),
    "a type": int,
    "an exception": ValueError("a", 1),
    "a dtype": Settings(a=libdl.float16, b=libdl.bool),
    "a size": Settings(a=libdl.Size([1])),
    "a device": Settings(a=libdl.device("cpu")),
    "a layout": Settings(a=libdl.strided),
    "bytes": Settings(a=b"\0\xff", b=bytearray(b"a")),
    "a loop": _loop,
    "activations": [nn.functional.relu, libdl.relu],
    "a bound method": Settings(a="x".join),
    "an ordered dict": Settings(a=OrderedDict(b=1)),
}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", ANY)
def test_any_object_that_pickle_takes_is_saved(name, protocol):
    value = ANY[name]
    found = whole({"a": value, "b": value}, pickle_protocol=protocol, format="torch")
    assert found["a"] is found["b"] or found["a"] == found["b"]
    assert type(found["a"]) is type(value)
    if name == "a loop":
        assert found["a"].self[0] is found["a"]
    elif name == "slots":
        assert found["a"].x == 3
    elif name == "an exception":
        assert found["a"].args == value.args
    elif name == "a bound method":
        assert found["a"].a("ab") == "axb"
    elif name == "a namedtuple":
        assert libdl.equal(found["a"].right, value.right)
    else:
        assert found["a"] == value


def test_without_a_format_what_safetensors_hold_needs_no_code():
    assert stored({"a": 1}).getvalue()[8:9] == b"{"
    assert libdl.load(stored({"a": [1]})) == {"a": [1]}
    assert stored([Colour.RED]).getvalue()[:2] == b"PK"
    sparse = libdl.sparse_coo_tensor(libdl.tensor([[0]]), libdl.ones(1, 2), (2, 2))
    assert libdl.load(stored([sparse]))[0].is_sparse  # by PyTorch's format, without code


TENSORS = {
    "a subclass": lambda x: x.as_subclass(Marked),
    "a parameter": nn.Parameter,
    "a frozen parameter": lambda x: nn.Parameter(x, False),
    "a buffer": nn.Buffer,
    "a leaf": lambda x: x.requires_grad_(),
    "half": lambda x: x.half(),
    "uint16": lambda x: x.to(libdl.uint16),
    "a view": lambda x: x[1:, :1],
    "turned": lambda x: x.t(),
    "of no elements": lambda x: x[:0],
    "a result": lambda x: x.requires_grad_() * 2,
    "a subclass's view": lambda x: x[1:].as_subclass(Marked),
    "sparse": lambda x: libdl.sparse_coo_tensor(libdl.tensor([[0, 2]]), x[:2], (3, 2)),
}


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_in_objects_keep_class_geometry_and_attributes(name):
    x = TENSORS[name](libdl.arange(6.0).reshape(3, 2))
    x.note = "kept"
    found = whole(Settings(x=x, again=x)).x
    kind = libdl.Tensor if name == "a buffer" else type(x)
    assert type(found) is kind and found.dtype is x.dtype and found.shape == x.shape
    assert found.requires_grad == x.requires_grad and found.is_leaf
    assert libdl.equal(found.detach().to_dense(), x.detach().to_dense())
    if name != "sparse":
        assert found.stride() == x.stride() and found.storage_offset() == x.storage_offset()
    assert name == "a buffer" or found.note == "kept"


def test_views_in_objects_share_memory():
    x = libdl.arange(4.0)
    found = whole(Settings(x=x, row=x[1:], bits=x.view(libdl.int32), storage=x.untyped_storage()))
    found.x[1] = 2.0
    assert found.row[0] == 2.0 and found.bits[1] == 1 << 30


def test_picklers_of_others_are_used():
    cloudpickle = pytest.importorskip("cloudpickle")

    def local(x):
        return x + 1

    x = libdl.arange(3.0)
    file = stored({"f": local, "x": x, "row": x[1:]}, pickle_module=cloudpickle)
    found = libdl.load(file, weights_only=False, pickle_module=pickle)
    found["x"][1] = 5
    assert found["f"](1) == 2 and found["row"][0] == 5


def test_a_pickle_by_pickle_needs_no_archive_of_ours():
    """The class's own name for itself decides, and its __reduce__."""
    net = Net()
    found = pickle.loads(pickle.dumps(net))
    assert libdl.equal(found.first.weight, net.first.weight)


# -- code ------------------------------------------------------------------------------------------


def test_nothing_runs_unless_the_call_says_so(monkeypatch):
    value = Told()
    value.x, Told.made = 1, 0
    file = stored([value])
    for options in ({}, {"weights_only": None}, {"weights_only": True}):
        file.seek(0)
        with pytest.raises(
            pickle.UnpicklingError, match=r"weights_only=False.*may be anything"
        ) as told:
            libdl.load(file, **options)
        assert isinstance(told.value, libdl.Error) and "Told" in str(told.value)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        libdl.load(file)
    assert Told.made == 0
    file.seek(0)
    assert type(libdl.load(file, weights_only=False)[0]) is Told and Told.made == 1


def test_the_error_names_what_a_module_would_run():
    words = refused(stored(nn.Sequential(nn.ReLU())), "torch.nn.modules.container.Sequential")
    assert "weights_only=False" in words and "state_dict()" in words
    names = serialization.get_unsafe_globals_in_checkpoint(stored(nn.Sequential(nn.ReLU())))
    assert names == ["torch.nn.modules.container.Sequential", "torch.nn.modules.activation.ReLU"]


def test_no_mutation_of_a_whole_module_runs_code_or_imports(monkeypatch):
    """Of a file that has 40 names of classes, mutated names among them."""
    import random

    data = mutations.without_checksums(stored([Net(), Told(), Pair(1, 2)]).getvalue())
    source = mutations.Mutations(3)
    source.random = random.Random(3)
    before, ran = set(sys.modules), []
    for name in ("eval", "exec", "getattr", "setattr", "open"):
        own = getattr(builtins, name)
        monkeypatch.setattr(
            builtins,
            name,
            lambda *a, _own=own, _n=name, **k: (
                ran.append(_n) if sys._getframe(1).f_globals.get("__name__") == "pickle" else None,
                _own(*a, **k),
            )[1],
        )
    monkeypatch.setattr(os, "system", ran.append)
    monkeypatch.setattr(pickle, "Unpickler", None)
    monkeypatch.setattr(copyreg, "_reconstructor", None)
    Told.made = 0
    for _ in range(1500):
        mutations.attempt(source.mutated(data, [data]))
    assert not ran and Told.made == 0
    assert not {name for name in set(sys.modules) - before if not name.startswith("libdl")}


def test_what_the_file_says_runs_in_the_callers_name_only_once_asked():
    file = pickled(b"cbuiltins\nlen\nX\3\0\0\0abc\x85R")
    refused(file, "builtins.len", "weights_only=False")
    file.seek(0)
    assert libdl.load(file, weights_only=False) == 3


# -- what is wrong with a file, or an object -------------------------------------------------------


def test_names_that_libdl_lacks_are_named():
    for module, name in (("torch.nn.modules.linear", "Strange"), ("torch.strange", "Linear")):
        file = pickled(f"c{module}\n{name}\n)R".encode())
        with pytest.raises(libdl.Error, match=rf"{module}\.{name}, which libdl has not"):
            libdl.load(file, weights_only=False)


@pytest.mark.parametrize("body", [b"h\7", b"", b"NN", b"X\xff\xff\xff\x7f"], ids=repr)
def test_damaged_pickles_are_refused_with_weights_only_false_too(body):
    file = pickled(body)
    try:
        libdl.load(file, weights_only=False)
    except (libdl.Error, KeyError, IndexError, EOFError):
        return
    assert body == b"NN"  # pickle takes the topmost value


def test_tensors_that_do_not_fit_are_refused_with_weights_only_false_too():
    for body in (
        tensor(size=b"K\5\x85"),
        tensor(offset=b"K\1"),
        tensor(stride=b"J\xff\xff\xff\xff\x85"),
    ):
        with pytest.raises(libdl.Error):
            libdl.load(pickled(body, **DATA), weights_only=False)
    with pytest.raises(libdl.Error, match="storage of no kind"):
        kinds = tensor().replace(b"torch\nFloatStorage", b"builtins\nint")
        libdl.load(pickled(kinds, **DATA), weights_only=False)
    assert libdl.load(pickled(tensor(), **DATA), weights_only=False).tolist() == [1, 2, 3, 4]


def test_what_pickle_does_not_take_is_its_own_error():
    for value in (lambda: 1, Settings(f=lambda: 1), (x for x in ())):
        with pytest.raises((AttributeError, pickle.PicklingError, TypeError), match="pickle"):
            stored(value)
    with pytest.raises(TypeError, match="'wrong' is no argument of load"):
        libdl.load(stored(1), wrong=1)


def test_map_location_and_mmap_hold_for_whole_modules(tmp_path):
    seen = []
    path = tmp_path / "net.pt"
    libdl.save(Net(), path)
    libdl.load(path, lambda x, place: seen.append((x.numel(), place)), weights_only=False)
    assert (6, "cpu") in seen
    found = libdl.load(path, mmap=True, weights_only=False)
    assert libdl.equal(found.first.weight, libdl.load(path, weights_only=False).first.weight)
    with pytest.raises(ZeroDivisionError):
        libdl.load(path, lambda x, place: 1 / 0, weights_only=False)


def test_a_program_as_torch_saves_and_loads_whole_modules(tmp_path):
    program = (
        "from libdl import as_torch\nas_torch.install()\nimport torch\n"
        "class Own(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.lin = torch.nn.Linear(1, 1)\n"
        f"torch.save(Own(), {str(tmp_path / 'x.pt')!r})\n"
        f"net = torch.load({str(tmp_path / 'x.pt')!r}, weights_only=False)\n"
        "print(type(net).__name__, type(net.lin) is torch.nn.Linear)\n"
    )
    file = tmp_path / "program.py"
    file.write_text(program)
    done = subprocess.run([sys.executable, "-B", file], capture_output=True, text=True)
    assert done.stdout == "Own True\n", done.stderr


def test_safe_globals_still_load_mere_records():
    with serialization.safe_globals([Settings]):
        found = libdl.load(stored([Settings(lr=0.5)]))[0]
    assert type(found) is serialization.Unbuilt and found.lr == 0.5
