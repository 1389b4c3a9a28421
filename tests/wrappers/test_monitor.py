# SPDX-License-Identifier: Apache-2.0
"""Events and statistics of torch.monitor. Expected values are PyTorch's."""

import time
from datetime import datetime, timedelta

import pytest

from libdl.monitor import (
    STAT_EVENT,
    Aggregation,
    Event,
    Stat,
    TensorboardEventHandler,
    log_event,
    register_event_handler,
    unregister_event_handler,
)

KINDS = list(Aggregation)
WHEN = datetime(2020, 1, 2)


@pytest.fixture
def seen():
    events = []
    handle = register_event_handler(events.append)
    yield events
    unregister_event_handler(handle)


def test_aggregations_have_pytorchs_numbers():
    assert [(k.name, k.value) for k in KINDS] == [
        ("VALUE", 1),
        ("MEAN", 2),
        ("COUNT", 3),
        ("SUM", 4),
        ("MAX", 5),
        ("MIN", 6),
    ]


def test_a_window_ends_with_its_last_sample(seen):
    stat = Stat("loss", KINDS, timedelta(hours=1), 3)
    assert stat.name == "loss" and stat.count == 0 and stat.get() == dict.fromkeys(KINDS, 0.0)
    stat.add(1)
    stat.add(5)
    assert stat.count == 2 and stat.get() == dict.fromkeys(KINDS, 0.0) and not seen
    stat.add(3)
    assert stat.count == 0
    assert stat.get() == dict(zip(KINDS, [3.0, 3.0, 3.0, 9.0, 5.0, 1.0], strict=True))
    assert [(e.name, e.data) for e in seen] == [
        (
            STAT_EVENT,
            {
                "loss.value": 3.0,
                "loss.mean": 3.0,
                "loss.count": 3.0,
                "loss.sum": 9.0,
                "loss.max": 5.0,
                "loss.min": 1.0,
            },
        )
    ]
    assert isinstance(seen[0].timestamp, datetime)


def test_a_window_ends_in_time_and_what_is_left_is_logged_at_the_end(seen):
    stat = Stat("x", [Aggregation.SUM], timedelta(microseconds=1))
    stat.add(2)
    time.sleep(0.001)
    assert stat.count == 0 and [e.data for e in seen] == [{"x.sum": 2.0}]
    time.sleep(0.001)
    assert stat.get() == {Aggregation.SUM: 0.0} and len(seen) == 1  # nothing was in that window
    stat = Stat("y", [Aggregation.COUNT], timedelta(hours=1))
    stat.add(1)
    del stat
    assert seen[-1].data == {"y.count": 1.0}


def test_events_hold_numbers_truths_and_text(seen):
    event = Event("start", datetime(2020, 1, 2), {"a": 1, "b": 1.5, "c": "d", "e": True})
    log_event(event)
    assert seen == [event] and event.data["c"] == "d"
    for data in ({"a": None}, {"a": [1]}, {1: 1}):
        with pytest.raises(TypeError, match="^Event: argument 3"):
            Event("start", WHEN, data)
    with pytest.raises(TypeError, match="^Event: argument 2"):
        Event("start", 1.0, {})
    with pytest.raises(TypeError, match="^log_event"):
        log_event("start")
    with pytest.raises(TypeError, match="^Stat: argument 3"):
        Stat("x", KINDS, 1.0)
    with pytest.raises(TypeError, match="^Stat: argument 2"):
        Stat("x", [1], timedelta(1))


def test_handlers_end_and_their_errors_arrive():
    with pytest.raises(TypeError, match="^register_event_handler"):
        register_event_handler(1)

    def fail(event):
        raise ValueError("no disk")

    handle = register_event_handler(fail)
    with pytest.raises(ValueError, match="no disk"):
        log_event(Event("e", WHEN, {}))
    unregister_event_handler(handle)
    log_event(Event("e", WHEN, {}))
    with pytest.raises(ValueError, match="not registered"):
        unregister_event_handler(handle)


def test_statistics_are_written_as_scalars():
    written = []

    class Writer:
        def add_scalar(self, name, value, walltime):
            written.append((name, value, walltime))

    handler = TensorboardEventHandler(Writer())
    when = WHEN
    handler(Event(STAT_EVENT, when, {"x.sum": 2.0}))
    handler(Event("other", when, {"y": 1.0}))
    assert written == [("x.sum", 2.0, when.timestamp())]
