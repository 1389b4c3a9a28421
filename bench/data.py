# SPDX-License-Identifier: Apache-2.0
"""libdl's DataLoader beside PyTorch's: samples a second, and what handing over a batch costs.

    python bench/data.py [--rounds N] [--only TEXT]

Epochs of both libraries alternate; the ratio is that of the medians, above 1 where libdl is faster.
"""

import argparse
import importlib
import io
import statistics
import time
from typing import Any

import numpy

LIBRARIES = ("libdl", "torch")


def rows(m: Any) -> Any:
    """Tensors in memory: 20,000 samples of 64 numbers and a label."""
    return m.utils.data.TensorDataset(m.ones(20_000, 64), m.arange(20_000))


class Images:
    """JPEGs that Pillow decodes."""

    def __init__(self, m: Any) -> None:
        from PIL import Image

        self.m, self.image = m, Image
        random = numpy.random.default_rng(1)
        pixels = random.integers(0, 255, (28, 28, 3), "uint8")
        file = io.BytesIO()
        Image.fromarray(pixels).resize((256, 256)).save(file, "JPEG")
        self.bytes = file.getvalue()

    def __len__(self) -> int:
        return 400

    def __getitem__(self, i: int) -> Any:
        pixels = numpy.array(self.image.open(io.BytesIO(self.bytes)))
        return self.m.from_numpy(pixels).permute(2, 0, 1).float() / 255


class Large:
    """Samples that need no work: 64 kB each, so that a batch of 64 has 4 MB."""

    def __init__(self, m: Any) -> None:
        self.sample = m.ones(16_384)

    def __len__(self) -> int:
        return 64 * 60

    def __getitem__(self, i: int) -> Any:
        return self.sample


class Slow:
    """Samples that wait for something else, such as a network."""

    def __init__(self, m: Any) -> None:
        self.sample = m.ones(100)

    def __len__(self) -> int:
        return 600

    def __getitem__(self, i: int) -> Any:
        time.sleep(0.001)
        return self.sample


class Records:
    """Dictionaries as of a tokenizer, 512 a batch: what a sample costs apart from its work."""

    size = 512

    def __init__(self, m: Any) -> None:
        self.tokens = m.arange(16)

    def __len__(self) -> int:
        return 512 * 20

    def __getitem__(self, i: int) -> Any:
        return {"input_ids": self.tokens, "attention_mask": self.tokens, "label": i, "weight": 0.5}


class Arrays(Records):
    """The same of NumPy's arrays and numbers, in tuples."""

    def __init__(self, m: Any) -> None:
        self.row = numpy.ones(16, numpy.float32)

    def __getitem__(self, i: int) -> Any:
        return (self.row, numpy.float32(i)), i


DATASETS = {
    "rows in memory": rows,
    "decoded JPEGs": Images,
    "batches of 4 MB": Large,
    "slow samples": Slow,
    "dictionaries": Records,
    "arrays in tuples": Arrays,
}


def epoch(loader: Any) -> tuple[float, float]:
    """Samples a second, and seconds until the first batch."""
    start = time.perf_counter()
    iterator = iter(loader)
    next(iterator)
    first = time.perf_counter()
    batches = 1 + sum(1 for _ in iterator)
    seconds = time.perf_counter() - first
    return loader.batch_size * (batches - 1) / seconds, first - start


def compare(name: str, workers: int, rounds: int) -> None:
    loaders = {}
    for library in LIBRARIES:
        m = importlib.import_module(library)
        data = importlib.import_module(f"{library}.utils.data")
        dataset = DATASETS[name](m)
        loaders[library] = data.DataLoader(
            dataset,
            batch_size=getattr(dataset, "size", 64),
            num_workers=workers,
            persistent_workers=workers > 0,
            drop_last=True,
        )
    rates: dict[str, list[float]] = {library: [] for library in LIBRARIES}
    firsts = {}
    for n in range(rounds + 1):
        for library, loader in loaders.items():
            rate, first = epoch(loader)
            if n == 0:
                firsts[library] = first  # workers start
            else:
                rates[library].append(rate)
    ours, theirs = (statistics.median(rates[library]) for library in LIBRARIES)
    print(
        f"{name:16} {workers} workers  libdl {ours:11,.0f}  PyTorch {theirs:11,.0f} samples/s  "
        f"ratio {ours / theirs:5.2f}   first batch {firsts['libdl']:.2f} and "
        f"{firsts['torch']:.2f} s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5, help="epochs of each library (5)")
    parser.add_argument("--only", default="", help="datasets whose names contain this text (all)")
    arguments = parser.parse_args()
    rounds = arguments.rounds
    for name in (name for name in DATASETS if arguments.only in name):
        for workers in (0, 1, 2):
            try:
                compare(name, workers, rounds)
            except ImportError as error:
                print(f"{name}: not measured, {error}")
                break


if __name__ == "__main__":
    main()
