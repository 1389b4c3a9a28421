# SPDX-License-Identifier: Apache-2.0
"""Compares what ptxas tells of every kernel of the CUDA plugin with the committed table:
python registers.py BUILD [--refresh]

The build keeps ptxas's report of each source (tools/ptxas_report). Against the table, no kernel may
be new or gone, use more stack, spills or shared memory, or so many more registers that fewer of its
blocks run at once. Hot kernels have no stack and no spills, whatever the table says. The numbers
belong to one nvcc; with another, the hot kernels alone are checked, and this says so.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "tests" / "gates" / "registers.txt"
ARCHITECTURE = "sm_90"
HEAD = f"""\
# Kernels on {ARCHITECTURE}, written by tests/gates/registers.py BUILD --refresh: registers of a
# thread and, where there are any, bytes of a block's shared memory, of a thread's stack, and of its
# spills, stored/loaded. A * in a name stands for what is before each colon.
"""
# A kernel may pass the last number of registers with which as many blocks run at once by this many:
# it is told, and fails only beyond.
ALLOWANCE = 3

# By their source: what a training step spends most of its launches on.
HOT = {
    "copy": r".*",
    "layer_norm": r".*",
    "optimizer": r".*",
    "pointwise": r"dense_.*",
    "softmax": r".*",
}
# Hot kernels with a stack frame that is not theirs: CUDA's functions keep an array of words for the
# reduction of large angles (Payne and Hanek), and touch it for no other.
OF_CUDA = r"dense_\w+_(sin|cos|tan)"


@dataclass(frozen=True)
class Kernel:
    registers: int
    stack: int = 0  # bytes, of the kernel and the functions that it calls
    shared: int = 0  # bytes, static
    stored: int = 0  # bytes of spills
    loaded: int = 0

    def __str__(self) -> str:
        text = str(self.registers)
        text += f",shared={self.shared}" if self.shared else ""
        text += f",stack={self.stack}" if self.stack else ""
        return text + (f",spills={self.stored}/{self.loaded}" if self.stored or self.loaded else "")


Kernels = dict[str, dict[str, Kernel]]  # by source and name


def number(pattern: str, text: str) -> int:
    match = re.search(pattern, text)
    return int(match[1]) if match else 0


def read_report(text: str, architecture: str = ARCHITECTURE) -> dict[str, Kernel]:
    """The kernels of one architecture in the output of ptxas -v."""
    kernels = {}
    parts = re.split(r"Compiling entry function '(\w+)' for '(\w+)'", text)[1:]
    for name, made_for, told in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if made_for != architecture:
            continue
        # The first line is of the kernel itself, others are of functions that it calls.
        frames = re.findall(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", told
        )
        registers = number(r"Used (\d+) registers", told)
        if not frames or not registers:
            raise SystemExit(f"registers: cannot read what ptxas tells of {name}:\n{told}")
        kernels[name] = Kernel(
            registers,
            max(int(frames[0][0]), number(r"(\d+) bytes cumulative stack size", told)),
            number(r"(\d+) bytes smem", told),
            sum(int(stored) for _, stored, _ in frames),
            sum(int(loaded) for _, _, loaded in frames),
        )
    return kernels


def reported(build: pathlib.Path) -> Kernels:
    kernels = {}
    for source in sorted((ROOT / "kernels" / "cuda").glob("*.cu")):
        report = build / "cuda" / f"{source.stem}.fatbin.ptxas"
        if not report.exists():
            raise SystemExit(f"registers: {report} is missing; is {build} built with LIBDL_CUDA?")
        told = report.read_text()
        of_source = read_report(told)
        if not of_source and "entry function" in told:
            raise SystemExit(
                f"registers: {source.name} was not compiled for {ARCHITECTURE}; "
                "configure with -DLIBDL_CUDA_ARCHITECTURES=90"
            )
        if of_source:  # a source may hold plans alone
            kernels[source.stem] = of_source
    return kernels


def compiler(build: pathlib.Path) -> str:
    cache = (build / "CMakeCache.txt").read_text()
    match = re.search(r"^LIBDL_NVCC:\w+=(.+)$", cache, re.MULTILINE)
    if not match:
        raise SystemExit(f"registers: {build} has no nvcc")
    told = subprocess.run([match[1], "--version"], capture_output=True, text=True, check=True)
    version = re.search(r"release [\d.]+, (V[\d.]+)", told.stdout)
    return f"nvcc {version[1]}" if version else told.stdout


# -- the table -------------------------------------------------------------------------------------

# A type or a size in bytes, between underscores.
VARIANT = re.compile(r"(?<=_)(bool|bf16|[cfiu]?\d+)(?=_|$)")


def table(kernels: Kernels, made_by: str) -> str:
    text = f"{HEAD}# {made_by}\n"
    for source, of_source in kernels.items():
        families: dict[str, list[str]] = {}
        for name, kernel in sorted(of_source.items(), key=lambda item: (len(item[0]), item[0])):
            match = VARIANT.search(name)
            variant = f"{match[1]}:" if match else ""
            families.setdefault(VARIANT.sub("*", name, count=1), []).append(f"{variant}{kernel}")
        text += f"\n[{source}]\n"
        text += "".join(f"{name} {' '.join(families[name])}\n" for name in sorted(families))
    return text


def read_table(text: str) -> tuple[Kernels, str]:
    """The kernels, and the compiler that made the table."""
    kernels: Kernels = {}
    made_by = ""
    for line in text.splitlines():
        if line.startswith("# nvcc "):
            made_by = line[2:]
        elif line.startswith("["):
            source = kernels.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            family, *entries = line.split()
            for entry in entries:
                variant, _, numbers = entry.rpartition(":")
                registers, *rest = numbers.split(",")
                fields = {key: value.split("/") for key, value in (r.split("=") for r in rest)}
                spills = fields.pop("spills", ["0", "0"])
                source[family.replace("*", variant)] = Kernel(
                    int(registers),
                    stored=int(spills[0]),
                    loaded=int(spills[1]),
                    **{key: int(value[0]) for key, value in fields.items()},
                )
    return kernels, made_by


# -- what is wrong ---------------------------------------------------------------------------------


def blocks_at_once(registers: int) -> int:
    """Blocks of 256 threads on one multiprocessor, as far as registers decide. It has 65,536, and a
    thread gets a multiple of eight (CUDA C++ Programming Guide, compute capability 9.0)."""
    return min(8, 65536 // (256 * (-(-registers // 8) * 8)))


def with_frames(kernels: Kernels) -> list[str]:
    """Sentences about hot kernels that use memory as registers."""
    wrong = []
    for source, pattern in HOT.items():
        hot = {n: k for n, k in kernels.get(source, {}).items() if re.fullmatch(pattern, n)}
        if not hot:
            wrong.append(f"{source} has none of the hot kernels that {pattern} names")
        for name, kernel in hot.items():
            of_cuda = source == "pointwise" and re.fullmatch(OF_CUDA, name)
            if kernel.stored or kernel.loaded or (kernel.stack and not of_cuda):
                wrong.append(f"{name} is hot, and uses memory as registers: {kernel}")
    return wrong


def differences(kernels: Kernels, committed: Kernels) -> tuple[list[str], list[str]]:
    """Sentences about what is wrong, and what is only to be told."""
    now = {name: kernel for of_source in kernels.values() for name, kernel in of_source.items()}
    old = {name: kernel for of_source in committed.values() for name, kernel in of_source.items()}
    wrong = [f"{name} is not committed: {now[name]}" for name in now.keys() - old.keys()]
    wrong += [f"{name} is no longer there" for name in old.keys() - now.keys()]
    told = []
    for name in now.keys() & old.keys():
        new, was = now[name], old[name]
        limit = max(r for r in range(1, 256) if blocks_at_once(r) == blocks_at_once(was.registers))
        change = f"{name}: {new}, committed {was}"
        bytes_of = ("stack", "shared", "stored", "loaded")
        grown = any(getattr(new, kind) > getattr(was, kind) for kind in bytes_of)
        if grown or new.registers > limit + ALLOWANCE:
            wrong.append(change)
        elif new.registers > limit:
            told.append(f"{change}: fewer blocks run at once")
        elif new != was:
            told.append(f"{change}: refresh")
    return sorted(wrong), sorted(told)


def summary(kernels: Kernels) -> str:
    every = [kernel for of_source in kernels.values() for kernel in of_source.values()]
    frames = [kernel.stack for kernel in every if kernel.stack]
    spills = [(kernel.stored, kernel.loaded) for kernel in every if kernel.stored or kernel.loaded]
    return (
        f"{len(every)} kernels; {len(frames)} use stack, {sum(frames)} bytes; {len(spills)} spill, "
        f"{sum(s for s, _ in spills)} bytes stored and {sum(n for _, n in spills)} loaded"
    )


def main() -> int:
    build = pathlib.Path(sys.argv[1])
    kernels, made_by = reported(build), compiler(build)
    print(f"registers: {made_by}: {summary(kernels)}")
    if "--refresh" in sys.argv:
        FILE.write_text(table(kernels, made_by))
    committed, committed_by = read_table(FILE.read_text())
    wrong = with_frames(kernels)
    if made_by == committed_by:
        more, told = differences(kernels, committed)
        wrong += more
        for sentence in told:
            print(f"registers: {sentence}")
    else:
        print(f"registers: hot kernels alone are checked, the numbers are of {committed_by}")
    for sentence in wrong:
        print(f"registers: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
