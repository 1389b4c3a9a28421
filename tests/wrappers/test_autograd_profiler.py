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
