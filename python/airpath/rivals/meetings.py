"""Running every pair of schemes over one link, and the share of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Final, Unpack

import numpy as np
import numpy.typing as npt

from airpath._backends import BackendName
from airpath.errors import ScenarioError
from airpath.links.options import CompareOptions, Comparison
from airpath.results import Results, RunResult
from airpath.rivals.pairs import FIRST, SECOND, pair_scenario
from airpath.runner import refuse_schemes, run_all
from airpath.scenario import Scenario
from airpath.schemes import label_of

Values = npt.NDArray[np.float64]
WARM_UP: Final = "10s"
"""The warm-up if none is given: schemes need time to find their shares."""


@dataclass(frozen=True)
class Meeting:
    """Flows of two schemes on one link, or of one scheme twice."""

    first: str
    """The name of a scheme."""
    second: str
    """The other scheme; equal to the first if a scheme competes with itself."""
    label: str
    """Label of its runs in the results."""
    shares: Values
    """Throughput of a flow of the first scheme relative to an equal share, one value for each run: 1 if all
    flows are equal, 0 if it gets nothing, 2 if it gets everything. The share of the second scheme is 2 minus
    this.
    """
    queueing_ms: tuple[Values, Values]
    """Mean queueing delay of the packets of each scheme in ms, one value for each run."""
    utilisation: Values
    """Joint utilisation of the link by both, 0 to 1, one value for each run."""

    def of(self, scheme: str) -> tuple[Values, Values]:
        """Return share and queueing delay of a scheme; if it competes with itself, those of the first."""
        if scheme == self.first:
            return self.shares, self.queueing_ms[0]
        return 2.0 - self.shares, self.queueing_ms[1]


@dataclass(frozen=True)
class Rivals:
    """All pairs of a list of schemes."""

    schemes: tuple[str, ...]
    """The names of the schemes, in the order in which they were given."""
    results: Results
    """All runs; the label of a pair is `first+second`."""
    meetings: Mapping[tuple[str, str], Meeting]
    """Meetings by pair, in the order of `schemes`."""
    refused: Mapping[tuple[str, str], str]
    """Pairs that cannot share a link, with the reason: the schemes need different routers."""

    def meeting(self, one: str, other: str) -> Meeting | None:
        """Return the meeting of two schemes, in any order; `None` if they cannot share a link."""
        return self.meetings.get((one, other)) or self.meetings.get((other, one))


def rivals(
    schemes: Sequence[str],
    link: str | None = None,
    *,
    jobs: int | None = None,
    progress: bool | None = None,
    world: BackendName = "sim",
    isolate: bool = False,
    **options: Unpack[CompareOptions],
) -> Rivals:
    """Run every pair of schemes over a link, and each scheme against itself.

    Parameters
    ----------
    schemes
        Schemes, with options if wanted (`cubic:beta=0.8`).
    link, jobs, progress, world, isolate, **options
        As for `airpath.compare`, but `warm_up` is 10 s by default and `flows` is the number for each of the
        two schemes. If one of the two has a router, that router is the queue.

    Raises
    ------
    UsageError, ScenarioError, TraceError, RunsFailed, Interrupted
        As for `airpath.compare`; also if no two schemes can share a link.
    """
    scenarios, refused = rival_scenarios(schemes, link, **options)
    labelled = {label(*pair): scenario for pair, scenario in scenarios.items()}
    results = run_all(labelled, jobs=jobs, progress=progress, world=world, isolate=isolate)
    return met(map(label_of, schemes), results, scenarios, refused)


def rival_scenarios(
    schemes: Sequence[str], link: str | None = None, **given: Unpack[CompareOptions]
) -> tuple[dict[tuple[str, str], Scenario], dict[tuple[str, str], str]]:
    """Return the scenarios of `rivals` by the names of each pair, and the reasons for missing pairs."""
    schemes = refuse_schemes(schemes, link)
    comparison = Comparison.of(link, {"warm_up": WARM_UP, **given})
    scenarios: dict[tuple[str, str], Scenario] = {}
    refused: dict[tuple[str, str], str] = {}
    pairs = list(combinations_with_replacement(schemes, 2))
    for number, (one, other) in enumerate(pairs, start=1):
        pair = label_of(one), label_of(other)
        try:
            scenarios[pair] = pair_scenario(number, (one, other), comparison)
        except ScenarioError as error:
            # A scheme can always compete with itself, so the error has another cause.
            if one == other:
                raise
            refused[pair] = str(error)
    return scenarios, refused


def label(first: str, second: str) -> str:
    """Return the label of the runs of a pair."""
    return f"{first}+{second}"


def met(
    schemes: Iterable[str],
    results: Results,
    scenarios: Mapping[tuple[str, str], Scenario],
    refused: Mapping[tuple[str, str], str],
) -> Rivals:
    """Return the shares in finished runs of schemes with these names; pairs without a run are left out."""
    runs: dict[str, list[RunResult]] = {}
    for run in results.runs:
        # Not grouped by scheme, because its name differs on other backends.
        runs.setdefault(run.record.scenario_name, []).append(run)
    meetings = {
        pair: _meeting(*pair, runs[scenario.name])
        for pair, scenario in scenarios.items()
        if scenario.name in runs
    }
    return Rivals(tuple(schemes), results, meetings, refused)


def _meeting(first: str, second: str, runs: Sequence[RunResult]) -> Meeting:
    got = np.array([[_sums(run, group) for group in (FIRST, SECOND)] for run in runs])
    departed, waited_s, packets = got[..., 0], got[..., 1], got[..., 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = 2.0 * departed[:, 0] / departed.sum(axis=1)
        queueing_ms = 1e3 * waited_s / packets
    return Meeting(
        first,
        second,
        runs[0].record.scheme,
        shares,
        (queueing_ms[:, 0], queueing_ms[:, 1]),
        np.array([run.metrics["utilisation"] for run in runs]),
    )


def _sums(run: RunResult, group: str) -> tuple[float, float, float]:
    """Return departed bytes, total waiting time of packets (s), and packets, of an entry of flows."""
    flows = run.table("flows")
    ours = flows.filter(np.array(flows["group"].to_pylist()) == group)
    packets = ours["delivered_packets"].to_numpy().astype(np.float64)
    waits_s = ours["queueing_mean_s"].to_numpy()
    waited_s = float((waits_s * packets)[packets > 0].sum())
    return float(ours["departed_bytes"].to_numpy().sum()), waited_s, float(packets.sum())
