# SPDX-License-Identifier: Apache-2.0
"""Whole objects from one library to the other, which then uses them.

    python tests/oracle/objects.py

Each object of tests/io/exchanged.txt is saved by one library and loaded by the other, in both
directions; it then does there what an object does that was made there: it samples, steps, computes.
The run ends with an object that lost an attribute on its way, which must be found."""

from __future__ import annotations

import io
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "io"))

import exchanged  # noqa: E402
import libdl  # noqa: E402
import libdl.distributions  # noqa: E402
import libdl.nn.utils.prune  # noqa: E402
import libdl.optim.swa_utils  # noqa: E402
import torch  # noqa: E402
import torch.distributions  # noqa: E402
import torch.nn.utils.prune  # noqa: E402
import torch.optim.swa_utils  # noqa: E402
import torch.utils.data  # noqa: E402

# What PyTorch's own files of these lack, so that PyTorch cannot use them either.
LOST_BY_PYTORCH = {
    "optim.LBFGS": "_params",
    "dist.Gumbel": "_inv of a transform",
    "transform.inverse": "_inv",
}


def distribution(m: Any, name: str, value: Any) -> None:
    value.log_prob(value.sample((2,)))
    for ask in (
        lambda: value.expand((2, *value.batch_shape)).sample(),
        lambda: value.mean,
        lambda: value.variance,
        lambda: value.entropy(),
    ):
        try:
            ask()
        except NotImplementedError:
            pass


def schedule(m: Any, name: str, value: Any) -> None:
    whole = getattr(value, "_schedulers", [value])[0]
    for _ in range(3):
        whole.optimizer.step()
        value.step(*([1.0] if "Plateau" in name else []))


def optimizer(m: Any, name: str, value: Any) -> None:
    if "Sparse" not in name:
        value.param_groups[0]["params"][0].grad = m.ones(2, 2)
        value.step(lambda: m.ones(()))


def transform(m: Any, name: str, value: Any) -> None:
    shape = {"Cat": (1, 1), "Sta": (1, 1), "Low": (1, 1), "Pos": (1, 1), "Cor": (3,)}
    x = m.ones(shape.get(name[10:13], (2,))) * 0.4
    value.inv(value(x))


def sampled(m: Any, name: str, value: Any) -> None:
    list(value)


def module(m: Any, name: str, value: Any) -> None:
    value.double()
    value.float().train()
    value.eval().state_dict()
    a, b, numbers = m.ones(2, 2), m.ones(3, 1, 4), m.tensor([0, 1])
    images = [(m.ones(1, 2, *[4] * n),) for n in (1, 2, 3)]
    for inputs in (
        *images,
        (m.ones(3, 2),),
        (m.ones(3, 3),),
        (m.ones(1, 1),),
        (b,),
        (b, b),
        (b, b, b),
        (a, a),
        (a, a, a),
        (numbers,),
        (m.ones(2, 3), numbers),
        (a, numbers),
    ):
        try:
            value(*inputs)
            return
        except Exception as error:
            last = error
    raise last


USES = {
    "dist": distribution,
    "sched": schedule,
    "optim": optimizer,
    "transform": transform,
    "data": sampled,
}


def said(m: Any, name: str, get: Any) -> str:
    """What happens when the object is used."""
    try:
        value = get()
        use = module if isinstance(value, m.nn.Module) else USES.get(name.split(".")[0])
        if use:
            use(m, name, value)
        return "works" if repr(value) else ""
    except Exception as error:
        return type(error).__name__


def check(name: str, recipe: str, source: Any, target: Any, lost: str = "") -> str | None:
    def through() -> Any:
        value = exchanged.made(source, recipe)
        if lost:
            del vars(value)[lost]
        file = exchanged.written(source, exchanged.whole(value))
        return target.load(io.BytesIO(file), weights_only=False)["value"]

    wanted = said(target, name, lambda: exchanged.made(target, recipe))
    found = said(target, name, through)
    return None if found == wanted else f"{name} to {target.__name__}: {found}, wanted {wanted}"


def main() -> int:
    warnings.simplefilter("ignore")
    objects = exchanged.read()[0]
    bad = []
    for name, entry in objects.items():
        for source, target in ((libdl, torch), (torch, libdl)):
            difference = check(name, entry["make"], source, target)
            if difference and name not in LOST_BY_PYTORCH:
                bad.append(difference)
    spoilt = check("nn.Linear", objects["nn.Linear"]["make"], libdl, torch, "_modules")
    if spoilt is None:
        bad.append("an object without its submodules was not found")
    print("\n".join(bad) or f"objects: {len(objects)} work in both directions")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
