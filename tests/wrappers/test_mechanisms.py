# SPDX-License-Identifier: Apache-2.0
"""What LIBDL_DISABLE leaves out is left out, and changes no bit."""

import os
import subprocess
import sys

PROGRAM = """
import warnings
import libdl
from libdl import nn, optim

g = libdl.Generator().manual_seed(1)
table = nn.Parameter(libdl.randn(3000, 16, generator=g))
layer = nn.Parameter(libdl.randn(80, 16, generator=g) / 4)
optimizer = optim.Adam([table, layer], 0.01)
warnings.simplefilter("always")
with warnings.catch_warnings(record=True) as told, libdl.check_copies():
    for step in range(3):
        optimizer.zero_grad()
        for turn in range(3):
            places = libdl.randint(0, 3000, (90,), generator=g)
            (nn.functional.embedding(places, table) @ layer.T).square().mean().backward()
            if turn < 2:
                table.grad = layer.grad = None
        optimizer.step()
print(sorted({str(w.message).split(":")[0] for w in told}))
block = libdl.empty(1 << 24)
held = libdl._C.memory_statistics(libdl.device("cpu"))["reserved"]
del block
print(libdl._C.memory_statistics(libdl.device("cpu"))["reserved"] == held)
print(float(table.double().sum()).hex(), float(layer.double().sum()).hex())
"""


def run(disabled):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        env=os.environ | {"LIBDL_DISABLE": disabled},
        check=True,
    )
    return done.stdout.splitlines()


def test_each_name_leaves_out_its_mechanism_and_changes_no_bit():
    kinds, cached, bits = run("")
    assert (kinds, cached) == ("['matmul']", "True")
    assert run("sparse_rows") == ["['matmul']", "True", bits]
    assert run("panels") == ["[]", "True", bits]
    assert run("allocator") == ["['matmul']", "False", bits]
    assert run("panels,none,sparse_rows") == ["[]", "True", bits]


LAYERS = """
import warnings
import libdl
from libdl import nn

def weights(*shape):
    return libdl.randn(*shape, generator=libdl.Generator().manual_seed(sum(shape))) / 8

x, w, v = weights(3, 8, 9, 9), weights(24, 8, 3, 3), weights(8, 24, 3, 3)
for leaf in x, w, v:
    leaf.requires_grad_()
warnings.simplefilter("always")
with warnings.catch_warnings(record=True) as told, libdl.check_copies():
    y = nn.functional.batch_norm(nn.functional.conv2d(x, w), None, None, training=True)
    y = nn.functional.conv2d(nn.functional.relu(y), v)
    y.square().mean().backward()
print(len(told))
print([float(t.double().sum()).hex() for t in (y.detach(), x.grad, w.grad, v.grad)])
"""


def test_images_go_from_layer_to_layer_as_they_are_and_without_that_with_the_same_bits():
    def layers(disabled):
        done = subprocess.run(
            [sys.executable, "-c", LAYERS],
            capture_output=True,
            text=True,
            env=os.environ | {"LIBDL_DISABLE": disabled},
            check=True,
        )
        conversions, bits = done.stdout.splitlines()
        return int(conversions), bits

    few, bits = layers("")
    many, others = layers("forms")
    assert few < many and bits == others
    assert layers("fusion") == (few, bits)
