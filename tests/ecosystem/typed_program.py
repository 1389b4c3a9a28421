# SPDX-License-Identifier: Apache-2.0
"""A user's program with types. It is run, and read by mypy --strict and by pyright."""

from typing import Any, assert_type

import libdl as torch
import libdl.distributed as dist
import libdl.nn.functional as F
from libdl import Tensor, nn
from libdl.jit import is_scripting
from libdl.utils.data import DataLoader, Dataset, TensorDataset


class Net(nn.Module):
    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.head = nn.Linear(width, 3)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.norm(self.conv(x)))
        return self.scale * F.linear(F.adaptive_avg_pool2d(x, 1).flatten(1), self.head.weight)


class Squares(Dataset[tuple[Tensor, int]]):
    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return torch.tensor(float(index)), index**2


class Exponential(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        y: Tensor = ctx.saved_tensors[0]
        return gradient * y


def train() -> list[float]:
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = Net().to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 2)
    images, labels = torch.randn(8, 1, 4, 4), torch.randint(0, 3, (8,))
    loader = DataLoader(TensorDataset(images, labels), batch_size=4, shuffle=True)
    losses: list[float] = []
    for _ in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x.to(device)), y.to(device))
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        schedule.step()
    net.eval()
    with torch.no_grad():
        scores: Tensor = net(images.to(device))
        values, indices = scores.softmax(dim=-1).max(dim=1)
    assert_type(values, Tensor)
    assert values.shape == indices.shape
    return losses


def tensors() -> None:
    a = torch.arange(12).reshape(3, 4)
    a[0], a[:, 1] = 5, a[:, 1] + 2
    rows, columns = a.shape
    parts = [a[1:, ::2], a[a > 3], a[..., None], a[torch.tensor([0, 2])], a.T @ a, 1 - a, ~(a > 0)]
    for part in parts:
        assert_type(part, Tensor)
    assert_type(a == 1, Tensor)
    assert_type(a.sum(dim=0, keepdim=True), Tensor)
    assert_type(torch.max(a, 1).values, Tensor)
    assert_type(torch.where(a > 2, a, torch.zeros_like(a)), Tensor)
    assert_type(torch.stack([torch.cat((a, a))]), Tensor)
    assert_type(float(a[0, 0]) + rows * columns, float)
    first, second = torch.linspace(0, 1, 4).split(2)
    assert (first < second).all()
    for row in a:
        assert row.size(0) == len(row) == 4


def gradients() -> None:
    w = torch.ones(3, requires_grad=True)
    y: Tensor = Exponential.apply(w)
    y.sum().backward()
    assert_type(w.grad, Tensor | None)
    if w.grad is not None:
        assert w.grad.norm() > 0
    (gradient,) = torch.autograd.grad((w * w).sum(), w)
    assert_type(gradient, Tensor)
    assert torch.func.vmap(torch.sin)(w).shape == (3,)


def modules() -> None:
    def hook(module: nn.Module, inputs: Any, output: Any) -> None:
        seen.append(type(module).__name__)

    seen: list[str] = []
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.LSTM(3, 4))
    handle = net[0].register_forward_hook(hook)
    out, (h, c) = net(torch.ones(5, 2))
    handle.remove()
    assert seen == ["Linear"] and out.shape == (5, 4) and h.shape == c.shape
    nn.init.xavier_uniform_(net[0].weight)
    for name, parameter in net.named_parameters():
        assert_type(name, str)
        parameter.requires_grad_(False)
    assert isinstance(net.state_dict()["0.weight"], Tensor)
    assert Squares()[3][1] == 9


def words() -> None:
    assert_type(is_scripting(), bool)
    assert_type(torch.compiler.is_compiling(), bool)
    assert not dist.is_available()


if __name__ == "__main__":
    assert len(train()) == 4
    tensors()
    gradients()
    modules()
    words()
