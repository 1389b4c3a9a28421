# SPDX-License-Identifier: Apache-2.0
"""Whole objects in tests/io/torch_files: each function makes one, `m` being torch or libdl. PyTorch
2.15 wrote the files, which load with weights_only=False alone:

    python tests/io/torch_objects.py"""

from pathlib import Path

FOLDER = Path(__file__).parent / "torch_files"


def filled(m, net):
    """Small numbers in place of random ones."""
    with m.no_grad():
        for i, x in enumerate(net.parameters()):
            x.copy_(((m.arange(x.numel()) % 5 - 2.0) / (i + 2)).reshape(x.shape))
    return net.eval()


def linear(m):
    n = m.nn
    return filled(m, n.Sequential(n.Linear(4, 3), n.BatchNorm1d(3), n.ReLU(), n.LayerNorm(3)))


def convolution(m):
    n = m.nn
    return filled(
        m,
        n.Sequential(
            n.Conv2d(1, 2, 3, padding=1),
            n.BatchNorm2d(2),
            n.MaxPool2d(2),
            n.Flatten(),
            n.Linear(8, 2),
            n.GELU(),
        ),
    )


def encoder(m):
    layer = m.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    return filled(m, m.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False))


def tied(m):
    net = m.nn.ModuleDict({"a": m.nn.Linear(2, 2), "b": m.nn.Linear(2, 2)})
    net["b"].weight = net["a"].weight
    net["a"].weight.note = "kept"
    return filled(m, net)


def training(m):
    net = filled(m, m.nn.Linear(2, 1))
    optimizer = m.optim.SGD(net.parameters(), lr=0.5, momentum=0.5)
    net(m.ones(1, 2)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    return {"net": net, "optimizer": optimizer}


OBJECTS = {f.__name__: f for f in (linear, convolution, encoder, tied, training)}
INPUTS = {"linear": (2, 4), "convolution": (1, 1, 4, 4), "encoder": (1, 3, 4)}


def said_by(m, name, found):
    """What the object does, as plain values."""
    if name == "training":
        net, optimizer = found["net"], found["optimizer"]
        net(m.ones(1, 2)).sum().backward()
        optimizer.step()
        return [x.tolist() for x in net.parameters()]
    if name == "tied":
        weight = found["a"].weight
        return found["b"].weight is weight, weight.note, weight.tolist(), weight.requires_grad
    shape = INPUTS[name]
    count = 1
    for size in shape:
        count *= size
    x = (m.arange(float(count)) / count).reshape(shape)
    return [round(value, 4) for value in found(x).flatten().tolist()]


if __name__ == "__main__":
    import torch

    FOLDER.mkdir(exist_ok=True)
    for name, make in OBJECTS.items():
        torch.save(make(torch), FOLDER / f"{name}_object.pt")
