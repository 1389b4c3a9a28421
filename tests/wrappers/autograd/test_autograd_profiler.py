# SPDX-License-Identifier: Apache-2.0
"""libdl.autograd.profiler: the profiler under its older name."""

import json

import pytest

import libdl


def test_it_records_as_the_profiler_does(tmp_path):
    with libdl.autograd.profiler.profile(record_shapes=True) as prof:
        with libdl.autograd.profiler.record_function("doubled"):
            libdl.ones(2) + 1
    assert [event.name for event in prof.function_events] == ["doubled", "ones", "add"]
    assert prof.function_events[2].input_shapes[0] == [2]
    assert "doubled" in prof.table(sort_by="cpu_time_total")
    assert prof.total_average().count == 3
    assert prof.self_cpu_time_total == pytest.approx(prof.function_events[0].cpu_time_total)
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]


def test_switched_off_it_records_nothing():
    with libdl.autograd.profiler.profile(enabled=False) as prof:
        libdl.ones(2)
    assert list(prof.key_averages()) == []
    assert prof.table() == ""


def test_what_is_for_other_devices_warns():
    with pytest.warns(UserWarning, match="of cuda nothing is recorded"):
        libdl.autograd.profiler.profile(use_device="cuda")
    with pytest.warns(UserWarning, match="not shown to NVIDIA's tools"):
        with libdl.autograd.profiler.emit_nvtx():
            pass


def test_a_profile_prints_its_table():
    prof = libdl.autograd.profiler.profile()
    assert str(prof) == repr(prof) == "<unfinished autograd.profile>"
    with prof:
        libdl.ones(2) + 1
    assert str(prof) == prof.table() and "Self CPU" in str(prof) and repr(prof).startswith("[<")
    assert str(libdl.autograd.profiler.profile(enabled=False)).startswith("<unfinished")


def test_what_a_range_is_given_beside_its_name_is_no_part_of_it():
    with libdl.profiler.profile() as prof:
        for args in ("first", "second", None):
            with libdl.profiler.record_function("part", args) as part:
                assert part.args == args
    assert [(e.key, e.count) for e in prof.key_averages()] == [("part", 3)]


def test_arguments_that_no_profile_has():
    with pytest.raises(ValueError, match="activities is empty"):
        libdl.profiler.profile(activities=[])
    with pytest.raises(TypeError, match="schedule is a int, wanted a function"):
        libdl.profiler.profile(schedule=3)
    assert [action.value for action in libdl.profiler.ProfilerAction] == [0, 1, 2, 3, 4]
