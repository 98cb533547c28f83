"""The congestion control modules of a kernel, if `AIRPATH_LINUX_SOURCES` names its sources."""

import itertools

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
    """Return a function that returns the scheme of a module of the kernel."""

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


@pytest.mark.parametrize(
    "name", ["bic", "cubic", "highspeed", "htcp", "hybla", "illinois", "vegas", "veno", "westwood"]
)
def test_the_windows_of_airpaths_schemes_match_the_modules(scheme, name):
    """Over time, not at each instant: after some losses the phases differ."""
    ours, theirs = {"westwood": ("westwood+", scheme("westwood", "hz=1000"))}.get(name, (name, scheme(name)))

    def window(scheme):
        results = airpath.run(
            {
                "name": "alone",
                "duration": "120s",
                # Some modules count acknowledgments; our schemes count the acknowledged packets.
                "transport": {"delayed_ack_segments": 1},
                "topology": {"kind": "dumbbell", "bottleneck": {"rate": "20mbps", "delay": "25ms"}},
                "flows": [{"name": "flow", "scheme": scheme}],
            }
        )
        return series(results)["cwnd_bytes"][20:]

    first, second = window(ours), window(theirs)
    np.testing.assert_allclose(first.mean(), second.mean(), rtol=0.02)
    np.testing.assert_allclose(first.quantile(0.9), second.quantile(0.9), rtol=0.02)


def test_cubic_matches_its_function(scheme):
    """W_max + C (t - K)^3 of RFC 9438, with C = 410/1024 and beta = 717/1024 of the module."""
    plain = scheme("cubic", "fast_convergence=0")
    table = series(airpath.compare([plain], "50mbps", **{**LINK, "rtt": "100ms"}, duration="120s"))
    time, cwnd = table.index.to_numpy(), table["cwnd_bytes"].to_numpy() / 1448
    threshold = table["ssthresh_bytes"].to_numpy() / 1448
    # A reduction takes up to four rows of 100 ms.
    drops = np.flatnonzero((cwnd[4:] < 0.75 * cwnd[:-4]) & (time[4:] > 10)) + 4
    drops = drops[np.diff(drops, prepend=-10) > 10]
    assert len(drops) >= 10
    for start, end in itertools.pairwise(drops):
        largest = threshold[start] * 1024 / 717
        k = np.cbrt((largest - threshold[start]) / (410 / 1024))
        rows = slice(start + 5, end - 2)
        since = time[rows] - time[start]
        # The epoch begins up to two rounds after the reduction, and the module looks a round ahead.
        errors = [
            np.abs(largest + 410 / 1024 * (since + shift - k) ** 3 - cwnd[rows]).mean()
            for shift in np.linspace(-0.4, 0.2, 61)
        ]
        # Windows are whole packets, and a sample is up to 100 ms old.
        assert min(errors) < 2


def test_bbr_estimates_the_rate_of_the_link(scheme):
    results = airpath.compare([scheme("bbr")], "50mbps", **{**LINK, "rtt": "100ms"}, duration="60s")
    observed = results.table("flow_estimates").to_pandas()
    payload = 50e6 * 1448 / 1500
    late = observed[(observed["time_s"] > 20)]["estimate_bps"]
    np.testing.assert_allclose(late.median(), payload, rtol=0.01)


def test_hz_changes_westwood_but_not_cubic(scheme):
    def reductions(name, hz):
        link = {**LINK, "rtt": "20ms"}
        results = airpath.compare([scheme(name, f"hz={hz}")], "50mbps", **link, duration="60s")
        return results.flows["recoveries"][0].as_py()

    assert reductions("westwood", 100) > reductions("westwood", 1000)
    assert abs(reductions("cubic", 100) - reductions("cubic", 1000)) <= 1


def test_a_division_by_zero_of_a_module_ends_the_run(scheme):
    with pytest.raises(airpath.runner.RunsFailed, match=r"tcp_hybla\.c:\d+: division by zero"):
        airpath.compare([scheme("hybla", "rtt0=0")], "20mbps", duration="5s", **LINK)
