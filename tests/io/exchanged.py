# SPDX-License-Identifier: Apache-2.0
"""Whole objects of every kind that both libraries have. exchanged.json has what makes them, as
expressions (m is torch or libdl), and what PyTorch 2.15 says of each: the attributes that its state
has, the names in libdl's file that it knows, and for some the file that it writes.

    python tests/io/exchanged.py

writes the answers, with both libraries, and loads each object in both directions."""

import base64
import io
import json
import pickletools
import zipfile
import zlib
from pathlib import Path

FILE = Path(__file__).with_name("exchanged.json")
STORED = ("tel gelu", "tel tanh", "spectral", "pruned twice", "nn.LazyLinear", "nn.GRU",
          "amp.GradScaler", "sched.CyclicLR exp_range", "dist.Beta", "dist.Categorical",
          "dist.MixtureSameFamily", "transform.AffineTransform", "data.DataLoader")  # fmt: skip


def made(m, recipe):
    m.manual_seed(0)
    given = {"m": m, "n": m.nn, "d": m.distributions, "o": m.optim, "u": m.utils.data,
             "s": m.optim.lr_scheduler, "p": m.nn.Parameter(m.ones(2, 2))}  # fmt: skip
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

    table, known, failed = json.loads(FILE.read_text()), set(), []
    for name, entry in table["objects"].items():
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
    table["names"] = sorted(known)
    FILE.write_text(json.dumps(table, indent=0, sort_keys=True) + "\n")
    print("\n".join(failed) or "all load both ways")


if __name__ == "__main__":
    main()
