# SPDX-License-Identifier: Apache-2.0
"""Whole objects of every kind that both libraries have. exchanged.txt has what makes them, as
expressions (m is torch or libdl), and behind each the attributes that its state has in PyTorch 2.15
(those of every module are "..."); then the files that PyTorch writes of some, and the names in
libdl's files, all of which PyTorch knows. tests/answered.py describes the format.

    python tests/io/exchanged.py

writes the answers, with both libraries, and loads each object in both directions."""

import base64
import io
import pickletools
import sys
import zipfile
import zlib
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from answered import Answer, parsed as lines_of, written as text_of  # noqa: E402

FILE = Path(__file__).with_name("exchanged.txt")
OF_MODULES = """
    _backward_hooks _backward_pre_hooks _buffers _forward_hooks _forward_hooks_always_called
    _forward_hooks_with_kwargs _forward_pre_hooks _forward_pre_hooks_with_kwargs
    _is_full_backward_hook _load_state_dict_post_hooks _load_state_dict_pre_hooks _modules
    _non_persistent_buffers_set _parameters _state_dict_hooks _state_dict_pre_hooks training
""".split()
STORED = (
    "tel gelu",
    "tel tanh",
    "spectral",
    "pruned twice",
    "nn.LazyLinear",
    "nn.GRU",
    "amp.GradScaler",
    "sched.CyclicLR exp_range",
    "dist.Beta",
    "dist.Categorical",
    "dist.MixtureSameFamily",
    "transform.AffineTransform",
    "data.DataLoader",
)


def made(m, recipe):
    m.manual_seed(0)
    given = {
        "m": m,
        "n": m.nn,
        "d": m.distributions,
        "o": m.optim,
        "u": m.utils.data,
        "s": m.optim.lr_scheduler,
        "p": m.nn.Parameter(m.ones(2, 2)),
    }
    return eval(recipe, given)


def keys(value):
    """Of the state: what the other library's methods may ask for."""
    state = value.__getstate__() if hasattr(value, "__getstate__") else vars(value)
    return sorted(state) if isinstance(state, dict) else []


def names(file):
    """The classes and functions that a checkpoint asks for."""
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        data = next(n for n in archive.namelist() if n.endswith("data.pkl"))
        found = pickletools.genops(archive.read(data))
        return sorted({text for op, text, _ in found if op.name == "GLOBAL"})


def written(m, value):
    out = io.BytesIO()
    m.save(value, out, **({"format": "torch"} if m.__name__ == "libdl" else {}))
    return out.getvalue()


def packed(file):
    return base64.b85encode(zlib.compress(file, 9)).decode()


def unpacked(text):
    return zlib.decompress(base64.b85decode(text))


def whole(value):
    """With an object around, so that the format is PyTorch's."""
    return {"value": value, "kind": type(value)}


def read():
    """name: {"make": an expression, "keys": attributes, "file": PyTorch's for some}; the names."""
    sections = lines_of(FILE.read_text())
    objects = {}
    for answer in sections["objects"]:
        name, _, make = answer.line.partition(": ")
        own = answer.value
        keys = sorted({*OF_MODULES, *own} - {"..."}) if "..." in own else own
        objects[name] = {"make": make, "keys": keys}
    for answer in sections["files"]:
        objects[answer.line]["file"] = answer.value
    known = {f"{answer.line} {name}" for answer in sections["names"] for name in answer.value}
    return objects, known


def write(objects, known):
    def own(keys):
        rest = [key for key in keys if key not in OF_MODULES]
        return ["...", *rest] if {*OF_MODULES} <= {*keys} else keys

    modules = {}
    for module, _, name in (path.partition(" ") for path in sorted(known)):
        modules.setdefault(module, []).append(name)
    sections = {
        "objects": [
            Answer(f"{name}: {entry['make']}", own(entry["keys"]))
            for name, entry in objects.items()
        ],
        "files": [
            Answer(name, entry["file"]) for name, entry in objects.items() if "file" in entry
        ],
        "names": [Answer(module, names) for module, names in modules.items()],
    }
    title = "What PyTorch 2.15 says of whole objects, stored by tests/io/exchanged.py."
    FILE.write_text(text_of(sections, title, 17))


def main():
    import importlib

    import libdl.distributions
    import libdl.nn.utils.prune
    import libdl.optim.swa_utils
    import torch
    import torch.distributions
    import torch.nn.utils.prune
    import torch.optim.swa_utils
    import torch.utils.data

    (objects, _), known, failed = read(), set(), []
    for name, entry in objects.items():
        value = made(torch, entry["make"])
        entry["keys"] = keys(value)
        if name in STORED:
            entry["file"] = packed(written(torch, value))
        mine = written(libdl, whole(made(libdl, entry["make"])))
        known.update(names(mine))
        for m, file in ((torch, mine), (libdl, written(torch, whole(value)))):
            try:
                m.load(io.BytesIO(file), weights_only=False)
            except Exception as error:
                failed.append(f"{name}, loaded by {m.__name__}: {error}")
    for path in sorted(known):
        module, _, attribute = path.partition(" ")
        if not module.startswith("__builtin__"):
            found = importlib.import_module(module)
            for part in attribute.split("."):
                found = getattr(found, part)
    write(objects, known)
    print("\n".join(failed) or "all load both ways")


if __name__ == "__main__":
    main()
