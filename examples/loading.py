# SPDX-License-Identifier: Apache-2.0
"""Batches loaded by two processes, augmented at random, and an epoch that goes on in its middle.

python examples/loading.py
"""

import libdl
from libdl import Tensor
from libdl.utils import data

SIZE = 12  # pixels


class Squares(data.Dataset[tuple[Tensor, int]]):
    """Pictures of a square, shifted at random; the label is its width."""

    def __len__(self) -> int:
        return 32

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        width = 2 + i % 4
        x, y = libdl.randint(0, SIZE - width, (2,)).tolist()
        picture = libdl.zeros(SIZE, SIZE)
        picture[y : y + width, x : x + width] = 1
        return picture, width


def make(workers: int) -> data.DataLoader[tuple[Tensor, int]]:
    return data.DataLoader(Squares(), batch_size=8, shuffle=True, num_workers=workers)


def main() -> None:
    libdl.manual_seed(1)
    loader = make(workers=2)
    batches = iter(loader)
    pictures, widths = next(batches)
    print("the first batch:", list(pictures.shape), "widths", widths.tolist())
    assert (pictures.sum((1, 2)) == widths**2).all()

    state = loader.state_dict()
    rest = [pictures for pictures, _ in batches]
    resumed = make(workers=0)
    resumed.load_state_dict(state)
    again = [pictures for pictures, _ in resumed]
    same = all(libdl.equal(a, b) for a, b in zip(rest, again, strict=True))
    print("resumed in another loader, without workers, equal:", same)


if __name__ == "__main__":
    main()
