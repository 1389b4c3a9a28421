# SPDX-License-Identifier: Apache-2.0
"""ModuleTracker: which modules run. The answers are PyTorch's."""

import libdl as torch
from libdl import nn
from libdl.utils.module_tracker import ModuleTracker


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(2, 2)
        self.m = nn.Sequential(nn.Linear(2, 2), nn.ReLU())

    def forward(self, x):
        return self.m(self.l(x))


def test_parents_in_both_directions():
    net, seen = Net(), []
    x = torch.ones(1, 2, requires_grad=True)
    with ModuleTracker() as tracker:

        def note(name):
            seen.append((name, sorted(tracker.parents), tracker.is_bw))

        for name, module in net.named_modules():
            module.register_forward_hook(lambda *_, name=name: note(name))
        y = net(x)
        for name, tensor in (("y", y), ("m0.w", net.m[0].weight), ("x", x), ("l.w", net.l.weight)):
            tensor.register_hook(lambda _, name=name: note(name))
        y.sum().backward()
        note("after")
    assert tracker.parents == {"Global"}
    assert dict((name, told) for name, *told in seen) == {
        "l": [["Global", "Net"], False],
        "m.0": [["Global", "Net", "Net.m"], False],
        "m.1": [["Global", "Net", "Net.m"], False],
        "m": [["Global", "Net"], False],
        "": [["Global"], False],
        "y": [["Global", "Net", "Net.m", "Net.m.1"], True],
        "m0.w": [["Global", "Net", "Net.m", "Net.m.0"], True],
        "x": [["Global"], True],
        "l.w": [["Global"], True],
        "after": [["Global"], False],
    }


def test_a_failed_pass_leaves_nothing_behind():
    net = Net()
    with ModuleTracker() as tracker:
        y = net(torch.ones(1, 2, requires_grad=True))
        net.m[0].weight.register_hook(lambda _: 1 / 0)
        try:
            y.sum().backward()
        except ZeroDivisionError:
            pass
        assert tracker.parents == {"Global"} and not tracker.is_bw
    before = set(tracker.parents)
    net(torch.ones(1, 2))
    assert tracker.parents == before
