"""The examination of a controller: the rules that it breaks, and the operations that break them."""

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
"""Default number of lists: they take a second for a controller of the engine."""
SEED: Final = 1
"""Default seed of the lists."""
_AT_ONCE: Final = 50
"""Number of lists of a controller of the engine that are examined before Ctrl-C is noticed."""
_ELSEWHERE: Final = {
    "kernel": "runs in the kernel only",
    "quinn": "runs over QUIC only",
    "agent": "is set from outside",
}
"""Controllers of plans that cannot be examined."""


@dataclass(frozen=True)
class RuleVerdict:
    """A rule, and the number of lists that broke it."""

    rule: str
    """The name of the rule."""
    text: str
    """The rule in a few words."""
    is_interface: bool
    """Whether the driver depends on the rule; the others are rules of good sense."""
    binds: bool
    """Whether the controller must obey the rule; some declare other rules for their window."""
    lists: int
    """The number of lists of operations that broke it."""

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
    """The action of the controller."""
    operation: int | None
    """The index of the operation at which this happened; `None` at the start of the connection."""


@dataclass(frozen=True)
class Failing:
    """A short list of operations that breaks a rule."""

    breach: Breach
    operations: Sequence[Any]
    """The operations, as in files."""


@dataclass(frozen=True)
class Replay:
    """The effects of a list of operations."""

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
        The controller: ``cubic:beta=0.8``, ``my.py:Mine``.
    seed
        Seed of the lists.

    Raises
    ------
    UsageError
        If there is no such controller, it may not be executed, or it runs on other backends only.
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
        # A controller whose call does not return is ended only once, so no other list may follow.
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
            Number of lists.
        go_on
            Called from time to time with the number of finished lists; returns whether to continue.

        Raises
        ------
        PluginError
            If a call of user code does not return.
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
        """Return the effects of a list, by its number, as text for comparison."""
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
        """Return a list that breaks a rule, and that would not without any one of its operations.

        `None` if the list that broke the rule does not break it again, because the controller depends on more
        than its events.

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
        """Return the effects of a list of operations.

        Raises
        ------
        ValueError
            If it is not a list of operations.
        """
        with self._guarded():
            replayed = json.loads(self._engine.replay(json.dumps(operations)))
        return Replay(
            [Breach(**one) for one in replayed["breaches"]], [Step(**one) for one in replayed["steps"]]
        )

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Make calls of user code end in limited time, and defer Ctrl-C until the work is done."""
        with InterruptRequest() as request, watched(self._engine):
            yield
            request.raise_if_made()

    def _describe(self, error: BaseException) -> str:
        """Return the text of an error of user code, with its place."""
        from airpath.plugins.loading import place  # here, because controllers of the engine need no files

        if isinstance(error, NoReturnError):
            self._stuck = error
        text, where = f"{type(error).__name__}: {error}", place(error)
        return f"{where}: {text}" if where else text
