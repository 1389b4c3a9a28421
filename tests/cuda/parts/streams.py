# SPDX-License-Identifier: Apache-2.0
"""Threads with a stream of their own each, which take what the others have made as soon as an event
tells that it is there. All values are whole numbers below 2^24: every result is known exactly."""

from __future__ import annotations

import sys
import threading
import traceback
from typing import Any

from part import Part


def chain(libdl: Any, x: Any, side: int) -> Any:
    """Of a square matrix all of whose elements are v, one of 2v + 2 after six kernels."""
    y = (x + x).t().contiguous()
    total = y.sum(0, keepdim=True) / side  # 2v
    spread = libdl.zeros(side, side, device="cuda") + total
    return spread.reshape(-1)[libdl.arange(side * side, device="cuda")].reshape(side, side) + 2


Late = tuple[Any, int, str]  # a tensor, the value of all of its elements, whose it is


class Offers:
    """What each thread has made last: the value, the tensor, and the event behind it."""

    def __init__(self, count: int) -> None:
        self.guard = threading.Lock()
        self.made: list[tuple[int, Any, Any] | None] = [None] * count

    def put(self, at: int, value: int, tensor: Any, event: Any) -> None:
        with self.guard:
            self.made[at] = value, tensor, event

    def get(self, at: int) -> tuple[int, Any, Any] | None:
        with self.guard:
            return self.made[at]


class Stress:
    def __init__(self, part: Part, threads: int, sides: tuple[int, ...]) -> None:
        self.part, self.threads, self.sides = part, threads, sides
        self.offers = Offers(threads)
        self.guard = threading.Lock()
        self.rounds = self.taken = 0

    def compare(self, tensor: Any, wanted: int, what: str) -> None:
        least, most = tensor.min().item(), tensor.max().item()
        if not least == most == wanted:
            with self.guard:
                self.part.fail(f"{what}: between {least} and {most}, wanted {wanted}")

    def turn(self, libdl: Any, own: Any, me: int, round_: int, late: list[Late]) -> None:
        cuda = libdl.cuda
        side = self.sides[(round_ + me) % len(self.sides)]
        value = (7 * round_ + me) % 1000
        x = libdl.full((side, side), float(value), device="cuda")
        y = chain(libdl, x, side)
        del x  # its memory goes to the next one of this stream
        event = cuda.Event()
        event.record(own)
        self.offers.put(me, 2 * value + 2, y, event)
        offered = self.offers.get((me + 1 + round_) % self.threads)
        if offered:
            told, theirs, there = offered
            own.wait_event(there)
            late.append((theirs * 3, 3 * told, f"thread {me} takes another's, round {round_}"))
            del theirs, offered  # released while this stream may still read it
            self.taken += 1
        late.append((y, 2 * value + 2, f"thread {me}, round {round_}"))
        if round_ % 8 == 7:  # a comparison waits for the stream: work is to pile up
            while late:
                self.compare(*late.pop())
            self.gradient(libdl, own, me, value)

    def gradient(self, libdl: Any, own: Any, me: int, value: int) -> None:
        """Forward on two streams: backward queues each gradient on its operator's stream."""
        x = libdl.full((self.sides[0],), float(value), device="cuda", requires_grad=True)
        y = x * 2
        second = libdl.cuda.Stream()
        second.wait_stream(own)
        with libdl.cuda.stream(second):
            z = (y * y).sum()  # 4 x^2: 8 x
        own.wait_stream(second)
        z.backward()
        self.compare(x.grad, 8 * value, f"thread {me}: gradient over two streams")

    def thread(self, libdl: Any, me: int, least: int) -> None:
        try:
            own = libdl.cuda.Stream(priority=-(me % 2))
            with libdl.cuda.stream(own):
                round_, late = 0, []  # type: int, list[Late]
                while round_ < least or self.part.left() > 0 and not self.part.rehearsal:
                    self.turn(libdl, own, me, round_, late)
                    round_ += 1
                while late:
                    self.compare(*late.pop())
            with self.guard:
                self.rounds += round_
        except Exception:
            with self.guard:
                self.part.fail(f"thread {me}: {traceback.format_exc()}")


def main() -> None:
    part = Part()
    import libdl

    sys.setswitchinterval(1e-4)  # threads shall meet between any two calls
    threads = 3 if part.rehearsal else 8
    stress = Stress(part, threads, (8, 20) if part.rehearsal else (16, 256, 1000, 2048))
    running = [threading.Thread(target=stress.thread, args=(libdl, i, 120)) for i in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    libdl.cuda.synchronize()
    part.expect(stress.taken > 0, "no thread took what another had made")
    stress.offers.made.clear()
    kept = libdl.cuda.memory_allocated()
    part.expect(kept == 0, f"{kept} bytes are allocated after all tensors were released")
    part.write(
        f"{stress.rounds:,} rounds of {threads} threads and streams, {stress.taken:,} "
        f"results taken by another stream: {part.found['failed']} failures"
    )


if __name__ == "__main__":
    main()
