# SPDX-License-Identifier: Apache-2.0
"""Tensors and storages over files of numbers alone: from_file."""

import os
import struct
import subprocess
import sys

import libdl
import pytest


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "numbers"
    made.write_bytes(struct.pack("<6f", *range(6)))
    return made


def numbers(path):
    data = path.read_bytes()
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def test_a_private_tensor_reads_the_file_and_leaves_it(path):
    x = libdl.from_file(str(path), size=4)
    assert x.dtype is libdl.float32 and x.tolist() == [0, 1, 2, 3]
    x.zero_()
    assert x.sum() == 0 and numbers(path) == [0, 1, 2, 3, 4, 5]


def test_a_shared_tensor_writes_the_file(path):
    x = libdl.from_file(path, True, 6)
    y = libdl.from_file(path, shared=True, size=2)
    x[1] = 7
    assert y.tolist() == [0, 7] and numbers(path)[1] == 7
    x.mul_(2)
    assert numbers(path) == [0, 14, 4, 6, 8, 10]


def test_a_shared_file_is_made_or_made_longer(path, tmp_path):
    libdl.from_file(path, shared=True, size=8)[7] = 1
    assert numbers(path) == [0, 1, 2, 3, 4, 5, 0, 1]
    libdl.from_file(tmp_path / "new", shared=True, size=3, dtype=libdl.int16).fill_(5)
    assert (tmp_path / "new").read_bytes() == struct.pack("<3h", 5, 5, 5)


@pytest.mark.parametrize(
    "dtype", [libdl.uint8, libdl.int64, libdl.bfloat16, libdl.complex64, libdl.bool]
)
def test_elements_are_of_the_dtype(tmp_path, dtype):
    made = tmp_path / "x"
    made.write_bytes(bytes(64))
    x = libdl.from_file(made, size=4, dtype=dtype)
    assert x.dtype is dtype and x.shape == (4,) and not x.any()


def test_the_memory_outlives_the_name(path):
    x = libdl.from_file(path, size=6)
    os.unlink(path)
    assert x.requires_grad_().square().sum().item() == 55
    x.sum().backward()
    assert x.grad.tolist() == [1] * 6


def test_no_elements_need_no_file(path):
    assert libdl.from_file(path).shape == (0,) and libdl.from_file("nowhere", size=0).numel() == 0


def test_what_does_not_fit_is_refused(path, tmp_path):
    with pytest.raises(ValueError, match="has 24 bytes, wanted at least 28: only with shared=True"):
        libdl.from_file(path, size=7)
    with pytest.raises(RuntimeError, match="from_file: cannot open .*nowhere: No such file"):
        libdl.from_file(tmp_path / "nowhere", size=1)
    with pytest.raises(ValueError, match=r"argument 3 \(size\) is -1"):
        libdl.from_file(path, size=-1)
    with pytest.raises(ValueError, match="device is cuda, wanted cpu"):
        libdl.from_file(path, size=1, device="cuda")
    with pytest.raises(NotImplementedError, match="pin_memory"):
        libdl.from_file(path, size=1, pin_memory=True)
    assert numbers(path) == [0, 1, 2, 3, 4, 5]


def test_a_storage_is_the_beginning_of_the_file(path):
    part = libdl.UntypedStorage.from_file(str(path), nbytes=8)
    assert part.nbytes() == 8 and part.filename is None
    assert libdl.UntypedStorage.from_file(path).nbytes() == 0
    shared = libdl.UntypedStorage.from_file(path, shared=True, nbytes=24)
    assert shared.filename == str(path)
    shared[0:4].fill_(0)
    x = libdl.empty(0).set_(shared, 0, (6,))
    x[5] = 9
    assert numbers(path) == [0, 1, 2, 3, 4, 9]
    with pytest.raises(ValueError, match="UntypedStorage.from_file"):
        libdl.UntypedStorage.from_file(path, nbytes=25)
    with pytest.raises(ValueError, match="size is -1 bytes"):
        libdl.UntypedStorage.from_file(path, nbytes=-1)


def test_typed_storages_count_elements(path):
    made = libdl.FloatStorage.from_file(path, shared=True, size=2)
    assert (
        isinstance(made, libdl.FloatStorage)
        and made.tolist() == [0, 1]
        and made.filename == str(path)
    )
    made[0] = 3
    assert numbers(path)[0] == 3
    assert libdl.DoubleStorage.from_file(path, False, 3).size() == 3
    with pytest.raises(RuntimeError, match="wanted at least 32"):
        libdl.DoubleStorage.from_file(path, False, 4)


# -- storages by themselves -----------------------------------------------------------------------


def test_storages_are_made_of_sizes_values_and_other_storages():
    assert len(libdl.TypedStorage(4, dtype=libdl.float16)) == 4
    assert len(libdl.TypedStorage(dtype=libdl.float16)) == 0
    assert libdl.TypedStorage([1.0, 2.0], dtype=libdl.float64).tolist() == [1, 2]
    octets = libdl.UntypedStorage([0, 0, 128, 63, 0, 0, 0, 64])
    typed = libdl.TypedStorage(wrap_storage=octets, dtype=libdl.float32, _internal=True)
    assert typed.tolist() == [1, 2] and typed.type() == "libdl.FloatStorage"
    typed[0] = 3.0
    assert octets.tolist()[2:4] == [64, 64] and typed._untyped_storage.tolist() == octets.tolist()
    assert octets.untyped() is octets


def test_storages_are_copied():
    made = libdl.UntypedStorage(4).fill_(1)
    assert made.copy_(libdl.UntypedStorage([1, 2, 3, 4])) is made and made[1:3].tolist() == [2, 3]
    with pytest.raises(RuntimeError):
        made.copy_(libdl.UntypedStorage(5))


def test_safetensors_own_module_reads_and_writes_libdls_tensors(tmp_path):
    pytest.importorskip("safetensors")
    program = tmp_path / "program.py"
    program.write_text(
        "from libdl import as_torch\nas_torch.install()\nimport torch\n"
        "from safetensors.torch import load_file, load_model, safe_open, save_file, save_model\n"
        f"path = {str(tmp_path / 'x.safetensors')!r}\n"
        "x = {'a': torch.arange(6.0).view(2, 3), 'b': torch.ones(2, dtype=torch.bfloat16)}\n"
        "save_file(x, path)\nfound = load_file(path)\n"
        "print(all(torch.equal(found[k], x[k]) and found[k].dtype is x[k].dtype for k in x))\n"
        "with safe_open(path, 'pt') as file:\n    print(file.get_slice('a')[1:].tolist())\n"
        "net, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)\n"
        "save_model(net, path)\nprint(load_model(other, path), torch.equal(net.weight, "
        "other.weight))\n"
    )
    done = subprocess.run([sys.executable, "-B", program], capture_output=True, text=True)
    assert done.stdout == "True\n[[3.0, 4.0, 5.0]]\n(set(), []) True\n", done.stderr
