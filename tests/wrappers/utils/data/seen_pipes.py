# SPDX-License-Identifier: Apache-2.0
"""Programs with PyTorch's pipes, for test_pipes.py. `m` is libdl, or PyTorch, whose answers
tests/answered.py stores."""

import os
import pathlib
import tempfile
import warnings

from wrappers.answers import told


def run(calls):
    """What the calls return, with each pipe as the list of its samples."""

    def plain(x):
        if isinstance(x, (list, tuple)):
            return [plain(y) for y in x]
        return x if isinstance(x, (int, str, bool, dict, type(None))) else plain(list(x))

    def samples_of(call):
        try:
            return plain(call())
        except BufferError:
            return "BufferError"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: told(samples_of, call) for name, call in calls.items()}


def wrapped(m):
    return m.utils.data.datapipes.iter.IterableWrapper


def samples(m):
    w = wrapped(m)
    pairs = [(1, 2, 3), (3, 4, 5)]
    return run(
        {
            "filter": lambda: w(range(10)).filter(lambda x: x % 3 == 0),
            "filter by a column": lambda: w(pairs).filter(lambda x: x > 2, input_col=1),
            "filter, no bool": lambda: w([1]).filter(lambda x: x),
            "filter, length": lambda: len(w([1]).filter(bool)),
            "map": lambda: w(range(3)).map(lambda x: x * 2),
            "map a column": lambda: w(pairs).map(lambda x: x * 10, input_col=1),
            "map two into the first": lambda: w(pairs).map(lambda a, b: a + b, input_col=[0, 2]),
            "map two of a list": lambda: w([[1, 2, 3]]).map(lambda a, b: a + b, input_col=[2, 0]),
            "map into another": lambda: w(pairs).map(
                lambda a, b: a + b, input_col=[0, 1], output_col=2
            ),
            "map behind": lambda: w(pairs).map(lambda a: -a, input_col=0, output_col=-1),
            "map keys": lambda: w([{"a": 1}]).map(lambda a: a + 5, input_col="a", output_col="b"),
            "map, no input": lambda: w([1]).map(len, output_col=1),
            "map, two outputs": lambda: w([1]).map(len, input_col=0, output_col=[1, 2]),
            "collate": lambda: [x.item() for x in w([1, 2]).collate()],
            "collate by": lambda: w([[1, 2], [3, 4]]).collate(collate_fn=sum),
            "sampler": lambda: m.utils.data.datapipes.iter.Sampler(w("abc")),
            "repr": lambda: repr(w([1]).map(len)),
            "no length": lambda: len(w(iter([1]))),
        }
    )


def batches(m):
    w = wrapped(m)
    words, first = ["a1", "b1", "a2", "a3", "c1", "b2", "a4", "b3"], lambda word: word[0]

    def groups(**options):
        return w(words).groupby(first, **options)

    return run(
        {
            "batch": lambda: w(range(7)).batch(3),
            "batch, drop": lambda: w(range(7)).batch(3, drop_last=True),
            "batch, lengths": lambda: [
                len(w(range(7)).batch(3, drop_last=drop)) for drop in (0, 1)
            ],
            "batch, class": lambda: w(range(3)).batch(2, wrapper_class=tuple),
            "batch of 0": lambda: w([1]).batch(0),
            "unbatch": lambda: w([[0, 1], [2], [3, [4]]]).unbatch(),
            "unbatch 2": lambda: w([[[0, 1]], [[2]]]).unbatch(2),
            "unbatch all": lambda: w([[[0, 1]], [[2]]]).unbatch(-1),
            "unbatch too deep": lambda: w([1, 2]).unbatch(),
            "unbatch -2": lambda: w([1]).unbatch(-2),
            "groups": groups,
            "groups with keys": lambda: groups(keep_key=True),
            "groups of 2": lambda: groups(group_size=2),
            "groups of 2, drop": lambda: groups(group_size=2, drop_remaining=True),
            "groups, small buffer": lambda: groups(buffer_size=3),
            "groups, least": lambda: groups(buffer_size=4, group_size=3, guaranteed_group_size=2),
            "groups, refused": lambda: groups(buffer_size=3, group_size=3),
            "groups, dropped": lambda: groups(buffer_size=3, group_size=3, drop_remaining=True),
            "groups, more than wait": lambda: groups(buffer_size=2, group_size=3),
            "groups, least above": lambda: groups(group_size=2, guaranteed_group_size=3),
        }
    )


def order(m):
    w = wrapped(m)

    def part(count, number):
        pipe = w(range(10)).sharding_filter()
        pipe.apply_sharding(count, number)
        return [pipe, len(pipe)]

    return run(
        {
            "shuffle": lambda: w(range(10)).shuffle().set_seed(1),
            "shuffle, small buffer": lambda: w(range(10)).shuffle(buffer_size=3).set_seed(5),
            "shuffle off": lambda: w(range(4)).shuffle().set_shuffle(False),
            "shuffle batches": lambda: w([[1, 2], [3]]).shuffle(unbatch_level=1).set_seed(3),
            "shuffle, no seed": lambda: sorted(w(range(5)).shuffle()),
            "shuffle, no buffer": lambda: w([1]).shuffle(buffer_size=0),
            "part": lambda: part(3, 1),
            "last part": lambda: part(3, 2),
            "no part": lambda: part(2, 2),
        }
    )


def several(m):
    w = wrapped(m)

    def fork(**options):
        a, b = w(range(5)).fork(2, **options)
        return [list(a), list(b), list(b), list(a), len(a)]

    def together():
        a, b = map(iter, w(range(5)).fork(2, buffer_size=2))
        return [next(a), next(b), next(b), next(a), next(a)]

    def begun_again():
        a, b = w(range(4)).fork(2)
        early = iter(a)
        next(early)
        return [list(a), next(early)]

    def demux(by, **options):
        a, b = w(range(6)).demux(2, by, **options)
        return [list(b), list(a)]

    return run(
        {
            "concat": lambda: w(range(2)).concat(w("ab")),
            "zip": lambda: w(range(3)).zip(w("abcd")),
            "mux": lambda: w(range(3)).mux(w(range(10, 14)), w(range(20, 25))),
            "lengths": lambda: [
                len(w("ab").concat(w("abc"))),
                len(w("ab").zip(w("abc"))),
                len(w("ab").mux(w("abc"))),
            ],
            "concat of what is none": lambda: w([1]).concat(3),
            "fork": fork,
            "fork, copies": lambda: fork(copy="deep"),
            "fork, small buffer": lambda: fork(buffer_size=2),
            "fork, no limit": lambda: fork(buffer_size=-1),
            "fork, together": together,
            "fork, begun again": begun_again,
            "fork of 1": lambda: w(range(3)).fork(1),
            "fork of 0": lambda: w(range(3)).fork(0),
            "demux": lambda: demux(lambda x: x % 2),
            "demux, None": lambda: demux(lambda x: None if x == 3 else x % 2),
            "demux, None left out": lambda: demux(
                lambda x: None if x == 3 else x % 2, drop_none=True
            ),
            "demux, out of range": lambda: demux(lambda x: 5),
            "demux, small buffer": lambda: demux(lambda x: x % 2, buffer_size=1),
        }
    )


def indexed(m):
    maps = m.utils.data.datapipes.map
    w = maps.SequenceWrapper
    return run(
        {
            "element": lambda: [w([1, 2, 3])[1], w({"a": 1})["a"], len(w([1, 2]))],
            "map": lambda: w([1, 2, 3]).map(lambda x: x + 1),
            "batch": lambda: [w(range(5)).batch(2), len(w(range(5)).batch(2, drop_last=True))],
            "batch, class": lambda: w(range(3)).batch(2, wrapper_class=tuple)[1],
            "batch out of range": lambda: w(range(5)).batch(2)[3],
            "concat": lambda: w([1]).concat(w([2, 3])),
            "concat out of range": lambda: w([1]).concat(w([2]))[2],
            "zip": lambda: w([1, 2]).zip(w("ab")),
            "shuffle": lambda: w(range(5)).shuffle().set_seed(3),
            "shuffle off": lambda: w(range(5)).shuffle().set_shuffle(False),
            "shuffle keys": lambda: w({"a": 1, "b": 2}).shuffle(indices=["a", "b"]).set_seed(0),
        }
    )


def files(m):
    pipes = m.utils.data.datapipes.iter
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "below").mkdir()
        for file in ("b.txt", "a.txt", "c.md", "below/d.txt"):
            (folder / file).write_text(file)

        def told_paths(pipe):
            return [(os.path.relpath(path, folder), data) for path, data in pipe]

        def paths(*args, **options):
            return [os.path.relpath(p, folder) for p in pipes.FileLister(name, *args, **options)]

        return run(
            {
                "list": paths,
                "masks": lambda: paths(["*.md", "a*"]),
                "recursive": lambda: paths("*.txt", recursive=True),
                "of a pipe": lambda: len(list(wrapped(m)([name]).list_files(masks="*.md"))),
                "bytes": lambda: [
                    (path, data.decode())
                    for path, data in told_paths(
                        pipes.FileLister(name, "*.txt").open_files("b").read_from_stream(2)
                    )
                ],
                "text": lambda: told_paths(
                    pipes.FileLister(name, "*.txt").open_files().read_from_stream()
                ),
                "mode": lambda: wrapped(m)(["x"]).open_files("w"),
            }
        )


def loaded(m):
    def of(pipe, **options):
        return [x.tolist() for x in m.utils.data.DataLoader(pipe, **options)]

    w = wrapped(m)
    return run(
        {
            "off": lambda: of(w(range(8)).shuffle(), batch_size=4, shuffle=False),
            "put behind": lambda: sorted(of(w(range(3)), shuffle=True)),
            "divided": lambda: of(w(range(8)).sharding_filter(), batch_size=2, num_workers=2),
            "all once": lambda: sorted(
                sum(
                    of(
                        w(range(8)).shuffle().sharding_filter(),
                        batch_size=2,
                        shuffle=True,
                        num_workers=2,
                    ),
                    [],
                )
            ),
        }
    )


PROGRAMS = [samples, batches, order, several, indexed, files, loaded]
