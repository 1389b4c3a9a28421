# SPDX-License-Identifier: Apache-2.0
"""Graph modules as packages of Python code."""

from __future__ import annotations

import pickle
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._package_name import is_own
from ._placeholders import StructureCodeGen

if TYPE_CHECKING:
    from ..nn import Module
    from .graph_module import GraphModule

# Modules whose repr is the call that makes them.
_WRITTEN = {"Linear", "Conv1d", "Conv2d", "Conv3d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d"}


def write_folder(module: GraphModule, folder: Path, name: str) -> None:
    """GraphModule.to_folder, without being a method."""
    from ..serialization import save

    if isinstance(module.graph._codegen, StructureCodeGen):
        raise NotImplementedError("to_folder: the arguments are structures, wanted tensors alone")
    code = module.graph.python_code("self")
    imports = [_import(key, value) for key, value in code.globals.items()]
    folder.mkdir(parents=True, exist_ok=True)
    body = [
        *_parts(module, folder),
        'self.load_state_dict(libdl.load(HERE / "state_dict.pt"))',
        f"self.training = {module.training}",
    ]
    forward = ["    " + line if line else "" for line in code.src.strip("\n").split("\n")]
    lines = [
        *["import pickle", "from pathlib import Path", "", "import libdl"],
        *imports,
        "",
        *["HERE = Path(__file__).parent", "", "", f"class {name}(libdl.nn.Module):"],
        *["    def __init__(self):", "        super().__init__()"],
        *("        " + line for line in body),
        "",
        *forward,
    ]
    save(module.state_dict(), folder / "state_dict.pt")
    (folder / "module.py").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    (folder / "__init__.py").write_text(f"from .module import {name} as {name}\n")


def _import(name: str, value: Any) -> str:
    """The line by which a module gets one of the code's globals."""
    if isinstance(value, types.ModuleType):
        spec = value.__spec__  # which knows the file's own name under libdl.as_torch, too
        return f"import {spec.name if spec else value.__name__} as {name}"
    if value is type(None):
        return f"{name} = type(None)"
    if isinstance(value, float):
        return f'{name} = float("{value}")'
    path = getattr(value, "__qualname__", "<")
    space = getattr(value, "__module__", None)
    if "<" in path or "." in path or not space or space == "__main__":
        raise NotImplementedError(
            f"to_folder: the code calls {value!r}, wanted what another program can import"
        )
    return f"from {space} import {path} as {name}"


def _is_written(child: Module) -> bool:
    """Whether the repr and a dtype say all about the module but its state."""
    kind = type(child)
    trained = {(x.dtype, x.requires_grad) for x in child.parameters()}
    return (
        kind.__name__ in _WRITTEN
        and is_own(kind.__module__)
        and len(trained) == 1
        and all(needs for _, needs in trained)
    )


def _parts(module: Module, folder: Path) -> list[str]:
    """The statements that make submodules, parameters and buffers; their values come later."""
    lines = []
    for name, child in module.named_children():
        if _is_written(child):
            dtype = f"libdl.{next(child.parameters()).dtype.name}"
            text = f"libdl.nn.{child!r}.to({dtype}).train({child.training})"
            lines.append(f"self.add_module({name!r}, {text})")
            continue
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(child))
        read = f'pickle.loads((HERE / "{name}.pickle").read_bytes())'
        lines.append(f"self.add_module({name!r}, {read})")
    for name, x in module.named_parameters(recurse=False):
        empty = f"libdl.empty({list(x.shape)}, dtype=libdl.{x.dtype.name})"
        text = f"libdl.nn.Parameter({empty}, {x.requires_grad})"
        lines.append(f"self.register_parameter({name!r}, {text})")
    for name, buffer in module.named_buffers(recurse=False):
        kept = name not in module._non_persistent_buffers_set
        if not kept:
            raise NotImplementedError(f"to_folder: {name} is a buffer that no state holds")
        text = f"libdl.empty({list(buffer.shape)}, dtype=libdl.{buffer.dtype.name})"
        lines.append(f"self.register_buffer({name!r}, {text})")
    return lines
