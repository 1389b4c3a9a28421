# SPDX-License-Identifier: Apache-2.0
"""The gates themselves: a commit has one verdict, and a change answers for its own rooms alone."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/gates"))
import change  # noqa: E402
import compile_cost  # noqa: E402
import nightly  # noqa: E402
import rooms  # noqa: E402

# The day, in the words of a shell, of Python, and of C and C++; a duration is told by a clock
# that knows no day, or by the seconds of `date +%s`.
DAY = re.compile(
    r"86400|date \+%[Yjd]|strftime|\btime\.time\(\)|\btime\((nullptr|NULL)\)|datetime\.now"
)
# Where the day is written down, and decides nothing.
WRITTEN = {"tests/cuda/parts/machine.py", "tests/gates/nightly.py", "tests/house/test_gates.py"}
DATA = (".json", ".txt", ".md", ".safetensors", ".pyc")


def days_in(text: str) -> list[str]:
    return [match[0] for match in DAY.finditer(text)]


def test_no_verdict_depends_on_the_day():
    folders = ("tests", "tools", "cmake", ".ci")
    paths = [
        ROOT / "Makefile",
        *(path for folder in folders for path in (ROOT / folder).rglob("*")),
    ]
    sources = [path for path in paths if path.is_file() and path.suffix not in DATA]
    assert len(sources) > 300
    found = {
        str(path.relative_to(ROOT)): days_in(path.read_text(errors="replace"))
        for path in sources
        if str(path.relative_to(ROOT)) not in WRITTEN
    }
    assert {name: days for name, days in found.items() if days} == {}


def test_a_planted_day_is_seen():
    assert days_in("turn = int(time.time() // 7)") and days_in("seed=$(date +%Y%m%d)")
    assert not days_in("start=$(date +%s); time.monotonic(); time.time_ns")


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A repository with a landed commit and a newer one; the gates look there."""
    monkeypatch.setattr(change, "ROOT", tmp_path)
    monkeypatch.delenv("LIBDL_BASE", raising=False)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)

    def commit(when: str, **texts: str) -> str:
        for name, text in texts.items():
            path = tmp_path / name.replace("__", "/")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        person = ["-c", "user.name=x", "-c", "user.email=x@x"]
        for words in (["add", "."], [*person, "commit", "-q", "-m", "x"]):
            subprocess.run(["git", *words], cwd=tmp_path, check=True, env={**dates, "HOME": "/"})
        return change.head()

    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    landed = commit("2020-01-01T08:00:00Z", libdl__a="1\n2\n3\n", docs__b="1\n")
    commit("2020-01-01T20:00:00Z", libdl__a="1\n2\nnew\n3\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/c").write_text("1\n2\n")
    return landed


def test_a_change_is_what_differs_from_what_landed_hours_before(clone):
    assert change.base() == clone
    assert change.files() == ["libdl/a", "tests/c"]
    assert change.lines("libdl/a") == {3} and change.lines("tests/c") == {1, 2}
    assert change.touched(("libdl/",)) and not change.touched(("docs/", "kernels/"))


def test_a_gate_is_asked_of_changes_of_its_rooms_and_where_nothing_is_known(clone, monkeypatch):
    assert change.concerns(("libdl/",)) and change.concerns(("docs/", "tests/"))
    assert not change.concerns(("docs/", "kernels/"))
    monkeypatch.setenv("LIBDL_BASE", "HEAD")
    assert change.concerns(("docs/",))


def test_the_base_can_be_named(clone, monkeypatch):
    monkeypatch.setenv("LIBDL_BASE", "HEAD")
    assert change.files() == ["tests/c"]


@pytest.mark.parametrize(("room", "status"), [("libdl/", 1), ("docs/", 0)])
def test_a_sample_that_fails_refuses_only_a_change_of_its_rooms(
    clone, monkeypatch, capsys, room, status
):
    part = nightly.Part("weekly", (room,), ("false",), ("false",))
    passed = change.ROOT / "passed.tsv"
    passed.write_text("weekly\tabcdef\t2020-01-01\t7\n")
    monkeypatch.setattr(nightly, "PARTS", (part,))
    monkeypatch.setattr(nightly, "PASSED", passed)
    monkeypatch.setenv("LIBDL_TIMES", "")
    assert nightly.run_turn("build") == status
    said = capsys.readouterr().err
    assert "weekly does not hold; it last passed at abcdef 2020-01-01" in said
    assert ("not refused" in said) == (status == 0)


def test_a_stopped_run_goes_on_with_the_step_at_which_it_was(clone, monkeypatch):
    root = change.ROOT
    (root / "build").mkdir()
    (root / ".gitignore").write_text("build\n")
    ran = root / "build/ran"
    step = f"echo x >> {ran}; test ! -e {root}/build/broken"
    part = nightly.Part("weekly", ("libdl/",), (f"echo first >> {ran}", step))
    monkeypatch.setattr(nightly, "PARTS", (part,))
    monkeypatch.setattr(nightly, "PASSED", root / "passed.tsv")
    monkeypatch.setenv("LIBDL_TIMES", "")
    (root / "build/broken").touch()
    assert not nightly.run_part(part, str(root / "build"))
    (root / "build/broken").unlink()
    assert nightly.run_part(part, str(root / "build"))
    assert ran.read_text().split() == ["first", "x", "x"]
    assert nightly.records() == {}, "there are changes, so no commit has passed"
    (root / "libdl/a").write_text("other\n")
    assert nightly.run_part(part, str(root / "build"))
    assert ran.read_text().split() == ["first", "x", "x", "first", "x"]


def test_a_part_that_passed_on_a_commit_is_recorded(clone, monkeypatch):
    root = change.ROOT
    (root / "tests/c").unlink()
    part = nightly.Part("weekly", ("libdl/",), ("true",))
    monkeypatch.setattr(nightly, "PARTS", (part,))
    monkeypatch.setattr(nightly, "PASSED", root / "passed.tsv")
    nightly.record(part, 7.2)
    assert nightly.records()["weekly"][0] == change.head()
    assert nightly.records()["weekly"][2] == "7"
    assert f"last passed: {change.head()[:10]}" in nightly.table([])


def test_each_room_names_tests_that_exist():
    for prefix, python, _ in rooms.ROOMS:
        assert (ROOT / prefix).exists(), prefix
        for pattern in python.split():
            assert list(ROOT.glob(pattern)), pattern


def test_a_changed_file_is_judged_by_its_room():
    paths, pattern = rooms.tests_of(["libdl/io/safetensors.cc", "tests/wrappers/test_out.py"])
    assert paths == ["tests/io", "tests/wrappers/test_out.py"]
    assert pattern == "capi_safetensors|core_tests"


def test_the_parts_have_names_of_their_own_and_rooms_that_exist():
    names = [part.name for part in nightly.PARTS]
    assert len(set(names)) == len(names) > 10
    for part in nightly.PARTS:
        assert part.steps and all((ROOT / room).exists() for room in part.rooms), part.name


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """The objects of two sources: one has an array of so many bytes."""
    (tmp_path / "CMakeFiles/libdl_objects_core.dir").mkdir(parents=True)
    entries = []
    for name, size in (("small", 1000), ("large", 1000 * compile_cost.BUDGET + 1)):
        source = tmp_path / f"{name}.c"
        source.write_text(f"const char a[{size}] = {{1}};\n")
        made = f"CMakeFiles/libdl_objects_core.dir/{name}.c.o"
        subprocess.run(["cc", "-c", source, "-o", tmp_path / made], check=True)
        entries.append({"file": str(source), "command": f"cc -o {made} -c {source}"})
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    monkeypatch.setattr(compile_cost, "ROOT", tmp_path)
    monkeypatch.setattr(compile_cost, "GRANTED", {})
    return compile_cost.sizes(tmp_path)


def test_a_source_that_costs_the_compiler_too_much_is_seen(compiled, monkeypatch):
    (said,) = compile_cost.complaints(compiled)
    assert said.startswith("large.c: 200 kB of machine code, at most 200 kB")
    granted = {"large.c": compile_cost.BUDGET + 1, "gone.c": 900}
    monkeypatch.setattr(compile_cost, "GRANTED", granted)
    assert compile_cost.complaints(compiled) == ["gone.c: is granted more, and does not exist"]


def test_what_is_granted_to_large_sources_exists():
    assert [source for source in compile_cost.GRANTED if not (ROOT / source).exists()] == []
