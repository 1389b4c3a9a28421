# SPDX-License-Identifier: Apache-2.0
"""PyTorch's checkpoints from one library to the other, with every type, stride and bit.

    python tests/oracle/checkpoints.py

The objects of tests/io/torch_programs.py, and states of modules, optimizers and schedules, are saved
by each library in PyTorch's format and loaded by the other, with weights_only=True; those of
torch_objects.py whole, with weights_only=False. The run ends with an object that was changed on its way, which must be found."""

from __future__ import annotations

import random
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "io"))

import libdl  # noqa: E402
import torch  # noqa: E402
from torch_objects import OBJECTS, said_by  # noqa: E402
from torch_programs import PROGRAMS, anything  # noqa: E402


RANDOM = 100  # objects


class Difference(Exception):
    pass


def told(x: Any, m: Any) -> Any:
    """An object as plain values, the same for both libraries."""
    if isinstance(x, m.Tensor):
        y = x.detach().to_dense() if x.layout is not m.strided else x.detach()
        y = y.resolve_conj() if m is torch else y
        octets = y.flatten().repeat(1).view(m.uint8).tolist() if y.numel() else []
        geometry = None
        if x.layout is m.strided and not y.is_complex():  # a conjugate is a copy here
            # The stride of one element is not the same in both libraries, and means nothing.
            steps = [step for step, size in zip(x.stride(), x.shape, strict=True) if size > 1]
            geometry = [steps, x.storage_offset()] if x.numel() else []
        attributes = {k: told(v, m) for k, v in vars(x).items()}
        return [
            type(x).__name__,
            str(x.dtype).split(".")[1],
            list(x.shape),
            geometry,
            x.requires_grad,
            octets,
            attributes,
        ]
    if isinstance(x, dict):
        items = [[repr(k), type(k).__name__, told(v, m)] for k, v in x.items()]
        own = getattr(x, "__dict__", {}).get("_metadata")
        return [type(x).__name__, items, own and told(own, m)]
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, [told(v, m) for v in x]]
    return [type(x).__name__, repr(x).replace(m.__name__ + ".", "")]


def through(value: Any, source: Any, target: Any, mmap: bool) -> Any:
    options = {"format": "torch"} if source is libdl else {}
    with tempfile.NamedTemporaryFile() as file:
        source.save(value, file.name, **options)
        return target.load(file.name, weights_only=True, mmap=mmap)


def module(m: Any, name: str) -> Any:
    made = MODULES[name](m)
    with m.no_grad():
        for i, x in enumerate([*made.parameters(), *made.buffers()]):
            x.copy_((m.arange(x.numel()).reshape(x.shape) % 17 + i) / 16)
    return made


MODULES: dict[str, Callable[[Any], Any]] = {
    "convolutions": lambda m: m.nn.Sequential(
        m.nn.Conv2d(3, 4, 3, bias=False), m.nn.BatchNorm2d(4), m.nn.ConvTranspose1d(2, 3, 2)
    ),
    "words": lambda m: m.nn.ModuleDict(
        {
            "table": m.nn.Embedding(7, 3),
            "norm": m.nn.LayerNorm(3),
            "rnn": m.nn.LSTM(3, 4, 2),
            "gru": m.nn.GRU(3, 2, bidirectional=True),
        }
    ),
    "attention": lambda m: m.nn.TransformerEncoder(
        m.nn.TransformerEncoderLayer(8, 2, 16), 2, enable_nested_tensor=False
    ),
    "half": lambda m: m.nn.Linear(3, 3).half(),
    "bfloat16": lambda m: m.nn.Linear(3, 3).bfloat16(),
    "weight norm": lambda m: m.nn.utils.parametrizations.weight_norm(m.nn.Linear(3, 2)),
}


def state(m: Any, name: str) -> Any:
    net = module(m, name)
    optimizer = m.optim.AdamW(net.parameters(), lr=0.5, betas=(0.5, 0.75))
    schedule = m.optim.lr_scheduler.SequentialLR(
        optimizer,
        [m.optim.lr_scheduler.ConstantLR(optimizer), m.optim.lr_scheduler.StepLR(optimizer, 2)],
        [1],
    )
    in_order = dict(sorted(schedule.state_dict().items()))  # which no library promises
    states = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "schedule": in_order}
    return states | {"epoch": (3, None, 0.5)}


def check(name: str, make: Callable[[Any], Any], spoil: Callable[[Any], Any] = lambda x: x) -> str:
    wanted = {m: told(make(m), m) for m in (libdl, torch)}
    if wanted[libdl] != wanted[torch]:
        raise Difference("the libraries make different objects")
    for source, target in ((torch, libdl), (libdl, torch)):
        for mmap in (False, True):
            found = told(spoil(through(make(source), source, target, mmap)), target)
            if found != wanted[target]:
                raise Difference(f"changed from {source.__name__} to {target.__name__}")
    return "the same both ways"


def check_object(name: str) -> str:
    """A whole object: what it does after the other library has loaded it."""
    wanted = said_by(torch, name, OBJECTS[name](torch))
    for source, target in ((torch, libdl), (libdl, torch)):
        with tempfile.NamedTemporaryFile() as file:
            source.save(OBJECTS[name](source), file.name)
            found = target.load(file.name, weights_only=False)
        if said_by(target, name, found) != wanted:
            raise Difference(f"other after {source.__name__} wrote and {target.__name__} loaded it")
    return "works both ways"


def one_number_moved(value: Any) -> Any:
    next(iter(value["net"].values())).view(-1)[0] += 1
    return value


def main() -> int:
    warnings.simplefilter("ignore")
    failed = []
    # weights_only=True does not know PyTorch's own way of pickling empty bytes.
    cases: dict[str, Callable[[Any], Any]] = {
        name: make for name, make in PROGRAMS.items() if name != "plain"
    }
    cases["plain"] = lambda m: PROGRAMS["plain"](m) | {"bytes": [b"\0\xff", bytearray(b"ab")]}
    cases |= {name: lambda m, name=name: state(m, name) for name in MODULES}  # type: ignore[misc]
    for seed in range(RANDOM):
        cases[f"at random, {seed}"] = lambda m, seed=seed: anything(  # type: ignore[misc]
            m, random.Random(seed)
        )
    for name, make in cases.items():
        try:
            print(f"{name}: {check(name, make)}")
        except Difference as difference:
            print(f"{name}: {difference}")
            failed.append(name)
    for name in OBJECTS:
        try:
            print(f"{name}, whole: {check_object(name)}")
        except Difference as difference:
            print(f"{name}, whole: {difference}")
            failed.append(f"{name}, whole")
    try:
        check("planted", lambda m: state(m, "words"), one_number_moved)
        failed.append("planted")
    except Difference as difference:
        print(f"planted, which must be found: {difference}")
    if failed:
        print("checkpoints: these did not hold: " + "; ".join(failed))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
