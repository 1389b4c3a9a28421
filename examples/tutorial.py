# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md as one program: from the first tensor to a trained and saved network.

    python examples/tutorial.py

It writes its pictures and the network's parameters into the folder where it runs.
"""

# A reader who meets gradients for the first time is not bothered with their being optional.
# mypy: disable-error-code="index,operator,arg-type,assignment,no-any-return,no-untyped-def"
# mypy: disable-error-code="no-untyped-call,misc,import-untyped"
# -- tensors ---------------------------------------------------------------------------------------
import libdl

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
x = libdl.linspace(-4, 4, 81, requires_grad=True)
y = x.tanh()
y.sum().backward()
slope = x.grad
print(slope[40].item(), slope[0].item())

import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(5, 3))
axes.plot(x.detach(), y.detach(), label="tanh(x)")
axes.plot(x.detach(), slope, label="its gradient")
axes.legend()
figure.savefig("tanh.png", dpi=80)

# -- a line through points -------------------------------------------------------------------------
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
from libdl import nn


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.classes = nn.Linear(64 * 6 * 6, 10)
    def forward(self, images):
        return self.classes(self.features(images).flatten(1))


network = Digits()
print(sum(p.numel() for p in network.parameters()), "parameters")

# Rows and columns of each segment, by the letters that such displays have, and what a digit lights.
SEGMENTS = {
    "a": (0, 1, 0, 5), "g": (3, 4, 0, 5), "d": (6, 7, 0, 5),
    "f": (0, 4, 0, 1), "b": (0, 4, 4, 5), "e": (3, 7, 0, 1), "c": (3, 7, 4, 5),
}
LIT = ["abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg"]


def picture(digit):
    shape = libdl.zeros(7, 5)
    for segment in LIT[digit]:
        top, bottom, left, right = SEGMENTS[segment]
        shape[top:bottom, left:right] = 1
    image = 0.2 * libdl.randn(1, 12, 12)
    y, x = libdl.randint(1, 5, (2,)).tolist()
    image[0, y : y + 7, x : x + 5] += shape
    return image


from libdl.utils.data import DataLoader, TensorDataset, random_split

labels = libdl.randint(0, 10, (2000,))
images = libdl.stack([picture(digit) for digit in labels.tolist()])
training, held_out = random_split(TensorDataset(images, labels), [0.8, 0.2])

loader = DataLoader(training, batch_size=32, shuffle=True)
optimizer = libdl.optim.Adam(network.parameters(), lr=1e-3)
losses = []
for epoch in range(5):
    for x, y in loader:
        loss = nn.functional.cross_entropy(network(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: {sum(losses[-50:]) / 50:.2f}")

figure, axes = plt.subplots(figsize=(5, 3))
axes.semilogy(losses)
axes.set(xlabel="step", ylabel="loss")
figure.savefig("loss.png", dpi=80, bbox_inches="tight")


@libdl.no_grad()
def accuracy(network):
    network.eval()
    x, y = next(iter(DataLoader(held_out, batch_size=len(held_out))))
    return (network(x).argmax(1) == y).float().mean().item()


print(f"right: {accuracy(network):.0%}")

figure, frames = plt.subplots(1, 8, figsize=(8, 1.3))
for i, frame in enumerate(frames):
    image, label = held_out[i]
    frame.imshow(image[0], cmap="gray_r")
    frame.set(title=network(image.unsqueeze(0)).argmax().item(), xticks=[], yticks=[])

figure.savefig("digits.png", dpi=80, bbox_inches="tight")

# -- saved, and loaded again -----------------------------------------------------------------------
libdl.save(network.state_dict(), "digits-network.safetensors")
again = Digits()
again.load_state_dict(libdl.load("digits-network.safetensors"))
print(f"loaded: {accuracy(again):.0%}")
