"""The examination of a controller: which rules it breaks, and by which operations."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from airpath import _core
from airpath._os.interrupts import InterruptRequest
from airpath.errors import PluginError, UsageError
from airpath.plugins.specs import engine_plugins, kinds_of_code
from airpath.plugins.watchdog import NoReturnError, watched
from airpath.runner import compare_scenarios

LISTS: Final = 2000
"""How many lists are examined by default: a second for a controller of the engine."""
SEED: Final = 1
"""The seed of the lists by default."""
_AT_ONCE: Final = 50
"""How many lists of a controller of the engine are examined before Ctrl-C is noticed."""
_ELSEWHERE: Final = {
    "kernel": "runs in the kernel only",
    "quinn": "runs over QUIC only",
    "agent": "is set from outside",
}
"""Controllers of plans that cannot be examined."""


@dataclass(frozen=True)
class RuleVerdict:
    """A rule, and how often it was broken."""

    rule: str
    """The name of the rule."""
    text: str
    """The rule in a few words."""
    is_interface: bool
    """Whether the driver depends on the rule; the others are rules of good sense."""
    binds: bool
    """Whether the controller has to keep the rule; some declare other rules for their window."""
    lists: int
    """How many lists of operations broke it."""

    @property
    def is_broken(self) -> bool:
        """Whether a list broke it."""
        return self.lists > 0


@dataclass(frozen=True)
class Step:
    """The state of a connection after an operation."""

    time_s: float
    in_flight_bytes: int
    window_bytes: int
    ssthresh_bytes: int | None


@dataclass(frozen=True)
class Breach:
    """A rule that a list of operations breaks."""

    rule: str
    """The name of the rule."""
    message: str
    """What the controller did."""
    operation: int | None
    """The index of the operation at which it did; `None` at the start of the connection."""


@dataclass(frozen=True)
class Failing:
    """A short list of operations that breaks a rule."""

    breach: Breach
    operations: Sequence[Any]
    """The operations, as in files."""


@dataclass(frozen=True)
class Replay:
    """What a list of operations does."""

    breaches: Sequence[Breach]
    """The rules that it breaks, in order."""
    steps: Sequence[Step]
    """The state after each operation, up to an error or the first broken rule of the interface."""


class Examination:
    """The rules that a controller breaks, over any number of random lists of operations.

    The same controller and seed give the same lists and verdicts.

    Parameters
    ----------
    scheme
        The controller, as everywhere: ``cubic:beta=0.8``, ``my.py:Mine``.
    seed
        Seed of the lists.

    Raises
    ------
    UsageError
        If there is no such controller, it may not run, or it runs elsewhere only.
    """

    def __init__(self, scheme: str, seed: int = SEED) -> None:
        self.scheme = scheme
        self.seed = seed
        self._stuck: NoReturnError | None = None
        scenario = next(iter(compare_scenarios([scheme], "12mbps").values()))
        plan = scenario.plan()
        controller = plan["flows"][0]["controller"]
        if reason := _ELSEWHERE.get(controller["kind"]):
            raise UsageError(f'"{scheme}" {reason}; accepted: a controller of the engine, or of a file')
        plugins = engine_plugins(kinds_of_code(plan))
        self._engine = _core.Conformance(json.dumps(controller), seed, plugins, self._describe)
        # A controller that does not return is ended once only, so no list may follow.
        self._at_once = 1 if plugins else _AT_ONCE

    @property
    def lists(self) -> int:
        """The number of examined lists."""
        return int(json.loads(self._engine.findings())["lists"])

    def examine(self, lists: int = LISTS, go_on: Callable[[int], bool] = lambda _: True) -> None:
        """Examine the next lists.

        Parameters
        ----------
        lists
            How many.
        go_on
            Receives from time to time how many are done, and returns whether to continue.

        Raises
        ------
        PluginError
            If a call of code of the user does not return.
        KeyboardInterrupt
            On Ctrl-C; the lists until then count.
        """
        done = 0
        with InterruptRequest() as request, watched(self._engine):
            while done < lists and go_on(done):
                count = min(self._at_once, lists - done)
                self._engine.examine(count)
                done += count
                if self._stuck is not None:
                    raise PluginError(f"{self.scheme}: {self._describe(self._stuck)}")
                request.raise_if_made()

    def answers(self, number: int) -> str:
        """Return what a list does, by its number, as text to compare."""
        return self._engine.replay(self._engine.operations(number))

    def verdicts(self) -> list[RuleVerdict]:
        """Return all rules, those of the interface first."""
        return [
            RuleVerdict(
                rule=one["rule"],
                text=one["text"],
                is_interface=one["grade"] == "interface",
                binds=one["binds"],
                lists=one["lists"],
            )
            for one in json.loads(self._engine.findings())["rules"]
        ]

    def shortest(self, rule: str) -> Failing | None:
        """Return a list that breaks a rule and would not without one of its operations.

        `None` if the list that broke the rule does not break it again, because the controller depends on
        more than its events.

        Parameters
        ----------
        rule
            The name of a broken rule.
        """
        with self._guarded():
            found = self._engine.shortest(rule)
        if found is None:
            return None
        failing = json.loads(found)
        operations = failing.pop("operations")
        return Failing(Breach(**failing), operations)

    def replay(self, operations: Sequence[Any]) -> Replay:
        """Return what a list of operations does.

        Raises
        ------
        ValueError
            If it is no list of operations.
        """
        with self._guarded():
            replayed = json.loads(self._engine.replay(json.dumps(operations)))
        return Replay(
            [Breach(**one) for one in replayed["breaches"]], [Step(**one) for one in replayed["steps"]]
        )

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Let calls of code of the user end, and Ctrl-C wait until the work is done."""
        with InterruptRequest() as request, watched(self._engine):
            yield
            request.raise_if_made()

    def _describe(self, error: BaseException) -> str:
        """Return the text of an error of code of the user, with its place."""
        from airpath.plugins.loading import place  # here, because controllers of the engine need no files

        if isinstance(error, NoReturnError):
            self._stuck = error
        text, where = f"{type(error).__name__}: {error}", place(error)
        return f"{where}: {text}" if where else text
