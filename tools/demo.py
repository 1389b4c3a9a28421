# SPDX-License-Identifier: Apache-2.0
"""Trains the digits from several languages, with 1 and with 2 threads:
python tools/demo.py BUILD C Python ...

All runs must print the same losses, as hexadecimal floats, to the last bit, and end with an
accuracy of at least 97 % on the images that were held out."""

import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
WANTED = 97.0


def run(title: str, command: list[str], threads: int) -> list[float]:
    """The losses that the program printed; its last lines are shown."""
    print(f"\n-- {title}, {threads} thread{'s' if threads > 1 else ''}", flush=True)
    # Without the bar, which only a terminal can show.
    environment = {**os.environ, "LIBDL_NUM_THREADS": str(threads), "TQDM_DISABLE": "1"}
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\ndemo: {title} ended with status {done.returncode}")
    lines = done.stdout.splitlines()
    print("\n".join(lines if threads == 1 else lines[-1:]))
    print(f"   ({time.perf_counter() - start:.2f} s)")
    losses = re.findall(r"-?0x[0-9a-f.]+p[-+]?\d+", done.stdout)
    accuracies = re.findall(r"(\d+(?:\.\d+)?) ?%", done.stdout)
    if not losses or not accuracies:
        raise SystemExit(f"demo: {title} printed no losses or no accuracy")
    if float(accuracies[-1]) < WANTED:
        raise SystemExit(f"demo: {title} reached {accuracies[-1]} %, wanted {WANTED} %")
    return [float.fromhex(loss) for loss in losses]


def main() -> None:
    build = pathlib.Path(sys.argv[1]).resolve()
    names = sys.argv[2:]
    programs = {
        "C": [str(build / "examples" / "digits")],
        "C++": [str(build / "examples" / "digits_cpp")],
        "Python": [sys.executable, "-B", str(ROOT / "examples" / "digits.py")],
        "Rust": [str(build / "rust" / "target" / "release" / "examples" / "digits")],
    }
    if len(names) < 2 or set(names) - set(programs):
        raise SystemExit(f"demo: wanted at least two of {', '.join(programs)}")
    losses = {
        (name, threads): run(name, programs[name], threads) for name in names for threads in (1, 2)
    }
    first, *others = losses.items()
    for key, values in others:
        if values != first[1]:
            pairs = zip(first[1], values, strict=False)
            at = next((i for i, (a, b) in enumerate(pairs) if a != b), "the length")
            raise SystemExit(f"demo: {key} differs from {first[0]} at loss {at}")
    print(
        f"\nThe same {len(first[1])} losses to the last bit, from {', '.join(names)}, on 1 and 2"
        " threads."
    )


if __name__ == "__main__":
    main()
