"""Small scenarios that tests change one key at a time, and their plans."""

import json

from airpath import _core
from airpath.scenario import Scenario
from airpath.scenario.load import override


def dumbbell(**changes):
    """Return a 12 Mbit/s dumbbell with 40 ms of base RTT and one CUBIC flow; `__` in keys is a dot."""
    tables = {
        "name": "small",
        "duration": "10s",
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "12mbps", "delay": "20ms"}},
        "flows": [{"name": "flow", "scheme": "cubic"}],
    }
    for key, value in changes.items():
        tables = override(tables, key.replace("__", "."), value)
    return tables


def parking_lot(**changes):
    """Return two hops with 10 ms each."""
    link = {"rate": "12mbps", "delay": "10ms", "queue": {"kind": "drop-tail", "limit": "50 packets"}}
    return dumbbell(topology={"kind": "parking-lot", "bottlenecks": [link, link]}, **changes)


def graph(links, **changes):
    """Return nodes A to D, a flow from A to D, and these links."""
    flow = {"name": "flow", "scheme": "cubic", "from": "A", "to": "D"}
    topology = {"kind": "graph", "nodes": ["A", "B", "C", "D"], "links": links}
    return dumbbell(topology=topology, flows=[flow], **changes)


def plan(tables):
    """Return the plan of a scenario."""
    return Scenario.from_dict(tables).plan()


def assert_complete(plan):
    """Check that a plan has all values that the engine reads, in the engine's types, and no others."""
    written = json.dumps(plan)
    assert _lines(_core.rewritten_plan(written)) == _lines(written)


def _lines(plan):
    """Return the values of a plan, one a line: pytest shows the first that differs, and `1` is not `1.0`.

    A component without parameters is a table with its id, or the id alone.
    """
    read = json.loads(plan, object_hook=lambda table: table["kind"] if set(table) == {"kind"} else table)
    return json.dumps(read, indent=1, sort_keys=True).splitlines()


def path_names(plan, flow=0):
    """Return the names of the links of a flow, forward and reverse."""
    names = [link["name"] for link in plan["links"]]
    entry = plan["flows"][flow]
    return [names[i] for i in entry["path"]], [names[i] for i in entry["reverse_path"]]
