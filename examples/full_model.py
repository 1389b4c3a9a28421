# SPDX-License-Identifier: Apache-2.0
"""Listing 1 of the PyTorch paper (NeurIPS 2019), a layer of one's own in a convolutional model,
trained on handwritten digits.

    python examples/full_model.py [data/digits.safetensors]

The two classes are the paper's, with one addition: as printed, forward() has no flatten between the
images of the convolution and the matrix of the linear layer. With `import torch` it runs on PyTorch
(which needs safetensors.torch.load_file for the data).
"""

# As in the paper, functions have no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import sys

import libdl as torch
from libdl import nn, optim
from libdl.nn import Module

try:
    from tqdm import tqdm, trange

    tell = tqdm.write
except ImportError:  # no bar, plain lines
    trange, tell = range, print


class LinearLayer(Module):
    def __init__(self, in_sz, out_sz):
        super().__init__()
        t1 = torch.randn(in_sz, out_sz)
        self.w = nn.Parameter(t1)
        t2 = torch.randn(out_sz)
        self.b = nn.Parameter(t2)

    def forward(self, activations):
        t = torch.mm(activations, self.w)
        return t + self.b


class FullBasicModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 128, 3)
        self.fc = LinearLayer(128, 10)

    def forward(self, x):
        t1 = self.conv(x)
        t2 = nn.functional.relu(t1)
        t3 = self.fc(t2.flatten(1))  # the paper: self.fc(t2)
        return nn.functional.softmax(t3)


def main() -> None:
    data = torch.load(sys.argv[1] if len(sys.argv) > 1 else "data/digits.safetensors")
    # The convolution leaves one pixel of 3 x 3, which makes the 128 features of LinearLayer.
    images = nn.functional.adaptive_avg_pool2d(data["images"].view(-1, 1, 8, 8), 3)
    labels = data["labels"]
    held_out = torch.arange(len(labels)) % 5 == 0

    torch.manual_seed(0)
    model = FullBasicModel()
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    x, y = images[~held_out], labels[~held_out]
    for epoch in trange(30):
        order = torch.randperm(len(y))
        for batch in order.split(48):
            probabilities = model(x[batch])
            loss = nn.functional.nll_loss(probabilities.clamp(min=1e-6).log(), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 5 == 4:
            tell(f"epoch {epoch}  loss {loss.item():.4f}")

    with torch.no_grad():
        right = model(images[held_out]).argmax(1) == labels[held_out]
    print(f"held out: {100 * right.float().mean().item():.2f} % from nine numbers an image")


if __name__ == "__main__":
    main()
