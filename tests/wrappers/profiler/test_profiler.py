# SPDX-License-Identifier: Apache-2.0
"""libdl.profiler: what is recorded of a program's calls, and how it is shown."""

import gzip
import json
import warnings

import pytest

import libdl
from libdl import nn
from libdl.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)
from libdl.profiler import drawing, events
from libdl.profiler.table import format_memory, format_time

STEP_BYTES = 8 * 4 * 4  # of a float32 result of shape [8, 4]


def training():
    libdl.manual_seed(0)
    model = nn.Linear(3, 4)
    optimizer = libdl.optim.SGD(model.parameters(), lr=0.1)
    x, y = libdl.randn(8, 3), libdl.randn(8, 4)

    def step():
        optimizer.zero_grad()
        with record_function("loss"):
            loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()

    step()
    return step


def test_a_step_is_recorded_whole():
    step = training()
    with profile() as prof:
        step()
    events = prof.events()
    assert {e.phase for e in events} == {"forward", "backward", "optimizer"}
    loss, linear = events[0], events[1]
    assert (loss.name, loss.is_user_annotation) == ("loss", True)
    assert (linear.name, linear.phase, linear.cpu_parent) == ("linear", "forward", loss)
    assert any(e.phase == "backward" and e.source == "linear" for e in events)
    assert [e.name for e in events if e.phase == "optimizer" and e.cpu_parent is None] == ["sgd"]


def test_clipping_is_recorded_as_the_calls_that_it_is():
    p = libdl.ones(3, requires_grad=True)
    p.grad = libdl.ones(3)
    with profile() as prof:
        libdl.nn.utils.clip_grad_norm_([p], 1.0)
        libdl.nn.utils.clip_grad_value_([p], 0.1)
    assert {"clip_grad_norm", "clip_grad_value"} <= {event.name for event in prof.events()}


def test_calls_lie_inside_the_call_that_makes_them():
    with profile() as prof:
        training()()
    for event in prof.events():
        assert event.time_range.start <= event.time_range.end
        for child in event.cpu_children:
            assert child.cpu_parent is event
            assert event.time_range.start <= child.time_range.start
            assert child.time_range.end <= event.time_range.end
        assert event.self_cpu_time_total >= 0
    starts = [event.time_range.start for event in prof.events()]
    assert starts == sorted(starts)


def test_shapes_flops_and_memory_of_a_product():
    a, b = libdl.ones(8, 3), libdl.ones(3, 4)
    with profile(record_shapes=True, profile_memory=True, with_flops=True) as prof:
        c = libdl.mm(a, b)
    (event,) = prof.events()
    assert event.input_shapes == [[8, 3], [3, 4]]
    assert event.flops == 2 * 8 * 3 * 4
    assert event.cpu_memory_usage == event.live == STEP_BYTES
    del c


@pytest.mark.parametrize(
    ("call", "flops"),
    [
        (lambda: nn.functional.linear(libdl.ones(8, 3), libdl.ones(4, 3)), 2 * 8 * 3 * 4),
        (lambda: libdl.bmm(libdl.ones(2, 8, 3), libdl.ones(2, 3, 4)), 2 * 2 * 8 * 3 * 4),
        (
            lambda: nn.functional.conv2d(libdl.ones(1, 4, 5, 5), libdl.ones(6, 2, 3, 3), groups=2),
            2 * 6 * 3 * 3 * 2 * 3 * 3,
        ),
        (
            lambda: nn.functional.conv_transpose2d(libdl.ones(1, 4, 5, 5), libdl.ones(4, 6, 3, 3)),
            2 * 4 * 5 * 5 * 6 * 3 * 3,
        ),
        (lambda: libdl.ones(2, 3) * libdl.ones(3), 6),
        (lambda: libdl.exp(libdl.ones(3)), 0),
    ],
)
def test_flops(call, flops):
    with profile(with_flops=True) as prof:
        call()
    assert sum(event.flops for event in prof.events()) == flops


def test_lists_of_tensors_have_shapes():
    x = libdl.ones(2, 3)
    with profile(record_shapes=True) as prof:
        libdl.cat([x, x])
    assert prof.events()[0].input_shapes[0] == [[2, 3], [2, 3]]


def test_nothing_more_is_kept_than_was_asked_for():
    with profile() as prof:
        libdl.mm(libdl.ones(2, 2), libdl.ones(2, 2))
    for event in prof.events():
        assert (event.input_shapes, event.cpu_memory_usage, event.flops, event.stack) == (
            [],
            0,
            0,
            [],
        )


def test_stacks_name_the_line_of_the_program():
    with profile(with_stack=True) as prof:
        libdl.ones(2).exp()
    assert all("test_profiler.py(" in event.stack[0] for event in prof.events())
    assert "test_stacks_name_the_line_of_the_program" in prof.events()[0].stack[0]


def test_averages_sum_what_is_alike():
    x, y = libdl.ones(2), libdl.ones(3)
    with profile(record_shapes=True) as prof:
        for tensor in (x, x, y):
            tensor.exp()
    (average,) = prof.key_averages()
    assert (average.key, average.count) == ("exp", 3)
    total = sum(event.cpu_time_total for event in prof.events())
    assert average.cpu_time_total == pytest.approx(total)
    assert average.cpu_time == pytest.approx(total / 3)
    by_shape = prof.key_averages(group_by_input_shape=True)
    assert {str(a.input_shapes): a.count for a in by_shape} == {"[[2]]": 2, "[[3]]": 1}


def test_phases_are_told_apart_if_asked_for():
    x = libdl.ones(2, 2, requires_grad=True)
    with profile() as prof:
        libdl.mm(x, x).sum().backward()
    counts = {a.phase: a.count for a in prof.key_averages(group_by_phase=True) if a.key == "mm"}
    assert counts == {"forward": 1, "backward": 2}
    assert sum(a.count for a in prof.key_averages() if a.key == "mm") == 3


def test_ranges_inside_their_own_kind_count_once():
    with profile() as prof, record_function("outer"), record_function("outer"):
        libdl.ones(2)
    outer = next(a for a in prof.key_averages() if a.key == "outer")
    assert outer.count == 2
    assert outer.cpu_time_total == prof.events()[0].cpu_time_total


# -- the table ------------------------------------------------------------------------------------


def test_the_table_has_the_columns_of_pytorch():
    with profile(record_shapes=True, profile_memory=True, with_flops=True) as prof:
        training()()
    text = prof.key_averages(group_by_input_shape=True).table(sort_by="cpu_time_total", row_limit=3)
    rule, titles, *rows = text.splitlines()
    for title in (
        "Name",
        "Self CPU %",
        "Self CPU",
        "CPU total %",
        "CPU total",
        "CPU time avg",
        "CPU Mem",
        "Self CPU Mem",
        "# of Calls",
        "Input Shapes",
        "Total ",
    ):
        assert title in titles
    assert set(rule) == {"-", " "}
    assert len(rows) == 6  # a rule, three rows, a rule, the total
    assert rows[-1].startswith("Self CPU time total: ")


def test_the_table_is_sorted_and_limited():
    with profile() as prof:
        training()()
    averages = prof.key_averages()
    largest = max(averages, key=lambda a: a.self_cpu_time_total)
    first = averages.table(sort_by="self_cpu_time_total", row_limit=1).splitlines()[3]
    assert first.split()[0] == largest.key
    assert len(averages.table(row_limit=-1).splitlines()) == len(averages) + 5
    with pytest.raises(AttributeError, match="sort_by is 'speed'"):
        averages.table(sort_by="speed")
    with pytest.raises(ValueError, match="time_unit must be"):
        averages.table(time_unit="hours")


# -- schedules ------------------------------------------------------------------------------------


def test_a_schedule_cycles():
    action = schedule(skip_first=2, wait=1, warmup=1, active=2, repeat=2)
    idle, warm = ProfilerAction.NONE, ProfilerAction.WARMUP
    cycle = [idle, warm, ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE]
    assert [action(i) for i in range(14)] == [idle, idle, *cycle, *cycle, idle, idle, idle, idle]


@pytest.mark.parametrize("wrong", [{"wait": -1}, {"active": 0}, {"repeat": -1}])
def test_a_schedule_refuses_numbers_that_are_too_small(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        schedule(**{"wait": 0, "warmup": 0, "active": 1, **wrong})


@pytest.mark.parametrize("acc_events", [False, True])
def test_each_cycle_is_handed_over(acc_events):
    seen = []

    def note(prof):
        steps = [e.name for e in prof.events() if e.key == "ProfilerStep*"]
        seen.append((prof.step_num, steps))

    step = training()
    cycles = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(schedule=cycles, on_trace_ready=note, acc_events=acc_events) as prof:
        for _ in range(9):
            step()
            prof.step()
    first, second = (["ProfilerStep#2", "ProfilerStep#3"], ["ProfilerStep#6", "ProfilerStep#7"])
    assert seen == [(4, first), (8, first + second if acc_events else second)]


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_a_trace_has_nested_slices_and_a_memory_counter(tmp_path, name):
    with profile(record_shapes=True, profile_memory=True) as prof:
        training()()
    path = tmp_path / name
    prof.export_chrome_trace(str(path))
    opened = gzip.open if name.endswith(".gz") else open
    with opened(path, "rt") as file:
        events = json.load(file)["traceEvents"]
    slices = [e for e in events if e["ph"] == "X"]
    assert [s["name"] for s in slices] == [e.name for e in prof.events()]
    assert all(s["dur"] >= 0 and {"pid", "tid", "ts", "cat"} <= s.keys() for s in slices)
    assert {e["name"] for e in events if e["ph"] == "C"} == {"memory"}


def test_a_handler_writes_each_trace_to_a_file_of_its_own(tmp_path):
    handler = tensorboard_trace_handler(str(tmp_path), worker_name="me", use_gzip=True)
    for _ in range(2):
        with profile(on_trace_ready=handler):
            libdl.ones(2)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert len(files) == 2
    assert all(f.startswith("me.") and f.endswith(".pt.trace.json.gz") for f in files)


def test_stacks_and_the_memory_timeline_are_written(tmp_path):
    with profile(with_stack=True, profile_memory=True) as prof:
        for _ in range(100):  # so that some line has a whole microsecond
            libdl.ones(1000).exp()
    stacks, memory = tmp_path / "stacks.txt", tmp_path / "memory.json"
    prof.export_stacks(str(stacks))
    for line in stacks.read_text().splitlines():
        frames, _, us = line.rpartition(" ")
        assert "test_profiler.py" in frames.rpartition(";")[2]
        assert int(us) > 0
    prof.export_memory_timeline(str(memory))
    times, sizes = json.loads(memory.read_text())
    assert times == sorted(times)
    assert max(sizes) >= 4000
    with profile() as without:
        libdl.ones(1)
    with pytest.raises(ValueError, match="profile_memory"):
        without.export_memory_timeline(str(memory))


def test_the_memory_timeline_is_compressed_or_a_page_by_its_name(tmp_path):
    with profile(profile_memory=True) as prof:
        libdl.ones(1000).exp()
    plain, packed, page = (str(tmp_path / f"m.{end}") for end in ("json", "json.gz", "html"))
    prof.export_memory_timeline(plain)
    prof.export_memory_timeline(packed)
    with open(plain) as text, gzip.open(packed, "rt") as zipped:
        assert text.read() == zipped.read()
    with pytest.raises(NotImplementedError, match="raw"):
        prof.export_memory_timeline(str(tmp_path / "m.raw.json.gz"))
    pytest.importorskip("matplotlib")
    prof.export_memory_timeline(page)
    with open(page) as text:
        assert '<img src="data:image/png;base64,' in text.read()


# -- pictures -------------------------------------------------------------------------------------


def long_training():
    """Names, ranges and steps of known lengths, in milliseconds."""

    def event(name, start, end, phase="forward", inside=None, is_range=False):
        made = events.FunctionEvent(len(listed), name, events.Interval(start * 1e3, end * 1e3), 1)
        made.phase, made.is_user_annotation, made.cpu_parent = phase, is_range, inside
        if inside is not None:
            inside.cpu_children.append(made)
        listed.append(made)
        return made

    listed = []
    step = event("ProfilerStep#7", 0, 100, is_range=True)
    whole = event("the model", 0, 50, inside=step, is_range=True)
    event("first half", 0, 25, inside=whole, is_range=True)
    event("conv2d", 1, 24, inside=whole)
    event("a_name_much_too_long_for_its_bar", 25, 27, inside=whole)
    outer = event("linear", 30, 50, inside=whole)
    event("addmm", 31, 49, inside=outer)
    event("conv2d_backward", 55, 80, "backward", step)
    event("sgd_step", 90, 100, "optimizer", step)
    return events.EventList(listed)


def texts(axes):
    return [text.get_text() for text in axes.texts if text.get_visible()]


def test_a_picture_names_passes_ranges_operators_and_steps():
    pytest.importorskip("matplotlib")
    (axes,) = drawing.draw(long_training()).axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["passes", "ranges", "inner ranges", "operators", "inside"]
    shown = texts(axes)
    for name in ("forward", "backward", "optimizer", "the model", "first half", "conv2d", "step 7"):
        assert name in shown, name
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend[:2] == ["conv2d_backward", "conv2d"] and legend[-1] == "Python"
    assert {"addmm", "linear", "sgd_step"} <= set(legend)


def test_names_stay_within_their_bars():
    pytest.importorskip("matplotlib")
    made = long_training()
    figure = drawing.draw(made)
    (axes,) = figure.axes
    figure.draw_without_rendering()
    assert "a_name_much_too_long_for_its_bar" not in texts(axes)
    ends = {event.name: event.time_range for event in made}
    for text in axes.texts:
        name = text.get_text()
        if text.get_visible() and name in ends:
            left, right = (axes.transData.transform((at, 0))[0] for at in ends[name])
            box = text.get_window_extent()
            assert left <= box.x0 and box.x1 <= right, name


@pytest.mark.parametrize(
    ("end", "unit", "last"),
    [
        (80.0, "µs", 80),
        (80e3, "ms", 80),
        (8e6, "s", 8),
        (200e6, "s", 200),
    ],
)
def test_times_have_a_unit_in_which_they_are_short(end, unit, last):
    pytest.importorskip("matplotlib")
    event = events.FunctionEvent(0, "mm", events.Interval(0.0, end), 1)
    figure = drawing.draw(events.EventList([event]))
    (axes,) = figure.axes
    figure.draw_without_rendering()
    assert axes.get_xlabel() == f"time ({unit})"
    numbers = [float(label.get_text()) for label in axes.get_xticklabels()]
    assert max(numbers) >= last > max(numbers) * 0.8
    assert all("e" not in label.get_text() for label in axes.get_xticklabels())


def test_many_operators_share_one_colour():
    pytest.importorskip("matplotlib")
    made = [
        events.FunctionEvent(i, f"op{i}", events.Interval(10.0 * i, 10.0 * i + i), 1)
        for i in range(20)
    ]
    (axes,) = drawing.draw(events.EventList(made)).axes
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == [f"op{i}" for i in range(19, 11, -1)] + ["other operators", "Python"]


def test_an_empty_profile_has_a_picture():
    pytest.importorskip("matplotlib")
    assert drawing.draw(events.EventList()).axes[0].get_xlabel() == "time (µs)"


@pytest.mark.parametrize(("name", "begin"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml")])
def test_a_plot_is_a_picture(tmp_path, name, begin):
    pytest.importorskip("matplotlib")
    with profile(profile_memory=True) as prof:
        training()()
    path = tmp_path / name
    figure = prof.plot(str(path))
    assert path.read_bytes().startswith(begin)
    timeline, memory = figure.axes
    assert len(timeline.collections) >= 2  # Python's time, and the calls' of a row at least
    assert len(memory.lines[0].get_xdata()) == len(prof.events())
    assert "in tensors" in memory.get_ylabel()


# -- around it ------------------------------------------------------------------------------------


def test_a_failed_call_is_recorded_and_the_profile_goes_on():
    with profile() as prof:
        with pytest.raises(RuntimeError):
            libdl.mm(libdl.ones(2, 3), libdl.ones(2, 3))
        libdl.ones(2).exp()
    assert [e.failed for e in prof.events() if e.name == "mm"] == [True]
    assert prof.events()[-1].name == "exp"


def test_two_profiles_at_once_are_refused():
    with profile() as prof:
        with pytest.raises(RuntimeError, match="the profiler runs already"):
            profile().start()
        libdl.ones(2)
    assert len(prof.events()) == 1


def test_a_decorated_function_runs_with_and_without_a_profile():
    @record_function("decorated")
    def double(x):
        return x + x

    assert double(2) == 4
    with profile() as prof:
        double(libdl.ones(1))
    assert prof.events()[1].name == "decorated"


def test_a_range_that_began_before_the_profile_is_left_out():
    prof = profile()
    with record_function("early"):
        prof.start()
        libdl.ones(2)
    libdl.ones(2)
    prof.stop()
    assert [e.name for e in prof.events()] == ["ones", "ones"]


def test_results_have_the_same_bits_under_a_profile():
    def losses():
        libdl.manual_seed(1)
        x = libdl.randn(5, 5, requires_grad=True)
        (x @ x).softmax(0).square().sum().backward()
        return x.grad.tolist()

    with profile(record_shapes=True, with_stack=True):
        under = losses()
    assert under == losses()


def test_what_cannot_be_recorded_is_told():
    with pytest.warns(UserWarning, match="of CUDA nothing is recorded"):
        profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    with pytest.raises(RuntimeError, match="nothing was recorded yet"):
        profile().events()


def test_conversions_between_representations_are_shown():
    x, weight = libdl.randn(1, 8, 6, 6), libdl.randn(8, 8, 3, 3)
    before = libdl._C.conversions()
    with profile() as prof:
        nn.functional.conv2d(x, weight)  # lays the channels of x innermost
        x.exp()
    converted = {event.name: event.self_conversions for event in prof.events()}
    assert converted == {"conv2d": libdl._C.conversions() - before, "exp": 0}
    assert converted["conv2d"] > 0
    assert "Conversions" in prof.key_averages().table()


@pytest.mark.parametrize(
    ("us", "told"),
    [
        (0.0, "0.000us"),
        (12.5, "12.500us"),
        (999.9, "999.900us"),
        (1000.0, "1.000ms"),
        (1234.5, "1.234ms"),
        (3e6, "3.000s"),
    ],
)
def test_times_are_told_in_the_unit_that_suits_them(us, told):
    assert format_time(us) == told
    assert format_time(us, "ms") == f"{us / 1000:.3f}ms"


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (12, "12 B"),
        (1536, "1.50 KB"),
        (2**21, "2.00 MB"),
        (5 * 2**28, "1.25 GB"),
        (-2048, "-2.00 KB"),
    ],
)
def test_memory_is_told_in_the_unit_that_suits_it(size, told):
    assert format_memory(size) == told


# -- what an exception leaves open -----------------------------------------------------------------


def test_a_profile_that_was_started_and_left_open_ends_with_the_next():
    left = profile()
    with pytest.raises(ZeroDivisionError):
        left.start()
        libdl.ones(2)
        1 / 0  # noqa: B018
    with pytest.warns(UserWarning, match="was not stopped"), profile() as prof:
        libdl.ones(3).exp()
    assert [e.name for e in prof.events()] == ["ones", "exp"]
    assert [e.name for e in left.events()] == ["ones"]
    left.stop()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with profile():
            pass


def test_one_that_is_left_in_a_step_of_its_schedule_ends_too():
    left = profile(schedule=libdl.profiler.schedule(wait=0, warmup=0, active=2))
    left.start()
    libdl.ones(2)
    with pytest.warns(UserWarning, match="was not stopped"), profile() as prof:
        libdl.ones(3)
    assert [e.name for e in prof.events()] == ["ones"]
    assert [e.name for e in left.events()] == ["ProfilerStep#0", "ones"]


def raising(*args):
    raise ZeroDivisionError


@pytest.mark.parametrize(
    "options",
    [
        {"custom_trace_id_callback": raising},
        {"schedule": raising},
        {"on_trace_ready": raising},
        {"schedule": lambda step: raising() if step else libdl.profiler.ProfilerAction.RECORD},
    ],
)
def test_no_exception_of_the_program_keeps_a_profile_open(options):
    with pytest.raises(ZeroDivisionError), profile(**options) as prof:
        libdl.ones(2)
        prof.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with profile() as after:
            libdl.ones(2)
    assert [e.name for e in after.events()] == ["ones"]


def test_a_profile_around_another_is_not_ended_by_it():
    with profile() as outer:
        with pytest.raises(RuntimeError, match="runs already"):
            profile().start()
        libdl.ones(2)
    assert [e.name for e in outer.events()] == ["ones"]


def test_the_older_profile_is_ended_by_its_block():
    older = libdl.autograd.profiler.profile()
    with older:
        with pytest.raises(RuntimeError, match="runs already"):
            profile().start()
        libdl.ones(2)
    assert [e.name for e in older.function_events] == ["ones"]
