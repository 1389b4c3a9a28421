# SPDX-License-Identifier: Apache-2.0
"""The census of names: how it counts, and that three in four of the names most used exist."""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "census"
sys.path.insert(0, str(FOLDER))

import census  # noqa: E402


def test_names_are_found_where_pytorch_has_them():
    assert all(
        map(
            census.exists,
            ("libdl.Tensor.view", "libdl.nn.utils.rnn", "libdl.backends.cudnn.benchmark"),
        )
    )
    assert not any(
        map(census.exists, ("libdl.no_such", "libdl.Tensor.no_such", "libdl.no_such.name"))
    )


def test_kinds_lead_to_modules_and_uses_are_counted(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("kind,files,names\nscheduler,3,StepLR\ntorch,7,no_such\nmethod,5,view\n")
    names = census.read(str(path))
    assert names == [
        ("libdl.no_such", 7),
        ("libdl.Tensor.view", 5),
        ("libdl.optim.lr_scheduler.StepLR", 3),
    ]
    text = census.report(names)
    assert text.startswith("2 of the 3 most used names exist (66.7%), 8 of their 15 uses (53.3%)")
    assert text.endswith("     7 libdl.no_such")


def test_three_in_four_of_the_thousand_most_used_names_exist():
    names = census.read(str(FOLDER / "names.csv"))[:1000]
    assert len(names) == 1000
    assert sum(census.exists(name.path) for name in names) >= 750
