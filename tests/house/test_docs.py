# SPDX-License-Identifier: Apache-2.0
"""What the documents quote stands in the examples, and what they link to exists."""

import re
from pathlib import Path

import pytest
from pages import BLOCK

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("tools/*.md")])
RECIPES = sorted(ROOT.glob("docs/recipes/*.md"))  # tests/wrappers/test_recipes.py runs their blocks
LANGUAGES = {"python": "py", "c": "c", "cpp": "cc", "rust": "rs"}

_LINK = re.compile(r"\]\(([^)\s#]*)(?:#[^)\s]*)?\)")


def quotes(text: str) -> list[tuple[str, str]]:
    """(language, code) of each block that is a quotation; `sketch` marks one that is not."""
    return [(m[1], m[3]) for m in BLOCK.finditer(text) if m[1] in LANGUAGES and m[2] != "sketch"]


def stray_quotes(text: str) -> list[str]:
    sources = {
        language: [p.read_text() for p in (ROOT / "examples").glob(f"*.{suffix}")]
        for language, suffix in LANGUAGES.items()
    }
    return [
        code
        for language, code in quotes(text)
        if not any(code in source for source in sources[language])
    ]


def dead_links(text: str, folder: Path) -> list[str]:
    links = (m[1] for m in _LINK.finditer(BLOCK.sub("", text)))
    return [x for x in links if x and "://" not in x and not (folder / x).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_quoted_code_is_in_the_examples(page):
    assert not stray_quotes(page.read_text())


@pytest.mark.parametrize("page", PAGES + RECIPES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_resolve(page):
    assert not dead_links(page.read_text(), page.parent)


def test_every_example_in_python_is_run():
    """By a test or by `make demo`, so that what the documents quote of it has been executed."""
    runs = [*(ROOT / "tests/wrappers").rglob("test_*.py"), ROOT / "tools/demo.py"]
    text = "".join(path.read_text() for path in runs)
    text += "".join(path.read_text() for path in (ROOT / "examples").glob("*.py"))
    names = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert {n for n in names if f'{n}.py"' not in text and f"from {n} import" not in text} == set()


def test_the_checks_see_what_they_are_for():
    assert quotes((ROOT / "README.md").read_text()), "the README quotes a program"
    assert stray_quotes("```python\nnot_in_any_example()\n```\n")
    assert not stray_quotes("```python sketch\nnot_in_any_example()\n```\n")
    assert dead_links("[x](no/such/page.md#top)", ROOT) == ["no/such/page.md"]


def test_each_environment_variable_is_in_the_table():
    read = set()
    for room in ("libdl", "kernels", "wrappers"):
        for path in (ROOT / room).rglob("*"):
            if path.suffix in (".c", ".cc", ".h"):
                read |= set(re.findall(r'getenv\("(LIBDL_\w+)"\)', path.read_text()))
    table = (ROOT / "docs/environment.md").read_text()
    assert read and all(f"| `{name}`" in table for name in read)


def test_readme_fits_a_screen():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 60
