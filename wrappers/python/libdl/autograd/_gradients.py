# SPDX-License-Identifier: Apache-2.0
"""backward and grad: passes back through the history of tensors."""

# mypy: disable-error-code="misc,no-any-return"
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from .. import _C, _functions as F, _backward_passes
from .._C import Overridden, Tensor
from .._errors import Error, rename_error
from .._overrides import override
from .._backward_passes import GradientEdge, tensors_of

Tensors = Tensor | GradientEdge | Sequence[Tensor | GradientEdge]


def backward(
    tensors: Tensors,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:
    """Adds the gradients of the tensors to the .grad of every leaf, or only of the inputs.

    Arguments:
        tensors: the tensors to differentiate, each with history
        grad_tensors: their own gradients; None: 1, for tensors of one element
        retain_graph: whether to keep saved values for another pass; None: as create_graph
        create_graph: whether to record the pass itself, for higher derivatives
        inputs: leaves; None: all
    """
    retain = create_graph if retain_graph is None else retain_graph
    if inputs is not None and not tensors_of(inputs):
        raise RuntimeError("backward: inputs is an empty sequence")
    run = _backward_passes.backward if _backward_passes.watches else _C.backward
    try:
        tensor_lists = tensors_of(tensors), tensors_of(grad_tensors), tensors_of(inputs)
        if inputs is None:
            run(*tensor_lists, retain, create_graph, False, False)
        else:
            _backward_passes.to_inputs(run, *tensor_lists, retain, create_graph, False, False)
    except Overridden:
        override(
            backward,
            tensors,
            grad_tensors=grad_tensors,
            retain_graph=retain_graph,
            create_graph=create_graph,
            inputs=inputs,
        )
    except Error as error:
        rename_error(
            error,
            "backward",
            "backward",
            {
                "outputs": (1, "tensors"),
                "gradients": (2, "grad_tensors"),
                "inputs": (5, "inputs"),
            },
        )
        raise


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """The gradients of the outputs with respect to the inputs; no .grad changes.

    Arguments:
        outputs: the tensors to differentiate, each with history
        inputs: the tensors to differentiate by; any that require grad
        grad_outputs: the outputs' own gradients; None: 1, for outputs of one element
        retain_graph: whether to keep saved values for another pass; None: as create_graph
        create_graph: whether to record the pass itself, for higher derivatives
        only_inputs: deprecated and ignored
        allow_unused: whether an unused input gets None instead of an error
        is_grads_batched: whether the outputs' gradients are batches, the batch in front, as then
            the results are, of one pass. Hooks and custom functions see one gradient after another
        materialize_grads: whether an unused input gets zeros
    """
    if not only_inputs:
        warnings.warn("grad: only_inputs is deprecated and not read", FutureWarning, stacklevel=2)
    if materialize_grads and allow_unused is False:
        raise ValueError("grad: allow_unused is False, wanted True or None with materialize_grads")
    retain = create_graph if retain_graph is None else retain_graph
    unused = materialize_grads if allow_unused is None else allow_unused
    run = _backward_passes.grad if _backward_passes.watches else _C.grad
    options: tuple[bool, ...] = (retain, create_graph, unused, materialize_grads)
    if is_grads_batched:
        _check_batches(tensors_of(grad_outputs))
        options = (*options, True)
    try:
        if is_grads_batched and _backward_passes.watches:  # each gradient in a pass of its own
            return _one_by_one(outputs, inputs, grad_outputs, *options[:4])
        tensor_lists = tensors_of(outputs), tensors_of(inputs), tensors_of(grad_outputs)
        return _backward_passes.to_inputs(run, *tensor_lists, *options)
    except Overridden:
        from .._vmap_levels import Batched  # not when libdl is imported: few programs need it

        if not any(
            type(x) is Batched
            for tensors in (outputs, inputs, grad_outputs)
            for x in tensors_of(tensors)
        ):
            return override(
                grad,
                outputs,
                inputs,
                grad_outputs=grad_outputs,
                retain_graph=retain_graph,
                create_graph=create_graph,
                allow_unused=allow_unused,
                is_grads_batched=is_grads_batched,
                materialize_grads=materialize_grads,
            )
        if is_grads_batched:
            return _one_by_one(outputs, inputs, grad_outputs, *options[:4])
        from ..func._history import grad_under_vmap

        return grad_under_vmap(
            tensors_of(outputs),
            tensors_of(inputs),
            tensors_of(grad_outputs),
            run,
            create_graph,
            unused,
            materialize_grads,
        )
    except Error as error:
        rename_error(error, "grad", "grad", {"gradients": (3, "grad_outputs")})
        raise


def _check_batches(tensor_lists: tuple[Any, ...]) -> None:
    if any(w is not None and w.ndim == 0 for w in tensor_lists):
        raise IndexError("grad: is_grads_batched, and one of the grad_outputs has no dimension")
    sizes = {len(w) for w in tensor_lists if w is not None}
    if len(sizes) != 1 or 0 in sizes:
        kind = ValueError if len(sizes) > 1 else RuntimeError
        raise kind(
            f"grad: is_grads_batched, and the grad_outputs are batches of {sorted(sizes)}, wanted "
            "one size for all, at least 1"
        )


def _one_by_one(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Any,
    retain: bool,
    create_graph: bool,
    unused: bool,
    materialize: bool,
) -> tuple[Tensor, ...]:
    tensor_lists = tensors_of(grad_outputs)
    count = next(len(w) for w in tensor_lists if w is not None)
    rows = [
        grad(
            outputs,
            inputs,
            tuple(None if w is None else w[i] for w in tensor_lists),
            retain or i + 1 < count,
            create_graph,
            allow_unused=unused,
            materialize_grads=materialize,
        )
        for i in range(count)
    ]
    columns = zip(*rows, strict=True)
    return tuple(None if ys[0] is None else F.stack(list(ys)) for ys in columns)


backward.__module__ = grad.__module__ = "libdl.autograd"
