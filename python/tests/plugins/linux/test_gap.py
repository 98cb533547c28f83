"""Modules of Linux compared with the running kernel."""

import gzip
import platform
import textwrap
from pathlib import Path

import pytest

import airpath
from airpath._backends import BACKENDS
from airpath.errors import ScenarioError
from airpath.gap import gap
from airpath.gap.kernel_modules import in_kernel, ticks_of_kernel, with_ticks_of_kernel
from airpath.plugins.compiled.sources import read_sources

EXAMPLE = Path(__file__).parents[4] / "examples" / "linux-module"


@pytest.fixture
def scenario(module):
    """Return a short scenario with our module, whose name in a kernel is `sample`."""

    def scenario(options=""):
        return airpath.Scenario.from_dict(
            {
                "name": "own",
                "duration": "2s",
                "topology": {"kind": "dumbbell", "bottleneck": {"rate": "10mbps", "delay": "10ms"}},
                "flows": [
                    {"name": "own", "scheme": module("sample", options)},
                    {"name": "other", "scheme": "cubic"},
                ],
            }
        )

    return scenario


@pytest.fixture
def system(tmp_path):
    """Return a system's files with a clock of 300 ticks and a module `tcp_sample` that keeps 2 quarters."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "config.gz").write_bytes(
        gzip.compress(b"# CONFIG_HZ_250 is not set\nCONFIG_HZ=300\n")
    )
    parameters = tmp_path / "sys" / "module" / "tcp_sample" / "parameters"
    parameters.mkdir(parents=True)
    (parameters / "keep").write_text("2\n")
    return tmp_path


def test_the_kernel_runs_its_own_module(scenario, system):
    schemes = [flow.scheme for flow in in_kernel(scenario("keep=2,hz=100"), system).document.flows]
    assert schemes == ["kernel:sample", "cubic"]


@pytest.mark.parametrize("options", ["", "keep=4"])
def test_a_parameter_that_differs_from_the_kernels_is_rejected(scenario, system, options):
    with pytest.raises(ScenarioError, match=r"its keep is [34]; accepted .* kernel:sample: 2"):
        in_kernel(scenario(options), system)


def test_a_module_without_a_name_is_rejected(folder, airpath):
    (folder / "tcp_own.c").write_text(
        textwrap.dedent("""
            #include <net/tcp.h>
            static struct tcp_congestion_ops own = {
                .ssthresh = tcp_reno_ssthresh,
                .cong_avoid = tcp_reno_cong_avoid,
                .undo_cwnd = tcp_reno_undo_cwnd,
            };
            static int __init own_register(void) { return tcp_register_congestion_control(&own); }
            module_init(own_register);
        """)
    )
    outcome = airpath(
        "gap", "three-worlds", "linux:tcp_own.c", "--world", "emulate", "--set", "duration=4s",
        "--set", "record.warm_up=1s", "--reps", "1", "--no-report", "--out", "o",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert "does not show under which name it registers" in outcome.err


def test_the_simulated_module_has_the_clock_of_the_kernel(scenario, system):
    found, (remark,) = with_ticks_of_kernel(scenario(), system)
    own, other = (flow["controller"] for flow in found.plan()["flows"])
    assert own["hz"] == 300
    assert "hz" not in other
    assert "hz=300" in remark
    given = scenario("hz=1000")
    assert with_ticks_of_kernel(given, system) == (given, ())


def test_the_clock_of_the_kernel_is_in_its_configuration(system, tmp_path):
    assert ticks_of_kernel(system) == 300
    (system / "proc" / "config.gz").unlink()
    assert ticks_of_kernel(system) is None
    (tmp_path / "boot").mkdir()
    (tmp_path / "boot" / f"config-{platform.release()}").write_bytes(b"CONFIG_HZ=1000\n")
    assert ticks_of_kernel(system) == 1000


def test_the_name_is_that_of_the_registered_type(tmp_path):
    file = tmp_path / "tcp_two.c"
    file.write_text("""
        static struct tcp_congestion_ops plain = { .name = "plain", };
        static struct tcp_congestion_ops two __read_mostly = { .ssthresh = f, .name\t= "two", };
        static struct tcp_congestion_ops after = { .name = "after", };
        static int start(void) { return tcp_register_congestion_control( &two); }
    """)
    assert read_sources([file]).registered_name == "two"


def test_the_example_is_compared_with_the_kernels_reno():
    tables = airpath.Scenario.load(EXAMPLE / "link.toml").to_dict() | {"duration": "30s"}
    tables["flows"][0]["scheme"] = f"linux:{EXAMPLE / 'tcp_reno.c'}"
    chosen = airpath.Scenario.from_dict(tables)
    assert [flow.scheme for flow in in_kernel(chosen).document.flows] == ["kernel:reno"]
    (run,) = airpath.run(chosen, repetitions=1).runs
    assert run.metrics["utilisation"] > 0.99
    # As in docs/lab-notes/linux-modules.md.
    assert run.metrics["retransmitted_packets"] == 2 * run.flows["recoveries"][0].as_py() > 0


def test_other_commands_name_gap(scenario, monkeypatch):
    monkeypatch.setattr("airpath._backends.kernel.kernel_congestion_controls", lambda: ("cubic",))
    with pytest.raises(ScenarioError, match="runs in the simulator only, and `airpath gap` compares it"):
        BACKENDS["emulate"].place(scenario())


@pytest.mark.skipif(platform.system() != "Linux", reason="the emulator works on Linux")
def test_gap_names_the_congestion_control_missing_in_this_kernel(scenario):
    found = gap(scenario(), worlds=["emulate"], repetitions=1, progress=False)
    (compared,) = found.compared
    assert set(compared.labels) == {"sim"}
    assert "has no congestion control sample" in compared.missing["emulate"]
    ticks = ticks_of_kernel()
    assert found.results.runs[0].record.plan["flows"][0]["controller"]["hz"] == (ticks or 250)


def test_modules_of_the_kernel_show_their_names(linux_sources):
    names = ["bbr", "bic", "cubic", "dctcp", "htcp", "hybla", "illinois", "vegas", "westwood", "yeah"]
    assert [read_sources([linux_sources / f"tcp_{name}.c"]).registered_name for name in names] == names


@pytest.mark.realtime
@pytest.mark.usefixtures("emulated_hosts")
def test_cubic_is_paired_with_the_kernels(linux_sources):
    scenario = airpath.Scenario.load("three-worlds").override({"duration": "4s", "record.warm_up": "1s"})
    scheme = f"linux:{linux_sources / 'tcp_cubic.c'}"
    (compared,) = gap(scenario, [scheme], worlds=["emulate"], repetitions=1, progress=False).compared
    assert compared.labels["emulate"] == "kernel:cubic"
    assert {"goodput_mbps", "cwnd_mean_bytes", "retransmitted_packets"} <= {
        one.metric for one in compared.differences["emulate"]
    }
