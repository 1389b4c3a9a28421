# SPDX-License-Identifier: Apache-2.0
"""Changes a network as a graph: folds batch normalisations into the convolutions before them,
replaces a pattern of calls, and watches the calls that remain."""

from collections import Counter
from typing import Any

import libdl
from libdl import fx, nn
from libdl.nn.utils.fusion import fuse_conv_bn_eval
from libdl.overrides import TorchFunctionMode, resolve_name


class Block(nn.Module):
    """relu(norm(conv(x)) + x), scaled."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x: libdl.Tensor) -> libdl.Tensor:
        return libdl.relu(self.norm(self.conv(x)) + x) * 0.5


def fused(network: nn.Module) -> fx.GraphModule:
    """The network in evaluation without normalisations behind convolutions."""
    traced = fx.symbolic_trace(network)
    modules = dict(traced.named_modules())
    for node in traced.graph.find_nodes(op="call_module"):
        before = node.args[0]
        if not isinstance(modules[node.target], nn.BatchNorm2d) or len(before.users) > 1:
            continue
        convolution = modules[before.target]
        if isinstance(convolution, nn.Conv2d):
            traced.set_submodule(
                before.target, fuse_conv_bn_eval(convolution, modules[node.target])
            )
            node.replace_all_uses_with(before)
            traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()
    return traced


class Count(TorchFunctionMode):
    """How often each function is called in the program."""

    def __init__(self) -> None:
        self.calls: Counter[str | None] = Counter()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls[resolve_name(func)] += 1
        return func(*args, **(kwargs or {}))


def activation(x: libdl.Tensor) -> libdl.Tensor:
    return libdl.relu(x) * 0.5


def half(x: libdl.Tensor) -> libdl.Tensor:
    return libdl.clamp(x * 0.5, min=0)


libdl.manual_seed(0)
network = nn.Sequential(Block(4), Block(4)).eval()
x = libdl.randn(2, 4, 8, 8)

smaller = fused(network)
replaced = fx.replace_pattern(smaller, activation, half)
print(smaller.code.strip())
print("replaced:", len(replaced))
print("equal:", libdl.allclose(network(x), smaller(x), atol=1e-5))
for name, net in (("before", network), ("after", smaller)):
    with Count() as count:
        net(x)
    print(name, dict(count.calls))
