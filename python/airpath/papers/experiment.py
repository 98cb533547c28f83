"""One experiment: a shipped scenario, a scheme in it, changes of single settings, and how often it is run."""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from airpath.papers.store import run_key
from airpath.scenario import Scenario
from airpath.worlds import World


@dataclass(frozen=True)
class Experiment:
    """A scheme in a scenario, several times.

    Repetition k uses the seed `seed` + k, whatever the scheme: with the same scenario, repetitions of two
    schemes have the same draws and are compared in pairs.
    """

    scenario: str
    """Name of a shipped scenario, or the path of a scenario file."""
    scheme: str
    """The scheme of every controlled flow, with options if wanted."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the scenario that differ, by path (`"flows.0.count"`)."""
    repetitions: int = 5
    """How many runs."""
    seed: int = 1
    """Seed of the first run."""
    world: World = "sim"
    """Where it runs."""
    own_repetitions: int | None = None
    """How many runs it has by itself, where it was given another number."""

    def resolve(self) -> Scenario:
        """Return the scenario with the scheme and the changes in it.

        Raises
        ------
        ScenarioError, UsageError
            If the result is not a scenario.
        """
        return _resolved(self.scenario, self.scheme, _text(self.changes))[0]

    def key(self) -> str:
        """Return the key under which its runs are kept (`airpath.papers.store.run_key`)."""
        scenario, key = _resolved(self.scenario, self.scheme, _text(self.changes))
        return key if self.world == "sim" else run_key(scenario, self.world)

    def repeated(self, repetitions: int | None) -> "Experiment":
        """Return the same with another number of repetitions; itself for `None`."""
        if repetitions is None:
            return self
        return replace(self, repetitions=repetitions, own_repetitions=self.usual_repetitions)

    @property
    def usual_repetitions(self) -> int:
        """How many runs it has by itself."""
        return self.repetitions if self.own_repetitions is None else self.own_repetitions


@functools.cache
def _resolved(name: str, scheme: str, changes: str) -> tuple[Scenario, str]:
    """Return the scenario and its key; figures ask for the same ones again and again."""
    scenario = _load(name)
    flows = {
        f"flows.{number}.scheme": scheme
        for number, flow in enumerate(scenario.document.flows)
        if flow.scheme is not None
    }
    changed = scenario.override(flows | json.loads(changes))
    return changed, run_key(changed)


def _text(changes: Mapping[str, Any]) -> str:
    """Return changes as JSON, so that they can be remembered by whatever they hold."""
    return json.dumps(dict(changes), sort_keys=True)


@functools.cache
def _load(name: str) -> Scenario:
    return Scenario.load(name)
