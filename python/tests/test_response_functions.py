"""Compares controllers in the engine with their response functions: the mean window under random loss."""

import pytest

import airpath


def mean_window(scheme: str, loss: float, rtt_ms: float) -> float:
    """Return the mean window in segments under independent loss, on a link without significant queueing."""
    scenario = airpath.Scenario.from_dict(
        {
            "name": "response",
            "duration": "4000s",
            "record": {"warm_up": "20s"},
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {
                    "rate": "10Gbps",
                    "delay": f"{rtt_ms / 2}ms",
                    "loss": loss,
                    "queue": {"kind": "drop-tail", "limit": "1 GB"},
                },
                "reverse": {"rate": "unlimited", "delay": f"{rtt_ms / 2}ms"},
            },
            # Loss must be the only limit of the window: a floor prevents timeouts.
            "transport": {"min_rto": "1s"},
            "flows": [{"name": "flow", "scheme": scheme}],
        }
    )
    (row,) = airpath.run(scenario).summary.to_pylist()
    return row["goodput_mbps"] * 1e6 / 8 / 1460 * rtt_ms / 1000


@pytest.mark.parametrize("loss", [1e-4, 3e-4, 1e-3])
def test_newreno_follows_the_square_root_law(loss: float) -> None:
    # sqrt(3/2p) for loss at regular intervals (Mathis et al. 1997), 1.309/sqrt(p) for independent loss
    # (Ott, Kemperman and Mathis 1996). The run has a few hundred cycles, hence 4 % of noise.
    regular, independent = (1.5 / loss) ** 0.5, 1.309 / loss**0.5
    window = mean_window("newreno", loss, 100.0)
    assert 0.96 * regular < window < 1.04 * independent


@pytest.mark.parametrize(("loss", "rtt_ms"), [(1e-5, 100.0), (1e-4, 200.0)])
def test_cubic_follows_the_response_function_of_rfc_9438(loss: float, rtt_ms: float) -> None:
    c, beta = 0.4, 0.7
    # RFC 9438, section 5.1, equation 6, for loss at regular intervals.
    law = (c * (3 + beta) / (4 * (1 - beta))) ** 0.25 * (rtt_ms / 1000 / loss) ** 0.75
    # Independent loss yields 11 to 15 % more, compared with 7 % more for NewReno: long gaps weigh more than
    # short ones, and even more so with growth by the cube of the gap.
    assert 1.0 < mean_window("cubic", loss, rtt_ms) / law < 1.25
