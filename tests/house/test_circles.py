# SPDX-License-Identifier: Apache-2.0
"""No circle of files: what a file needs stands on files that do not need it."""

import ast
import collections
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("BUILD", "build")

Graph = dict[str, set[str]]


def circles(graph: Graph) -> list[list[str]]:
    """Groups of nodes that all reach each other (Tarjan 1972)."""
    found: list[list[str]] = []
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in number:
                visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in stack:
                lowest[node] = min(lowest[node], number[other])
        if lowest[node] == number[node]:
            at = stack.index(node)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return [group for group in found if len(group) > 1]


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All that runs: what only a type checker reads is left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            if ast.unparse(node.test).startswith("not "):
                yield from _nodes(node)
            else:
                yield from _nodes(ast.Module(node.orelse, []))
            continue
        yield node
        yield from _nodes(node)


def imports(folder: Path) -> Graph:
    """Which scripts of a folder import which, anywhere in them."""
    names = {path.stem: path for path in folder.glob("*.py")}
    graph: Graph = {}
    for name, path in names.items():
        wanted = set()
        for node in _nodes(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                wanted.add(node.module)
        graph[name] = wanted & (set(names) - {name})
    return graph


def included(root: Path) -> Graph:
    """Which units of the core and of the kernels include which. A unit is a header with its source;
    a part that a source includes (x-inl.h) is a unit of its own. What includes entries, which are
    written from the public headers, includes no unit by that."""
    files = {
        str(path.relative_to(root)): path
        for folder in ("libdl", "kernels")
        for path in (root / folder).rglob("*")
        if path.suffix in (".h", ".cc", ".cu", ".inc")
    }
    graph: Graph = collections.defaultdict(set)
    for name, path in files.items():
        unit = name.rpartition(".")[0]
        for wanted in re.findall(r'^\s*#include "([^"]+)"', path.read_text(), flags=re.MULTILINE):
            home = next((n for n in (f"libdl/{wanted}", wanted) if n in files), None)
            if home and (other := home.rpartition(".")[0]) != unit:
                graph[unit].add(other)
    return graph


# compat/ stands in libdl.__path__: its files are modules of the package itself.
LAID_OVER = "compat"


def modules(name: str, *folders: Path) -> dict[str, Path]:
    """The modules of a package whose files lie in several folders, by their names."""
    found = {}
    for folder in folders:
        for path in folder.glob("**/*.py"):
            words = path.relative_to(folder).with_suffix("").parts
            words = words[1:] if words[0] == LAID_OVER else words
            found[".".join((name, *words)).removesuffix(".__init__")] = path
    return found


def _imported(node: ast.AST, module: str, is_package: bool) -> Iterator[str]:
    """What a statement names, absolutely: a module, or a name in one."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        words = module.split(".")
        base = words[: len(words) - node.level + is_package] if node.level else []
        base += node.module.split(".") if node.module else []
        yield from (".".join((*base, alias.name)) for alias in node.names)


def package_imports(paths: dict[str, Path], extensions: set[str]) -> Graph:
    """Which modules of a package import which, anywhere in them. That the packages around a module
    are imported before it does not count."""
    graph: Graph = {}
    for name, path in paths.items():
        wanted = set()
        for node in _nodes(ast.parse(path.read_text(encoding="utf-8"))):
            for other in _imported(node, name, path.stem == "__init__"):
                while other and other not in paths and other not in extensions:
                    other = other.rpartition(".")[0]
                wanted.add(other)
        graph[name] = wanted - {name, ""}
    return graph


def linked(objects: list[Path]) -> Graph:
    """Which objects need symbols of which."""
    home: dict[str, str] = {}
    needed = collections.defaultdict(set)
    for path in objects:
        listed = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
        for *_, kind, symbol in (line.split() for line in listed.splitlines()):
            if kind in "TDBRC":
                home[symbol] = path.stem
            elif kind == "U":
                needed[path.stem].add(symbol)
    return {
        name: {home[s] for s in symbols if s in home} - {name} for name, symbols in needed.items()
    }


@pytest.mark.parametrize(
    "folder", ["bench", "bench/models", "tools", "tests/attack", "tests/oracle", "tests/ops"]
)
def test_scripts_import_one_way(folder):
    graph = imports(ROOT / folder)
    assert len(graph) > 1
    assert circles(graph) == []


def test_units_of_the_core_include_one_way():
    graph = included(ROOT)
    assert len(graph) > 400
    assert circles(graph) == []


def test_a_planted_circle_of_units_is_seen(tmp_path):
    for name, text in {
        "libdl/a/x.h": "",
        "libdl/a/x.cc": '#include "a/x.h"\n#include "a/y.h"\n',
        "libdl/a/y.h": '#include "kernels/z.h"\n#include "entries/x.h"\n',
        "kernels/z.h": "",
        "kernels/z.cc": '#include "a/x.h"\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert circles(included(tmp_path)) == [["kernels/z", "libdl/a/x", "libdl/a/y"]]


def test_the_package_imports_one_way():
    folders = ROOT / "wrappers/python/libdl", BUILD / "generated/python/libdl"
    graph = package_imports(modules("libdl", *folders), {"libdl._C"})
    assert len(graph) > 300
    assert graph["libdl.onnx"] and graph["libdl._functions"]
    assert circles(graph) == []


def test_no_module_imports_the_package_as_a_user_does():
    own = ROOT / "wrappers/python/libdl"
    found = []
    for path in own.glob("**/*.py"):
        for node in _nodes(ast.parse(path.read_text(encoding="utf-8"))):
            absolute = not getattr(node, "level", 0)
            names = _imported(node, "", False) if absolute else ()
            if any(name.split(".")[0] == "libdl" for name in names):
                found.append(str(path.relative_to(own)))
    assert found == []


def test_the_python_module_is_linked_one_way():
    objects = list((BUILD / "wrappers/python/CMakeFiles/python_module.dir").glob("*.c.o"))
    assert len(objects) > 15
    graph = linked(objects)
    assert graph["tensor_type.c"]
    assert circles(graph) == []


def test_planted_circles_are_seen(tmp_path):
    (tmp_path / "a.py").write_text("import b\n")
    (tmp_path / "b.py").write_text("def f():\n    from c import x\n")
    (tmp_path / "c.py").write_text("import a, os\n")
    (tmp_path / "d.py").write_text("import a\n")
    assert circles(imports(tmp_path)) == [["a", "b", "c"]]


def test_planted_circles_in_a_package_are_seen(tmp_path):
    (tmp_path / "compat").mkdir()
    (tmp_path / "part").mkdir()
    for name, text in {
        "__init__.py": "from . import part\nfrom ._C import Tensor\n",
        "part/__init__.py": "from .one import x\n",
        "part/one.py": "def f():\n    from ..word import y\n",
        "compat/word.py": "from . import two\nif t.TYPE_CHECKING:\n    from . import part\n",
        "two.py": "from .part.one import x\n",
        "three.py": "from .two import x\nfrom . import _C\n",
    }.items():
        (tmp_path / name).write_text(text)
    graph = package_imports(modules("p", tmp_path), {"p._C"})
    assert graph["p"] == {"p.part", "p._C"} and graph["p.three"] == {"p.two", "p._C"}
    assert circles(graph) == [["p.part.one", "p.two", "p.word"]]
