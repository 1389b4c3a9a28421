# SPDX-License-Identifier: Apache-2.0
"""A training that stops, and goes on from a checkpoint that PyTorch can load, too.

python examples/checkpoints.py [FOLDER]
"""

import io
import pickle
import sys
import tempfile
import zipfile
from pathlib import Path

import libdl
from libdl import nn, optim


def make() -> tuple[nn.Module, optim.Optimizer]:
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    return net, optim.Adam(net.parameters(), lr=0.05)


def train(net: nn.Module, optimizer: optim.Optimizer, steps: int) -> float:
    x = libdl.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    last = 0.0
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (net(x)[:, 0] - (x[:, 0] - x[:, 1]).abs()).square().mean()
        loss.backward()
        optimizer.step()
        last = loss.item()
    return last


def save(path: Path, net: nn.Module, optimizer: optim.Optimizer, epoch: int) -> None:
    state = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    # torch.load(path) reads it; without format: safetensors
    libdl.save(state, path, format="torch")


def resume(path: Path) -> tuple[nn.Module, optim.Optimizer]:
    state = libdl.load(path, mmap=True)
    net, optimizer = make()
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])
    return net, optimizer


class Evil:
    """What a file of a stranger may hold: a call that unpickling makes."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("the file's code runs",)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    libdl.manual_seed(0)
    net, optimizer = make()
    train(net, optimizer, 50)
    save(folder / "half.pt", net, optimizer, 50)
    whole = train(net, optimizer, 50)
    print("loss of the whole training:", whole)
    print("resumed from a file, equal:", train(*resume(folder / "half.pt"), 50) == whole)

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Evil(), 2))
        archive.writestr("archive/version", "3\n")
    file.seek(0)
    try:
        libdl.load(file)
    except libdl.Error as error:
        print(error)


if __name__ == "__main__":
    main()
