# SPDX-License-Identifier: Apache-2.0
"""Words for what does not exist here: compat/ holds them, and they are modules of libdl itself."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import libdl

FOLDER = Path(libdl.__file__).resolve().parent / "compat"
FILES = [path.relative_to(FOLDER) for path in FOLDER.glob("**/*.py")]
WORDS = {path.parts[0].removesuffix(".py") for path in FILES}
MODULES = sorted(
    ".".join(("libdl", *path.with_suffix("").parts)).removesuffix(".__init__")
    for path in FILES
    if path.stem != "__main__"
)


@pytest.mark.parametrize("name", MODULES)
def test_a_file_in_compat_is_a_module_of_the_package(name):
    module = importlib.import_module(name)
    assert module.__name__ == name
    assert Path(module.__file__).resolve().is_relative_to(FOLDER)
    if not name.endswith((".symbolic_helper", ".classes", ".distributed_c10d")):  # any name refuses
        with pytest.raises(AttributeError, match="has no attribute 'no_such_word'"):
            _ = module.no_such_word
        with pytest.raises(ImportError, match="cannot import name 'no_such_word'"):
            exec(f"from {name} import no_such_word")


def test_no_word_is_imported_before_it_is_needed():
    code = "import sys, libdl; print(*(n for n in sys.modules if n.startswith('libdl.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in done.stdout.split()}
    assert loaded & WORDS == {"_tensor_types"}


def test_type_checkers_find_the_words_beside_the_package():
    package = Path(libdl.__file__).parent
    for path in FILES:
        stub = package / path.with_suffix(".pyi")
        assert stub.read_bytes() == (FOLDER / path).read_bytes()


def test_submodules_that_are_imported_when_they_are_asked_for():
    own = FOLDER.parent
    found = set()
    for path in sorted(own.glob("**/*.py")):
        lists = re.findall(r"^(_LAZY_\w+) = ", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(lists) <= {"_LAZY_MODULES", "_LAZY_NAMES"}, path
        words = path.relative_to(own).with_suffix("").parts
        words = words[1:] if words[0] == FOLDER.name else words
        if "_LAZY_MODULES" in lists:
            module = importlib.import_module(".".join(("libdl", *words)).removesuffix(".__init__"))
            for name in module._LAZY_MODULES:
                assert getattr(module, name).__name__.startswith("libdl.")
                found.add(f"{module.__name__}.{name}")
    assert {"libdl.distributed.device_mesh", "libdl.optim._muon"} <= found
