# SPDX-License-Identifier: Apache-2.0
"""A fixed piece of arithmetic on every core: its time tells whether the machine is undisturbed."""

import concurrent.futures
import hashlib
import statistics
import time

ROUNDS = 20_000  # of SHA-256, about 10 ms; the interpreter's lock is released meanwhile
REPEATS = 3
TOLERANCE = 0.05


class Canary:
    def __init__(self, threads: int, patience: float) -> None:
        """patience: seconds that wait() waits at most."""
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)
        self.threads, self.patience = threads, patience
        self.least = min(self.time() for _ in range(10))

    def time(self) -> float:
        """Seconds: the median, so that one short interruption does not count."""
        return statistics.median(self._once() for _ in range(REPEATS))

    def _once(self) -> float:
        start = time.perf_counter()
        work = [
            self.pool.submit(hashlib.pbkdf2_hmac, "sha256", b"canary", b"salt", ROUNDS)
            for _ in range(self.threads)
        ]
        concurrent.futures.wait(work)
        return time.perf_counter() - start

    def undisturbed(self) -> bool:
        now = self.time()
        self.least = min(self.least, now)
        return now <= (1 + TOLERANCE) * self.least

    def wait(self) -> bool:
        """Waits until the machine is undisturbed; False if it does not become so."""
        end = time.monotonic() + self.patience
        while not self.undisturbed():
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return True
