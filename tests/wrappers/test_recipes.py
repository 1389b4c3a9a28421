# SPDX-License-Identifier: Apache-2.0
"""Each recipe of docs/recipes is a program that prints what its page shows."""

import ast
import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from pages import blocks, check_output

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(set((ROOT / "docs/recipes").glob("*.md")) - {ROOT / "docs/recipes/README.md"})
OTHERS = {"PIL", "jax", "matplotlib", "numpy", "torch"}  # packages that a recipe may be about
DISTRIBUTIONS = {"PIL": "pillow"}


@dataclass
class Recipe:
    name: str
    program: str
    shown: str


def recipes(path: Path) -> list[Recipe]:
    """Of each section the program and what it prints."""
    found = []
    for section in path.read_text().split("\n## ")[1:]:
        title, text = section.split("\n", 1)
        programs, shown = blocks(text, "python"), blocks(text, "text")
        assert len(programs) == len(shown) == 1, f"{path.name}: {title}"
        found.append(Recipe(f"{path.stem}: {title}", programs[0], shown[0]))
    return found


def imports(program: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(program)))
    plain = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    return {name.split(".")[0] for name in plain} | {
        (n.module or "").split(".")[0] for n in nodes if isinstance(n, ast.ImportFrom)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_recipe_says_which_packages_it_wants(page):
    """In its own section or at the head of its page."""
    head, *sections = page.read_text().split("\n## ")
    for section in sections:
        told = " ".join(re.findall(r"`pip install ([^`]*)`", head + section)).split()
        wanted = set().union(*(imports(program) for program in blocks(section, "python")))
        wanted = {DISTRIBUTIONS.get(name, name) for name in wanted & OTHERS}
        assert wanted <= set(told), section.partition("\n")[0]


@pytest.mark.skipif("LIBDL_SANITIZED" in os.environ, reason="too slow under a sanitizer")
@pytest.mark.parametrize(
    "recipe", [r for page in PAGES for r in recipes(page)], ids=lambda recipe: recipe.name
)
def test_the_recipe_prints_what_the_page_shows(recipe, tmp_path):
    for name in sorted(imports(recipe.program) & OTHERS):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"the recipe is about {name}, which is not installed")
    (tmp_path / "recipe.py").write_text(recipe.program)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-B", "recipe.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    # Processors round otherwise in the last places, which some steps of training magnify.
    check_output(recipe.shown, done.stdout, rel=0.02, abs=0.002)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_page_can_be_read_in_one_sitting(path):
    assert len(path.read_text().splitlines()) <= 300
    assert f"({path.name})" in (ROOT / "docs/recipes/README.md").read_text()


def test_every_recipe_is_in_the_table_of_contents():
    index = (ROOT / "docs/recipes/README.md").read_text()
    missing = [
        r.name for page in PAGES for r in recipes(page) if r.name.split(": ", 1)[1] not in index
    ]
    assert not missing


def test_other_packages_are_those_that_are_named():
    """A recipe without its package is skipped; so none may be skipped by mistake."""
    used = set().union(*(imports(r.program) for page in PAGES for r in recipes(page)))
    assert used - set(sys.stdlib_module_names) - {"libdl"} <= OTHERS
