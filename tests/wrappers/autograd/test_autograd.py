# SPDX-License-Identifier: Apache-2.0
"""Gradients from Python: passes, hooks, custom functions, forward mode, checks."""

import math
import threading

import numpy as np
import pytest

import libdl
from libdl.autograd import Function, forward_ad, gradcheck, gradgradcheck
from libdl.utils.checkpoint import CheckpointError, checkpoint, set_checkpoint_early_stop

pytestmark = pytest.mark.usefixtures("no_leak")
float64 = libdl.float64


def leaf(*values):
    return libdl.tensor(values, dtype=float64, requires_grad=True)


def test_backward_and_grad():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    loss = (x * y).sum()
    gx, gy = libdl.autograd.grad(loss, [x, y], retain_graph=True)
    assert gx.tolist() == [3, 4] and gy.tolist() == [1, 2]
    assert x.grad is None
    loss.backward()
    assert x.grad.tolist() == [3, 4]
    with pytest.raises(RuntimeError):
        loss.backward()


def test_backward_accumulates_and_keeps_identity():
    x = leaf(1.0)
    (x * 2).sum().backward()
    gradient = x.grad
    (x * 3).sum().backward()
    assert x.grad is gradient and gradient.tolist() == [5]
    x.grad = None
    assert x.grad is None


def test_unused_inputs():
    x, y = leaf(1.0), leaf(1.0)
    with pytest.raises(RuntimeError):
        libdl.autograd.grad(x.sum(), [x, y])
    assert libdl.autograd.grad(x.sum(), [x, y], allow_unused=True)[1] is None
    found = libdl.autograd.grad(x.sum(), [x, y], materialize_grads=True)
    assert found[1].tolist() == [0]


def test_second_derivative():
    x = leaf(2.0)
    (first,) = libdl.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = libdl.autograd.grad(first.sum(), x)
    assert second.tolist() == [12]


def test_modes():
    x = leaf(1.0)
    with libdl.no_grad():
        assert not (x * 2).requires_grad
        with libdl.enable_grad():
            assert (x * 2).requires_grad
    assert (x * 2).requires_grad
    with libdl.set_grad_enabled(False):
        assert not libdl.is_grad_enabled()
    with libdl.inference_mode():
        y = x * 2
    assert y.is_inference()

    @libdl.no_grad()
    def quiet():
        return (x * 2).requires_grad

    @libdl.no_grad
    def bare():
        return (x * 2).requires_grad

    @libdl.no_grad()
    def steps():
        yield (x * 2).requires_grad
        yield (x * 2).requires_grad

    assert not quiet() and not bare()
    generator = steps()
    assert next(generator) is False and libdl.is_grad_enabled()
    assert list(generator) == [False]


def test_tensor_hooks_in_order():
    x = leaf(1.0, 2.0)
    seen = []
    y = x * 2
    y.register_hook(lambda g: seen.append(("first", g.tolist())))
    y.register_hook(lambda g: g * 10)
    removed = y.register_hook(lambda g: seen.append("never"))
    removed.remove()
    x.register_post_accumulate_grad_hook(lambda p: seen.append(("leaf", p.grad.tolist())))
    y.sum().backward()
    assert seen == [("first", [1, 1]), ("leaf", [20, 20])]


def test_node_hooks():
    x = leaf(1.0)
    y = x * 3
    seen = []
    y.grad_fn.register_prehook(lambda outs: seen.append([o.tolist() for o in outs]))
    y.grad_fn.register_hook(lambda ins, outs: (ins[0] * 2, *ins[1:]))
    y.sum().backward()
    assert seen == [[[1]]] and x.grad.tolist() == [6]


def test_detach_in_place():
    x = leaf(2.0)
    h = x * 1
    for _ in range(3):  # truncated backpropagation through time
        h.detach_()
        assert h.is_leaf and not h.requires_grad and h.grad_fn is None
        h = h * x
        h.sum().backward()
    assert x.grad.tolist() == [2 + 4 + 8]

    y = x * 3
    view, product = y[:1], y * 2
    y.detach_()
    (view + product).sum().backward()  # what was made before keeps its history
    assert x.grad.tolist() == [14 + 9] and not (y * 2).requires_grad
    y.mul_(0)
    with pytest.raises(RuntimeError, match="detach_: argument 1 .* is a view"):
        (x * 1)[:1].detach_()
    assert not x.detach_().requires_grad and x.grad.tolist() == [23]


def test_graph_can_be_walked():
    x = leaf(1.0)
    y = (x * 2).exp()
    assert y.grad_fn.name() == "ExpBackward0"
    (inner, number), *_ = y.grad_fn.next_functions
    assert inner.name() == "MulBackward0" and number == 0
    assert inner.next_functions[0][0].variable is x
    assert Cube.apply(x).grad_fn.name() == "CubeBackward"
    assert "grad_fn=<CubeBackward>" in repr(Cube.apply(x))
    assert y.grad_fn == y.grad_fn and hash(y.grad_fn) == hash(y.grad_fn)


def test_hook_exception_is_itself():
    class Odd(Exception):
        pass

    def hook(gradient):
        raise Odd("in a hook")

    x = leaf(1.0)
    y = x * 2
    y.register_hook(hook)
    with pytest.raises(Odd, match="in a hook") as caught:
        y.sum().backward()
    assert caught.traceback[-1].name == "hook"
    assert x.grad is None


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * 3 * x * x


def test_function():
    x = leaf(2.0, 3.0)
    assert gradcheck(Cube.apply, x)
    assert gradgradcheck(Cube.apply, x)
    y = Cube.apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [12, 27]
    assert y.grad_fn.name() == "CubeBackward"


def test_function_with_setup_context():
    class Scale(Function):
        @staticmethod
        def forward(x, factor):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx, gradient):
            assert ctx.needs_input_grad == (True, False)
            return gradient * ctx.factor, None

    x = leaf(1.0)
    Scale.apply(x, 4.0).sum().backward()
    assert x.grad.tolist() == [4]


def test_function_several_outputs():
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            flags = x > 0
            ctx.mark_non_differentiable(flags)
            ctx.set_materialize_grads(False)
            return x * 2, flags, x * 3

        @staticmethod
        def backward(ctx, first, flags, third):
            assert flags is None and third is None
            return first * 2

    x = leaf(1.0, -1.0)
    a, flags, c = Both.apply(x)
    assert a.requires_grad and not flags.requires_grad and c.requires_grad
    a.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_function_in_place():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    x = leaf(1.0)
    y = x * 1
    z = Double.apply(y)
    assert z is y and z.tolist() == [2]
    z.sum().backward()
    assert x.grad.tolist() == [2]


def test_function_once_differentiable():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @libdl.autograd.once_differentiable
        def backward(ctx, gradient):
            assert not libdl.is_grad_enabled()
            return gradient * 2

    x = leaf(1.0)
    Once.apply(x).sum().backward()
    assert x.grad.tolist() == [2]
    with pytest.raises(RuntimeError):
        (first,) = libdl.autograd.grad(Once.apply(x).sum(), x, create_graph=True)
        first.sum().backward()


@pytest.mark.parametrize("answer", [(), (1, 2), "text", (None, 1.0)])
def test_function_wrong_gradients(answer):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return answer

    with pytest.raises((RuntimeError, TypeError)):
        Wrong.apply(leaf(1.0)).sum().backward()


def test_function_exception_is_itself():
    class Broken(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            raise KeyError("broken")

    x = leaf(1.0)
    with pytest.raises(KeyError, match="broken"):
        Broken.apply(x).sum().backward()
    with pytest.raises(ZeroDivisionError):

        class Forward(Function):
            @staticmethod
            def forward(ctx, x):
                return 1 / 0

        Forward.apply(x)


def test_saved_value_overwritten():
    x = leaf(1.0)
    y = x * 2
    z = Cube.apply(y)
    y.add_(1)
    with pytest.raises(libdl.VersionError):
        z.sum().backward()


def test_saved_tensors_hooks():
    x = leaf(2.0)
    packed = []

    def pack(tensor):
        packed.append(tensor.tolist())
        return tensor.tolist()

    def unpack(values):
        return libdl.tensor(values, dtype=float64)

    with libdl.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x * x
    y.sum().backward()
    assert packed and x.grad.tolist() == [4]


@pytest.mark.parametrize(
    ("back", "found"),
    [
        (lambda x: libdl.ones(1, dtype=float64), r"shape \[1\], wanted \[2, 3\]"),
        (lambda x: x.float(), "float32, wanted float64"),
        (lambda x: x.reshape(3, 2), r"shape \[3, 2\], wanted \[2, 3\]"),
    ],
)
def test_an_unpack_hook_gives_back_what_was_saved(back, found):
    x = libdl.ones(2, 3, dtype=float64, requires_grad=True)
    with libdl.autograd.graph.saved_tensors_hooks(lambda value: value, back):
        y = x.exp()
    with pytest.raises(
        libdl.Error, match="exp: the unpack hook of a saved value returned " + found
    ):
        y.sum().backward()


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoint_is_replayed_by_two_threads(use_reentrant):
    """Both are inside at once, and each has the arguments and values of its own run."""
    both, replays = threading.Barrier(2), False

    def block(x):
        y = (x * x).sin()
        if replays:
            both.wait(10)
        return y * x

    x = leaf(1.0, 2.0)
    (wanted,) = libdl.autograd.grad(block(x).sum(), x)
    y = checkpoint(block, x, use_reentrant=use_reentrant)
    replays = True
    factors = (1.0, 3.0)

    def work(factor):
        (y * factor).sum().backward(retain_graph=True)

    threads = [threading.Thread(target=work, args=(factor,)) for factor in factors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.tolist() == pytest.approx((wanted * sum(factors)).tolist())


def test_checkpoint_replays_the_generator():
    weight = leaf(1.0, 2.0, 3.0, 4.0)

    def block(x):
        return libdl.nn.functional.dropout(x * weight, 0.5).exp()

    results = []
    for wrap in (False, True):
        libdl.manual_seed(3)
        weight.grad = None
        x = leaf(0.5, 0.25, 0.1, 0.2)
        out = checkpoint(block, x) if wrap else block(x)
        out.sum().backward()
        results.append((out.tolist(), x.grad.tolist(), weight.grad.tolist()))
    assert results[0] == results[1]


def test_forward_mode():
    x, t = leaf(2.0, 3.0).detach(), libdl.tensor([1.0, 10.0], dtype=float64)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t)
        primal, tangent = forward_ad.unpack_dual(dual * dual)
        assert primal.tolist() == [4, 9] and tangent.tolist() == [4, 60]
        assert forward_ad.unpack_dual(x).tangent is None
    value, tangent = libdl.func.jvp(lambda x: x.sin(), (x,), (t,))
    assert libdl.allclose(tangent, x.cos() * t)


def test_func():
    x = libdl.tensor([1.0, 2.0], dtype=float64)
    assert libdl.func.grad(lambda x: (x**3).sum())(x).tolist() == [3, 12]
    second = libdl.func.grad(lambda x: libdl.func.grad(lambda x: (x**3).sum())(x).sum())(x)
    assert second.tolist() == [6, 12]
    value, pull = libdl.func.vjp(lambda x: x * 2, x)
    assert pull(libdl.ones(2, dtype=float64))[0].tolist() == [2, 2]
    jacobian = libdl.func.jacrev(lambda x: x * x)(x)
    assert jacobian.tolist() == [[2, 0], [0, 4]]
    assert libdl.func.jacfwd(lambda x: x * x)(x).tolist() == jacobian.tolist()
    hessian = libdl.func.hessian(lambda x: (x**3).sum())(x)
    assert hessian.tolist() == [[6, 0], [0, 12]]


def test_gradcheck_sees_a_wrong_gradient():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return gradient * 2.002 * x

    assert not gradcheck(Wrong.apply, leaf(1.0, 2.0), raise_exception=False, rtol=1e-4)
    with pytest.raises(libdl.autograd.GradcheckError, match="gradient"):
        gradcheck(Wrong.apply, leaf(1.0, 2.0), rtol=1e-4)


def test_gradcheck_complex():
    x = libdl.tensor([1 + 2j, 0.5 - 1j], dtype=libdl.complex128, requires_grad=True)
    assert gradcheck(lambda x: x * x, x)
    assert gradcheck(lambda x: (x * x.conj()).real, x)


def test_anomaly_names_the_line():
    x = leaf(-1.0)
    with libdl.autograd.detect_anomaly():
        y = x.sqrt()
        with pytest.raises(RuntimeError, match="test_autograd.py"):
            y.sum().backward()


def test_concurrent_passes_into_one_leaf():
    x = leaf(0.0)

    def work():
        for _ in range(50):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.tolist() == [400]


def test_loops_and_recursion():
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    x = leaf(2.0)
    power(x, 5).sum().backward()
    assert x.grad.tolist() == [80]


def test_reentrant_backward():
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            with libdl.enable_grad():
                y = x.detach().requires_grad_()
                (y * y).sum().backward()
            return gradient * y.grad

    x = leaf(3.0)
    Inner.apply(x).sum().backward()
    assert x.grad.tolist() == [6]


# -- gradients in flight: backward writes over those that nobody else holds ------------------------


def test_a_gradient_that_somebody_holds_is_not_overwritten():
    x = libdl.full((100,), 0.5, requires_grad=True)
    start = libdl.ones(100)
    seen = []
    y = x * 2.0
    z = y.exp()
    y.retain_grad()
    z.register_hook(seen.append)
    z.backward(start)
    assert start.tolist() == [1.0] * 100
    assert seen[0].tolist() == [1.0] * 100
    assert y.grad.tolist() == pytest.approx([math.exp(1.0)] * 100, rel=1e-6)
    assert x.grad.tolist() == pytest.approx([2 * math.exp(1.0)] * 100, rel=1e-6)


def test_memory_of_others_that_a_custom_gradient_returns_is_not_overwritten():
    numpy = pytest.importorskip("numpy")
    held = numpy.ones(50, dtype=numpy.float32)

    class Custom(libdl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, dy):
            return libdl.from_numpy(held)

    x = libdl.full((50,), 0.5, requires_grad=True)
    y = x.exp().sin()
    (Custom.apply(y) + y).sum().backward()
    assert held.tolist() == [1.0] * 50
    assert x.grad.tolist() == pytest.approx(
        [2 * math.cos(math.exp(0.5)) * math.exp(0.5)] * 50, rel=1e-5
    )


def test_two_passes_at_once_give_one_gradient_and_one_error():
    x = libdl.ones(1000, requires_grad=True)
    y = x
    for _ in range(20):
        y = y * y.sin()
    loss = y.sum()
    outcomes = []

    def go():
        try:
            loss.backward()
            outcomes.append(None)
        except RuntimeError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    errors = [outcome for outcome in outcomes if outcome is not None]
    assert len(outcomes) == 2 and len(errors) == 1
    assert "retain_graph=True" in errors[0]


def test_a_view_older_than_its_base_requiring_grad_has_no_history():
    base = libdl.ones(3)
    view = base.view(3)
    base.requires_grad_()
    assert not view.requires_grad
    assert not (view * 2).requires_grad
    assert not libdl.sum(view).requires_grad
    assert not view.view(1, 3).requires_grad


# -- forward mode of custom functions --------------------------------------------------------------


class ScaledCube(Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        ctx.scale = scale
        return scale * x * x * x

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        return 3 * ctx.scale * x * x * dy, None

    @staticmethod
    def jvp(ctx, x_tangent, scale_tangent):
        (x,) = ctx.saved_tensors
        assert scale_tangent is None
        return 3 * ctx.scale * x * x * x_tangent


def test_a_custom_function_has_its_own_forward_mode():
    x, direction = leaf(2.0, 3.0), libdl.tensor([1.0, -1.0], dtype=float64)
    primal, tangent = libdl.func.jvp(lambda x: ScaledCube.apply(x, 2.0), (x,), (direction,))
    assert primal.tolist() == [16, 54]
    assert tangent.tolist() == [24, -54]
    assert gradcheck(lambda x: ScaledCube.apply(x, 2.0), (x,), check_forward_ad=True)


def test_forward_mode_over_backward_of_a_custom_function_that_has_it():
    x = leaf(2.0)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, libdl.ones(1, dtype=float64))
        y = ScaledCube.apply(dual, 1.0)
        (slope,) = libdl.autograd.grad(y.sum(), x)
        assert slope.item() == 12


def test_forward_mode_is_refused_by_a_custom_function_without_it():
    class Plain(Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, dy):
            return dy

    with pytest.raises(NotImplementedError, match="Plain .* has no static method jvp"):
        libdl.func.jvp(Plain.apply, (leaf(1.5),), (libdl.ones(1, dtype=float64),))
    with pytest.raises(RuntimeError, match="returned 2 tangents, wanted 1"):

        class Two(ScaledCube):
            @staticmethod
            def jvp(ctx, x_tangent, scale_tangent):
                return x_tangent, x_tangent

        libdl.func.jvp(lambda x: Two.apply(x, 1.0), (leaf(1.5),), (libdl.ones(1, dtype=float64),))


def test_a_gradient_of_another_shape_tells_of_backward_and_both_shapes():
    x = libdl.ones(2, 3, requires_grad=True)
    x.sum().backward()
    with libdl.no_grad():
        x.t_()
    with pytest.raises(
        RuntimeError,
        match=r"backward: a leaf's \.grad has shape \[2, 3\], "
        r"wanted \[3, 2\]",
    ):
        x.sum().backward()
    x.grad = None
    x.sum().backward()
    assert x.grad.shape == (3, 2)


@pytest.mark.parametrize("n", [64, 256])
def test_a_gradient_that_products_packed_is_overwritten(n):
    """z's gradient is the right operand of two products, which keep its panels, before exp's rule
    writes its own gradient into that memory; the third product must not read the old panels."""
    x, y, h = (libdl.randn(n, n, dtype=libdl.float64) for _ in range(3))
    u, v, w = (libdl.randn(n, n, dtype=libdl.float64) / n for _ in range(3))
    for leaf in (u, v, w):
        leaf.requires_grad_()
    p = libdl.exp(h @ w)
    z = p + x @ u + y @ v
    dz = libdl.randn(n, n, dtype=libdl.float64)
    (z * 2).backward(dz)
    wanted = h.numpy().T @ (2 * dz.numpy() * p.detach().numpy())
    # float64 sums of n products, each of about 1.
    np.testing.assert_allclose(w.grad.numpy(), wanted, rtol=1e-9, atol=1e-9)


def test_reversible_layers_find_no_states_of_devices_on_the_cpu():
    from libdl.utils.checkpoint import get_device_states, set_device_states

    assert get_device_states(libdl.ones(2), 3, None) == ([], [])
    set_device_states([], [])
    with pytest.raises(NotImplementedError, match="no generators of their own"):
        set_device_states([0], [libdl.get_rng_state()])


# -- what a checkpoint runs again ------------------------------------------------------------------


def steps_of(function, **options):
    """What a checkpointed function did, at first and again."""
    seen = []
    x = libdl.tensor([0.3, -1.0], requires_grad=True)
    y = checkpoint(lambda x: function(x, seen.append), x, use_reentrant=False, **options)
    y.sum().backward()
    return seen


def exponential_twice(x, did):
    y = x.exp()
    did("exp")
    z = y * 2  # saves nothing
    did("mul")
    return z


def test_a_checkpoint_ends_with_the_last_value_that_backward_needs():
    assert steps_of(exponential_twice) == ["exp", "mul"]  # the value is there before the first word
    whole = ["exp", "mul", "exp", "mul"]
    assert steps_of(exponential_twice, early_stop=False) == whole
    with set_checkpoint_early_stop(False):
        assert steps_of(exponential_twice, early_stop=True) == whole
        with set_checkpoint_early_stop(True):
            assert steps_of(exponential_twice, early_stop=False) == ["exp", "mul"]
        assert steps_of(exponential_twice) == whole

    def and_sine(x, did):
        return exponential_twice(x, did).sin()

    assert steps_of(and_sine) == [*whole]
    nested = steps_of(lambda x, did: checkpoint(and_sine, x, did, use_reentrant=False).cos())
    assert nested.count("exp") == 3


def test_a_checkpoint_compares_what_is_saved():
    for second, options, told in (
        (lambda x: x[:1].sin(), {}, r"value 1 .* \(\[2\], .* at first and \(\[1\],"),
        (lambda x: x.double().sin(), {}, "when it was run again"),
        (lambda x: x * 1, {}, "saved 1 values at first and 0 when"),
        (lambda x: x * 1, {"determinism_check": "none"}, "saved 1 values at first and 0 when"),
        (lambda x: x.sin() * x, {"early_stop": False}, "saved 1 values at first and 3 when"),
    ):
        x = libdl.tensor([0.3, -1.0], requires_grad=True)
        runs = iter([libdl.sin, second])
        y = checkpoint(lambda x: next(runs)(x), x, use_reentrant=False, **options)  # noqa: B023
        with pytest.raises(CheckpointError, match=told):
            y.sum().backward()


def test_a_reentrant_checkpoint_wants_a_pass_to_all_leaves():
    """A pass of its own would add to leaves that the outer one was not asked for."""
    layer, x = libdl.nn.Linear(2, 2), libdl.ones(1, 2, requires_grad=True)

    def run():
        return checkpoint(layer, x, use_reentrant=True).sum()

    run().backward()
    before = layer.weight.grad.clone()
    for refused in (
        lambda: libdl.autograd.grad(run(), x),
        lambda: run().backward(inputs=[x]),
        lambda: libdl.autograd.backward(run(), inputs=[x]),
    ):
        with pytest.raises(RuntimeError, match="wanted use_reentrant=False"):
            refused()
    assert libdl.autograd._is_checkpoint_valid() and layer.weight.grad.tolist() == before.tolist()
    run().backward()
    assert layer.weight.grad.tolist() == (2 * before).tolist()
