# SPDX-License-Identifier: Apache-2.0
"""Several processes, or several threads, train one network at once, without locks."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import libdl
import libdl.multiprocessing as mp
from libdl import nn

ROOT = Path(__file__).resolve().parents[3]


def test_the_example_learns_what_no_process_saw_alone():
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, ROOT / "examples/hogwild.py"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    before, after = map(float, re.findall(r"loss \w+: ([\d.]+)", done.stdout))
    right = float(re.findall(r"recognised: ([\d.]+)", done.stdout)[0])
    updates = [int(n) for n in re.findall(r"\d+", done.stdout.rpartition("updates")[2])]
    # Without the updates of one process of three, at most two thirds are recognised.
    assert right > 90 and after < 0.2 * before, done.stdout
    assert len(updates) == 3 and min(updates) > 0 and sum(updates) >= 3000


def convolutions():
    """Layers whose weights the core keeps in second forms: of both kinds of convolutions and of
    products."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 16, 3, padding=1, groups=16),
        nn.Conv2d(16, 32, 1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Linear(512, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def step(model, generator, autocast, lr=0.01):
    """Writes as Hogwild does: into .data, so that what others have saved does not count as
    overwritten."""
    size = int(libdl.randint(1, 24, (1,), generator=generator))
    x = libdl.rand(size, 3, 12, 12, generator=generator)
    labels = libdl.randint(0, 10, (size,), generator=generator)
    with libdl.autocast("cpu", enabled=autocast):
        loss = nn.functional.cross_entropy(model(x), labels)
    parameters = list(model.parameters())
    for p, g in zip(parameters, libdl.autograd.grad(loss, parameters), strict=True):
        p.data.add_(g, alpha=-lr)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_threads_train_one_network(threads, shared):
    before = libdl.get_num_threads()
    model, failed, done = convolutions(), [], []
    if shared:
        model.share_memory()
    start = [p.detach().clone() for p in model.parameters()]

    def work(number):
        generator = libdl.Generator().manual_seed(number)
        try:
            for _ in range(30):
                step(model, generator, autocast=number == 2)
            done.append(number)
        except Exception as error:
            failed.append(error)

    try:
        libdl.set_num_threads(threads)
        workers = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        libdl.set_num_threads(before)
    assert failed == [] and sorted(done) == [0, 1, 2]
    for p, q in zip(model.parameters(), start, strict=True):
        assert p.isfinite().all() and not libdl.equal(p, q)
    # What was kept of the weights in another form follows from them as they are now.
    x = libdl.rand(4, 3, 12, 12)
    fresh = convolutions()
    fresh.load_state_dict(model.state_dict())
    assert libdl.equal(model(x), fresh(x))


def test_what_another_thread_overwrites_is_an_error_of_backward():
    """An optimizer's step does not write into .data; its writes are seen."""
    model, x = nn.Linear(3, 3), libdl.ones(2, 3, requires_grad=True)
    loss = model(x).sum()
    other = threading.Thread(target=lambda: model.weight.detach().add_(1))
    other.start()
    other.join()
    with pytest.raises(libdl.VersionError, match="was modified by an in-place operation"):
        loss.backward()


def _trains(number, model, counts, wait):
    libdl.set_num_threads(1)
    generator = libdl.Generator().manual_seed(number)
    wait.wait()
    for _ in range(20):
        step(model, generator, autocast=False)
        counts[number] += 1
        with libdl.no_grad():
            model(libdl.rand(2, 3, 12, 12, generator=generator))  # forms that are kept go stale


def test_processes_train_one_network_and_forms_of_its_weights_follow():
    model, counts = convolutions().share_memory(), libdl.zeros(2).share_memory_()
    x = libdl.rand(4, 3, 12, 12)
    with libdl.no_grad():
        before = [model(x) for _ in range(4)][-1]  # makes the forms here, too
    wait = mp.get_context("fork").Barrier(2)
    mp.start_processes(_trains, (model, counts, wait), nprocs=2, start_method="fork")
    assert counts.tolist() == [20, 20]
    fresh = convolutions()
    fresh.load_state_dict(model.state_dict())
    with libdl.no_grad():
        assert libdl.equal(model(x), fresh(x)) and not libdl.equal(model(x), before)
