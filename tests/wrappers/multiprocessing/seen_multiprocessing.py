# SPDX-License-Identifier: Apache-2.0
"""Programs with multiprocessing, for test_multiprocessing.py. `m` is libdl, or PyTorch, whose
answers tests/answered.py stores."""

import importlib
import os
import queue
import signal
import sys
import time

from wrappers.answers import told


def processes(m):
    return importlib.import_module(f"{m.__name__}.multiprocessing")


def there_and_back(m, obj):
    q = processes(m).get_context("fork").SimpleQueue()
    q.put(obj)
    return q.get()


def looks(x):
    return [
        type(x).__name__,
        str(x.dtype).rpartition(".")[2],
        list(x.shape),
        list(x.stride()),
        x.requires_grad,
        x.is_leaf,
        x.is_shared(),
        x.detach().double().reshape(-1).tolist(),
    ]


def arrived(m):
    x = m.arange(6.0).view(2, 3)
    sent = [
        x,
        x.t(),
        x[1],
        x[:, ::2],
        m.tensor(3),
        m.zeros(2, 0, 3),
        m.ones(1).expand(3),
        m.arange(3),
        m.ones(2) > 0,
        m.ones(2, requires_grad=True),
        m.nn.Parameter(m.zeros(2)),
        m.nn.Parameter(m.zeros(1), False),
        m.ones(2).bfloat16(),
    ]
    found = there_and_back(m, sent)
    answers = [looks(y) for y in found if y.numel() > 0] + [looks(found[5])[:6]]
    found[0].mul_(10)
    return [
        *answers,
        [y.reshape(-1).tolist() for y in found[:4]],
        x.tolist(),
        x.is_shared(),
        found[0].data_ptr() == x.data_ptr(),
    ]


def identities(m):
    x, y = m.ones(3), m.ones(3)
    x2, same, row, y2 = there_and_back(m, [x, x, x[1:], y])
    row.zero_()
    again = there_and_back(m, x)
    return [
        x2 is same,
        x2.tolist(),
        x.tolist(),
        y2.tolist(),
        again.data_ptr() == x2.data_ptr(),
        again.tolist(),
    ]


def modules(m):
    net = m.nn.Sequential(m.nn.Linear(2, 2), m.nn.BatchNorm1d(2))
    net[0].extra = net[0].weight
    answers = [
        net.share_memory() is net,
        [p.is_shared() for p in net.parameters()],
        [b.is_shared() for b in net.buffers()],
    ]
    found = there_and_back(m, net)
    with m.no_grad():
        found[0].weight.fill_(3)
        found[1].running_mean.fill_(4)
    return [
        *answers,
        net[0].weight.tolist(),
        net[0].extra.tolist(),
        net[1].running_mean.tolist(),
        list(found.state_dict()),
        [type(p).__name__ for p in found.parameters()],
        found[0].extra is found[0].weight,
    ]


def moved(m):
    x = m.arange(4.0)
    answers = [
        x.is_shared(),
        x.share_memory_() is x,
        x.is_shared(),
        x[1:].is_shared(),
        x.detach().is_shared(),
        x.clone().is_shared(),
        (x + 1).is_shared(),
        x.requires_grad,
        x.is_leaf,
    ]
    w = m.ones(2, requires_grad=True)
    return [
        *answers,
        w.share_memory_().is_leaf,
        w.requires_grad,
        m.zeros(2, 2).view(4).share_memory_().tolist(),
    ]


def refused(m):
    context = processes(m).get_context("fork")
    history, q = m.ones(2, requires_grad=True) * 2, context.Queue(1)
    answers = [told(there_and_back, m, history), told(there_and_back, m, history.detach())]
    answers[1] = answers[1].tolist()
    q.put(1)
    for call in (lambda: q.put(2, timeout=0.01), lambda: (q.get(timeout=30), q.get(timeout=0.01))):
        try:
            call()
        except (queue.Full, queue.Empty) as error:
            answers.append(type(error).__name__)
    q.close()
    return [*answers, told(q.put, 1)]


def _task(i, x, what):
    x[i] = i + 1
    if i == 1:
        if what == "raises":
            raise KeyError("k")
        if what == "exits":
            sys.exit(5)
        if what == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(1)


def ended(m):
    mp, answers = processes(m), []
    for what in ("ends", "raises", "exits", "dies"):
        x = m.zeros(2).share_memory_()
        context = mp.start_processes(_task, (x, what), nprocs=2, join=False, start_method="fork")
        try:
            while not context.join():
                pass
            answers.append([x.tolist(), len(context.processes)])
        except (mp.ProcessRaisedException, mp.ProcessExitedException) as error:
            answers.append(
                [
                    type(error).__name__,
                    error.error_index,
                    error.error_pid == context.pids()[1],
                    getattr(error, "exit_code", 0),
                    getattr(error, "signal_name", 0),
                    "KeyError: 'k'" in str(error),
                ]
            )
    return answers


def names(m):
    mp = processes(m)
    methods = {"fork", "forkserver", "spawn"}  # joblib adds its own
    return [
        mp.get_sharing_strategy(),
        sorted(mp.get_all_sharing_strategies()),
        mp.set_sharing_strategy("file_system"),
        mp.get_sharing_strategy(),
        mp.set_sharing_strategy("file_descriptor"),
        sorted(methods & set(mp.get_all_start_methods())),
        mp.current_process().name,
        mp.get_context("spawn").get_start_method(),
    ]


PROGRAMS = [arrived, identities, modules, moved, refused, ended, names]
