# SPDX-License-Identifier: Apache-2.0
"""What stands in tests/io/torch_files: each function makes an object, `m` being torch or libdl.
PyTorch 2.15 wrote the files, and test_torch_files.py compares them with what libdl makes:

    python tests/io/torch_programs.py"""

from collections import Counter, OrderedDict
from pathlib import Path

FOLDER = Path(__file__).parent / "torch_files"
DTYPES = tuple(
    """
    bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64
    complex64 complex128
""".split()
)


def dtypes(m):
    return {name: m.tensor([0, 1, 5, 127]).to(getattr(m, name))[1:] for name in DTYPES}


def views(m):
    x = m.arange(24.0).reshape(2, 3, 4)
    return {
        "whole": x,
        "transposed": x.transpose(0, 2),
        "row": x[1, 2],
        "steps": x[:, ::2, 1::2],
        "element": x[1, 1, 1],
        "empty": x[:, :0],
        "expanded": x[0, 0, :1].expand(5, 1),
        "again": [x, x],
        "scalar": m.tensor(2.5),
        "none": m.zeros(0),
        "conjugate": m.tensor([1 + 2j, -1j]).conj(),
        "overlapping": x.as_strided((4, 3), (1, 1), 2),
    }


def parameters(m):
    p, frozen = m.nn.Parameter(m.ones(2)), m.nn.Parameter(m.zeros(3), requires_grad=False)
    p.rank, tagged = 3, m.ones(1)
    tagged.note = "of a tensor"
    leaf = m.ones(2, requires_grad=True)
    return OrderedDict(p=p, frozen=frozen, tied=p, tagged=tagged, leaf=leaf)


def module(m):
    net = m.nn.Sequential(m.nn.Linear(3, 2), m.nn.BatchNorm1d(2), m.nn.Linear(2, 2, bias=False))
    with m.no_grad():
        for i, x in enumerate(net.parameters()):
            x.copy_(m.arange(x.numel()).reshape(x.shape) + i)
    return net


def state_dict(m):
    return module(m).state_dict()


def training(m):
    net = module(m)
    optimizer = m.optim.SGD(
        [{"params": net[0].parameters(), "lr": 0.5}, {"params": net[2].parameters()}],
        lr=0.25,
        momentum=0.5,
    )
    schedule = m.optim.lr_scheduler.MultiStepLR(optimizer, [1, 3])
    net[2](net[0](m.ones(1, 3))).sum().backward()
    optimizer.step()
    schedule.step()
    return {"epoch": 1, "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}


def plain(m):
    shared = [1, 2]
    return {
        "numbers": [0, -1, 255, 256, 65536, -(1 << 31), 1 << 40, 1 << 70, -(1 << 63)],
        "floats": [0.0, -0.0, 1.5, float("inf"), -float("inf"), 1e-310],
        "complex": 1 - 2j,
        "truth": (True, False, None),
        "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
        "text": ["", "é", "a\0b"],
        "bytes": [b"", b"\0\xff", bytearray(b"ab")],
        "sets": {1, "a", (2, 3)},
        "counter": Counter("aab"),
        "ordered": OrderedDict(b=1, a=2),
        "size": m.Size([2, 3]),
        "device": m.device("cpu"),
        "dtypes": [m.float32, m.bfloat16],
        "same": [shared, shared],
        0: "an integer",
        "0": "a string",
        (1, "a"): "a tuple",
        None: "none",
        2.5: "a fraction",
        "layout": m.strided,
    }


def sparse(m):
    rows = m.arange(8.0).reshape(2, 4)
    return {"gradient": m.sparse_coo_tensor(m.tensor([[1, 3]]), rows, (5, 4)).coalesce()}


PROGRAMS = {f.__name__: f for f in (dtypes, views, parameters, state_dict, training, plain, sparse)}


# -- objects at random, not in files ---------------------------------------------------------------


def anything(m, random, depth=4):
    """Nested containers with values and tensors, some of them views of others, some twice."""
    pool = [m.arange(24.0), m.arange(12).to(m.bfloat16), m.arange(9, dtype=m.int64) > 3]

    def atom():
        return random.choice(
            (
                None,
                True,
                False,
                random.randint(-300, 300),
                random.getrandbits(90) - (1 << 89),
                random.random() * 1e10,
                complex(random.random(), -1),
                "é" * random.randint(0, 300),
                random.randbytes(random.choice((1, 2, 300))),
                m.float16,
                m.device("cpu"),
                m.Size([random.randint(0, 9)] * random.randint(0, 3)),
            )
        )

    def tensor():
        x = random.choice(pool)
        n = random.randint(1, x.numel())
        made = x[random.randint(0, n - 1) : n]
        made = made[:: random.randint(1, 3)]
        if random.random() < 0.3:
            made = made.expand(random.randint(0, 3), -1).t()
        if random.random() < 0.2 and made.is_floating_point():
            made = m.nn.Parameter(made.detach(), random.random() < 0.5)
        if made.numel() and made.ndim == 1:
            pool.append(made.detach())
        return made

    def value(depth):
        kind = random.choice(("atom", "tensor", "again", "list", "tuple", "dict", "ordered", "set"))
        count = random.choice((0, 1, 2, 3, 4, 5)) if depth else 0
        if kind == "again" and made:
            return random.choice(made)
        if kind == "list":
            found = [value(depth - 1) for _ in range(count)]
        elif kind == "tuple":
            found = tuple(value(depth - 1) for _ in range(count))
        elif kind in ("dict", "ordered"):
            found = {} if kind == "dict" else OrderedDict()
            for _ in range(count):
                key = random.choice((random.randint(-3, 300), f"key {random.randint(0, 99)}", 0.5))
                found[key] = value(depth - 1)
        elif kind == "set":
            return {random.randint(0, 9), "a"}
        else:
            return tensor() if kind == "tensor" else atom()
        made.append(found)
        return found

    made = []
    return [value(depth) for _ in range(8)]


if __name__ == "__main__":
    import torch

    FOLDER.mkdir(exist_ok=True)
    for name, program in PROGRAMS.items():
        torch.save(program(torch), FOLDER / f"{name}.pt")
    torch.save(views(torch), FOLDER / "legacy.pt", _use_new_zipfile_serialization=False)
    scripted = torch.jit.trace(torch.nn.Linear(1, 1), torch.ones(1, 1))
    torch.jit.save(scripted, FOLDER / "script.pt")
