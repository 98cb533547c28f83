"""ACK-rate estimators in Python files."""

import copy

import numpy as np
import pytest
from equal_tables import assert_equal

import airpath
from airpath.captures import analyse
from airpath.errors import PluginError, UsageError
from airpath.plugins.python_file import load_python
from airpath.views.view import view_of

LINK = {"rtt": "40ms", "duration": "8s", "repetitions": 1}

FAULTS = {
    "self.sample = -1": "ValueError: sample is -1; accepted: 0 to 1000000000000000",
    "self.estimate = float('nan')": "ValueError: estimate is NaN",
    "self.minimum_rtt = -0.1": "ValueError: minimum_rtt is -0.1",
    "1 / 0": "ZeroDivisionError: division by zero",
}


@pytest.fixture
def observed(plus):
    """Return a run of a controller with an estimator of the engine and one in Python, and its capture."""
    return airpath.run(
        {
            "name": "observed",
            "duration": "20s",
            "record": {"capture": ["bottleneck", "bottleneck-reverse"]},
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {"rate": "5mbps", "delay": "20ms", "loss": 0.003},
            },
            "flows": [{"name": "flow", "scheme": "cubic", "estimators": ["westwood+", plus]}],
        }
    )


def capture_of(results, folder):
    """Return the file of the capture of the only run."""
    path = folder / "run.pcapng"
    path.write_bytes(results.runs[0].record.capture)
    return path


def test_as_a_passive_estimator_it_equals_the_engine(observed, plus):
    table = observed.table("flow_estimates").to_pandas()
    ours, theirs = (table[table["estimator"] == name] for name in ("westwood+", plus))
    assert len(ours) > 100
    for column in ("time_s", "sample_bps", "estimate_bps"):
        np.testing.assert_allclose(theirs[column], ours[column], rtol=1e-9, atol=0)


def test_the_report_shows_it_next_to_the_true_capacity(observed, plus):
    panel = next(panel for panel in view_of(observed).over_time.panels if panel.key == "estimate")
    assert panel.over_capacity
    ours, theirs = (
        next(line.values for line in panel.lines if line.label == name) for name in ("westwood+", plus)
    )
    np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=0)


def test_over_a_capture_it_equals_the_engine(observed, plus, folder):
    (flow, *_) = analyse(capture_of(observed, folder), ["westwood+", plus]).flows
    ours, theirs = flow.estimates_bps["westwood+"], flow.estimates_bps[plus]
    assert np.isfinite(ours).sum() > 100
    np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=0)


def test_as_a_scheme_it_is_westwood_over_it(plus):
    """Westwood copies its estimator at losses; the settings are those of Linux."""
    schemes = [f"{plus}:guard=false,reduction=after-recovery", "westwood+"]
    first, second = (airpath.compare([scheme], "12mbps", loss="0.5%", **LINK) for scheme in schemes)
    assert_equal(first, second)


@pytest.mark.usefixtures("plus")
def test_copies_have_separate_state(folder):
    declared = load_python(folder / "plus.py", (folder / "plus.py").read_bytes()).components["Plus"]
    first = declared.made_by('{"hz": 250}')
    first.estimate, first.amount = 5.0, 7
    second = copy.deepcopy(first)
    first.estimate, first.amount = 6.0, 8
    assert (second.estimate, second.amount, second.hz) == (5.0, 7, 250)


def test_inputs_missing_in_a_capture_are_named(write, folder):
    write(
        "needy.py",
        """
        import airpath

        class Needy(airpath.Estimator):
            requires = ("receiver_time",)

            def on_ack(self, ack):
                if ack.receiver_time is not None:
                    self.estimate = 1e6
        """,
    )
    results = airpath.run(
        {
            "name": "without",
            "duration": "3s",
            "record": {"capture": ["bottleneck", "bottleneck-reverse"]},
            "transport": {"timestamps": False, "spurious_timeout_undo": False},
            "topology": {"kind": "dumbbell", "bottleneck": {"rate": "5mbps", "delay": "20ms"}},
            "flows": [{"name": "flow", "scheme": "cubic"}],
        }
    )
    (flow, *_) = analyse(capture_of(results, folder), ["needy.py:Needy"]).flows
    assert "timestamps" in flow.estimates[0]["missing"]


@pytest.mark.parametrize("line", FAULTS)
def test_an_invalid_return_value_ends_the_run_and_the_replay_with_one_line(write, observed, folder, line):
    write(
        "bad.py",
        f"import airpath\nclass Bad(airpath.Estimator):\n    def on_ack(self, ack):\n        {line}\n",
    )
    with pytest.raises(PluginError) as failed:
        airpath.compare(["bad.py:Bad"], "12mbps", **LINK)
    assert FAULTS[line] in str(failed.value)
    assert "(Bad, seed 1, at " in str(failed.value)
    capture = capture_of(observed, folder)
    with pytest.raises(PluginError) as failed:
        analyse(capture, ["bad.py:Bad"])
    assert FAULTS[line] in str(failed.value)
    assert capture.name in str(failed.value)


def test_unknown_requirements_and_wrong_kinds_are_rejected(write, aimd):
    write(
        "odd.py",
        """
        import airpath

        class Odd(airpath.Estimator):
            requires = ("luck",)

            def on_ack(self, ack):
                pass
        """,
    )
    with pytest.raises(PluginError, match='requires has "luck"; accepted: receiver_time, delivery_rate'):
        airpath.compare(["odd.py:Odd"], "12mbps", **LINK)
    with pytest.raises(UsageError, match=r"aimd\.py:Aimd is a controller; accepted: an ACK-rate estimator"):
        analyse("none.pcap", [aimd])
