# SPDX-License-Identifier: Apache-2.0
"""The examples run (the digits, which need their data, run in `make demo`)."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import libdl

ROOT = Path(__file__).resolve().parents[2]


def output(*command) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_readmes_program_learns_a_sine():
    assert float(output(sys.executable, ROOT / "examples/sine.py").split()[-1]) < 0.05


def test_the_tree_network_learns():
    losses = re.findall(r"loss ([\d.]+)", output(sys.executable, ROOT / "examples/tree.py"))
    assert float(losses[-1]) < 0.01 * float(losses[0])


def test_without_tqdm_a_training_prints_the_same_lines(monkeypatch, tmp_path):
    lines = output(sys.executable, ROOT / "examples/tree.py")
    (tmp_path / "tqdm.py").write_text("raise ImportError")
    monkeypatch.syspath_prepend(tmp_path)
    assert lines.startswith("step") and output(sys.executable, ROOT / "examples/tree.py") == lines


def test_memory_is_shared_with_numpy():
    lines = output(sys.executable, ROOT / "examples/exchange.py").splitlines()
    assert lines[0].endswith("10.0") and lines[1].endswith("20.0")
    assert "(3, 2) (1, 3)" in lines[2] and lines[3].endswith("True") and "detach" in lines[4]


def test_a_training_goes_on_from_a_checkpoint(tmp_path):
    lines = output(sys.executable, ROOT / "examples/checkpoints.py", tmp_path).splitlines()
    assert lines[1].endswith("equal: True") and "builtins.print" in lines[2] and len(lines) == 3


def test_an_epoch_is_resumed_without_workers():
    lines = output(sys.executable, ROOT / "examples/loading.py").splitlines()
    assert "[8, 12, 12]" in lines[0] and lines[1].endswith("equal: True")


def test_who_looks_on_counts_a_whole_step():
    counted = output(sys.executable, ROOT / "examples/look_on.py")
    phases = [line.split(":")[0] for line in counted.splitlines()]
    assert phases == ["forward", "backward", "optimizer"]
    assert "2 x linear" in counted and "1 x adam" in counted and "derivative" in counted


def test_the_samples_disagree_where_their_mean_gradient_vanishes():
    text = output(sys.executable, ROOT / "examples/per_sample.py")
    before, after = re.findall(r"agreement ([\d.]+)", text)
    assert float(after) < 0.1 < 0.5 < float(before)


def test_a_network_is_changed_as_a_graph():
    text = output(sys.executable, ROOT / "examples/rewrite.py")
    assert "replaced: 2\nequal: True" in text
    before, after = text.splitlines()[-2:]
    assert "batch_norm" in before and "libdl.relu" in before and "'libdl.Tensor.mul': 2" in before
    assert "batch_norm" not in after and "'libdl.clamp': 2" in after


def test_a_policy_learns_to_balance():
    text = output(sys.executable, ROOT / "examples/policy.py")
    steps = [int(n) for n in re.findall(r": (\d+) steps", text)]
    # A random policy falls after some 20 steps of 200.
    assert steps[0] < 40 and steps[-1] > 100


def test_a_profile_shows_the_steps_and_writes_its_files(tmp_path):
    lines = output(sys.executable, ROOT / "examples/profiling.py", tmp_path).splitlines()
    steps = next(line.split() for line in lines if line.lstrip().startswith("ProfilerStep*"))
    assert "3" in steps and any(line.lstrip().startswith("conv2d ") for line in lines)
    assert {"graph.dot", "trace.json"} <= {path.name for path in tmp_path.iterdir()}


def test_who_looks_on_in_c_counts_a_whole_step():
    program = ROOT / os.environ.get("BUILD", "build") / "examples" / "look_on"
    lines = [line.split() for line in output(program).splitlines()]
    assert [line[0] for line in lines] == ["forward", "backward", "optimizer"]
    assert lines[0][1] == "3" and int(lines[1][1]) > 3 and lines[2][1] == "1"


def test_a_function_in_c_has_the_gradient_of_differences():
    program = ROOT / os.environ.get("BUILD", "build") / "examples" / "custom_function"
    assert output(program).count("gradient") == 3  # its exit status tells whether they agree


# -- training -------------------------------------------------------------------------------------

needs_digits = pytest.mark.skipif(
    not (ROOT / "data/digits.safetensors").exists(), reason="tools/setup/run fetches the digits"
)
# Under a sanitizer they would take the time of all other tests together.
trains = pytest.mark.skipif("LIBDL_SANITIZED" in os.environ, reason="too slow under a sanitizer")


def figure(pattern: str, name: str, *arguments: str) -> float:
    """The last number that an example prints behind the pattern."""
    printed = output(sys.executable, ROOT / "examples" / name, *arguments)
    return float(re.findall(pattern + r"\s*([\d.]+)", printed)[-1])


DIGITS = str(ROOT / "data/digits.safetensors")


@trains
@needs_digits
def test_a_convolutional_network_reads_digits():
    assert figure("held out:", "digits_cnn.py", DIGITS) >= 98.5


@trains
@needs_digits
def test_the_papers_first_listing_reads_digits_of_nine_pixels():
    assert figure("held out:", "full_model.py", DIGITS) >= 70


@trains
@needs_digits
def test_the_papers_second_listing_draws_digits():
    """Noise is at 0.3 from their mean; what was drawn comes near, and is not always the same."""
    assert figure("mean", "gan.py", DIGITS) < 0.07


@trains
def test_an_lstm_learns_a_text():
    assert figure("held out:", "char_lstm.py", "150") < 3.2


@trains
def test_a_gpt_learns_a_text_and_its_cache_agrees():
    printed = output(sys.executable, ROOT / "examples/gpt.py", "150")
    assert float(re.findall(r"held out: ([\d.]+)", printed)[0]) < 3.4
    assert "the scores are the same: True" in printed


@trains
def test_films_of_one_genre_are_found():
    printed = output(sys.executable, ROOT / "examples/recommend.py")
    assert float(re.findall(r"rate at 10: ([\d.]+)", printed)[0]) > 20
    assert float(re.findall(r"nearer by ([\d.]+)", printed)[0]) > 0.2


@trains
def test_a_u_net_finds_discs():
    assert figure("union:", "unet.py", "160") > 0.6


# -- programs in C and C++ ------------------------------------------------------------------------

PROGRAMS = ROOT / os.environ.get("BUILD", "build") / "examples"


@pytest.fixture
def network_of_the_benchmark(monkeypatch):
    """bench/models/NAME.py, whose sizes a test may change."""

    def load(name, **sizes):
        monkeypatch.syspath_prepend(ROOT / "bench/models")
        module = importlib.import_module(name)
        for own in (name, "images"):  # other folders may have modules of the same names
            sys.modules.pop(own, None)
        for size, value in sizes.items():
            monkeypatch.setattr(module, size, value)
        return module.network(libdl)

    return load


@trains
def test_resnet_50_learns_waves_in_cpp():
    printed = output(PROGRAMS / "resnet50_cpp")
    losses = [float(x) for x in re.findall(r"loss ([\d.]+)", printed)]
    assert len(losses) == 30 and losses[0] > 6
    assert sum(losses[-5:]) < 0.15 * sum(losses[:5])
    assert float(re.findall(r"held out: ([\d.]+)", printed)[0]) > 60
    assert float(re.findall(r"([\d.]+) images a second", printed)[0]) > 0


@trains
def test_weights_of_resnet_50_pass_between_cpp_and_python(network_of_the_benchmark, tmp_path):
    program, small = PROGRAMS / "resnet50_cpp", ("--batch", "4", "--size", "64")
    weights, scores = tmp_path / "weights", tmp_path / "scores"
    output(program, *small, "--steps", "2", "--save", weights, "--scores", scores)
    net = network_of_the_benchmark("resnet50")
    state = libdl.load(weights)
    assert len(state) == 320  # as torchvision's: 161 parameters, 53 times 3 buffers
    assert "layer4.2.bn3.num_batches_tracked" in state
    net.load_state_dict(state)
    net.eval()
    found = libdl.load(scores)
    assert libdl.equal(net(found["images"]), found["scores"])

    net.train()
    with libdl.no_grad():
        net(found["images"])  # changes the running statistics
    net.fc.reset_parameters()
    libdl.save(net.state_dict(), weights)
    output(program, *small, "--steps", "0", "--load", weights, "--scores", scores)
    net.eval()
    again = libdl.load(scores)
    assert libdl.equal(net(again["images"]), again["scores"])
    assert not libdl.equal(found["scores"], again["scores"])


USERS, ITEMS, WATCHED, RANKED = 4096, 2048, 20, 1024  # of examples/ncf.c


def hit_ratio(net):
    """As examples/ncf.c has it: the same seeds give the same ratings and candidates."""
    random = libdl.Generator().manual_seed(1)
    genre = libdl.randint(0, 8, (ITEMS,), generator=random)
    appeal = libdl.rand(ITEMS, generator=random)
    likes = genre == libdl.randint(0, 8, (USERS, 1), generator=random)
    likes = likes | (genre == libdl.randint(0, 8, (USERS, 1), generator=random))
    wish = libdl.rand(USERS, ITEMS, generator=random) + appeal + 2 * likes
    held_out = wish.topk(WATCHED, dim=1).indices[:, -1:]
    random.manual_seed(2)
    hits = 0
    for users in libdl.arange(RANKED).split(256):
        others = libdl.randint(0, ITEMS, (256, 99), generator=random)
        items = libdl.cat([held_out[users], others], 1)
        with libdl.no_grad():
            scores = net(users.view(-1, 1).expand(256, 100).flatten(), items.flatten())
        scores = scores.view(256, 100)
        hits += int(((scores > scores[:, :1]).sum(1) < 10).sum())
    return hits / RANKED


@trains
def test_ncf_in_c_beats_popularity_and_python_agrees(network_of_the_benchmark, tmp_path):
    printed = output(PROGRAMS / "ncf", str(8 * 304), tmp_path / "weights")
    losses = [float(x) for x in re.findall(r"loss ([\d.]+)", printed)]
    assert len(losses) == 8 and losses == sorted(losses, reverse=True)
    ratios = {name: float(x) for name, x in re.findall(r"by (.*): ([\d.]+)", printed)}
    assert ratios["popularity"] > 0.2, "a tenth is chance"
    assert ratios["the model"] > ratios["popularity"] + 0.2
    net = network_of_the_benchmark(
        "ncf", USERS=USERS, ITEMS=ITEMS, FACTORS=16, LAYERS=[64, 64, 32, 16]
    )
    net.load_state_dict(libdl.load(tmp_path / "weights"))
    assert hit_ratio(net) == pytest.approx(ratios["the model"], abs=1e-4)  # four digits


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--steps"], "--steps wants a value"),
        (["--steps", ""], " is not a number from 0 on"),
        (["--batch", "0"], "0 is not a number from 1 on"),
        (["--colour", "red"], "--colour is not an option"),
        (["--load", "/none"], "/none"),
    ],
)
def test_resnet_50_says_what_is_wrong(arguments, message):
    done = subprocess.run([PROGRAMS / "resnet50_cpp", *arguments], capture_output=True, text=True)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith("resnet50: ") and message in done.stderr
