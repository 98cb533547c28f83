"""Errors of ACK-rate estimators, of airpath and of the user, over links with known capacities."""

import json
from pathlib import Path

import numpy as np
import pytest

import airpath
from airpath.checks import Suite, check
from airpath.metrics import ERRORS, METRICS
from airpath.plugins.specs import allow
from airpath.results import TABLES, read
from airpath.views.view import view_of

KNOWN = """
    import airpath


    class Known(airpath.Estimator):
        '''Reports a given bandwidth, and a multiple of it from a given time on.'''

        # 12 Mbit/s: 1448 bytes of payload in packets of 1500 bytes.
        value: airpath.BitsPerSecond = "11.584mbps"
        factor: float = 1.0
        time: airpath.Seconds = "0s"

        def on_ack(self, ack):
            self.sample = self.estimate = self.value * (self.factor if ack.now > self.time else 1.0)
"""
NAMES = [f"bandwidth_estimate_{name}" for name in ERRORS]


def scenario(*estimators, rate="12mbps", scheme="fixed:window=60packets", warm_up="4s", count=1):
    return {
        "name": "known",
        "duration": "10s",
        "record": {"warm_up": warm_up},
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": rate, "delay": "20ms"}},
        "flows": [{"name": "flow", "scheme": scheme, "count": count, "estimators": list(estimators)}],
    }


def errors(results):
    """Return bins, bias, mean error and p95 error of each estimator of the only flow."""
    rows = results.table("estimator_errors").to_pylist()
    return {row["estimator"]: [row[name] for name in ("bins", *ERRORS)] for row in rows}


@pytest.fixture(autouse=True)
def known(write):
    write("known.py", KNOWN)
    return "known.py:Known"


def test_errors_are_relative_to_the_capacity_for_payload(known):
    half, double = f"{known}:value=5.792mbps", f"{known}:factor=2,time=8s"
    found = errors(airpath.run(scenario(known, half, double)))
    assert found[known] == [6, 0, 0, 0]
    assert found[half] == [6, -50, 50, 50]
    # Of six bins, two have twice the capacity.
    assert found[double] == pytest.approx([6, 100 / 3, 100 / 3, 100])


def test_bias_weights_bins_by_capacity_and_outages_are_left_out(known):
    steps = {"kind": "steps", "steps": [["0s", "12mbps"], ["6s", "0bps"], ["8s", "24mbps"]]}
    found = errors(airpath.run(scenario(known, rate=steps)))
    # Two bins are right, and two have half the capacity.
    assert found[known] == pytest.approx([4, -100 / 3, 25, 50])


def test_the_same_estimator_of_the_user_has_the_same_errors(plus):
    found = errors(airpath.run(scenario("westwood+", plus, rate="lte.down", scheme="cubic")))
    assert found["westwood+"][0] == 6
    assert found[plus] == pytest.approx(found["westwood+"], rel=1e-6)


def test_metrics_are_those_of_the_controllers_of_flows_under_test(known):
    half = f"{known}:value=5.792mbps"
    alone = airpath.run(scenario(known, scheme=half))
    assert [alone.summary[name][0].as_py() for name in NAMES] == [-50, 50, 50]
    assert errors(alone)["controller"] == [6, -50, 50, 50]
    two = airpath.run(scenario(scheme=half, count=2))
    assert two.table("estimator_errors")["flow"].to_pylist() == [0, 1]
    assert [two.summary[name][0].as_py() for name in NAMES] == [-50, 50, 50]
    # Estimators in addition to a controller do not count.
    beside = airpath.run(scenario(known))
    assert all(np.isnan(beside.summary[name][0].as_py()) for name in NAMES)


def test_suites_check_estimators_of_the_user(known):
    case = {"name": "case", "link": "12mbps", "duration": "5s", "repetitions": 1, "scheme": known}
    expect = {"bandwidth_estimate_error_p95_percent": {"at_most": 1}}
    allow([known])
    (done,) = check(Suite.from_dict({"name": "own", "cases": [{**case, "expect": expect}]})).cases
    assert done.passed
    assert done.judged[0].measured.mean == 0


def test_commands_print_and_write_them(airpath, known):
    done = airpath("compare", known, "westwood+", "--link", "12mbps", "--duration", "5s", "--out", "out")
    assert done.code == 0, done.err
    rows = [line.split("│")[1:-1] for line in done.out.splitlines() if line.startswith("│")]
    assert [cell.strip() for cell in rows[0]] == ["Known", "0", "0", "0"]
    results = read("out")
    table = results.table("estimator_errors")
    assert Path("out/estimator_errors.parquet").exists()
    assert table.num_rows == 6
    assert all(field.metadata[b"description"] for field in table.schema if field.name != "scheme")
    (section,) = (one for one in view_of(results).details if one.id == "estimators")
    assert section.tables[0]["rows"][0] == ["Known", "0", "0", "0"]
    told = airpath("compare", known, "--link", "12mbps", "--duration", "5s", "--json", "--out", "json")
    assert [row["bias_percent"] for row in json.loads(told.out)["estimators"]] == [0, 0, 0]


def test_comparisons_of_other_schemes_print_none(airpath, known):
    link = ("--link", "12mbps", "--duration", "2s", "--reps", "1", "--no-report")
    arguments = ("compare", known, "cubic", *link)
    assert "ACK-rate" not in airpath(*arguments, "--out", "main").out
    rows = [line for line in airpath(*arguments, "--all", "--out", "all").out.splitlines() if "Known" in line]
    assert "│ Known  │" in rows[-1]


def test_runs_without_estimators_have_none_of_it(airpath):
    done = airpath("compare", "cubic", "--link", "12mbps", "--duration", "2s", "--reps", "1", "--out", "out")
    assert "ACK-rate" not in done.out
    assert not Path("out/estimator_errors.parquet").exists()
    results = read("out")
    assert results.table("estimator_errors").num_rows == 0
    assert "estimator_errors" not in TABLES
    assert not [one for one in view_of(results).details if one.id == "estimators"]
    assert set(NAMES) <= METRICS.keys()
