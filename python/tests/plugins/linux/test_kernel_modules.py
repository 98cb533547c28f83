"""The congestion control modules of a kernel, if `AIRPATH_LINUX_SOURCES` names its sources."""

import numpy as np
import pytest
from equal_tables import assert_equal

import airpath

MODULES = (
    "bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla",
    "illinois", "lp", "nv", "scalable", "vegas", "veno", "westwood", "yeah",
)  # fmt: skip
LINK = {"rtt": "50ms", "repetitions": 1}


@pytest.fixture
def scheme(linux_sources):
    """Returns the scheme of a module of the kernel."""

    def scheme(name, options=""):
        helper = [linux_sources / "tcp_vegas.c"] if name == "yeah" else []
        files = "+".join(str(file) for file in [*helper, linux_sources / f"tcp_{name}.c"])
        return f"linux:{files}" + (f":{options}" if options else "")

    return scheme


def series(results):
    return results.table("flow_series").to_pandas().set_index("time_s")


@pytest.mark.parametrize("name", MODULES)
def test_every_module_fills_a_link(scheme, name):
    results = airpath.compare([scheme(name)], "20mbps", duration="30s", **LINK)
    assert results.summary["utilisation"][0].as_py() > 0.88


@pytest.mark.parametrize("name", MODULES)
def test_clocks_and_sequence_numbers_wrap_around(scheme, name):
    if name == "lp":
        pytest.skip("tcp_lp.c reads the absolute time of the timestamps")
    schemes = [scheme(name), scheme(name, "uptime=4285s,isn=4294000000")]
    assert_equal(*(airpath.compare([one], "20mbps", duration="20s", loss="0.05%", **LINK) for one in schemes))


def test_cubic_follows_its_function(scheme):
    """RFC 9438, with C = 410/1024 and beta = 717/1024 of the module, from epoch to epoch."""
    plain = scheme("cubic", "fast_convergence=0")
    window = series(airpath.compare([plain], "50mbps", **{**LINK, "rtt": "100ms"}, duration="120s"))
    cwnd = window["cwnd_bytes"].to_numpy() / 1448
    threshold = window["ssthresh_bytes"].to_numpy() / 1448
    time = window.index.to_numpy()
    starts = np.flatnonzero(np.diff(threshold) != 0) + 1
    starts = starts[time[starts] > 10]
    assert len(starts) >= 4
    for start, end in zip(starts[:-1], starts[1:], strict=True):
        largest = threshold[start] * 1024 / 717
        inside = slice(start + 5, end - 3)
        lasted = time[inside] - time[start]
        k = np.cbrt((largest - threshold[start]) / (410 / 1024))
        # The module looks one least round-trip time ahead; the epoch begins after the recovery of one or two rounds.
        shift = min(
            np.linspace(-0.4, 0.4, 81),
            key=lambda s: np.abs(largest + 410 / 1024 * (lasted + s - k) ** 3 - cwnd[inside]).mean(),
        )
        expected = largest + 410 / 1024 * (lasted + shift - k) ** 3
        assert np.abs(expected - cwnd[inside]).mean() < 15


def test_bbr_estimates_the_rate_of_the_link(scheme):
    results = airpath.compare([scheme("bbr")], "50mbps", **{**LINK, "rtt": "100ms"}, duration="60s")
    observed = results.table("flow_estimates").to_pandas()
    payload = 50e6 * 1448 / 1500
    late = observed[(observed["time_s"] > 20)]["estimate_bps"]
    np.testing.assert_allclose(late.median(), payload, rtol=0.01)


def test_hz_changes_westwood_but_not_cubic(scheme):
    def reductions(name, hz):
        results = airpath.compare([scheme(name, f"hz={hz}")], "50mbps", **{**LINK, "rtt": "20ms"}, duration="60s")
        return results.flows["recoveries"][0].as_py()

    assert reductions("westwood", 100) > reductions("westwood", 1000)
    assert abs(reductions("cubic", 100) - reductions("cubic", 1000)) <= 1


def test_a_division_by_zero_of_a_module_ends_the_run(scheme):
    with pytest.raises(airpath.runner.RunsFailed, match=r"tcp_hybla\.c:\d+: division by zero"):
        airpath.compare([scheme("hybla", "rtt0=0")], "20mbps", duration="5s", **LINK)
