# SPDX-License-Identifier: Apache-2.0
"""What programs for PyTorch's profiler ask of a profile, its events and its averages.

The names are those that PyTorch 2.15's have, without what is there for its own use."""

import json

import pytest

import libdl
from libdl.autograd import profiler as older, profiler_util
from libdl.profiler import DeviceType, kineto_available, profile, record_function

OF_BOTH = (
    "count cpu_children cpu_memory_usage cpu_parent cpu_time cpu_time_str cpu_time_total "
    "cpu_time_total_str cuda_time device_memory_usage device_time device_time_str "
    "device_time_total device_time_total_str device_type flops input_shapes is_async is_legacy "
    "is_remote is_user_annotation key node_id overload_name scope self_cpu_memory_usage "
    "self_cpu_time_total self_cpu_time_total_str self_device_memory_usage self_device_time_total "
    "self_device_time_total_str stack use_device"
).split()
OF_EVENTS = (
    "activity_type id is_python_function kernels name sequence_nr thread time_range trace_name"
)
OF_PROFILES = (
    "acc_events activities current_action custom_trace_id_callback experimental_config "
    "on_trace_ready preset_metadata profile_memory profiler record_shapes schedule step_num "
    "with_flops with_modules with_stack"
).split()


@pytest.fixture(scope="module")
def prof():
    with profile(record_shapes=True, profile_memory=True, with_stack=True, with_flops=True) as made:
        with record_function("products"):
            libdl.ones(2, 3) @ libdl.ones(3, 4)
    return made


def test_events_averages_and_profiles_have_the_names(prof):
    events, averages = prof.events(), prof.key_averages()
    assert not [n for n in OF_BOTH if not hasattr(events[0], n)]
    assert not [n for n in OF_EVENTS.split() if not hasattr(events[0], n)]
    assert not [n for n in OF_BOTH if not hasattr(averages[0], n)]
    assert not [n for n in OF_PROFILES if not hasattr(prof, n)]
    assert (events[0].scope, events[1].scope) == (7, 0)
    assert events[0].activity_type == "user_annotation" and events[1].device_type is DeviceType.CPU


@pytest.mark.parametrize(
    "key",
    [
        f"{part}{device}_{what}"
        for part in ("", "self_")
        for device in ("cpu", "cuda", "device")
        for what in ("time_total", "memory_usage")
    ]
    + ["cpu_time", "cuda_time", "count", "key"],
)
def test_tables_are_sorted_by_each_key_that_pytorch_has(prof, key):
    averages = prof.key_averages()
    table = averages.table(sort_by=key)
    values = [getattr(row, key) for row in averages]
    first = averages[values.index(max(values))]
    assert table.splitlines()[3].split()[0] == first.key


def test_averages_take_pytorchs_arguments(prof):
    made = prof.key_averages(True, 1, True, include_python_functions=True)
    assert made[0].input_shapes == [] and __file__ in made[1].stack[0]
    assert len(prof.events().key_averages(group_by_input_shapes=True)) == len(made)


def test_a_profile_has_the_older_one(prof):
    assert prof.profiler.self_cpu_time_total == prof.events().self_cpu_time_total > 0
    assert prof.profiler.function_events == prof.events() and prof.profiler.with_flops
    assert prof.profiler.total_average().key == "Total"
    with pytest.raises(AttributeError):
        prof.profiler.nothing  # noqa: B018


def test_stacks_of_devices_are_none(prof, tmp_path):
    assert "self_cpu_time_total" in prof.events().supported_export_stacks_metrics()
    prof.export_stacks(str(tmp_path / "stacks"), "self_cuda_time_total")
    assert (tmp_path / "stacks").read_text() == ""
    with pytest.raises(ValueError, match="metric must be one of"):
        prof.export_stacks(str(tmp_path / "stacks"), "count")


def test_metadata_stand_in_the_trace_of_their_cycle(tmp_path):
    path = tmp_path / "trace.json"
    prof = profile(custom_trace_id_callback=lambda: "number 1")
    assert prof.get_trace_id() is None
    prof.preset_metadata_json("all", "[1]")
    with prof:
        prof.add_metadata("text", "of one")
        prof.add_metadata_json("json", '{"a": 1}')
        assert prof.get_trace_id() == "number 1"
    prof.export_chrome_trace(str(path))
    trace = json.loads(path.read_text())
    assert (trace["text"], trace["json"], trace["all"]) == ("of one", {"a": 1}, [1])
    prof.set_custom_trace_id_callback(lambda: "number 2")
    with prof:
        assert prof.get_trace_id() == "number 2"
    prof.export_chrome_trace(str(path))
    assert "text" not in (trace := json.loads(path.read_text())) and trace["all"] == [1]
    with pytest.raises(ValueError, match="Expecting value"):
        prof.add_metadata_json("bad", "no JSON")


def test_what_there_is_not_is_told():
    with pytest.raises(NotImplementedError, match="execution_trace_observer"):
        profile(execution_trace_observer=object())
    with pytest.warns(UserWarning, match="Intel"), older.emit_itt():
        pass
    assert kineto_available() and older.kineto_available()


def test_the_older_names_of_events_and_formats():
    assert profiler_util.FunctionEvent is libdl.profiler.FunctionEvent
    assert libdl.autograd.DeviceType is DeviceType
    assert profiler_util._format_time(1500) == "1.500ms"
    assert profiler_util._format_memory(2048) == "2.00 KB"
