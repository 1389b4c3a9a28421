# SPDX-License-Identifier: Apache-2.0
"""DLPack both ways on the device: the memory is one, the streams are ordered, and whoever keeps a
tensor keeps its memory. What each library makes is checked by the other."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from part import Part

DTYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "bool",
    "complex64",
    "complex128",
)
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda x: x,
    "transposed": lambda x: x.t(),
    "every second column": lambda x: x[:, ::2],
    "from the third row": lambda x: x[2:],
    "one element": lambda x: x[1, 1],
    "empty": lambda x: x[:0],
}


class Way:
    """From one library to the other."""

    def __init__(self, part: Part, maker: Any, taker: Any, name: str) -> None:
        self.part, self.maker, self.taker, self.name = part, maker, taker, name

    def expect(self, holds: bool, what: str) -> None:
        self.part.expect(holds, f"{self.name}: {what}")

    def grid(self, dtype: str) -> Any:
        numbers = self.maker.arange(35, device="cuda").reshape(5, 7) % 100
        return numbers.to(getattr(self.maker, dtype))

    def layouts(self) -> None:
        for dtype in DTYPES:
            for name, lay in LAYOUTS.items():
                x = lay(self.grid(dtype))
                y = self.taker.from_dlpack(x)
                what = f"{dtype}, {name}"
                self.expect(str(y.dtype).split(".")[-1] == dtype, f"{what}: became {y.dtype}")
                self.expect(tuple(y.shape) == tuple(x.shape), f"{what}: shape {tuple(y.shape)}")
                self.expect(y.numel() == 0 or y.data_ptr() == x.data_ptr(), f"{what}: was copied")
                self.expect(y.cpu().tolist() == x.cpu().tolist(), f"{what}: other values")

    def writes(self) -> None:
        """One memory: what the taker writes, the maker sees."""
        x = self.grid("float32")
        y = self.taker.from_dlpack(x)
        y.mul_(2)
        self.taker.cuda.synchronize()
        self.expect(
            x.cpu().tolist() == (self.grid("float32") * 2).cpu().tolist(), "a write is not seen"
        )

    def lives_on(self) -> None:
        """The maker's tensor goes first, and others take what memory is free."""
        x = self.maker.full((1000,), 7.0, device="cuda")
        y = self.taker.from_dlpack(x)
        del x
        gc.collect()
        others = [self.maker.full((1000,), float(i), device="cuda") for i in range(20)]
        self.maker.cuda.synchronize()
        self.expect(y.min().item() == y.max().item() == 7.0, "another tensor has got the memory")
        del others

    def ordered(self, side: int, depth: int) -> None:
        """The maker's stream is still at work when another stream is given the tensor: by
        from_dlpack, for the taker's current one, or by a capsule that was made for it."""
        making, taking = self.maker.cuda.Stream(), self.taker.cuda.Stream()
        # One library, which a rehearsal has on both sides, has one current stream.
        ways = ["capsule", "from_dlpack"] if self.maker is not self.taker else ["capsule"]
        for way in ways * 5:
            with self.maker.cuda.stream(making):
                x = self.maker.zeros(side, side, device="cuda")
                for _ in range(depth):
                    x = x + 1
                given = x if way == "from_dlpack" else x.__dlpack__(stream=taking.cuda_stream)
                with self.taker.cuda.stream(taking):
                    y = self.taker.from_dlpack(given) * 2
                    least, most = y.min().item(), y.max().item()
            self.expect(
                least == most == 2 * depth, f"{way}: between {least} and {most}, wanted {2 * depth}"
            )

    def gradient(self) -> None:
        """Through a tensor of the other library, as a leaf of this one."""
        x = self.taker.from_dlpack(self.grid("float32")).detach().requires_grad_()
        (x * x).sum().backward()
        self.expect(
            x.grad.cpu().tolist() == (self.grid("float32") * 2).cpu().tolist(),
            "a gradient is wrong",
        )


def main() -> None:
    part = Part()
    torch, told = part.torch()
    if not torch:
        part.not_run(told)
    import libdl

    ways = [(libdl, torch, "libdl to PyTorch"), (torch, libdl, "PyTorch to libdl")]
    side, depth = (8, 5) if part.rehearsal else (4096, 200)
    for maker, taker, name in ways:
        way = Way(part, maker, taker, name)
        for check in (
            way.layouts,
            way.writes,
            way.lives_on,
            lambda: way.ordered(side, depth),
            way.gradient,
        ):
            try:
                check()
            except Exception as e:
                way.expect(False, f"{type(e).__name__}: {e}")
            part.write(beside=told)
    part.write(
        f"{len(DTYPES)} dtypes in {len(LAYOUTS)} layouts, both ways, order of streams and "
        f"lifetime: {part.found['failed']} failures"
    )


if __name__ == "__main__":
    main()
