# SPDX-License-Identifier: Apache-2.0
"""Trains a small network on handwritten digits: 64 pixels -> 64 -> 10 classes, with Adam.

    python examples/digits.py [--device cuda] [data/digits.safetensors]

examples/digits.c is the same program in C; both print the same losses, to the last bit. With
`import torch as libdl` it runs on PyTorch.
"""

import argparse

import libdl
from libdl import Tensor, nn

try:
    from tqdm import tqdm, trange

    tell = tqdm.write
except ImportError:  # no bar, plain lines
    trange, tell = range, print

EPOCHS, BATCH, PIXELS, HIDDEN, CLASSES = 40, 48, 64, 64, 10


def load(path: str) -> dict[str, Tensor]:
    if libdl.__name__ == "torch":
        from safetensors.torch import load_file

        tensors: dict[str, Tensor] = load_file(path)
    else:
        tensors = libdl.load(path)
    return tensors


def scattered(*shape: int, bound: float) -> nn.Parameter:
    """2 bound fract(43758.5453 (12.9898 i mod 3.14159265)) - bound: the same in every language."""
    count = 1
    for size in shape:
        count *= size
    x = libdl.arange(count, dtype=libdl.float64) * 12.9898 % 3.14159265 * 43758.5453 % 1.0
    return nn.Parameter((x * (2 * bound) - bound).to(libdl.float32).view(shape))


def make_network() -> nn.Sequential:
    network = nn.Sequential(nn.Linear(PIXELS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES))
    for layer in (network[0], network[2]):
        layer.weight = scattered(*layer.weight.shape, bound=0.125)  # 1 / sqrt(64), for both layers
        layer.bias = scattered(*layer.bias.shape, bound=0.125)
    return network


def main() -> None:
    arguments = argparse.ArgumentParser(description="Trains a small network on handwritten digits.")
    arguments.add_argument("--device", default="cpu", help="cpu, cuda or cuda:1")
    arguments.add_argument("data", nargs="?", default="data/digits.safetensors")
    chosen = arguments.parse_args()
    libdl.set_default_device(chosen.device)
    data = load(chosen.data)
    images, labels = data["images"].to(chosen.device), data["labels"].to(chosen.device)

    # Image i is held out if i is divisible by 5.
    train = [i for i in range(len(images)) if i % 5]
    test = [i for i in range(len(images)) if i % 5 == 0]

    network = make_network()
    optimizer = libdl.optim.Adam(network.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()

    for epoch in trange(EPOCHS):
        order = [train[(563 * k + 97 * epoch) % len(train)] for k in range(len(train))]
        losses = []
        for k in range(0, len(order), BATCH):
            batch = libdl.tensor(order[k : k + BATCH])
            loss = criterion(network(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        mean = sum(losses) / len(losses)
        tell(f"epoch {epoch:2}  loss {mean.hex()}  ({mean:.6f})")

    with libdl.no_grad():
        guess = network(images[libdl.tensor(test)]).argmax(dim=1)
    right = int((guess == labels[libdl.tensor(test)]).sum())
    print(f"held out: {100 * right / len(test):.2f} %")


if __name__ == "__main__":
    main()
