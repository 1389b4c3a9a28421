# SPDX-License-Identifier: Apache-2.0
"""Programs around autograd's graph, hooks, modes and custom functions, for
test_autograd_pytorch.py; tests/answered.py stores PyTorch's answers."""

from wrappers.answers import told


def leaf(m, *values):
    return m.tensor(values or (1.0, 2.0, 3.0), dtype=m.float64, requires_grad=True)


def ones(m, *shape):
    return m.ones(*shape, dtype=m.float64)


def lists(values):
    """Tensors as lists."""
    if isinstance(values, (tuple, list)):
        return [lists(value) for value in values]
    return values if values is None or isinstance(values, (int, float, str)) else values.tolist()


# -- hooks of several tensors ----------------------------------------------------------------------


def multi_grad_hooks(m):
    def calls(mode, used):
        log = []
        xs = [leaf(m, float(i + 1)) for i in range(3)]
        handle = m.autograd.graph.register_multi_grad_hook(
            xs, lambda found: log.append(lists(found)), mode=mode
        )
        for _ in range(2):
            sum((xs[i] * xs[i]).sum() for i in used).backward()
        handle.remove()
        sum((x * x).sum() for x in xs).backward()
        return log

    return [
        told(calls, mode, used)
        for mode in ("all", "any", "some")
        for used in ((0, 1, 2), (0,), (0, 2))
    ]


def multi_grad_hooks_see_results_and_order(m):
    log, x = [], leaf(m)
    a, b = x * 2, x * 3
    x.register_hook(lambda g: log.append("x"))
    m.autograd.graph.register_multi_grad_hook((a, b), lambda found: log.append(lists(found)))
    (a * b).sum().backward(retain_graph=True)
    (a * 2).sum().backward()
    return log


def multi_grad_hooks_change_nothing(m):
    x = leaf(m)
    for mode in ("all", "any"):
        m.autograd.graph.register_multi_grad_hook((x,), lambda found: found * 5, mode=mode)
    x.sum().backward()
    return lists(x.grad)


# -- edges -----------------------------------------------------------------------------------------


def gradient_edges(m):
    edge, grad = m.autograd.graph.get_gradient_edge, m.autograd.grad
    x = leaf(m)
    y = x * 2
    z = (y * y).sum()
    parts = x.unbind()
    w = parts[0] * 2 + parts[1] * 3
    view = x[:2]

    def backward(inputs):
        x.grad = None
        m.autograd.backward(edge(z), retain_graph=True, inputs=inputs)
        return lists(x.grad)

    return [
        lists(grad(z, edge(y), retain_graph=True)),
        lists(grad(z, [edge(x), y], retain_graph=True)),
        lists(grad(edge(z), x, retain_graph=True)),
        lists(grad(edge(y), x, ones(m, 3) * 4, retain_graph=True)),
        lists(grad(w, [edge(part) for part in parts[:2]])),
        [edge(part).output_nr for part in parts],
        lists(grad((view * view).sum(), edge(view))),
        backward(None),
        backward([edge(x)]),
        backward(edge(x)),
        told(edge, ones(m, 2)),
        told(grad, z, [edge(leaf(m))], retain_graph=True),
        told(grad, edge(y), x, retain_graph=True),
        lists(grad(z, [edge(leaf(m))], retain_graph=True, allow_unused=True)),
        list(m.autograd.graph.GradientEdge._fields),
    ]


# -- saved values ----------------------------------------------------------------------------------


def saved_values_hooks(m):
    hooks = m.autograd.graph.saved_tensors_hooks
    recording = []

    def note(x):
        recording.append(m.is_grad_enabled())
        return x

    def gradient(pack, unpack=lambda packed: packed):
        x = leaf(m)
        with hooks(pack, unpack):
            y = (x * 1).exp()
        y.sum().backward()
        return lists(x.grad)

    return [
        told(gradient, note, note),
        recording,
        told(gradient, lambda x: x.mul_(2)),
        told(gradient, lambda x: 3),
        told(gradient, lambda x: x * 2),
    ]


def disabled_hooks(m):
    graph = m.autograd.graph

    def opened():
        with graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            return "open"

    def reason():
        try:
            return opened()
        except RuntimeError as error:
            return str(error)

    def inside():
        with (
            graph.saved_tensors_hooks(lambda x: x, lambda x: x),
            graph.disable_saved_tensors_hooks("now"),
        ):
            pass

    texts = [reason()]
    with graph.disable_saved_tensors_hooks("first"):
        texts.append(reason())
        with graph.disable_saved_tensors_hooks("second"):
            texts.append(reason())
        texts.append(reason())
    return [
        *texts,
        reason(),
        told(inside),
        reason(),
        graph.disable_saved_tensors_hooks("decorated")(reason)(),
    ]


def mutation_of_saved_values(m):
    allow = m.autograd.graph.allow_mutation_on_saved_tensors

    def written():
        x = leaf(m)
        with allow():
            b = x.clone()
            y = (b.exp() * b[:2].sum()).sum() + (b**2).sum()
            b.zero_()
            y.backward()
        return lists(x.grad)

    def nested():
        with allow(), allow():
            pass

    return [told(written), told(nested), told(written)]


def incremented_versions(m):
    increment = m.autograd.graph.increment_version
    a, b, x = ones(m, 2), ones(m, 2, 3).t()[1:], leaf(m)
    increment(a)
    increment([a, b, a])
    increment(c for c in (a, b))
    y = x * 1
    z = y * y
    increment(y)
    return [a._version, b._version, lists(a), lists(b), told(z.sum().backward), told(increment, 3)]


# -- nodes -----------------------------------------------------------------------------------------


def nodes(m):
    y = leaf(m) * 2
    y.grad_fn.metadata["note"] = 1
    return [
        y.grad_fn is y.grad_fn,
        y.grad_fn.metadata,
        (y * 2).grad_fn.metadata,
        y.grad_fn.requires_grad,
    ]


# -- custom functions ------------------------------------------------------------------------------


def _custom(m, forward, backward, **more):
    return type(
        "Mine",
        (m.autograd.Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(backward), **more},
    )


def outputs_of_functions(m):
    seen, x = [], leaf(m)

    def backward(ctx, *gradients):
        seen.append([g is None for g in gradients])
        return gradients[0]

    made = _custom(m, lambda ctx, x: (x * 2, 3, None, "text"), backward).apply(x)
    made[0].sum().backward()
    same = [_custom(m, lambda ctx, x, y=y: y, backward).apply(x) for y in (None, 3, {"a": 1})]
    return [seen, list(made[1:]), lists(x.grad), same]


def what_functions_refuse(m):
    def twice(ctx, dy):
        return dy * 2

    def marked(mark):
        return lambda ctx, x: (mark(ctx, x), x * 2)[1]

    forwards = (
        marked(lambda ctx, x: ctx.mark_dirty(x)),
        marked(lambda ctx, x: ctx.mark_dirty(3)),
        marked(lambda ctx, x: ctx.mark_non_differentiable(3)),
        marked(lambda ctx, x: ctx.save_for_backward(3)),
    )
    found = [told(_custom(m, forward, twice).apply, leaf(m) * 1) for forward in forwards]
    both = _custom(m, lambda ctx, x: x * 2, twice, vjp=staticmethod(twice))
    return [*found, told(lambda: both.apply(leaf(m)).sum().backward())]


def functions_with_vjp_named_tensors_and_none_saved(m):
    class Vjp(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, y=None):
            ctx.save_for_backward(None, x, None)
            return x * 2

        @staticmethod
        def vjp(ctx, dy):
            nothing, x, _ = ctx.saved_tensors
            return (dy * x if nothing is None else dy), None

    x = leaf(m)
    Vjp.apply(x).sum().backward()
    return [lists(x.grad), Vjp.apply(x=leaf(m)).requires_grad]


def once_differentiable_functions_beside_others(m):
    """A recorded pass reaches one, and only something else is differentiated again."""

    class Once(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @m.autograd.function.once_differentiable
        def backward(ctx, dy):
            return dy * 2 * ctx.saved_tensors[0]

    x, y = leaf(m), leaf(m)
    first = m.autograd.grad((Once.apply(x) + y**3).sum(), (x, y), create_graph=True)
    alone = m.autograd.grad(Once.apply(x).sum(), x, create_graph=True)[0]
    return [
        lists(first),
        lists(m.autograd.grad(first[1].sum(), y)),
        told(m.autograd.grad, alone.sum(), x),
    ]


def saved_values_have_their_history(m):
    """Inputs, outputs, values from outside; in passes that record and in passes that do not."""
    outside = leaf(m)
    made = outside * 2
    log = []

    class Saves(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, z):
            out, order, frozen = x * y, (x > 1.5).long(), x + 1
            ctx.mark_non_differentiable(frozen)
            ctx.save_for_backward(x, y, z, out, order, frozen, outside, made, made.detach())
            return out, order, frozen

        @staticmethod
        def backward(ctx, dy, *others):
            saved = ctx.saved_tensors
            log.append([m.is_grad_enabled(), *([v.requires_grad, v.is_leaf] for v in saved)])
            with m.enable_grad():
                f = (saved[0] ** 2 * saved[1] * saved[6] * saved[7]).sum()
                wanted = (saved[0], saved[1], saved[6], saved[7])
                log.append(lists(m.autograd.grad(f, wanted, retain_graph=True)))
            return dy * saved[1], dy * saved[0], None

    for recorded in (False, True):
        x, y = leaf(m), leaf(m, 2.0, 0.5, 4.0)
        out = Saves.apply(x, y * 1, ones(m, 3))[0].sum()
        log.append(lists(m.autograd.grad(out, (x, y), create_graph=recorded)))
    return log


def saved_values_that_were_written_have_the_history_of_the_result(m):
    log = []

    class Doubles(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, dy):
            (y,) = ctx.saved_tensors
            log.append([y.requires_grad, y.is_leaf, type(y.grad_fn).__name__ == "DoublesBackward"])
            return dy * 2

    x = leaf(m)
    Doubles.apply(x * 1).sum().backward()
    return [log, lists(x.grad)]


def an_adjoint_method_of_parameters(m):
    """The function's own graph is not kept: backward computes it again."""

    class Again(m.autograd.Function):
        @staticmethod
        def forward(ctx, f, x, *weights):
            ctx.f = f
            ctx.save_for_backward(x, *weights)
            with m.no_grad():
                return f(x)

        @staticmethod
        def backward(ctx, dy):
            x, *weights = ctx.saved_tensors
            with m.enable_grad():
                x = x.detach().requires_grad_()
                y = ctx.f(x)
                found = m.autograd.grad(y, (x, *weights), dy, allow_unused=True, retain_graph=True)
            return None, *found

    layer = m.nn.Linear(3, 2).double()
    unused = leaf(m)
    with m.no_grad():
        for i, weight in enumerate(layer.parameters()):
            weight.copy_(m.arange(weight.numel(), dtype=m.float64).reshape(weight.shape) / 8 - i)
    x = leaf(m)
    y = Again.apply(lambda x: layer(x).sigmoid() * x.sum(), x * 2, *layer.parameters(), unused)
    y.sum().backward()
    return lists([x.grad, layer.weight.grad, layer.bias.grad, unused.grad])


# -- modes, passes ---------------------------------------------------------------------------------


def nodes_of_functions_have_what_their_contexts_have(m):
    def forward(ctx, x, y):
        ctx.k = 3
        ctx.save_for_backward(x, None, y)
        return x * y

    def backward(ctx, dy):
        x, _, y = ctx.saved_tensors
        return dy * y, dy * x

    x, weight = leaf(m), leaf(m) * 2
    y = _custom(m, forward, backward).apply(x, weight.detach())
    node = y.grad_fn
    first, absent, second = node.saved_tensors
    found = [
        type(node).__name__,
        node.k,
        node.needs_input_grad,
        absent,
        first is x,
        lists(first),
        first.requires_grad,
        lists(second),
        second.requires_grad,
        told(lambda: node.unknown),
        told(lambda: (x * 2).grad_fn.k),
        hasattr(node, "k"),
        hasattr(x.exp().grad_fn, "k"),
    ]
    y.sum().backward()
    return [*found, node.k, told(lambda: node.saved_tensors)]


def saved_values_between_passes(m):
    def written(of_input):
        x = leaf(m)
        value = x * 1
        y = _custom(
            m,
            lambda ctx, x: ctx.save_for_backward(x) or x * 2,
            lambda ctx, dy: dy * ctx.saved_tensors[0],
        ).apply(value)
        if of_input:
            value.add_(1)
        return told(lambda: lists(y.grad_fn.saved_tensors))

    def packed(log):
        with m.autograd.graph.saved_tensors_hooks(
            lambda x: log.append("pack") or x * 2, lambda x: log.append("unpack") or x / 2
        ):
            y = _custom(
                m,
                lambda ctx, x: ctx.save_for_backward(x) or x * 2,
                lambda ctx, dy: dy * ctx.saved_tensors[0],
            ).apply(leaf(m))
        return [lists(y.grad_fn.saved_tensors), lists(y.grad_fn.saved_tensors), log]

    return [written(False), written(True), packed([])]


def anomaly_mode_and_nan(m):
    def passed(**options):
        x = leaf(m, -1.0)
        with m.autograd.detect_anomaly(**options):
            inside = [m.is_anomaly_enabled(), m.is_anomaly_check_nan_enabled()]
            told_of = told(lambda: (x.sqrt() * 0).sum().backward())
        return [inside, told_of, x.grad is None]

    def nested():
        found = []
        with m.autograd.detect_anomaly(check_nan=False):
            with m.autograd.set_detect_anomaly(True):
                found.append(m.is_anomaly_check_nan_enabled())
            found.append(m.is_anomaly_check_nan_enabled())
            with m.autograd.set_detect_anomaly(False, check_nan=False):
                found += [m.is_anomaly_enabled(), m.is_anomaly_check_nan_enabled()]
            found.append(m.is_anomaly_enabled())
        return [*found, m.is_anomaly_enabled(), m.is_anomaly_check_nan_enabled()]

    return [passed(), passed(check_nan=False), passed(check_nan=True), nested()]


def modes(m):
    on, found = m.is_grad_enabled, []
    for mode in (1, None, "x"):
        found.append(told(m.set_grad_enabled, mode))
    with m.no_grad(), m.inference_mode(False):
        found += [on(), m.is_inference_mode_enabled()]
    with m.inference_mode(), m.inference_mode(False):
        found.append(on())
    with m.inference_mode():
        network = m.nn.Linear(2, 2)
    network(m.ones(1, 2)).sum().backward() if not network.weight.is_inference() else None
    copies = [type(m.no_grad().clone()).__name__, m.inference_mode(False).clone().mode]
    found += [on(), network.weight.requires_grad, *copies]
    with m.autograd.set_multithreading_enabled(False):
        found.append(m.autograd.grad_mode.no_grad is m.no_grad)
    with m.autograd.set_detect_anomaly(True):
        found += [m.is_anomaly_enabled(), m.is_anomaly_check_nan_enabled()]
    return [*found, m.is_anomaly_enabled(), told(m.autograd.set_detect_anomaly, "x")]


def hooks_of_accumulators(m):
    """Found as those who reduce gradients early find them."""
    log, x = [], leaf(m)
    node = x.expand_as(x).grad_fn.next_functions[0][0]
    node.register_prehook(lambda arriving: log.append(["before", lists(arriving), x.grad is None]))
    x.register_post_accumulate_grad_hook(lambda p: log.append(["accumulated", lists(p.grad)]))
    handle = node.register_hook(
        lambda leaving, arriving: log.append(
            ["after", lists(leaving), lists(arriving), lists(x.grad)]
        )
    )
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    m.autograd.grad((x * 5).sum(), x)
    handle.remove()
    x.grad = None
    (x * 7).sum().backward()
    return log


def leaves_made_in_inference_mode(m):
    with m.inference_mode():
        x = m.ones(2).requires_grad_()
        y, view = x * 2, x.view(1, 2)
        found = [
            x.requires_grad,
            x.is_leaf,
            x.is_inference(),
            y.requires_grad,
            view.requires_grad,
            x.detach().requires_grad,
        ]
    z = (x + 1).sum()
    z.backward()
    x.requires_grad_(False)
    return [*found, z.requires_grad, lists(x.grad), x.requires_grad, told(x.requires_grad_)]


def arguments_of_passes(m):
    grad = m.autograd.grad
    x, y = leaf(m), leaf(m)

    def batched(outputs, weights):
        return grad(outputs, x, weights, is_grads_batched=True)

    def hooked(result):
        z = leaf(m)
        z.register_post_accumulate_grad_hook(lambda z: result)
        z.sum().backward()

    return [
        told(grad, (x * x).sum(), [x, y], allow_unused=False, materialize_grads=True),
        told(batched, [(x * x).sum(), x * x], [ones(m, 3), ones(m, 4, 3)]),
        told(batched, x * x, m.tensor(1.0)),
        told(hooked, x),
        told(hooked, None),
        told(m.autograd.forward_ad.make_dual, x, x, level=-1),
    ]


def checks(m):
    check, twice = m.autograd.gradcheck, m.autograd.gradgradcheck
    x = leaf(m)
    return [
        check(m.sin, x, check_forward_ad=True, check_backward_ad=False, masked=False),
        check(m.sin, x, check_forward_ad=True, check_batched_forward_grad=True),
        twice(m.sin, x, check_fwd_over_rev=True, check_undefined_grad=False),
        told(twice, m.sin, x, unknown=1),
    ]


# -- Jacobians -------------------------------------------------------------------------------------


def jacobians_by_columns(m):
    def by_columns(f, *xs):
        return m.autograd.functional.jacobian(f, xs, vectorize=True, strategy="forward-mode")

    x = leaf(m).detach()
    return [
        told(by_columns, lambda x: [x, x], x),
        told(by_columns, lambda x: 3.0, x),
        lists(by_columns(lambda x, y: (x * y, y.sum()), x, x + 1)),
    ]


PROGRAMS = (
    multi_grad_hooks,
    multi_grad_hooks_see_results_and_order,
    multi_grad_hooks_change_nothing,
    gradient_edges,
    saved_values_hooks,
    disabled_hooks,
    mutation_of_saved_values,
    incremented_versions,
    nodes,
    outputs_of_functions,
    what_functions_refuse,
    functions_with_vjp_named_tensors_and_none_saved,
    once_differentiable_functions_beside_others,
    saved_values_have_their_history,
    saved_values_that_were_written_have_the_history_of_the_result,
    an_adjoint_method_of_parameters,
    nodes_of_functions_have_what_their_contexts_have,
    saved_values_between_passes,
    anomaly_mode_and_nan,
    modes,
    hooks_of_accumulators,
    leaves_made_in_inference_mode,
    arguments_of_passes,
    checks,
    jacobians_by_columns,
)
