# SPDX-License-Identifier: Apache-2.0
"""What a wheel of libdl must hold, and what its libraries may ask of a system."""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "wrappers/python"
SYSTEM = {
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "ld-linux-x86-64.so.2",
}
OURS = {"libdlcore.so.0"}


def dynamic(path: pathlib.Path, tag: str) -> list[str]:
    text = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True)
    return re.findall(rf"\({tag}\).*\[(.*)\]", text.stdout)


def demand(truth: bool, sentence: str) -> None:
    if not truth:
        raise SystemExit(f"wheel: {sentence}")


def main() -> None:
    wheel = pathlib.Path(sys.argv[1])
    demand("-cp311-abi3-" in wheel.name, f"{wheel.name} is not for abi3 of 3.11")
    with tempfile.TemporaryDirectory() as folder:
        archive = zipfile.ZipFile(wheel)
        archive.extractall(folder)
        names = archive.namelist()
        for name in (
            "libdl/__init__.py",
            "libdl/_C.abi3.so",
            "libdl/libdlcore.so.0",
            "libdl/py.typed",
        ):
            demand(name in names, f"lacks {name}")
        sources = SOURCES.glob("libdl/**/*.py")
        left_out = {str(path.relative_to(SOURCES)) for path in sources} - set(names)
        demand(not left_out, f"lacks {sorted(left_out)}")
        for ending in ("LICENSE", "NOTICE"):
            demand(any(name.endswith(ending) for name in names), f"lacks {ending}")
        libraries = [name for name in names if ".so" in name]
        demand(len(libraries) == 2, f"holds other libraries than two: {libraries}")
        strays = [n for n in names if not n.startswith("libdl/") and ".dist-info/" not in n]
        demand(not strays, f"puts files outside its package: {strays}")
        for name in libraries:
            path = pathlib.Path(folder) / name
            needed = set(dynamic(path, "NEEDED"))
            demand(needed <= SYSTEM | OURS, f"{name} needs {needed - SYSTEM - OURS}")
            paths = dynamic(path, "RUNPATH") + dynamic(path, "RPATH")
            demand(set(paths) <= {"$ORIGIN"}, f"{name} searches {paths}")
    print(f"wheel: {len(names)} files, needs nothing but the system's C and C++ libraries")


if __name__ == "__main__":
    main()
