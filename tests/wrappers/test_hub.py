# SPDX-License-Identifier: Apache-2.0
"""hub.list, help and load of a folder's hubconf.py, whose code is run only by these calls."""

import sys

import pytest

from libdl import hub

CONF = '''
dependencies = ["json"]
from local_parts import scale

def small(width, factor=2):
    """A small model."""
    import late_parts
    return late_parts.name, scale(width, factor)

def _hidden():
    return 1

number = 3
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hubconf.py").write_text(CONF)
    (tmp_path / "local_parts.py").write_text("def scale(x, f): return x * f\n")
    (tmp_path / "late_parts.py").write_text("name = 'late'\n")
    yield str(tmp_path)
    for name in ("local_parts", "late_parts"):
        sys.modules.pop(name, None)


def test_entry_points_of_a_folder(folder):
    path = list(sys.path)
    assert hub.list(folder) == ["scale", "small"]
    assert hub.help(folder, "small") == "A small model."
    assert hub.load(folder, "small", 3, factor=5, source="local", trust_repo=True) == ("late", 15)
    assert sys.path == path and "hubconf" not in sys.modules


@pytest.mark.parametrize("call", [hub.help, lambda f, m: hub.load(f, m, source="local")])
def test_what_is_no_entry_point(folder, call):
    path = list(sys.path)
    for name in ("large", "number"):
        with pytest.raises(RuntimeError, match=f"^hub.*no entry point '{name}'"):
            call(folder, name)
    with pytest.raises(ValueError, match=r"^hub.*\(model\) is 3"):
        call(folder, 3)
    assert sys.path == path


def test_dependencies_are_needed_to_load_and_not_to_list(tmp_path):
    (tmp_path / "hubconf.py").write_text("dependencies = ['no_such_module']\ndef f(): return 1\n")
    assert hub.list(str(tmp_path)) == ["f"]
    with pytest.raises(RuntimeError, match="depends on no_such_module"):
        hub.load(str(tmp_path), "f", source="local")


def test_nothing_is_fetched(tmp_path):
    for call in (
        lambda: hub.list("pytorch/vision"),
        lambda: hub.help("pytorch/vision", "resnet18"),
        lambda: hub.load("pytorch/vision", "resnet18"),
        lambda: hub.load(str(tmp_path), "f", source="local"),
    ):
        with pytest.raises(NotImplementedError, match=r"^hub\.\w+: .*fetch"):
            call()
    with pytest.raises(ValueError, match="source is 'gitlab'"):
        hub.load("a/b", "c", source="gitlab")
