# SPDX-License-Identifier: Apache-2.0
"""Parameters, buffers and submodules that change places with others, by name."""

from __future__ import annotations

from typing import Any

from ..._C import Tensor
from ..modules.module import Module


def set_tensor(module: Module, name: str, tensor: Tensor) -> None:
    """Puts a tensor in the place of a parameter or buffer, or adds it as a plain attribute."""
    swap_tensor(module, name, tensor, allow_missing=True)


def swap_tensor(
    module: Module, name: str, tensor: Tensor, allow_missing: bool = False
) -> Tensor | None:
    """Puts a tensor in the place of a parameter or buffer, and returns what was there. KeyError for
    a name with a dot or an empty one, AttributeError if there is nothing of that name."""
    if not isinstance(module, Module):
        raise TypeError(f"{module} is not an instance of torch.nn.Module")
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')
    members: tuple[dict[str, Any], ...] = (module._parameters, module._buffers)
    for held in members:
        if name in held:
            before: Tensor | None = held[name]
            held[name] = tensor
            return before
    if hasattr(module, name):
        before = getattr(module, name)
        if before is not None and not isinstance(before, Tensor):
            raise TypeError(f"{module}.{name} is not a tensor, but a {type(before).__name__}")
        setattr(module, name, tensor)
        return before
    if not allow_missing:
        raise AttributeError(f"{type(module).__name__} has no attribute {name!r}")
    setattr(module, name, tensor)
    return None


def swap_submodule(module: Module, name: str, submodule: Module) -> Module:
    """Puts a module in the place of a child, and returns what was there."""
    before: Module | None = module._modules.get(name)
    if before is None:
        raise AttributeError(f"{type(module).__name__} has no submodule {name!r}")
    module._modules[name] = submodule
    return before
