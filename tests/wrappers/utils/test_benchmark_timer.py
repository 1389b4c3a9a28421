# SPDX-License-Identifier: Apache-2.0
"""libdl.utils.benchmark. A clock of the test's own takes the place of time."""

import copy

import pytest

import libdl
from libdl.utils.benchmark import Compare, Measurement, TaskSpec, Timer, select_unit, trim_sigfig


class Clock:
    """Each run of `work` takes the next of these seconds, the last again and again."""

    def __init__(self, *seconds):
        self.now, self.seconds, self.runs = 0.0, list(seconds), 0

    def work(self):
        self.runs += 1
        self.now += self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0]

    def timer(self, **options):
        return Timer("work()", timer=lambda: self.now, globals={"work": self.work}, **options)


def test_timeit_is_one_measurement_after_warming_up():
    clock = Clock(0.5)
    made = clock.timer().timeit(1000)
    assert made.median == made.mean == pytest.approx(0.5)
    assert (len(made.times), made.number_per_run, made.iqr) == (1, 1000, 0.0)
    assert clock.runs == 1010


def test_blocked_autorange_measures_until_the_time_has_passed():
    seen = []
    made = Clock(1e-4).timer().blocked_autorange(lambda *told: seen.append(told), min_run_time=0.2)
    assert made.number_per_run == 10  # the first power of ten that takes a thousandth of it
    assert sum(made.raw_times) == pytest.approx(0.2, abs=1.1e-3)  # one block more or less
    assert [number for number, _ in seen] == [10] * len(made.times)


def test_slow_first_runs_do_not_make_the_blocks_short():
    made = Clock(1.0, 1.0, 1e-4).timer().blocked_autorange(min_run_time=0.2)
    assert made.number_per_run == 10 and made.median == pytest.approx(1e-4)


def test_blocks_are_so_long_that_the_timers_own_time_is_not_seen():
    clock = Clock(1e-4)

    def timer():
        clock.now += 1e-5  # what it takes to read this clock
        return clock.now

    made = Timer("work()", timer=timer, globals={"work": clock.work}).blocked_autorange()
    assert made.number_per_run == 1000 and made.median == pytest.approx(1e-4, rel=2e-4)


def test_adaptive_autorange_stops_when_the_times_agree_or_at_its_limit():
    steady = Clock(1e-3).timer().adaptive_autorange(min_run_time=0.01, max_run_time=5)
    assert sum(steady.raw_times) == pytest.approx(0.01, abs=1.1e-3)
    wild = (
        Clock(*[1e-3, 3e-3] * 500).timer().adaptive_autorange(min_run_time=0.01, max_run_time=0.5)
    )
    assert sum(wild.raw_times) >= 0.5
    assert wild.has_warnings
    assert "WARNING" in repr(wild)


def test_the_number_of_threads_holds_during_the_measurement_alone():
    before = libdl.get_num_threads()
    found = []
    timer = Timer("look()", globals={"look": lambda: found.append(torch_threads())}, num_threads=3)
    timer.timeit(10)
    assert set(found) == {3}
    assert libdl.get_num_threads() == before


def torch_threads():
    return libdl.get_num_threads()


def test_the_statement_sees_the_package_as_torch():
    assert Timer("y = torch.ones(2)").timeit(2).median > 0


def test_what_a_timer_cannot_do_raises():
    with pytest.raises(NotImplementedError, match="found language 'c\\+\\+'"):
        Timer("", language="c++")
    with pytest.raises(ValueError, match="global_setup"):
        Timer("", global_setup="#include <x>")
    with pytest.raises(NotImplementedError, match="callgrind"):
        Timer("pass").collect_callgrind()


# -- measurements ---------------------------------------------------------------------------------


def measured(times, **spec):
    return Measurement(1, times, TaskSpec(spec.pop("stmt", "f()"), **spec))


def test_median_and_interquartile_range():
    made = measured([4.0, 1.0, 2.0, 3.0, 5.0])
    assert (made.median, made.mean, made.iqr) == (3.0, 3.0, 2.0)  # from 2 to 4


def test_a_measurement_tells_what_it_is():
    text = repr(measured([2e-6] * 5, label="L", sub_label="S", description="D", num_threads=2))
    for part in ("L: S", "D", "Median: 2 us", "5 measurements, 1 run , 2 threads"):
        assert part in text


def test_a_measurement_answers_for_its_task():
    made = Clock(0.5).timer(label="a", sub_label="b", description="c", num_threads=1).timeit(1)
    assert (made.label, made.sub_label, made.description, made.stmt) == ("a", "b", "c", "work()")
    assert copy.copy(made).num_threads == 1
    with pytest.raises(AttributeError, match="no attribute 'speed'"):
        made.speed  # noqa: B018


def test_merging_joins_the_times_of_one_task():
    a, b, c = measured([1.0]), Measurement(2, [4.0], TaskSpec("f()")), measured([3.0], stmt="g()")
    assert [m.times for m in Measurement.merge([a, b, c])] == [[1.0, 2.0], [3.0]]


@pytest.mark.parametrize(("seconds", "unit"), [(5e-10, "ns"), (2e-6, "us"), (3e-3, "ms"), (7, "s")])
def test_units(seconds, unit):
    assert select_unit(seconds)[0] == unit


def test_significant_figures():
    assert [trim_sigfig(1234.5, n) for n in (1, 2, 4)] == [1000, 1200, 1234]
    assert trim_sigfig(0.0, 2) == 0.0


def test_a_table_has_a_row_for_each_sub_label_and_a_column_for_each_description():
    results = [
        measured([seconds], label="sum", sub_label=rows, description=kind, num_threads=threads)
        for rows, kind, threads, seconds in (
            ("10 rows", "old", 1, 2e-6),
            ("10 rows", "new", 1, 1e-6),
            ("99 rows", "old", 1, 9e-6),
            ("99 rows", "old", 2, 5e-6),
        )
    ]
    compare = Compare(results)
    lines = str(compare).splitlines()
    assert " sum " in lines[0]
    assert [cell.strip() for cell in lines[1].split("|")[1:]] == ["old", "new"]
    cells = [[cell.strip() for cell in line.split("|")] for line in lines[2:7]]
    assert cells[1:3] == [["10 rows", "2.0", "1.0"], ["99 rows", "9.0", ""]]
    assert cells[3][0].startswith("2 threads:")
    assert cells[4] == ["99 rows", "5.0", ""]
    assert "Times are in microseconds (us)." in lines
    compare.colorize()
    assert "\033[92m\033[1m1.0" in str(compare)
    with pytest.raises(ValueError, match="takes measurements, found int"):
        Compare([3])
