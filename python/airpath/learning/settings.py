"""Settings of an environment: a scenario with an agent's flow, the step, observations and actions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Unpack, get_args

from airpath import _core
from airpath._nearest import suggestion
from airpath.errors import UnitError, UsageError
from airpath.learning.actions import ActionKind
from airpath.learning.rewards import Reward, RewardFunction
from airpath.learning.variation import Variation
from airpath.links.options import LinkOptions, OneLink
from airpath.plugins.specs import allow, kinds_of_code
from airpath.scenario import Scenario
from airpath.scenario.bottleneck import dumbbell
from airpath.scenario.compare import ARGUMENTS, said_of_arguments
from airpath.scenario.link_values import Rtt, link_rate, loss_of
from airpath.scenario.traces import read_trace
from airpath.schemes import AGENT
from airpath.units import format_duration, parse_duration, parse_window, window_bytes

DEFAULT_LINK: Final = "lte.down"
DEFAULT_DURATION: Final = "30s"
LARGEST_WINDOW_PACKETS: Final = 65_536
"""Upper limit of the largest window: each packet in flight of a run takes memory."""
_BOTTLENECK: Final = "topology.bottleneck"
_SHORT: Final = ("link", "rate", "rtt", "buffer", "loss")
"""The parts of a link that have a short name; `link` and `rate` are synonyms."""
_ARGUMENTS: Final[Mapping[str, str]] = {
    **ARGUMENTS,
    "record.interval": "step",
    **{f"flows[{number}].scheme": "rivals" for number in range(1, 100)},
}


@dataclass(frozen=True)
class Prepared:
    """An episode that is ready to begin."""

    scenario: Scenario
    """The scenario."""
    plan: str
    """Its plan, as the engine reads it."""
    traces: list[_core.Trace]
    """Its traces."""
    code: frozenset[str]
    """Its components that are code from files."""
    mss_bytes: int
    """Payload of a full packet of the agent's flow."""
    initial_window_bytes: int
    """The initial window of that flow."""


class Settings:
    """The arguments of an environment, checked; those of `airpath.learning.BottleneckEnv`."""

    def __init__(
        self,
        *,
        link: str | None = None,
        rivals: Sequence[str] = (),
        scenario: Scenario | Mapping[str, Any] | str | Path | None = None,
        override: Mapping[str, Any] | None = None,
        duration: str | None = None,
        step: str = "100ms",
        vary: Mapping[str, object] | None = None,
        action: ActionKind = "window-factor",
        largest_window: str = "4096 packets",
        history: int = 1,
        privileged: bool = False,
        reward: Reward | RewardFunction | None = None,
        **of_link: Unpack[LinkOptions],
    ) -> None:
        if action not in get_args(ActionKind):
            raise UsageError(f"action: found {action!r}; {suggestion(str(action), get_args(ActionKind))}")
        if isinstance(history, bool) or not isinstance(history, int) or not 1 <= history <= 1000:
            raise UsageError(f"history: found {history!r}; accepted: 1 to 1000 steps")
        if not isinstance(privileged, bool):
            raise UsageError(f"privileged: found {privileged!r}; accepted: True, False")
        if reward is not None and not callable(reward):
            raise UsageError(f"reward: found {reward!r}; accepted: a Reward with its weights, or a function")
        self.action, self.history, self.privileged = action, history, privileged
        self.reward: RewardFunction = Reward() if reward is None else reward
        self.step_ns = _duration("step", step)
        self.of_link = scenario is None
        if scenario is None:
            tables = _tables(link, of_link, rivals, DEFAULT_DURATION if duration is None else duration)
            with said_of_arguments(_ARGUMENTS):
                base = Scenario.from_dict(tables)
        else:
            given = {"link": link, **of_link, "rivals": rivals or None}
            if several := [name for name, value in given.items() if value is not None]:
                raise UsageError(f"{several[0]}: also given by the scenario; accepted: one of the two")
            base = _loaded(scenario)
            if duration is not None:
                base = base.override(duration=duration)
        with said_of_arguments(_ARGUMENTS if self.of_link else {}):
            base = base.override(self._written(override or {}, "override"))
        self.scenario = base.override({"record.interval": format_duration(self.step_ns)})
        """The scenario, with one row of its time series for each step."""
        self.vary = Variation(self._paths(vary or {}, "vary"))
        self.step_s = self.step_ns * 1e-9
        self.steps = self._whole_steps(self.scenario)
        self.scenario.refuse_if_too_large()
        first = self.prepared
        self.mss_bytes = first.mss_bytes
        self.largest_window_bytes = _window("largest_window", largest_window, first.mss_bytes)

    @cached_property
    def prepared(self) -> Prepared:
        """An episode without sampled values."""
        return self._prepare(self.scenario)

    def episode(self, drawn: Mapping[str, Any], options: Mapping[str, Any]) -> Prepared:
        """Return an episode with changed values.

        Parameters
        ----------
        drawn
            The sampled values.
        options
            The options of `reset`: `{"override": {key: value}}`; they take precedence over sampled values.

        Raises
        ------
        UsageError
            If there is an unknown option.
        ScenarioError
            If a value is wrong.
        """
        if unknown := [key for key in options if key != "override"]:
            raise UsageError(f'options: found "{unknown[0]}"; accepted: override')
        chosen = options.get("override") or {}
        if not isinstance(chosen, Mapping):
            raise UsageError(
                f"options.override: found {chosen!r}; accepted: keys of a scenario, and their values"
            )
        written = {**_written(drawn), **self._written(chosen, "options.override")}
        if not written:
            return self.prepared
        with said_of_arguments(_ARGUMENTS if self.of_link else {}):
            prepared = self._prepare(self.scenario.override(written))
        if self._whole_steps(prepared.scenario) != self.steps or prepared.mss_bytes != self.mss_bytes:
            raise UsageError("options.override: duration and packet size are fixed by the environment")
        return prepared

    def _written(self, given: Mapping[str, Any], argument: str) -> dict[str, Any]:
        """Return keys of a scenario and their values; `given` may contain short names."""
        return _written(self._paths(given, argument))

    def _paths(self, given: Mapping[str, Any], argument: str) -> dict[str, Any]:
        """Check the keys of values that vary between episodes."""
        if not isinstance(given, Mapping):
            raise UsageError(f"{argument}: found {given!r}; accepted: keys, and their values")
        for key in given:
            if not isinstance(key, str) or ("." not in key and not (self.of_link and key in _SHORT)):
                names = f"{', '.join(_SHORT)}, or " if self.of_link else ""
                raise UsageError(
                    f'{argument}: found {key!r}; accepted: {names}a path, such as "topology.bottleneck.delay"'
                )
        return dict(given)

    def _prepare(self, scenario: Scenario) -> Prepared:
        resolved = scenario.resolved
        agents = [
            flow
            for flow, scheme in zip(resolved.plan["flows"], resolved.schemes, strict=True)
            if scheme == AGENT.id
        ]
        if len(agents) != 1:
            raise UsageError(
                f'{scenario.name}: {len(agents) or "no"} flows have the scheme "{AGENT.id}"; accepted: one'
            )
        [flow] = agents
        if flow["traffic"]["kind"] == "arrivals":
            raise UsageError(
                f"{scenario.name}: an agent controls one flow, and this traffic has several; accepted: bulk,"
                " file, repeated, writes"
            )
        return Prepared(
            scenario=scenario,
            plan=json.dumps(resolved.plan),
            traces=[read_trace(trace) for trace in resolved.traces],
            code=frozenset(kinds_of_code(resolved.plan)),
            mss_bytes=flow["transport"]["mss_bytes"],
            initial_window_bytes=flow["transport"]["initial_window_bytes"],
        )

    def _whole_steps(self, scenario: Scenario) -> int:
        steps, rest = divmod(scenario.plan()["duration_ns"], self.step_ns)
        if rest:
            raise UsageError(
                f"step: {format_duration(self.step_ns)} does not divide the duration of"
                f" {format_duration(scenario.plan()['duration_ns'])}; accepted: a step that does"
            )
        return int(steps)


def _tables(
    link: str | None, given: Mapping[str, Any], rivals: Sequence[str], duration: str
) -> dict[str, Any]:
    """Return the scenario of an agent over a link that it shares with long-lived flows of other schemes."""
    if not isinstance(link, str | None):
        raise UsageError(
            f'link: found {link!r}; accepted: a rate, a file, or the name of a link ("lte.down")'
        )
    if isinstance(rivals, str) or not all(isinstance(rival, str) for rival in rivals):
        raise UsageError(f'rivals: found {rivals!r}; accepted: a list of schemes, as in ["cubic"]')
    allow(rivals)
    one = OneLink.of(link, given)
    if one.link is None and one.network is None:
        one = replace(one, link=DEFAULT_LINK)
    if one.rtt is not None:
        Rtt.parse_one(one.rtt)
    return {
        "name": "environment",
        "title": f"an agent over {one.name}",
        "duration": duration,
        # An untrained agent loses millions of packets.
        "record": {"drops": False},
        "topology": dumbbell(one, []),
        "flows": [
            {"name": "flow", "scheme": AGENT.id},
            *({"name": f"rival-{number}", "scheme": rival} for number, rival in enumerate(rivals, 1)),
        ],
    }


def _written(given: Mapping[str, Any]) -> dict[str, Any]:
    return {path: value for key, found in given.items() for path, value in _values(key, found)}


def _values(key: str, value: Any) -> list[tuple[str, Any]]:
    """Return the keys of a scenario, and their values, that a short name stands for."""
    match key:
        case "link":
            rate, delay = link_rate(value)
            return [(f"{_BOTTLENECK}.rate", rate), (f"{_BOTTLENECK}.delay", delay)]
        case "rate":
            return [(f"{_BOTTLENECK}.rate", value)]
        case "rtt":
            return [(f"{_BOTTLENECK}.delay", Rtt.parse_one(value).delay)]
        case "buffer":
            return [(f"{_BOTTLENECK}.queue", {"kind": "scheme", "limit": value})]
        case "loss":
            return [(f"{_BOTTLENECK}.loss", loss_of(value))]
        case _:
            return [(key, value)]


def _loaded(scenario: Scenario | Mapping[str, Any] | str | Path) -> Scenario:
    if isinstance(scenario, Scenario):
        return scenario
    if isinstance(scenario, Mapping):
        return Scenario.from_dict(scenario)
    if isinstance(scenario, str | Path):
        return Scenario.load(scenario)
    raise UsageError(
        f"scenario: found {scenario!r}; accepted: a scenario, its tables, a file, or the name of one"
    )


def _window(name: str, text: object, mss_bytes: int) -> int:
    try:
        size = window_bytes(parse_window(text), mss_bytes)
    except UnitError as error:
        raise UsageError(f"{name}: {error}") from None
    if not mss_bytes <= size <= LARGEST_WINDOW_PACKETS * mss_bytes:
        raise UsageError(f'{name}: found "{text}"; accepted: 1 to {LARGEST_WINDOW_PACKETS} packets')
    return size


def _duration(name: str, text: object) -> int:
    try:
        nanoseconds = parse_duration(text)
    except UnitError as error:
        raise UsageError(f"{name}: {error}") from None
    if nanoseconds == 0:
        raise UsageError(f'{name}: found "{text}"; it must be more than zero')
    return nanoseconds
