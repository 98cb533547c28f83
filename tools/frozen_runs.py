"""The runs of `tools/frozen.py`: those of `frozen.toml`, and those derived from them or from data."""

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, Final

from frozen_kinds import Command, Episode, Run, Schema, Simulation, runs_listed

import airpath
from airpath.errors import ScenarioError
from airpath.scenario import scenario_names

LARGEST_CAPTURE: Final = 5_000_000
"""Captures above this size in bytes are left out, because they take more than a few seconds."""
CUT: Final = {"duration": "8s"}
"""Keys that shorten a shipped scenario."""
AT_ONCE: Final = {"duration": "10ms", "record.warm_up": "0s", "record.interval": "10ms"}
"""Keys that shorten a run that should be refused before it starts."""
WRONG: Final = ("-1", "nonsense", "1e30", "true")
"""Values that most parameters refuse."""


def all_runs() -> Iterator[Run]:
    """Yield every run, the slowest kinds first."""
    yield from commands()
    yield from captures()
    yield from traces()
    yield Schema()
    for number, arguments in enumerate(runs_listed()["episodes"]):
        yield Episode(f"episode {number}", arguments)
    for name in scenario_names():
        yield shipped(name)
    yield from simulations()
    yield from refusals()


def commands() -> Iterator[Run]:
    """Yield the command lines of the list, and `airpath validate` for each mistake."""
    for line in runs_listed()["commands"]["lines"]:
        yield Command(line, tuple(shlex.split(line)))
    for place, mistakes in runs_listed()["mistakes"].items():
        for mistake in mistakes:
            parts = {"root": "", "link": "", "flow": "scheme = 'cubic'"} | {place: mistake}
            text = (
                f"name = 'bad'\nduration = '5s'\n{parts['root']}\n[topology]\nkind = 'dumbbell'\n"
                f"[topology.bottleneck]\nrate = '10mbps'\ndelay = '20ms'\n{parts['link']}\n"
                f"[[flows]]\nname = 'main'\n{parts['flow']}\n"
            )
            yield Command(f"validate: {mistake}", ("validate", "bad.toml"), files={"bad.toml": text})


def captures() -> Iterator[Run]:
    """Yield `airpath estimate` for each capture in AIRPATH_CAPTURES."""
    for file in recorded("AIRPATH_CAPTURES"):
        if file.stat().st_size <= LARGEST_CAPTURE:
            words = ("estimate", str(file), "--json", "--out", "out")
            yield Command(file.name, words, section="captures", hidden={file.parent: "CAPTURES"})


def traces() -> Iterator[Run]:
    """Yield runs over each trace in AIRPATH_TRACES."""
    for file in recorded("AIRPATH_TRACES"):
        for scheme, direction in (("cubic", "down"), ("cubic", "up"), ("xcp-ebe", "down")):
            rate = {"kind": "trace", "file": file.name, "direction": direction}
            changes = {"flows.0.scheme": scheme, "topology.bottleneck": {"rate": rate, "delay": "20ms"}}
            yield Simulation("traces", f"{file.name} {direction} {scheme}", changes, folder=file.parent)


def recorded(variable: str) -> list[Path]:
    """Return the files of the folder that an environment variable names, without its README."""
    folder = os.environ.get(variable)
    files = sorted(Path(folder).resolve().iterdir()) if folder else []
    return [file for file in files if file.is_file() and file.suffix != ".md"]


def shipped(name: str) -> Run:
    """Return a run of a shipped scenario, cut short; its warm-up and interval stay if they fit."""
    changes = CUT
    try:
        airpath.Scenario.load(name).override(changes).plan()
    except ScenarioError:
        changes = {**CUT, "record.warm_up": "auto", "record.interval": "100ms"}
    return Simulation("shipped", name, changes, scenario=name)


def simulations() -> Iterator[Run]:
    """Yield the runs of the list: schemes over links, with options, values of keys, routers, quinn."""
    listed = runs_listed()
    for scheme, (link, changes) in product(listed["matrix"]["schemes"], listed["matrix"]["links"].items()):
        yield Simulation("matrix", f"{link} {scheme}", {"flows.0.scheme": scheme, **changes})
    for text, changes in with_options():
        yield Simulation("options", f"{text} {json.dumps(changes)}", {"flows.0.scheme": text, **changes})
    for scheme, key, value, changes in with_values():
        name = f"{scheme} {key} = {json.dumps(value)}"
        yield Simulation("values", name, {"flows.0.scheme": scheme, **changes, key: value})
    for scheme in listed["quic"]["schemes"]:
        yield Simulation("quic", scheme, {"flows.0.scheme": scheme}, world="quic")


def with_options() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield schemes with options, and the other keys that change."""
    listed = runs_listed()
    for group in listed["options"]:
        for scheme, changes in product(
            group["schemes"], [group["set"]] if "set" in group else [{}, listed["crowd"]]
        ):
            yield scheme, changes
            yield from ((f"{scheme}:{options}", changes) for options in group["options"])


def with_values() -> Iterator[tuple[str, str, Any, Mapping[str, Any]]]:
    """Yield scheme, key, value, and the other keys that change."""
    for group in runs_listed()["values"]:
        for scheme, value in product(group["schemes"], group["values"]):
            yield scheme, group["key"], value, group.get("set", {})
    for group in runs_listed()["routers"]:
        for protocol, source in product(group["protocols"], group["sources"]):
            queue = {"kind": "router", "limit": "1bdp", "protocol": protocol, "source": source}
            yield group["scheme"], "topology.bottleneck.queue", queue, {}


def refusals() -> Iterator[Run]:
    """Yield runs with wrong values: for each option of a scheme, and for each key of a table of the list."""
    for text in dict.fromkeys(text for text, _ in with_options() if ":" in text):
        for value in WRONG:
            wrong = f"{text.rpartition('=')[0]}={value}"
            yield Simulation("refusals", wrong, {"flows.0.scheme": wrong, **AT_ONCE})
    for scheme, key, value, changes in with_values():
        for wrong in wrong_tables(value):
            name = f"{scheme} {key} = {json.dumps(wrong)}"
            yield Simulation("refusals", name, {"flows.0.scheme": scheme, **changes, key: wrong, **AT_ONCE})


def wrong_tables(value: Any) -> Iterator[Any]:
    """Yield a table with one wrong value or unknown key, in itself or in a table that it contains."""
    if isinstance(value, dict):
        yield {**value, "unknown": 1}
        for key, inner in value.items():
            yield from ({**value, key: wrong} for wrong in (-1, "nonsense"))
            yield from ({**value, key: wrong} for wrong in wrong_tables(inner))
