# SPDX-License-Identifier: Apache-2.0
"""A training that is saved, and resumed in another process, has the losses of one that went on, to
the last bit.

As a program: test_resume.py NAME FILE resumes a training and prints its losses."""

import os
import subprocess
import sys

import libdl
from libdl import nn, optim
from libdl.nn import functional as F
from libdl.optim import lr_scheduler as schedules

BEFORE, AFTER = 7, 6  # steps
WORDS = 3000


def images():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Dropout2d(0.2),
        nn.Conv2d(8, 8, 3, stride=2),
        nn.BatchNorm2d(8, momentum=None),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(0.5),
        nn.Linear(32, 10),
    )


class Words(nn.Module):
    """The gradient of its table holds rows, and the LSTM draws its own dropout."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(WORDS, 12)
        self.lstm = nn.LSTM(12, 16, num_layers=2, dropout=0.25, batch_first=True)
        self.norm = nn.BatchNorm1d(16)
        self.last = nn.utils.parametrizations.weight_norm(nn.Linear(16, 10))

    def forward(self, words):
        return self.last(self.norm(self.lstm(self.table(words))[0][:, -1]))


def momentum(net):
    optimizer = optim.SGD(net.parameters(), 0.05, momentum=0.9, weight_decay=1e-3, nesterov=True)
    return optimizer, schedules.OneCycleLR(optimizer, 0.1, total_steps=BEFORE + AFTER)


def adamw(net):
    optimizer = optim.AdamW(net.parameters(), 3e-3, amsgrad=True)
    warm = schedules.LinearLR(optimizer, 0.1, total_iters=3)
    cosine = schedules.CosineAnnealingLR(optimizer, T_max=10)
    return optimizer, schedules.SequentialLR(optimizer, [warm, cosine], [3])


def adam_with_groups(net):
    few, *many = net.parameters()
    groups = [{"params": [few], "lr": 1e-2, "betas": (0.8, 0.99)}, {"params": many}]
    optimizer = optim.Adam(groups, 1e-3)
    return optimizer, schedules.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)


def rmsprop(net):
    optimizer = optim.RMSprop(net.parameters(), 1e-3, momentum=0.5, centered=True)
    return optimizer, schedules.MultiStepLR(optimizer, [2, 2, BEFORE + 2])


TRAININGS = {
    f"{name}, {how.__name__}": (network, how)
    for name, network in (("images", images), ("words", Words))
    for how in (momentum, adamw, adam_with_groups, rmsprop)
}


class Training:
    """Everything that a training consists of and that changes from step to step."""

    def __init__(self, name):
        network, how = TRAININGS[name]
        self.net = network()
        self.optimizer, self.schedule = how(self.net)
        self.generator = libdl.Generator().manual_seed(5)  # of the batches

    def batch(self):
        if isinstance(self.net, Words):
            x = libdl.randint(0, WORDS, (8, 5), generator=self.generator)
        else:
            x = libdl.randn(8, 1, 6, 6, generator=self.generator)
        return x, libdl.randint(0, 10, (8,), generator=self.generator)

    def step(self):
        x, labels = self.batch()
        loss = F.cross_entropy(self.net(x), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        plateau = isinstance(self.schedule, schedules.ReduceLROnPlateau)
        self.schedule.step(*([loss] if plateau else []))
        return loss.item().hex()

    def steps(self, count):
        return [self.step() for _ in range(count)]

    def state(self):
        return {
            "network": self.net.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "dropout": libdl.get_rng_state(),
            "batches": self.generator.get_state(),
        }

    def resume(self, state):
        self.net.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        libdl.set_rng_state(state["dropout"])
        self.generator.set_state(state["batches"])


def main(name, path):
    libdl.manual_seed(99)  # nothing may be left of it
    libdl.set_num_threads(3)
    training = Training(name)
    training.resume(libdl.load(path))
    print(*training.steps(AFTER), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.exit()

import pytest  # noqa: E402
import safetensors.numpy  # noqa: E402


def in_another_process(*arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-B", __file__, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def trained(name, count):
    libdl.manual_seed(0)
    training = Training(name)
    return training, training.steps(count)


@pytest.mark.parametrize("name", TRAININGS)
def test_a_resumed_training_has_the_same_losses(name, tmp_path):
    _, whole = trained(name, BEFORE + AFTER)
    training, first = trained(name, BEFORE)
    libdl.save(training.state(), tmp_path / "checkpoint")
    assert first + training.steps(AFTER) == whole, "saving changes nothing"
    assert in_another_process(name, tmp_path / "checkpoint") == whole[BEFORE:]
    assert len(set(whole)) == BEFORE + AFTER


@pytest.mark.parametrize("part", ["network", "optimizer", "schedule", "dropout", "batches"])
def test_each_part_of_a_checkpoint_matters(part, tmp_path):
    """Otherwise the test above would show nothing."""
    name = "images, momentum"
    training, _ = trained(name, BEFORE)
    libdl.save(training.state(), tmp_path / "checkpoint")
    rest = training.steps(AFTER)
    libdl.manual_seed(99)
    resumed = Training(name)
    begun = {**libdl.load(tmp_path / "checkpoint"), part: resumed.state()[part]}
    resumed.resume(begun)
    assert resumed.steps(AFTER) != rest


def test_a_checkpoint_is_a_plain_safetensors_file(tmp_path):
    training, _ = trained("images, momentum", BEFORE)
    libdl.save(training.state(), tmp_path / "checkpoint")
    arrays = safetensors.numpy.load_file(tmp_path / "checkpoint")
    for name, tensor in training.net.state_dict().items():
        assert (arrays[f"network.{name}"] == tensor.numpy()).all()
    buffer = training.optimizer.state[training.net[0].weight]["momentum_buffer"]
    assert (arrays["optimizer.state.0.momentum_buffer"] == buffer.numpy()).all()


def test_a_schedule_of_milestones_jumps_after_loading(tmp_path):
    training, _ = trained("images, rmsprop", 1)
    libdl.save(training.schedule.state_dict(), tmp_path / "schedule")
    training.schedule.load_state_dict(libdl.load(tmp_path / "schedule"))
    training.schedule.step(BEFORE + 2)
    assert training.schedule.get_last_lr() == [pytest.approx(1e-6)]


def test_a_failed_save_keeps_the_checkpoint_before(tmp_path):
    training, _ = trained("images, momentum", 2)
    libdl.save(training.state(), tmp_path / "checkpoint")
    before = (tmp_path / "checkpoint").read_bytes()
    with pytest.raises(TypeError, match="the_module is a Sequential"):
        whole = {**training.state(), "the_module": training.net}
        libdl.save(whole, tmp_path / "checkpoint", format="safetensors")
    assert (tmp_path / "checkpoint").read_bytes() == before
