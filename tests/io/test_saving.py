# SPDX-License-Identifier: Apache-2.0
"""Where save writes to: links, permissions, owners, disks that are full, processes that are
killed."""

import errno
import io
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import libdl
import pytest
from libdl.serialization import _replacement

FORMATS = ["safetensors", "torch"]
IS_ROOT = os.geteuid() == 0


def held(path):
    return libdl.load(path)["a"]


# -- links -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_a_save_through_a_symbolic_link_writes_what_it_leads_to(tmp_path, format):
    libdl.save({"a": 1}, tmp_path / "real", format=format)
    (tmp_path / "folder").mkdir()
    for name, leads in (("link", "real"), ("second", "link"), ("folder/third", "../second")):
        (tmp_path / name).symlink_to(leads)
        libdl.save({"a": name}, tmp_path / name, format=format)
        assert (tmp_path / name).is_symlink() and not (tmp_path / "real").is_symlink()
        assert held(tmp_path / "real") == held(tmp_path / name) == name
    assert sorted(os.listdir(tmp_path)) == ["folder", "link", "real", "second"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_link_that_leads_nowhere_gets_its_file(tmp_path, format):
    (tmp_path / "link").symlink_to("new")
    libdl.save({"a": 2}, tmp_path / "link", format=format)
    assert (tmp_path / "link").is_symlink() and held(tmp_path / "new") == 2
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError) as told:
        libdl.save({"a": 2}, tmp_path / "loop", format=format)
    assert told.value.errno == errno.ELOOP or isinstance(told.value, libdl.Error)
    with pytest.raises(OSError):
        libdl.save({"a": 2}, tmp_path / "no folder" / "x", format=format)


# -- permissions -----------------------------------------------------------------------------------


def as_nobody(code, *arguments):
    """Runs a program without root's rights, which may write everything."""
    program = (
        "import io, os, sys, libdl, errno\n"
        # Modules that a save imports: an interpreter below /root is closed to others.
        "libdl.save({}, io.BytesIO(), format=sys.argv[2])\n"
        "if os.geteuid() == 0:\n    os.setgid(65534)\n    os.setuid(65534)\n" + code
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_that_may_not_be_written_is_not_replaced(format):
    with tempfile.TemporaryDirectory() as name:  # pytest's folders are for their user alone
        folder = Path(name)
        libdl.save({"a": 1}, folder / "kept", format=format)
        os.chmod(folder / "kept", 0o444)
        os.chmod(folder, 0o777)
        (folder / "link").symlink_to("kept")
        for path in (folder / "kept", folder / "link"):
            said = as_nobody(
                "try:\n    libdl.save({'a': 2}, sys.argv[1], format=sys.argv[2])\n"
                "except PermissionError as error:\n    print(error.errno == errno.EACCES)\n",
                path,
                format,
            )
            assert said == "True\n"
        assert held(folder / "kept") == 1 and sorted(os.listdir(folder)) == ["kept", "link"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("mode", [0o640, 0o600, 0o666, 0o755])
def test_permissions_stay(tmp_path, format, mode):
    path = tmp_path / "x"
    libdl.save({"a": 1}, path, format=format)
    os.chmod(path, mode)
    libdl.save({"a": 2}, path, format=format)
    assert path.stat().st_mode & 0o777 == mode and held(path) == 2


@pytest.mark.parametrize("format", FORMATS)
def test_a_new_file_has_the_permissions_that_the_mask_leaves(tmp_path, format):
    before = os.umask(0o027)
    try:
        libdl.save({"a": 1}, tmp_path / "x", format=format)
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not IS_ROOT, reason="only root gives files away")
@pytest.mark.parametrize("format", FORMATS)
def test_the_owner_stays(tmp_path, format):
    path = tmp_path / "x"
    libdl.save({"a": 1}, path, format=format)
    os.chown(path, 1234, 4321)
    os.chmod(path, 0o600)
    libdl.save({"a": 2}, path, format=format)
    status = path.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (1234, 4321, 0o600)


@pytest.mark.skipif(not IS_ROOT, reason="as another user")
@pytest.mark.parametrize("format", FORMATS)
def test_another_users_file_that_may_be_written_is_replaced(format):
    """The new one is the writer's: giving files away is root's alone."""
    with tempfile.TemporaryDirectory() as name:  # pytest's folders are for their user alone
        path = Path(name) / "x"
        libdl.save({"a": 1}, path, format=format)
        os.chown(path, 1234, 65534)
        os.chmod(path, 0o660)
        os.chmod(name, 0o777)
        as_nobody("libdl.save({'a': 2}, sys.argv[1], format=sys.argv[2])", path, format)
        status = path.stat()
        assert held(path) == 2 and (status.st_uid, status.st_gid) == (65534, 65534)


# -- files that take less than all -----------------------------------------------------------------


class Disk(io.RawIOBase):
    """Without a buffer, with room for so many bytes, of which it takes at most some at a time."""

    def __init__(self, room, most=1 << 30, full="none"):
        self.bytes, self._room, self._most, self._full = b"", room, most, full

    def writable(self):
        return True

    def write(self, data):
        part = bytes(data)[: min(self._room - len(self.bytes), self._most)]
        if not part and len(data):
            if self._full == "error":
                raise OSError(errno.ENOSPC, "full")
            return None if self._full == "blocked" else 0
        self.bytes += part
        return len(part)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("full", ["zero", "blocked", "error"])
def test_a_full_disk_behind_a_file_object_is_an_error(format, full):
    value = {"a": libdl.arange(3000.0)}
    whole = Disk(1 << 20)
    libdl.save(value, whole, format=format)
    assert libdl.equal(libdl.load(io.BytesIO(whole.bytes))["a"], value["a"])
    for room in (0, 1, 100, len(whole.bytes) // 2, len(whole.bytes) - 1):
        with pytest.raises(OSError):
            libdl.save(value, Disk(room, full=full), format=format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_that_takes_a_part_is_given_the_rest(format):
    value = {"a": libdl.arange(300.0)}
    disk = Disk(1 << 20, most=7)
    libdl.save(value, disk, format=format)
    assert libdl.equal(libdl.load(io.BytesIO(disk.bytes))["a"], value["a"])


@pytest.mark.parametrize("format", FORMATS)
def test_a_limit_of_the_system_is_an_error(tmp_path, format):
    """The kernel writes what fits and tells so: at the limit of a file's size."""
    program = (
        "import libdl, resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "value = {'a': libdl.arange(3000.0)}\n"
        "for f in (open(sys.argv[1], 'wb', buffering=0), sys.argv[1]):\n"
        "    try:\n        libdl.save(value, f, format=sys.argv[2])\n"
        "    except OSError as error:\n        print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, tmp_path / "x", format],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "refused\nrefused\n", done.stderr
    assert resource.RLIMIT_FSIZE and os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("format", FORMATS)
def test_an_object_that_only_writes_is_taken_at_its_word(format):
    class Writes:
        def __init__(self):
            self.bytes = b""

        def write(self, data):
            self.bytes += bytes(data)

    file = Writes()
    libdl.save({"a": 3}, file, format=format)
    assert libdl.load(io.BytesIO(file.bytes)) == {"a": 3}


# -- what is left behind ---------------------------------------------------------------------------

PATIENT = """
import libdl, os, sys, time
from libdl.serialization import _writer
value = {"a": libdl.zeros(2_000_000)}
print("ready", flush=True)
while True:
    libdl.save(value, sys.argv[1], format=sys.argv[2])
"""


@pytest.mark.parametrize("format", FORMATS)
def test_a_killed_save_leaves_nothing_beside_the_file(tmp_path, format):
    for delay in (0.003, 0.01, 0.02, 0.05):
        process = subprocess.Popen(
            [sys.executable, "-B", "-c", PATIENT, tmp_path / "x", format], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert [name for name in os.listdir(tmp_path) if name != "x"] == []
        if (tmp_path / "x").exists():
            assert held(tmp_path / "x").numel() == 2_000_000


@pytest.mark.parametrize("named", [False, True])
def test_a_block_that_fails_leaves_the_file_before(tmp_path, named, monkeypatch):
    if named:
        monkeypatch.setattr(_replacement, "_unnamed", lambda folder: None)
    path = tmp_path / "x"
    path.write_bytes(b"before")
    os.chmod(path, 0o640)
    with pytest.raises(ZeroDivisionError), _replacement.replacement(str(path)) as file:
        file.write(b"after")
        assert len(os.listdir(tmp_path)) == 1 + named
        raise ZeroDivisionError
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["x"]
    with _replacement.replacement(str(path)) as file:
        file.write(b"after")
    assert path.read_bytes() == b"after" and os.listdir(tmp_path) == ["x"]
    assert path.stat().st_mode & 0o777 == 0o640
    with _replacement.replacement(str(tmp_path / "new")) as file:
        file.write(b"new")
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o666 & ~mask


# -- kinds of errors ------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_what_cannot_be_written_is_a_runtime_error_as_in_pytorch(tmp_path, format):
    (tmp_path / "file").write_bytes(b"")
    kinds = {"none/x": FileNotFoundError, "": OSError, "file/x": OSError, "n" * 300: OSError}
    for name, kind in kinds.items():
        with pytest.raises(OSError) as caught:
            libdl.save({"a": 1}, tmp_path / name, format=format)
        assert isinstance(caught.value, RuntimeError), name
        if format == "torch" and kind is FileNotFoundError:
            assert isinstance(caught.value, kind) and caught.value.errno == errno.ENOENT
        assert "save" in str(caught.value)
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_that_may_not_be_written_is_both_errors(tmp_path, monkeypatch):
    libdl.save({"a": 1}, tmp_path / "x")
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    with pytest.raises(PermissionError) as caught:
        libdl.save({"a": 2}, tmp_path / "x")
    assert isinstance(caught.value, RuntimeError) and held(tmp_path / "x") == 1
    assert caught.value.errno == errno.EACCES and caught.value.filename == str(tmp_path / "x")
    assert str(caught.value).startswith("[Errno 13] save: the file may not be written: '/")


@pytest.mark.parametrize("format", FORMATS)
def test_a_device_takes_the_bytes_and_stays_one(format):
    libdl.save({"a": libdl.ones(3)}, "/dev/null", format=format)
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("error", [KeyError("mine"), OSError(5, "mine")], ids=repr)
def test_an_error_of_the_callers_function_comes_out_as_itself(format, error):
    def where(storage, location):
        raise error

    file = io.BytesIO()
    libdl.save({"a": libdl.ones(3)}, file, format=format)
    for function, kind in ((where, type(error)), (lambda storage, location: 3, TypeError)):
        file.seek(0)
        with pytest.raises(kind) as caught:
            libdl.load(file, map_location=function)
        assert caught.value is error or kind is TypeError


def test_kinds_of_errors_of_files_that_cannot_be_read():
    with pytest.raises(EOFError, match="the file is empty"):
        libdl.load(io.BytesIO())
    with pytest.raises(EOFError, match="the file is empty"):
        libdl.load("/dev/null")
    for content in (b"hello world", b"\x1f\x8b" + bytes(100), b"PK\x03\x04" + bytes(100), bytes(9)):
        with pytest.raises(pickle.UnpicklingError) as caught:
            libdl.load(io.BytesIO(content))
        sent = pickle.loads(pickle.dumps(caught.value))
        assert str(sent) == str(caught.value) and type(sent).__name__ == "FormatError"
