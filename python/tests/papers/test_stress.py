"""The stress scenarios, shortened: estimates stay finite and positive and recover, tables hold no nonsense.

The long versions are the shipped scenarios themselves (`airpath run stress-…`).
"""

import numpy as np
import pytest

import airpath
from airpath.metrics.run import columns
from airpath.scenario import Scenario, scenario_names

STRESS = [name for name in scenario_names() if name.startswith("stress-")]
SCHEMES = ("xcp-ebe", "xcp-ebe:monitor=hold,upsilon=1.2", "vcp-ebe", "xcp", "xcp-b", "qfcp", "mpcp-ebe")

# What must be short to be run with every scheme, without losing what it is about.
SHORTENED = {
    "stress-500-flows": {"duration": "12s"},
    "stress-long-rtt": {"duration": "30s"},
    "stress-slow-link": {"duration": "60s"},
    "stress-one-flow": {"duration": "40s"},
    "stress-short-rtt": {"duration": "20s"},
    "stress-unsaturated": {"duration": "20s"},
    "stress-five-packets": {"duration": "20s"},
}


def run(name: str, scheme: str):
    scenario = Scenario.load(name)
    flows = range(len(scenario.document.flows))
    changes = {f"flows.{number}.scheme": scheme for number in flows} | SHORTENED.get(name, {})
    results = airpath.run(scenario.override(changes), repetitions=1, jobs=1, progress=False)
    return results.runs[0]


def observed(result, quantity: str) -> np.ndarray:
    table = columns(result.table("link_observations"))
    values: np.ndarray = table["value"][table["quantity"] == quantity]
    return values


def test_the_family_covers_what_was_promised():
    wanted = (
        "outage-5s outage-20s jump jump-100x slow-link five-packets one-flow 500-flows short-rtt long-rtt"
        " silence unsaturated two-bottlenecks"
    )
    assert {f"stress-{name}" for name in wanted.split()} <= set(STRESS)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", STRESS)
def test_estimates_and_tables_stay_sane(name, scheme):
    result = run(name, scheme)
    table = columns(result.table("link_observations"))
    assert table["value"].size
    assert np.isfinite(table["value"]).all()
    estimates = observed(result, "capacity_estimate_bps")
    assert (estimates > 0).all()
    if scheme != "xcp-b":  # which never knows a capacity
        assert estimates.size
    series = columns(result.link_series)
    for column in ("offered_bytes", "departed_bytes", "queue_mean_bytes", "queue_max_bytes", "queue_bytes"):
        assert np.isfinite(series[column]).all(), column
        assert (series[column] >= 0).all(), column
    windows = columns(result.flow_series)["cwnd_bytes"]
    assert np.isfinite(windows).all()
    assert (windows > 0).all()


@pytest.mark.parametrize("scheme", ["xcp-ebe", "vcp-ebe"])
@pytest.mark.parametrize(
    ("name", "from_s", "least"),
    [
        # From here on the link has been as before for at least ten seconds.
        ("stress-outage-5s", 45.0, 0.8),
        ("stress-outage-20s", 70.0, 0.8),
        ("stress-silence", 100.0, 0.8),
        ("stress-jump", 55.0, 0.8),
        ("stress-jump-100x", 55.0, 0.8),
    ],
)
def test_the_link_is_used_again_after_the_shock(name, scheme, from_s, least):
    result = run(name, scheme)
    series = columns(result.link_series)
    names = [link["name"] for link in result.record.plan["links"]]
    rows = (series["link"] == names.index("bottleneck")) & (series["time_s"] > from_s)
    assert series["departed_bytes"][rows].sum() >= least * series["offered_bytes"][rows].sum()
