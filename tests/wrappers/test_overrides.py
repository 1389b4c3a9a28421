# SPDX-License-Identifier: Apache-2.0
"""Modes and classes that override operators: PyTorch's answers to the same programs, and what is
libdl's own."""

import operator
import pickle
import subprocess
import sys
import textwrap
import threading
from inspect import getsource, signature

import pytest
from answered import Stored
from wrappers import seen_overrides

import libdl
from libdl import overrides

SEEN = Stored(seen_overrides)


@pytest.mark.parametrize("program", seen_overrides.PROGRAMS, ids=lambda p: p.__name__)
def test_overriding_is_that_of_pytorch(program):
    SEEN.check(program, libdl)


class Log(overrides.TorchFunctionMode):
    def __init__(self):
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(overrides.resolve_name(func))
        return func(*args, **(kwargs or {}))


def test_modes_are_per_thread():
    """Another thread neither sees this one's mode nor is seen by it."""
    other = Log()

    def work():
        libdl.exp(libdl.ones(1))
        with other:
            libdl.log(libdl.ones(1))

    with Log() as log:
        libdl.ones(2)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        libdl.zeros(2)
    assert log.seen == ["libdl.ones", "libdl.zeros"]
    assert other.seen == ["libdl.ones", "libdl.log"]


def test_threads_may_enter_and_leave_modes_while_others_compute():
    failures = []

    def enter():
        for _ in range(30):
            with Log() as log:
                libdl.nn.functional.relu(libdl.ones(2)) + 1
            if log.seen != ["libdl.ones", "libdl.nn.functional.relu", "libdl.Tensor.add"]:
                failures.append(log.seen)

    def compute():
        x = libdl.ones(3)
        for _ in range(3000):
            if libdl.add(x, x, alpha=2).shape != (3,) or (x + x)[0] != 2 or libdl.std(x) != 0:
                failures.append("wrong")

    threads = [threading.Thread(target=f) for f in (enter, enter, compute, compute)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_functions_stay_the_same_objects_and_keep_their_signatures():
    """Whoever imported a function before a mode came has the same one."""
    relu, add, before = libdl.nn.functional.relu, libdl.Tensor.__add__, str(signature(libdl.add))
    closure = libdl.max  # its code has variables of an outer function
    with Log() as log:
        assert libdl.nn.functional.relu is relu and libdl.Tensor.__add__ is add
        assert str(signature(libdl.add)) == before
        assert pickle.loads(pickle.dumps(libdl.add)) is libdl.add
        relu(libdl.ones(1))
        closure(libdl.ones(1, 2), 1)
    assert log.seen.count("libdl.nn.functional.relu") == log.seen.count("libdl.max") == 1
    assert type(vars(libdl.Tensor)["__add__"]) is type(add), "the operator is C's again"
    assert closure(libdl.tensor([[1.0, 2.0]]), 1).values.item() == 2


def test_what_the_mode_does_with_arguments_is_what_the_program_wrote():
    calls = []

    class Arguments(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            calls.append((args[1:], kwargs))
            return func(*args, **(kwargs or {}))

    x = libdl.ones(2, 3)
    with Arguments():
        libdl.sum(x, dim=1)
        libdl.sum(x, 1, keepdim=True)
        libdl.nn.functional.dropout(x, 0.2)
    assert calls[:2] == [((), {"dim": 1}), ((1,), {"keepdim": True})]
    assert calls[2] == ((), {"p": 0.2, "training": True, "inplace": False})


def test_the_gradient_of_an_object_of_a_subclass_stays_one_object():
    class Own(libdl.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs)

    x = libdl.ones(2).as_subclass(Own).requires_grad_()
    (x * 3).sum().backward()
    assert x.grad is x.grad and x.grad.tolist() == [3, 3] and type(x.T) is Own
    assert libdl.Tensor.grad.__get__ in overrides.get_default_nowrap_functions()


def test_a_subclass_may_have_attributes_of_its_own_where_tensor_has_some():
    class Own(libdl.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs)

        @property
        def names(self):
            return "own"

        def dim(self):
            return "own"

    x = libdl.ones(2).as_subclass(Own)
    assert x.names == x.dim() == "own" and x.ndim == 1


def test_a_class_sees_attributes_wherever_its_method_comes_from():
    seen = []

    class Seeing:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    class Own(Seeing, libdl.Tensor):
        pass

    x = libdl.ones(2).as_subclass(Own)
    assert x.ndim == 1 and len(x) == 2 and x.size(0) == 2
    assert seen == [libdl.Tensor.ndim.__get__, libdl.Tensor.__len__, libdl.Tensor.size]


def test_modes_see_an_operator_under_its_own_name_and_around_another_mode():
    x = libdl.ones(2)
    with Log() as outer:
        libdl.Tensor.__mul__(x, 2)
        with Log() as inner:
            x.shape
    assert outer.seen == ["libdl.Tensor.mul", "libdl.Tensor.shape.__get__"]
    assert inner.seen == ["libdl.Tensor.shape.__get__"]


def test_a_list_that_holds_itself_is_no_list_of_tensors():
    listed = [libdl.ones(1)]
    listed.append(listed)
    with pytest.raises(TypeError, match="stack: argument 1"):
        libdl.stack(listed)


def test_calls_by_position_and_by_name_are_the_same():
    """C makes those with usual arguments, and the Python function the others."""
    x, y = libdl.tensor([[3.0, 1.0], [2.0, 5.0]]), libdl.ones(2, 2)
    add = libdl.add.__wrapped__
    for args, kwargs in (
        ((x, y), {}),
        ((x, y), {"alpha": 2}),
        ((x,), {"other": y}),
        ((), {"input": x, "other": 1, "alpha": 1}),
    ):
        assert libdl.add(*args, **kwargs).tolist() == add(*args, **kwargs).tolist()
    assert x.permute(1, 0).shape == x.permute((1, 0)).shape == x.permute(dims=[1, 0]).shape
    assert libdl.sum(x, dim=1).tolist() == libdl.sum(x, axis=1).tolist() == x.sum(1).tolist()
    for wrong in (
        lambda: libdl.add(x),
        lambda: libdl.add(x, y, 1, 2),
        lambda: libdl.add(x, input=x),
        lambda: libdl.add(x, y, beta=1),
    ):
        with pytest.raises(TypeError, match=r"add\(\)"):
            wrong()


def test_printing_is_one_call():
    with Log() as log:
        repr(libdl.ones(2))
    assert log.seen == ["libdl.ones", "libdl.Tensor.__repr__"]


def test_gradients_of_what_a_mode_passes_on_are_the_same():
    x = libdl.tensor([1.0, 2.0], requires_grad=True)
    with Log():
        libdl.nn.functional.softmax(x * x, dim=0)[0].backward()
    seen, x.grad = x.grad.tolist(), None
    libdl.nn.functional.softmax(x * x, dim=0)[0].backward()
    assert x.grad.tolist() == seen, "the same operators ran, so the same bits come out"


def test_a_mode_without_a_method_says_so():
    with (
        overrides.TorchFunctionMode(),
        pytest.raises(NotImplementedError, match="TorchFunctionMode"),
    ):
        libdl.ones(2)
    assert libdl.ones(2).tolist() == [1, 1]


def test_an_error_of_the_call_itself_passes_through_a_mode():
    with Log(), pytest.raises(libdl.ShapeError, match="add: argument 2"):
        libdl.ones(2) + libdl.ones(3)
    with Log(), pytest.raises(TypeError, match="unexpected keyword"):
        libdl.nn.functional.softmax(libdl.ones(2), no_such=1)


def test_a_mode_changes_no_function():
    """The functions' code, the operators and the creations are what they were, while a mode is on
    and after it."""

    def state():
        spaces = map(
            vars,
            (libdl, libdl.nn.functional, libdl.nn.init, libdl.linalg, libdl.special, libdl.Tensor),
        )
        return [
            (id(v), *(getattr(v, n, None) for n in ("__code__", "__kwdefaults__", "__wrapped__")))
            for space in spaces
            for v in space.values()
        ]

    code = "import libdl, libdl.overrides as o\n"  # another process, where nothing is imported yet
    code += getsource(state).replace("    def state", "def state").replace("\n    ", "\n")
    code += textwrap.dedent("""
        libdl.linalg, libdl.special, o.get_overridable_functions()  # modules that it imports stay
        before = state()
        with o.BaseTorchFunctionMode():
            libdl.ones(2) + 1
            assert state() == before
        assert state() == before
    """)
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_tensor_is_no_more_a_sequence_after_a_mode_than_before():
    """pandas and others ask; CPython would say so for good once __getitem__ was set."""
    import ctypes

    is_sequence = ctypes.pythonapi.PySequence_Check
    is_sequence.argtypes = [ctypes.py_object]
    x = libdl.ones(2)
    with Log() as log:
        x[0]
    assert log.seen == ["libdl.Tensor.__getitem__"]
    assert not is_sequence(x)


def test_stand_ins_take_the_arguments_of_what_they_stand_for():
    stand_ins = overrides.get_testing_overrides()
    for space in overrides.get_overridable_functions().values():
        assert all(function in stand_ins for function in space)
    assert stand_ins[libdl.add](1, 2) == stand_ins[libdl.add](1, other=2, alpha=3) == -1
    assert stand_ins[libdl.Tensor.view](1, 2, 3) == -1
    assert signature(stand_ins[libdl.cat]) == signature(libdl.cat)
    with pytest.raises(TypeError, match="beta"):
        stand_ins[libdl.add](1, 2, beta=3)
    assert libdl.zeros not in stand_ins


class Asked(libdl.Tensor):
    """Answers each call with what it was told of it."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, args, kwargs


@pytest.mark.parametrize(
    "name, rest, options",
    [
        ("max", (), {}),
        ("max", (), {"axis": 1, "keepdims": True}),
        ("min", (1,), {"keepdim": True}),
        ("min", (libdl.ones(2, 2),), {}),
        ("split", (1,), {"dim": 1}),
        ("repeat_interleave", (2,), {"axis": 0}),
        ("randint_like", (3,), {"dtype": libdl.int32}),
        ("scatter", (0, libdl.zeros(2, 2, dtype=int), 1.0), {}),
        ("scatter", (0, libdl.zeros(2, 2, dtype=int)), {"value": 1.0}),
        ("kthvalue", (1,), {"dim": 0}),
        ("var", (True,), {}),
        ("std", (0,), {"unbiased": False}),
        ("median", (), {}),
        ("nanmedian", (1,), {}),
        ("histogram", (3,), {"range": (0.0, 1.0)}),
        ("histogramdd", (3,), {}),
        ("frexp", (), {}),
        ("tensor_split", (2,), {}),
        ("hsplit", (2,), {}),
        ("vsplit", ([1],), {}),
        ("dsplit", (2,), {}),
        ("Tensor.split", (1,), {"dim": 0}),
        ("Tensor.view", (4,), {}),
        ("Tensor.view", (libdl.int32,), {}),
        ("Tensor.contiguous", (), {}),
        ("Tensor.scatter_", (0, libdl.zeros(2, 2, dtype=int), 1.0), {}),
        ("Tensor.random_", (3,), {}),
        ("Tensor.random_", (), {"to": 3}),
        ("Tensor.to", (libdl.float64,), {"copy": True}),
        ("Tensor.type", (libdl.float64,), {}),
        ("Tensor.type_as", (libdl.ones(1),), {}),
        ("Tensor.float", (), {}),
        ("Tensor.cpu", (), {}),
        ("Tensor.cuda", (), {}),
        ("Tensor.backward", (), {"retain_graph": True}),
    ],
)
def test_a_class_is_asked_before_a_function_reads_its_arguments(name, rest, options):
    """Also by functions that have several signatures; the class sees what the program wrote."""
    x = libdl.ones(2, 2).as_subclass(Asked)
    function = getattr(libdl.Tensor if "." in name else libdl, name.rpartition(".")[2])
    asked = x, *rest
    for found in (
        function(*asked, **options),
        getattr(x, name.rpartition(".")[2])(*rest, **options) if "." in name else None,
    ):
        if found is not None:
            func, args, kwargs = found
            assert func is function and kwargs == options
            assert len(args) == len(asked) and all(map(operator.is_, args, asked))


@pytest.mark.parametrize(
    "call",
    [
        lambda plain, own: libdl.max(plain, own),
        lambda plain, own: libdl.min(plain, other=own),
        lambda plain, own: libdl.scatter(plain, 0, libdl.zeros(2, 2, dtype=int), own),
        lambda plain, own: plain.scatter_(0, libdl.zeros(2, 2, dtype=int), own),
        lambda plain, own: libdl.histogram(plain, 3, weight=own),
        lambda plain, own: libdl.histogramdd(plain, 3, weight=own),
        lambda plain, own: libdl.tensor_split(plain, own),
        lambda plain, own: libdl.repeat_interleave(plain, own, 0),
        lambda plain, own: libdl.repeat_interleave(own),
        lambda plain, own: libdl.randint(0, own, (2,)),
        lambda plain, own: plain.random_(own),
        lambda plain, own: plain.to(own),
        lambda plain, own: plain.type_as(own),
        lambda plain, own: libdl.autograd.grad(plain, own),
        lambda plain, own: libdl.autograd.backward(own),
    ],
)
def test_the_class_of_any_argument_is_asked(call):
    asked = []

    class Own(libdl.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func)
            return ()

    call(libdl.ones(2, 2), libdl.ones(2, 2).as_subclass(Own))
    assert len(asked) == 1


def test_text_has_no_name():
    assert overrides.resolve_name("add") is None  # as in PyTorch
    assert overrides.resolve_name(libdl.add) == "libdl.add"
