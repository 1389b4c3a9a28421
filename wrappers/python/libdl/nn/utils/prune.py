# SPDX-License-Identifier: Apache-2.0
"""Pruning: a parameter times a mask of zeros and ones.

NAME_orig is the parameter that is trained, NAME_mask a buffer, and NAME their product, which is
computed before every call of the module by the method, a forward pre-hook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from numbers import Integral, Number
from typing import Any

from ... import _functions as F
from ..._C import Tensor
from ..modules.module import Module
from ._norms import copied_with_module

# -- ways of choosing what is pruned ---------------------------------------------------------------


class BasePruningMethod(ABC):
    """A way of choosing what is pruned. Subclasses set PRUNING_TYPE and write compute_mask.

    PRUNING_TYPE is how masks of several methods are combined: a later method sees of the tensor
    what earlier ones have left, "unstructured" as single elements and "structured" as whole
    slices; "global" sees all of it."""

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the importances t, where default_mask is what is left."""

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter times its mask."""
        name = self._tensor_name
        original = getattr(module, f"{name}_orig")
        mask = getattr(module, f"{name}_mask").to(original.dtype)
        return copied_with_module(mask * original, [original], lambda copied: mask * copied)

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> BasePruningMethod:
        """Prunes a parameter by this method with the given arguments; returns the method.

        Arguments:
            importance_scores: by which the method chooses, of the parameter's shape; None: the
                parameter itself
        """
        added = cls(*args, **kwargs)
        added._tensor_name = name
        number, before = _method_of(module, name)
        original = getattr(module, name if before is None else f"{name}_orig")
        if importance_scores is not None and importance_scores.shape != original.shape:
            raise ValueError(
                f"importance_scores has shape {importance_scores.shape}, wanted that of "
                f"{name}, {original.shape}"
            )
        scores = getattr(module, name) if importance_scores is None else importance_scores
        left = F.ones_like(original.detach()) if before is None else getattr(module, f"{name}_mask")
        method: BasePruningMethod = added
        if before is not None:
            method = container = PruningContainer()
            container._tensor_name = name
            for earlier in before if isinstance(before, PruningContainer) else [before]:
                container.add_pruning_method(earlier)
            container.add_pruning_method(added)
        mask = method.compute_mask(scores.detach(), default_mask=left.clone())
        if before is None:
            module.register_parameter(f"{name}_orig", original)
            del module._parameters[name]
        else:
            del module._forward_pre_hooks[number]
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """The tensor pruned, without a module."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise ValueError(
                f"importance_scores has shape {scores.shape}, wanted that of the tensor, {t.shape}"
            )
        left = F.ones_like(t.detach()) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=left)

    def remove(self, module: Module) -> None:
        """Makes the product the parameter, for good."""
        name = self._tensor_name
        if not hasattr(module, f"{name}_mask"):
            raise ValueError(f"{type(module).__name__}: {name!r} is not pruned")
        pruned = self.apply_mask(module)
        original: Any = module._parameters.pop(f"{name}_orig")
        original.data = pruned.detach()
        del module._buffers[f"{name}_mask"]
        if hasattr(module, name):
            delattr(module, name)
        setattr(module, name, original)


def _method_of(module: Module, name: str) -> tuple[int, Any]:
    """The number and the method of the hook that prunes the parameter of that name."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return number, hook
    return 0, None


class PruningContainer(BasePruningMethod):
    """Several methods of one parameter, one after the other."""

    PRUNING_TYPE = "container"

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Adds a method of the same parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(
                f"add_pruning_method: found a {type(method).__name__}, wanted a BasePruningMethod"
            )
        if method is not None and method._tensor_name != self._tensor_name:
            raise ValueError(
                f"add_pruning_method: found a method of {method._tensor_name!r}, wanted "
                f"one of {self._tensor_name!r}"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        method: BasePruningMethod = self._pruning_methods[idx]
        return method

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """What the last method leaves of default_mask."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(t.dtype).clone()
        if method.PRUNING_TYPE == "unstructured":
            part: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.ndim
            others = tuple(d for d in range(t.ndim) if d != dim)
            part = (slice(None),) * dim + ((mask.sum(others) if others else mask) != 0,)
        elif method.PRUNING_TYPE == "global":
            part = (slice(None),) * t.ndim
        else:
            raise ValueError(
                f"PRUNING_TYPE is {method.PRUNING_TYPE!r}, wanted 'unstructured', "
                "'structured' or 'global'"
            )
        mask[part] = method.compute_mask(t[part], default_mask=mask[part]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _ByAmount(BasePruningMethod):
    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount


class RandomUnstructured(_ByAmount):
    """Prunes random elements; amount: how many, or which part."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = _count_to_prune(self.amount, t.numel())
        return _least(F.rand_like(t), count, default_mask)


class L1Unstructured(_ByAmount):
    """Prunes the elements closest to 0; amount: how many, or which part."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _least(t.abs(), _count_to_prune(self.amount, t.numel()), default_mask)


class RandomStructured(_ByAmount):
    """Prunes random slices along dim; amount: how many, or which part."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _check_slices(t)
        _check_dim(t, self.dim)
        slices = t.shape[self.dim]
        scores = F.rand(slices, device=t.device)
        kept = _least(scores, _count_to_prune(self.amount, slices), F.ones_like(scores))
        return _structured_mask(kept, t, self.dim) * default_mask


class LnStructured(_ByAmount):
    """Prunes the slices along dim with the smallest n-norm; amount: how many, or which part."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, n: float | str, dim: int = -1) -> None:
        super().__init__(amount)
        self.n, self.dim = n, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _check_slices(t)
        _check_dim(t, self.dim)
        count = _count_to_prune(self.amount, t.shape[self.dim])
        scores = _norms(t, self.n, self.dim)
        kept = _least(scores, count, F.ones_like(scores))
        return _structured_mask(kept, t, self.dim) * default_mask


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise ValueError(f"the mask has shape {self.mask.shape}, wanted {default_mask.shape}")
        result: Tensor = default_mask * self.mask.to(default_mask.dtype)
        return result


# -- how much, and masks of the least important ----------------------------------------------------


def _check_amount(amount: object) -> None:
    """A number of elements, or a part from 0 to 1."""
    if not isinstance(amount, Number) or isinstance(amount, (bool, complex)):
        raise TypeError(f"amount is a {type(amount).__name__}, wanted a number")
    number: Any = amount
    if number < 0 or (not isinstance(amount, Integral) and number > 1):
        raise ValueError(f"amount is {amount}, wanted a number of elements, or a part from 0 to 1")


def _count_to_prune(amount: int | float, count: int) -> int:
    """How many of count elements or slices are pruned."""
    if not isinstance(amount, Integral):
        return int(round(amount * count))
    if int(amount) > count:
        raise ValueError(f"amount is {amount}, wanted at most the {count} that there are")
    return int(amount)


def _check_slices(t: Tensor) -> None:
    if t.ndim < 2:
        raise ValueError(
            f"a tensor of {t.ndim} dimensions has no slices to be pruned, wanted 2 or more"
        )


def _check_dim(t: Tensor, dim: int) -> None:
    if not -t.ndim <= dim < t.ndim:
        raise IndexError(f"dim is {dim}, wanted {-t.ndim} to {t.ndim - 1}")


def _least(scores: Tensor, count: int, mask: Tensor) -> Tensor:
    """The mask with zeros at the count smallest scores."""
    result = mask.clone()
    if count:
        places = scores.reshape(-1).topk(count, largest=False).indices
        flat = result.reshape(-1)
        flat[places] = 0
        result = flat.view(result.shape)
    return result


def _norms(t: Tensor, n: Any, dim: int) -> Tensor:
    """The n-norm of each slice along dim."""
    others = [d for d in range(t.ndim) if d != dim % t.ndim]
    result: Tensor = t.norm(p=n, dim=others)
    return result


def _structured_mask(kept: Tensor, t: Tensor, dim: int) -> Tensor:
    """The mask of a tensor whose slices along dim are kept where kept is 1."""
    shape = [1] * t.ndim
    shape[dim] = -1
    return kept.to(t.dtype).view(shape).expand(t.shape)


# -- functions -------------------------------------------------------------------------------------


def identity(module: Module, name: str) -> Module:
    """Prunes nothing, but makes the parameter one that is."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prunes random elements of a parameter; returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Tensor | None = None
) -> Module:
    """Prunes the elements closest to 0; returns the module."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prunes random slices along a dimension; returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module,
    name: str,
    amount: float,
    n: float | str,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Module:
    """Prunes the slices along a dimension with the smallest n-norm; returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prunes by a mask; returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prunes several parameters as if they were one.

    Arguments:
        parameters: modules, and the name of a parameter of each
        pruning_method: an unstructured method's class; kwargs: its arguments
        importance_scores: tensors by (module, name), where they are not the parameters themselves
    """
    places = list(parameters)
    if importance_scores is not None and not isinstance(importance_scores, dict):
        raise TypeError(
            "global_unstructured: argument 3 (importance_scores) is a "
            f"{type(importance_scores).__name__}, wanted a dict"
        )
    value = importance_scores or {}
    scores = [value.get(place, getattr(*place)).detach() for place in places]
    left = [
        getattr(module, f"{name}_mask", F.ones_like(score))
        for (module, name), score in zip(places, scores)
    ]
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f"global_unstructured: argument 2 (pruning_method) is "
            f"{method.PRUNING_TYPE}, wanted an unstructured one"
        )
    mask = container.compute_mask(
        F.cat([score.reshape(-1) for score in scores]), F.cat([part.reshape(-1) for part in left])
    )
    start = 0
    for (module, name), score in zip(places, scores):
        part = mask[start : start + score.numel()].view(score.shape)
        custom_from_mask(module, name, mask=part)
        start += score.numel()


def remove(module: Module, name: str) -> Module:
    """Makes a pruned parameter an ordinary one, for good; returns the module."""
    number, method = _method_of(module, name)
    if method is None:
        raise ValueError(f"{type(module).__name__}: {name!r} is not pruned")
    method.remove(module)
    del module._forward_pre_hooks[number]
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module or below it is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for part in module.modules()
        for hook in part._forward_pre_hooks.values()
    )
