# SPDX-License-Identifier: Apache-2.0
"""Damaged files: a load gives an object or an error of libdl, in little time and memory.

    python tests/io/mutations.py [--count 1000000] [--seed 1] [--jobs 2]

Mutated are whole files (with checksums taken out, which would find nearly everything), pickles
inside a sound archive, and the structure inside a sound safetensors file."""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import libdl
import numpy
from libdl._errors import DeviceError, FormatError, UnsupportedError
from libdl.serialization._archive import Writer

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(HERE, "../gates")]
from figures import figure  # noqa: E402
from torch_programs import FOLDER, PROGRAMS  # noqa: E402

SECONDS = 20  # for one load of a few kB, which takes a millisecond
GROWTH = 128 << 20  # of a whole run's memory; a file has a few kB
READ = ("dtypes", "views", "parameters", "state_dict", "training", "plain", "sparse")
WORDS = (b"(", b")", b"}", b"]", b"R", b"b", b"Q", b"h\0", b"\x85", b"\x86", b"t", b"u", b"N", b"0")


def records_of(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name.partition("/")[2]: opened.read(name) for name in opened.namelist()}


def packed(records: dict[str, bytes]) -> bytes:
    """A sound archive."""
    out = io.BytesIO()
    writer = Writer(out.write, "archive")
    for name, data in records.items():
        writer.add(name, data)
    writer.close()
    return out.getvalue()


def without_checksums(archive: bytes) -> bytes:
    """As PyTorch writes it after set_crc32_options(False)."""
    made = bytearray(archive)
    at = archive.find(b"PK\1\2")
    while at >= 0:
        made[at + 16 : at + 20] = bytes(4)
        at = archive.find(b"PK\1\2", at + 1)
    return bytes(made)


def parts_of(file: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and data of a safetensors file."""
    size = int.from_bytes(file[:8], "little")
    return json.loads(file[8 : 8 + size]), file[8 + size :]


def joined(header: dict[str, Any], data: bytes) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def own(name: str) -> bytes:
    out = io.BytesIO()
    libdl.save(PROGRAMS[name](libdl), out, format="safetensors")
    return out.getvalue()


def unchecked(file: bytes) -> bytes:
    """libdl's own file without its checksums, which would find everything."""
    header, data = parts_of(file)
    del header["__metadata__"]["libdl.crc32"]
    return joined(header, data)


def pythons() -> list[bytes]:
    """Pickles by Python, with the opcodes of each protocol and NumPy's two steps."""
    numbers = [numpy.float64(0.5), numpy.arange(6, dtype=numpy.int16).reshape(2, 3).T]
    value = [numbers, {1, "a"}, frozenset((2, 3)), 1 - 2j, b"ab", bytearray(b"c"), 1 << 70, numbers]
    return [pickle.dumps(value, protocol) for protocol in (2, 3, 4)]


class Mutations:
    """An endless supply of damaged files, the same for each seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        archives = [(FOLDER / f"{name}.pt").read_bytes() for name in READ]
        self.records = [records_of(archive) for archive in archives]
        self.records += [{"data.pkl": data, "version": b"3\n"} for data in pythons()]
        self.own = [unchecked(own(name)) for name in READ if name not in ("sparse",)]
        self.archives = [without_checksums(archive) for archive in archives]
        self.pickles = [records["data.pkl"] for records in self.records]

    def mutated(self, data: bytes, others: list[bytes]) -> bytes:
        r, made = self.random, bytearray(data)
        for _ in range(r.choice((1, 1, 1, 2, 3, 8))):
            at, size = r.randrange(len(made) + 1), r.choice((1, 1, 2, 4, 8, 40))
            way = r.randrange(8)
            if way == 0 and at < len(made):
                made[at] ^= 1 << r.randrange(8)
            elif way == 1 and at < len(made):
                made[at] = r.choice((0, 1, 127, 128, 255, r.randrange(256)))
            elif way == 2:
                del made[at : at + size]
            elif way == 3:
                made[at:at] = made[at : at + size]
            elif way == 4:
                made[at:at] = r.choice(WORDS) * r.choice((1, 1, 2, 1000))
            elif way == 5:
                other = r.choice(others)
                begin = r.randrange(len(other))
                made[at : at + size] = other[begin : begin + size]
            elif way == 6 and r.random() < 0.2:
                del made[at:]
            else:
                made[at : at + 4] = struct.pack("<I", r.choice((0, 1, 1 << 31, 0xFFFFFFFF)))
        return bytes(made)

    def __iter__(self) -> Iterator[bytes]:
        r = self.random
        while True:
            way = r.randrange(4)
            if way == 0:
                yield self.mutated(r.choice(self.archives), self.archives)
            elif way == 1:
                records = dict(r.choice(self.records))
                records["data.pkl"] = self.mutated(records["data.pkl"], self.pickles)
                yield packed(records)
            elif way == 2:
                yield self.mutated(r.choice(self.own), self.own)
            else:
                header, data = parts_of(r.choice(self.own))
                text = header["__metadata__"]["libdl"].encode()
                header["__metadata__"]["libdl"] = self.mutated(text, [text]).decode("latin1")
                yield joined(header, data)


def touch(value: Any, seen: set[int]) -> None:
    """Reads what was loaded."""
    rest = [value]
    while rest:
        part = rest.pop()
        if isinstance(part, libdl.Tensor):
            x = part.detach()
            if x.numel() <= 1 << 20 and x.dtype is not libdl.bool:
                (x == x).all()
            assert x.device.type == "cpu"
        elif isinstance(part, (dict, list, tuple)) and id(part) not in seen:
            seen.add(id(part))
            rest.extend(part.values() if isinstance(part, dict) else part)


def attempt(data: bytes, path: str | None = None) -> str:
    """ "loaded" or the name of libdl's error; other exceptions pass.

    Arguments:
        path: of a file to be written and mapped; None: the bytes are read
    """
    try:
        if path is None:
            value = libdl.load(io.BytesIO(data))
        else:
            with open(path, "wb") as file:
                file.write(data)
            value = libdl.load(path, mmap=True)
    except (DeviceError, FormatError, UnsupportedError) as error:
        assert str(error)
        return type(error).__name__
    touch(value, set())
    return "loaded"


def run(count: int, seed: int, beat: Callable[[], object] = lambda: None) -> Counter[str]:
    """How often each outcome came. A failure leaves its file in the folder for temporary files."""
    found: Counter[str] = Counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mapped = tempfile.NamedTemporaryFile(prefix="mutated-")
    for _, data in zip(range(count), Mutations(seed), strict=False):
        beat()
        try:
            number = sum(found.values())
            found[attempt(data, mapped.name if number % 4 == 0 else None)] += 1
        except BaseException:
            with tempfile.NamedTemporaryFile(prefix="mutated-", delete=False) as file:
                file.write(data)
            print(f"mutations: the file that failed is {file.name}", flush=True)
            raise
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    assert grown < GROWTH, f"the process grew by {grown >> 20} MiB"
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.jobs > 1:
        each = [sys.executable, "-B", __file__, "--count", str(options.count // options.jobs)]
        jobs = [
            subprocess.Popen([*each, "--seed", str(options.seed * options.jobs + i)])
            for i in range(options.jobs)
        ]
        if any([job.wait() for job in jobs]):
            return 1
        figure("files in Python, mutated", f"{options.count}, each loaded or refused")
        return 0
    # A hang ends the process.
    found = run(options.count, options.seed, lambda: signal.alarm(SECONDS))
    print(f"mutations: {options.count} of seed {options.seed}: {dict(found.most_common())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
