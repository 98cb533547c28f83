"""Traces that scenarios name: their errors and their results."""

import pytest
from scenario_tables import dumbbell

from airpath.errors import TraceError
from airpath.scenario import Scenario

TRACES = {
    "not there": (None, "there is no such file"),
    "a word": (
        "1\ntwo\n",
        "line 2: found `two`; accepted: a non-negative integer of milliseconds",
    ),
    "a blank line": (
        "1\n\n2\n",
        "line 2: found nothing; accepted: a non-negative integer of milliseconds",
    ),
    "backwards": (
        "5\n4\n",
        "line 2: found `4`; accepted: an integer not below that of the line above",
    ),
    "no time": ("0\n0\n", "line 2: found `0` as the last value; accepted: a last value greater than 0"),
    "empty": (
        "",
        "line 1: found an empty file; accepted: mahimahi, seconds-mbps, milliseconds-kbps, value-unit-csv,"
        " gnettrack-csv, starlink-csv, airpath-csv",
    ),
}


@pytest.mark.parametrize(("text", "message"), TRACES.values(), ids=TRACES.keys())
def test_a_fault_in_a_trace(text, message, tmp_path):
    if text is not None:
        (tmp_path / "link.down").write_text(text)
    tables = dumbbell(topology__bottleneck__rate={"kind": "trace", "file": "link.down"})
    with pytest.raises(TraceError) as caught:
        Scenario.from_dict(tables, folder=tmp_path).plan()
    assert (
        str(caught.value) == f"scenario: topology.bottleneck.rate.file: {tmp_path / 'link.down'}: {message}"
    )


def test_a_rate_log_sizes_a_buffer(tmp_path):
    (tmp_path / "log").write_text("0 1\n1 3\n")
    rate = {"kind": "trace", "file": "log"}
    queue = {"kind": "drop-tail", "limit": "100ms"}
    tables = dumbbell(topology__bottleneck__rate=rate, topology__bottleneck__queue=queue)
    plan = Scenario.from_dict(tables, folder=tmp_path).plan()
    bottleneck = next(link for link in plan["links"] if link["name"] == "bottleneck")
    assert bottleneck["rate"]["kind"] == "rate-log"
    assert bottleneck["queue"]["limit_bytes"] == 2_000_000 // 8 // 10
