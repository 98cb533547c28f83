"""One experiment: a shipped scenario, a scheme in it, changed settings, and the number of runs."""

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from airpath._backends import BackendName
from airpath.scenario import Scenario
from airpath_papers.store import run_key

Identity: TypeAlias = tuple[str, str, str]
"""Scenario, scheme and changes (as JSON) of a simulated experiment."""


@dataclass(frozen=True)
class Experiment:
    """A scheme in a scenario, several times.

    Repetition k uses the seed `seed` + k for every scheme: with the same scenario, repetitions of two schemes
    have the same random samples and are compared in pairs.
    """

    scenario: str
    """Name of a shipped scenario, or the path of a scenario file."""
    scheme: str
    """The scheme of every controlled flow, optionally with options."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the scenario that differ, by path (`"flows.0.count"`)."""
    repetitions: int = 5
    """Number of runs."""
    seed: int = 1
    """Seed of the first run."""
    world: BackendName = "sim"
    """The backend."""
    own_repetitions: int | None = None
    """Its default number of runs, if another number was requested."""

    def resolve(self) -> Scenario:
        """Return the scenario with the scheme and the changes in it.

        Raises
        ------
        ScenarioError, UsageError
            If the result is not a scenario.
        """
        return _resolved(*self._identity)

    def key(self) -> str:
        """Return the key under which its runs are stored (`airpath_papers.store.run_key`)."""
        if self.world != "sim":
            return run_key(self.resolve(), self.world)
        if self._identity not in _KEYS:
            scenario = self.resolve()
            key = run_key(scenario)
            if scenario.traces:  # not cached, because the content of traces may change
                return key
            _KEYS[self._identity] = key
        return _KEYS[self._identity]

    @property
    def _identity(self) -> Identity:
        return self.scenario, self.scheme, json.dumps(dict(self.changes), sort_keys=True)

    def repeated(self, repetitions: int | None) -> "Experiment":
        """Return the experiment with another number of repetitions; unchanged for `None`."""
        if repetitions is None:
            return self
        return replace(self, repetitions=repetitions, own_repetitions=self.usual_repetitions)

    @property
    def usual_repetitions(self) -> int:
        """The default number of runs."""
        return self.repetitions if self.own_repetitions is None else self.own_repetitions


def keys_of(experiments: Iterable[Experiment]) -> dict[Identity, str]:
    """Return the keys of simulated experiments in a form for `learn_keys`, maybe in another process."""
    return {one._identity: one.key() for one in experiments if one.world == "sim"}


def learn_keys(keys: Mapping[Identity, str]) -> None:
    """Store keys that another process computed: computing one takes milliseconds, and there are thousands."""
    _KEYS.update(keys)


_KEYS: Final[dict[Identity, str]] = {}


# A resolved scenario is large: thousands of them slow Python down, and few are needed again.
@functools.lru_cache(maxsize=8)
def _resolved(name: str, scheme: str, changes: str) -> Scenario:
    scenario = _load(name)
    flows = {
        f"flows.{number}.scheme": scheme
        for number, flow in enumerate(scenario.document.flows)
        if flow.scheme is not None
    }
    return scenario.override(flows | json.loads(changes))


@functools.cache
def _load(name: str) -> Scenario:
    return Scenario.load(name)
