"""Measure steps per second of environments for learning: one environment, and 64 at once.

    python tools/bench_learning.py [--seconds N]

The window of 32 packets just about fills the link `lte.down`, with steps of 100 ms; resets are included.
Steps per second of CPU time do not depend on other load on the machine; steps per second of elapsed time do.
"""

import argparse
import os
import time

import gymnasium
import numpy as np

from airpath.learning import ENVIRONMENT

FILLING = -1.0 / 6.0
"""The action that sets 32 packets: the square root of 4096 to the power of 5/6."""


def single(seconds: float) -> tuple[float, float]:
    """Return steps of one environment per second of elapsed time and per second of CPU time."""
    env = gymnasium.make(ENVIRONMENT, link="lte.down", action="window", disable_env_checker=True)
    action, steps, over = np.array([FILLING], dtype=np.float32), 0, True
    wall, processor = time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < seconds:
        if over:
            env.reset(seed=steps)
        _, _, terminated, truncated, _ = env.step(action)
        over, steps = terminated or truncated, steps + 1
    return steps / (time.perf_counter() - wall), steps / (time.process_time() - processor)


def vector(count: int, threads: int, seconds: float) -> tuple[float, float]:
    """Return the same for many environments, counting a step of each."""
    envs = gymnasium.make_vec(ENVIRONMENT, count, link="lte.down", action="window", threads=threads)
    envs.reset(seed=0)
    actions, steps = np.full((count, 1), FILLING, dtype=np.float32), 0
    wall, processor = time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < seconds:
        envs.step(actions)
        steps += count
    return steps / (time.perf_counter() - wall), steps / (time.process_time() - processor)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    seconds = parser.parse_args().seconds
    processors = os.cpu_count() or 1
    print(f"{processors} processors, load {os.getloadavg()[0]:.1f}")  # noqa: T201
    print(f"{'':24}{'steps/s':>12}{'steps/CPU s':>14}")  # noqa: T201
    measured = {
        "one": single(seconds),
        "64, one thread": vector(64, 1, seconds),
        f"64, {processors} threads": vector(64, processors, seconds),
    }
    for name, (by_clock, of_processor) in measured.items():
        print(f"{name:24}{by_clock:>12,.0f}{of_processor:>14,.0f}")  # noqa: T201


if __name__ == "__main__":
    main()
