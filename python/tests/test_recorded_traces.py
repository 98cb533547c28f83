"""NewReno and CUBIC over recorded links, if the traces are available."""

import pytest
from outside import recorded_trace

import airpath

NAMES = (
    "Verizon-LTE-short.down",
    "ATT-LTE-driving-2016.down",
    "TMobile-LTE-short.down",
    "Verizon-EVDO-driving.down",
    "trace-3201711-timessquare",
    "norway-bus.ljansbakken-oslo-report.2010-09-28_1407CEST.log",
    "lumos5g-5g_trace_100_walking",
    "oboe-trace_26.txt",
    "starlink-lagos-first30min.csv",
)


@pytest.mark.parametrize("name", NAMES)
def test_schemes_fill_a_recorded_link_to_its_capacity(name: str) -> None:
    path = recorded_trace(name)
    results = airpath.compare(
        ["newreno", "cubic"], str(path), rtt="60ms", buffer="300 packets", duration="60s"
    )
    assert results.summary["scheme"].to_pylist() == ["newreno", "cubic"]
    links = results.to_pandas("links")
    bottleneck = links[links["link_name"] == "bottleneck"]
    # The last bytes of a packet may leave in an interval after that of its first.
    assert (bottleneck["departed_bytes"] <= bottleneck["offered_bytes"] + 1500).all()
    # If the buffer is a bandwidth-delay product, a single flow keeps the link busy most of the time.
    capacity_bps = bottleneck["offered_bytes"].iloc[0] * 8 / 60
    least = 0.6 if capacity_bps * 0.06 / 8 < 300 * 1500 else 0.05
    assert (results.to_pandas("summary")["utilisation"] > least).all()
