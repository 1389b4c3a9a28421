# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md as one program: from the first tensor to a trained and saved network.

    python examples/tutorial.py [data/digits.safetensors [folder for pictures and the checkpoint]]

It draws its pictures if matplotlib is installed.
"""

# A reader who meets gradients for the first time is not bothered with their being optional.
# mypy: disable-error-code="index,operator,arg-type,assignment,no-any-return"
import sys
from pathlib import Path
from typing import Any

import libdl
from libdl import Tensor, nn
from libdl.utils.data import DataLoader, TensorDataset, random_split

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

DATA = Path(sys.argv[1] if len(sys.argv) > 1 else "data/digits.safetensors")
FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else ".")


# -- tensors ---------------------------------------------------------------------------------------


def tensors() -> None:
    x = libdl.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    print(x.shape, x.dtype)
    print(x * 10 + libdl.tensor([1.0, 2.0, 3.0]))

    row = x[1]
    row *= 2
    print(x)

    import numpy

    a = numpy.arange(4.0)
    shared = libdl.from_numpy(a)
    a[0] = 7
    print(shared.tolist())


# -- gradients -------------------------------------------------------------------------------------


def gradients() -> None:
    x = libdl.linspace(-4, 4, 81, requires_grad=True)
    y = x.tanh()
    y.sum().backward()
    slope = x.grad
    print(slope[40].item(), slope[0].item())

    if plt is not None:
        figure, axes = plt.subplots(figsize=(5, 3))
        axes.plot(x.detach(), y.detach(), label="tanh(x)")
        axes.plot(x.detach(), slope, label="its gradient")
        axes.legend()
        figure.savefig(FOLDER / "tanh.png", dpi=80)


# -- a line through points -------------------------------------------------------------------------


def line() -> None:
    libdl.manual_seed(0)
    x = libdl.rand(100)
    y = 3 * x - 1 + 0.1 * libdl.randn(100)

    w = libdl.zeros(1, requires_grad=True)
    b = libdl.zeros(1, requires_grad=True)
    for _ in range(200):
        loss = (w * x + b - y).square().mean()
        loss.backward()
        with libdl.no_grad():
            w -= 0.5 * w.grad
            b -= 0.5 * b.grad
        w.grad = b.grad = None
    print(f"y = {w.item():.2f} x + {b.item():.2f}")


# -- a network -------------------------------------------------------------------------------------


class Digits(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )  # fmt: skip
        self.classes = nn.Linear(64 * 4 * 4, 10)

    def forward(self, images: Tensor) -> Tensor:
        return self.classes(self.features(images).flatten(1))


def data() -> list[Any]:
    held = libdl.load(DATA)
    images = held["images"].view(-1, 1, 8, 8)
    every = TensorDataset(images, held["labels"])
    return random_split(every, [0.8, 0.2], libdl.Generator().manual_seed(0))


def train(network: nn.Module, images: Any) -> list[float]:
    loader = DataLoader(images, batch_size=32, shuffle=True)
    optimizer = libdl.optim.Adam(network.parameters(), lr=1e-3)
    losses = []
    for epoch in range(5):
        for x, y in loader:
            loss = nn.functional.cross_entropy(network(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: {sum(losses[-45:]) / 45:.2f}")
    return losses


@libdl.no_grad()
def accuracy(network: nn.Module, images: Any) -> float:
    network.eval()
    x, y = next(iter(DataLoader(images, batch_size=len(images))))
    return (network(x).argmax(1) == y).float().mean().item()


def draw(network: nn.Module, images: Any, losses: list[float]) -> None:
    figure, axes = plt.subplots(figsize=(5, 3))
    axes.semilogy(losses)
    axes.set(xlabel="step", ylabel="loss")
    figure.savefig(FOLDER / "loss.png", dpi=80, bbox_inches="tight")

    figure, frames = plt.subplots(1, 8, figsize=(8, 1.3))
    for frame, (image, _) in zip(frames, images):
        guess = network(image.unsqueeze(0)).argmax().item()
        frame.imshow(image[0], cmap="gray_r")
        frame.set(title=guess, xticks=[], yticks=[])
    figure.savefig(FOLDER / "digits.png", dpi=80, bbox_inches="tight")


def main() -> None:
    tensors()
    gradients()
    line()

    libdl.manual_seed(0)
    images, held_out = data()
    network = Digits()
    print(sum(p.numel() for p in network.parameters()), "parameters")
    losses = train(network, images)
    print(f"right: {accuracy(network, held_out):.1%}")
    if plt is not None:
        draw(network, held_out, losses)

    libdl.save(network.state_dict(), FOLDER / "digits-network.safetensors")
    again = Digits()
    again.load_state_dict(libdl.load(FOLDER / "digits-network.safetensors"))
    print(f"loaded: {accuracy(again, held_out):.1%}")


if __name__ == "__main__":
    main()
