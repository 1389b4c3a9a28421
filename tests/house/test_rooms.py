# SPDX-License-Identifier: Apache-2.0
"""The house: includes run one way between the rooms of libdl/, and kernels know only kernels."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Each room and the rooms below it that it may enter; itself is always allowed.
BASE = ("base", "runtime", "memory")
BELOW = {
    "base": [],
    "runtime": ["base"],
    "memory": ["base", "runtime"],
    "device": ["base", "runtime", "memory"],
    "tensor": [*BASE, "device"],
    "tape": [*BASE, "device", "tensor"],
    "ops": [*BASE, "device", "tensor", "tape"],
    "engine": [*BASE, "device", "tensor", "tape", "ops"],
    "optim": [*BASE, "device", "tensor", "tape", "ops", "engine"],
    "io": [*BASE, "device", "tensor", "tape", "ops", "engine"],
    "capi": [*BASE, "device", "tensor", "tape", "ops", "engine", "optim", "io"],
}
# The floors of ops, each with what it may enter besides itself and the rooms below ops: inner steps
# that record nothing, recording, copies, what entries do, pointwise operators; the other rooms, the
# kinds of operators, stand on all of them. The lowest two name no operator.
FLOORS = ["primitive", "core", "copy", "entry", "pointwise"]
NAMES_NO_OPERATOR = FLOORS[:2]
# The doors to the kernels: what they are told, and their table.
KERNELS = {"device": True, "ops": True, "capi": True, "tensor": True}
# Who knows that the CPU has kernels of its own: their table, which launches call directly, their
# providers, and what tells the processor's instruction set.
CPU_KERNELS = {
    "libdl/device/cpu_backend.cc": ["kernels/cpu/kernels.h"],
    "libdl/device/cpu_providers.cc": ["kernels/cpu/conv/winograd/winograd_convolution.h"],
    "libdl/ops/primitive/launch.h": ["kernels/cpu/kernels.h"],
    "libdl/capi/log.cc": ["kernels/cpu/simd/isa.h"],
    "libdl/capi/version.cc": ["kernels/cpu/simd/isa.h"],
}


def included(text: str) -> list[str]:
    """The quoted includes of a source."""
    return re.findall(r'^\s*#include "([^"]+)"', text, flags=re.M)


def upward(room: str, text: str) -> list[str]:
    """The includes that lead out of `room` into one that it may not enter."""
    wrong = []
    for name in included(text):
        first = name.split("/")[0]
        if first == "entries":  # generated: the operators' functions
            first = "ops"
        if first == "kernels":
            if not KERNELS.get(room):
                wrong.append(name)
        elif first in BELOW and first != room and first not in BELOW[room]:
            wrong.append(name)
    return wrong


def sources(folder: str) -> list[pathlib.Path]:
    return [
        p for p in sorted((ROOT / folder).rglob("*")) if p.suffix in (".h", ".cc", ".cu", ".inc")
    ]


@pytest.mark.parametrize("room", BELOW)
def test_includes_run_one_way(room):
    files = sources(f"libdl/{room}")
    assert files, room
    wrong = {str(p): upward(room, p.read_text()) for p in files}
    assert {p: names for p, names in wrong.items() if names} == {}


def above(floor: str, text: str) -> list[str]:
    """The includes that lead from a floor of ops to one above it, or to operators."""
    reach = FLOORS[: FLOORS.index(floor) + 1]
    wrong = []
    for name in included(text):
        first, _, rest = name.partition("/")
        if first == "ops" and rest.split("/")[0] not in reach:
            wrong.append(name)
        if first == "entries" and floor in NAMES_NO_OPERATOR:
            wrong.append(name)
    return wrong


@pytest.mark.parametrize("floor", FLOORS)
def test_floors_of_ops_stand_on_those_below(floor):
    files = sources(f"libdl/ops/{floor}")
    assert len(files) > 2
    wrong = {str(p): above(floor, p.read_text()) for p in files}
    assert {p: names for p, names in wrong.items() if names} == {}


def test_a_planted_step_up_is_seen():
    assert above("core", '#include "ops/copy/copy.h"\n#include "ops/primitive/bytes.h"\n') == [
        "ops/copy/copy.h"
    ]
    assert above("primitive", '#include "entries/copy.h"\n') == ["entries/copy.h"]
    assert above("pointwise", '#include "ops/view/view.h"\n#include "entries/view.h"\n') == [
        "ops/view/view.h"
    ]


# What gives nodes edges, and tensors nodes: the recorder, the tape, and the histories of views and
# of other data, which no call has made.
RECORDERS = [
    "libdl/ops/core/record.h",
    "libdl/ops/core/history.cc",
    "libdl/ops/view/fit.cc",
    "libdl/ops/view/view_algebra.cc",
]
RECORDS = r"\.edges\(\)\[[^]]*\] =|->edges\(\)\[[^]]*\] =|\b(?:meta|m)\.node = |creation_site\(\)"


def test_one_recorder_connects_nodes():
    found = {
        str(path.relative_to(ROOT))
        for path in sources("libdl")
        if path.parts[-2] != "tape" and re.search(RECORDS, path.read_text())
    }
    assert found <= set(RECORDERS), found - set(RECORDERS)
    assert "libdl/ops/core/record.h" in found  # what is looked for is still written so


HOOKS = r"LIBDL_(?:VARIANT|BORN_PACKED|RANDOM_FORMS|SIMULATED_\w+)|getenv\(\"LIBDL_CUDA_DRIVER"


def test_hooks_for_tests_stand_in_two_headers():
    """One of the core, one of the plugin, which knows no header of the core's."""
    found = {
        str(path.relative_to(ROOT / "libdl"))
        for path in sources("libdl")
        if re.search(HOOKS, path.read_text())
    }
    assert found == {"base/test_hooks.h", "backends/cuda/test_hooks.h"}


def test_a_kernel_is_a_line_of_the_table():
    """Whoever calls a kernel of the CPU past the table leaves plugins no way to bring it."""
    found = {}
    for path in sources("libdl"):
        names = [n for n in included(path.read_text()) if n.startswith("kernels/cpu/")]
        if names:
            found[str(path.relative_to(ROOT))] = names
    assert found == CPU_KERNELS


def test_kernels_know_no_room_of_the_core():
    for path in sources("kernels"):
        for name in included(path.read_text()):
            assert name.split("/")[0] not in BELOW, f"{path}: {name}"


def test_plugins_know_the_table_and_the_kernels_alone():
    allowed = ("device/backend.h", "build_info.h")
    for path in sources("libdl/backends"):
        for name in included(path.read_text()):
            inside = name.split("/")[0] in ("backends", "kernels")
            assert inside or name in allowed, f"{path}: {name}"


def test_the_core_knows_no_cuda_header():
    own = [path for path in sources("libdl") if "backends" not in path.parts]
    for path in own + sources("kernels/cpu"):
        assert not re.search(r'#include [<"](cuda|cublas|nvrtc)', path.read_text()), path


def test_a_planted_upward_include_is_seen():
    assert upward("tape", '#include "ops/copy/copy.h"\n#include "tensor/tensor.h"\n') == [
        "ops/copy/copy.h"
    ]
    assert upward("base", '#include "kernels/args.h"\n') == ["kernels/args.h"]
    assert upward("tape", '#include "entries/copy.h"\n') == ["entries/copy.h"]
    assert upward("engine", '#include "entries/copy.h"\n') == []


def test_no_drawer_for_everything():
    forbidden = {"common", "utils", "util", "misc", "helpers"}
    for path in sources("libdl") + sources("kernels"):
        assert path.stem not in forbidden and path.parent.name not in forbidden, path


def test_kernels_stand_in_rooms():
    loose = [path.name for path in sorted((ROOT / "kernels/cpu").iterdir()) if path.is_file()]
    assert loose == ["kernels.h"]
