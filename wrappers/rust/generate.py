# SPDX-License-Identifier: Apache-2.0
"""Puts the Rust workspace together: what is written by hand here, and what the headers say.

    python3 wrappers/rust/generate.py --out build/rust

In --out are then complete crates, libdl-sys and libdl, that cargo builds with neither Python nor
SWIG. Files whose contents would not change are left alone, for cargo goes by their times.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from headers import read_headers  # noqa: E402
from operators import read_operators  # noqa: E402
from safe_crate import constants_source, operators_source  # noqa: E402
from sys_crate import SysCrate  # noqa: E402
from tree import run_swig  # noqa: E402


def version(constants: dict[str, int]) -> str:
    return ".".join(str(constants[f"LIBDL_VERSION_{part}"]) for part in ("MAJOR", "MINOR", "PATCH"))


def by_hand() -> dict[str, str]:
    """The files of this folder that belong to the crates, and the examples."""
    collected = {}
    for path in sorted(HERE.rglob("*")):
        if path.suffix in (".rs", ".toml") and "target" not in path.parts:
            collected[str(path.relative_to(HERE))] = path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "examples").glob("*.rs")):
        collected[f"libdl/examples/{path.name}"] = path.read_text(encoding="utf-8")
    return collected


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the workspace")
    parser.add_argument("--swig", default=shutil.which("swig"), help="SWIG 4.5.1 or later")
    options = parser.parse_args()
    if not options.swig:
        parser.error("there is no swig on the path; --swig names one")
    include = ROOT / "include"
    crate = SysCrate(
        run_swig(options.swig, include, options.out / "swig"), read_headers(include / "libdl")
    )
    operators = read_operators(include / "libdl")
    files = by_hand()
    files["libdl-sys/src/generated.rs"] = crate.source()
    files["libdl-sys/tests/layout.rs"] = crate.layout_test(
        (ROOT / "tests/abi/promise.txt").read_text(encoding="utf-8")
    )
    files["libdl/src/ops.rs"] = operators_source(operators)
    files["libdl/src/constants.rs"] = constants_source(crate)
    for name, text in files.items():
        path = options.out / name
        text = text.replace("@VERSION@", version(crate.tree.constants))
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for path in [*options.out.glob("libdl*/**/*.rs"), *options.out.glob("libdl*/*.toml")]:
        if str(path.relative_to(options.out)) not in files:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
