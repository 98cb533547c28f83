"""Train a small policy for congestion control by the cross-entropy method, and compare it with CUBIC and BBR.

    python tools/train_policy.py [--generations N] [--threads N] [--out DIRECTORY]

A policy is linear: the action is tanh(w · observation + b). A generation is 32 policies whose parameters are
sampled from normal distributions. Each of them controls the same 8 links, which are sampled anew for each
generation. Mean and deviation then move towards those of the best 8 (Rubinstein and Kroese 2004). All 256
environments do a step in one call. Finally the trained policy is tested on links that it never saw, LTE among
them.
"""

import argparse
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from airpath.learning import FEATURES, BottleneckVectorEnv, Feature, evaluate
from airpath.results import Results

Weights = NDArray[np.float64]

POLICIES: Final = 32
LINKS: Final = 8
ELITE: Final = 8
SMOOTHING: Final = 0.5
"""The fraction of the way towards the best policies that the distribution moves in one generation."""
LEAST_DEVIATION: Final = 0.05
"""The minimum standard deviation: a distribution that has collapsed finds nothing more."""
TRAINING: Final[dict[str, Any]] = {
    "link": "12mbps",
    "duration": "20s",
    "vary": {
        "link": ["3mbps", "8mbps", "20mbps", "50mbps", "lte.up", "lte.up", "ebe.random", "ebe.random"],
        "rtt": "20ms..150ms",
        "buffer": "0.5bdp..4bdp",
        "loss": [0.0, 0.0, 0.001, 0.01],
    },
}
"""The links for training."""
TESTS: Final[dict[str, dict[str, Any]]] = {
    "LTE": {"link": "lte.down"},
    "12 Mbit/s, 40 ms": {"link": "12mbps"},
    "12 Mbit/s, 40 ms, 1 % lost": {"link": "12mbps", "loss": 0.01},
    "random rates": {"link": "ebe.random"},
    "competing with CUBIC": {"link": "24mbps", "rivals": ["cubic"]},
}
"""Links that the policy never saw."""
METRICS: Final = ("utilisation", "queueing_mean_ms", "queueing_p95_ms", "loss_rate")


def actions(weights: Weights, observations: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the actions of policies, each a row of weights (the last one is b), for their observations."""
    drive = np.einsum("ij,ij->i", np.broadcast_to(weights[..., :-1], observations.shape), observations)
    result: NDArray[np.float64] = np.tanh(drive + weights[..., -1])
    return result


def returns(envs: BottleneckVectorEnv, policies: Weights, seeds: list[int]) -> NDArray[np.float64]:
    """Return the mean reward per step of each policy over the links of these seeds."""
    weights = np.repeat(policies, len(seeds), axis=0)
    observations, _ = envs.reset(seed=seeds * len(policies))
    total, steps, over = np.zeros(len(weights)), 0, False
    while not over:
        observations, rewards, _, truncated, _ = envs.step(actions(weights, observations))
        total, steps, over = total + rewards, steps + 1, bool(truncated.all())
    mean: NDArray[np.float64] = (total / steps).reshape(len(policies), len(seeds)).mean(axis=1)
    return mean


def train(generations: int, threads: int | None = None, seed: int = 1) -> Weights:
    """Return the mean of the last generation's distribution."""
    random = np.random.default_rng(seed)
    envs = BottleneckVectorEnv(POLICIES * LINKS, threads=threads, autoreset_mode="Disabled", **TRAINING)
    mean, deviation = np.zeros(len(FEATURES) + 1), np.ones(len(FEATURES) + 1)
    for generation in range(generations):
        policies = mean + deviation * random.standard_normal((POLICIES, len(mean)))
        seeds = [1000 * (generation + 1) + link for link in range(LINKS)]
        worth = returns(envs, policies, seeds)
        best = policies[np.argsort(worth)[-ELITE:]]
        mean += SMOOTHING * (best.mean(axis=0) - mean)
        deviation += SMOOTHING * (best.std(axis=0) - deviation)
        deviation = np.maximum(deviation, LEAST_DEVIATION)
        if generation % 10 == 9 or generation == 0:
            print(f"generation {generation + 1}: mean reward {worth.mean():.3f}, best {worth.max():.3f}")  # noqa: T201
    envs.close()
    return mean


def test(policy: Weights, test: dict[str, Any]) -> Results:
    """Return runs of the policy, CUBIC and BBR over a link."""
    return evaluate(
        lambda observations: actions(policy, observations),
        ["cubic", "bbr"],
        label="trained",
        seed=1,
        repetitions=10,
        duration="60s",
        **test,
    )


def own_goodput_mbps(results: Results, scheme: str) -> float:
    """Return the mean goodput of the flow under test over the runs of a scheme."""
    runs = [run for run in results.runs if run.record.scheme == scheme]
    flows = [row for run in runs for row in run.flows.to_pylist() if row["source_name"].startswith("flow")]
    seconds = float(runs[0].record.plan["duration_ns"]) / 1e9
    megabits = sum(float(flow["goodput_bytes"]) for flow in flows) * 8e-6
    return megabits / len(flows) / seconds


def described(features: tuple[Feature, ...], policy: Weights) -> str:
    """Return a policy as text."""
    names = [*(feature.name for feature in features), "b"]
    return ", ".join(f"{name} {weight:+.2f}" for name, weight in zip(names, policy, strict=True))


def main() -> None:
    """Train, test, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--generations", type=int, default=60)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--out", type=Path, default=None, help="folder for the policy (weights.npy)")
    arguments = parser.parse_args()
    began = time.perf_counter()
    policy = train(arguments.generations, arguments.threads)
    print(f"trained in {time.perf_counter() - began:.0f} s: {described(FEATURES, policy)}")  # noqa: T201
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        np.save(arguments.out / "weights.npy", policy)
    print(f"| link | scheme | goodput_mbps | {' | '.join(METRICS)} |")  # noqa: T201
    for name, conditions in TESTS.items():
        results = test(policy, conditions)
        statistics = results.statistics.to_pylist()
        for scheme in ("trained", "cubic", "bbr"):
            means = {row["metric"]: row["mean"] for row in statistics if row["scheme"] == scheme}
            values = [own_goodput_mbps(results, scheme), *(means[metric] for metric in METRICS)]
            print(f"| {name} | {scheme} | {' | '.join(f'{value:.3g}' for value in values)} |")  # noqa: T201


if __name__ == "__main__":
    main()
