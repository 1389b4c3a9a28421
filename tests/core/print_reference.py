# SPDX-License-Identifier: Apache-2.0
"""Writes print_reference.safetensors: small tensors, and as metadata how PyTorch prints them.

    python tests/core/print_reference.py      (needs torch and numpy)

Names end in the print options: precision, threshold, edgeitems, linewidth, sci_mode.
"""

import json
import pathlib
import random
import struct

import numpy as np
import torch

FLOATS = {
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.float32: "F32",
    torch.float64: "F64",
    torch.complex64: "C64",
}
INTEGERS = {
    torch.uint8: "U8",
    torch.uint16: "U16",
    torch.uint32: "U32",
    torch.uint64: "U64",
    torch.int8: "I8",
    torch.int16: "I16",
    torch.int32: "I32",
    torch.int64: "I64",
}
NAMES = FLOATS | INTEGERS | {torch.bool: "BOOL"}
SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0]


def reals(count: int) -> torch.Tensor:
    x = torch.randn(count, dtype=torch.float64)
    match random.choice(["plain", "whole", "large", "small", "wide"]):
        case "whole":
            x = torch.round(x * random.choice([1, 10, 400]))
        case "large":
            x *= 10.0 ** random.randint(0, 12)
        case "small":
            x *= 10.0 ** -random.randint(0, 9)
        case "wide":
            x *= 10.0 ** torch.randint(-5, 6, (count,)).double()
    if count and random.random() < 0.3:
        x[random.randrange(count)] = random.choice(SPECIAL)
    return x


def elements(dtype: torch.dtype, count: int) -> torch.Tensor:
    if dtype == torch.bool:
        return torch.rand(count) > 0.5
    if dtype.is_complex:
        return torch.complex(reals(count), reals(count)).to(dtype)
    if dtype in FLOATS:
        return reals(count).to(dtype)
    limits = torch.iinfo(dtype)
    high = min(random.choice([1, 10, 100, limits.max]), limits.max)
    low = max(limits.min, -high)
    name = str(dtype).removeprefix("torch.")
    return torch.from_numpy(np.random.randint(low, high, size=count, dtype=name))


def options() -> dict:
    if random.random() < 0.5:
        return dict(precision=4, threshold=1000, edgeitems=3, linewidth=80, sci_mode=None)
    return dict(
        precision=random.choice([0, 1, 2, 4, 6]),
        threshold=random.choice([0, 5, 20, 1000]),
        edgeitems=random.choice([0, 1, 2, 3, 5]),
        linewidth=random.choice([10, 40, 80, 120]),
        sci_mode=random.choice([None, None, True, False]),
    )


def main() -> None:
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    header, texts, data = {}, {}, b""
    for case in range(400):
        ndim = random.choice([0, 1, 1, 2, 2, 3])
        shape = [random.choice([0, 1, 1, 2, 3, 5, 8, 11]) for _ in range(ndim)]
        if case % 80 == 79:
            shape = [2, 501]
        dtype = random.choice(list(NAMES))
        x = elements(dtype, int(np.prod(shape))).reshape(shape)
        if x.numel() > 250 and case % 80 != 79:
            continue
        chosen = options()
        torch.set_printoptions(**chosen)
        chosen["sci_mode"] = {None: 0, True: 1, False: -1}[chosen["sci_mode"]]
        name = ",".join(str(number) for number in [case, *chosen.values()])
        raw = bytes(x.reshape(-1).view(torch.uint8).tolist()) if x.numel() else b""
        header[name] = {
            "dtype": NAMES[dtype],
            "shape": shape,
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
        texts[name] = repr(x)
    text = json.dumps({"__metadata__": texts} | header).encode()
    path = pathlib.Path(__file__).with_suffix(".safetensors")
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    print(
        f"{path.name}: {len(texts)} tensors, {path.stat().st_size} bytes, torch {torch.__version__}"
    )


if __name__ == "__main__":
    main()
