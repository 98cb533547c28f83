"""The public interface: loading, overriding, writing, describing, memory, schema, comparisons."""

import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from scenario_tables import dumbbell, path_names

from airpath.errors import ScenarioError
from airpath.links import FOLDER, LINKS
from airpath.scenario import (
    QUEUES,
    Scenario,
    compare_scenario,
    parse_assignment,
    scenario_names,
    scenario_schema,
)
from airpath.scenario.load import find_file, read_file
from airpath.scenario.queues import QUEUE_TABLES
from airpath.scenario.schema import editor_schema

GENERATOR = Path(__file__).parents[3] / "tools" / "make_links.py"


@pytest.mark.parametrize("name", scenario_names())
def test_shipped_scenarios_load_describe_and_survive_writing(name):
    scenario = Scenario.load(name)
    assert scenario.name == name
    assert scenario.title != name
    assert scenario.document.description
    assert "buffer" in scenario.describe()
    again = Scenario.from_dict(tomllib.loads(scenario.to_toml()))
    assert again.plan() == scenario.plan()
    assert again.to_toml() == scenario.to_toml()


def test_the_shipped_names():
    assert {
        "ebe-moving-bottleneck",
        "lte-download",
        "parking-lot",
        "two-way",
        "short-flows",
        "satellite",
    } <= set(scenario_names())


def test_the_ebe_scenario_is_that_of_the_papers():
    scenario = Scenario.load("ebe-moving-bottleneck")
    resolved = scenario.plan()
    assert scenario.resolved.base_rtt_ns["bottleneck"] == 80e6
    assert scenario.buffers["bottleneck"].bytes == scenario.buffers["bottleneck-reverse"].bytes == 575_000
    assert [scenario.resolved.groups.count(group) for group in ("long", "short")] == [40, 10]
    assert resolved["duration_ns"] == 120 * 10**9
    assert scenario.resolved.mean_rate_bps["bottleneck"] == pytest.approx(10.17e6, rel=1e-3)
    # Round-trip times spread over 10 ms within each direction.
    delays = {link["name"]: link["delay_ns"]["value"] for link in resolved["links"]}
    there, back = path_names(resolved, 19)
    assert sum(delays[name] for name in there + back) == 90e6


def test_a_file_is_read_with_traces_next_to_it(tmp_path):
    (tmp_path / "my.down").write_text("1\n2\n")
    tables = dumbbell(topology__bottleneck__rate={"kind": "trace", "file": "my.down"})
    (tmp_path / "mine.toml").write_text(Scenario.from_dict(tables).to_toml())
    scenario = Scenario.load(tmp_path / "mine.toml")
    assert scenario.traces[0].path == tmp_path / "my.down"
    assert (scenario.traces[0].format, scenario.traces[0].direction) == (None, "down")


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("flows.0.count=5", "flows.0.count", 5),
        ("seed = 7", "seed", 7),
        ("record.packets=true", "record.packets", True),
        ("duration=20s", "duration", "20s"),
        ('duration="20s"', "duration", "20s"),
        ('flows.0.start={uniform=["0s","1s"]}', "flows.0.start", {"uniform": ["0s", "1s"]}),
        ("flows.0.scheme=cubic:beta=0.8", "flows.0.scheme", "cubic:beta=0.8"),
        ("title=", "title", ""),
        ("title=1\nseed = 2", "title", "1\nseed = 2"),
    ],
)
def test_assignments(text, key, value):
    assert parse_assignment(text) == (key, value)


def test_overriding_returns_a_new_scenario_and_keeps_the_old_one():
    scenario = Scenario.from_dict(dumbbell())
    changed = scenario.override({"flows.0.count": 5, "topology.bottleneck.rate": "24mbps"}, seed=9)
    assert len(changed.plan()["flows"]) == 5
    assert changed.plan()["links"][0]["rate"] == {"kind": "constant", "bps": 24_000_000}
    assert changed.seed == 9
    assert len(scenario.plan()["flows"]) == 1
    # Omitted tables are created.
    assert changed.override({"topology.reverse.loss": 0.5}).plan()["links"][1]["loss"] == 0.5


def test_an_override_is_checked_like_the_file():
    with pytest.raises(ScenarioError, match=r"flows\[0\]\.count: found 0; accepted: at least 1"):
        Scenario.load("satellite").override({"flows.0.count": 0})


def test_writing_normalises_the_spelling():
    tables = dumbbell(flows__0__start={"uniform": ["0ms", "300ms"]}, topology__bottleneck__rate="1.50Mbit/s")
    assert Scenario.from_dict(tables).to_dict() == {
        "name": "small",
        "duration": "10 s",
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {"rate": {"kind": "constant", "rate": "1.5 Mbit/s"}, "delay": "20 ms"},
        },
        "flows": [{"name": "flow", "scheme": "cubic", "start": {"uniform": ["0 s", "300 ms"]}}],
    }


def test_a_scenario_in_words():
    assert Scenario.from_dict(dumbbell(title="A small one", flows__0__count=3)).describe().splitlines() == [
        "A small one",
        "10 s, warm-up 0 s, seed 1, repetitions 1",
        "links:",
        "  bottleneck: constant rate, mean 12 Mbit/s; base RTT 40 ms; buffer 60 kB = 40 packets ="
        " 40 ms = 1 BDP",
        "  bottleneck-reverse: constant rate, mean 12 Mbit/s; base RTT 40 ms;"
        " buffer 60 kB = 40 packets = 40 ms = 1 BDP",
        "flows:",
        "  flow: 3 x cubic, bulk",
    ]


def test_memory_is_estimated_from_rows():
    scenario = Scenario.from_dict(dumbbell(flows__0__count=3, flows__0__direction="both"))
    estimate = scenario.memory()
    # 10 s in intervals of 100 ms; six flows, two recorded links.
    assert (estimate.flow_series_rows, estimate.link_series_rows, estimate.packet_rows) == (600, 200, 0)
    assert estimate.bytes == 8 * (600 * 15 + 200 * 13) + 6 * 4096
    # One direction carries 12 Mbit/s for 10 s in packets of 1500 bytes: 10 000 packets.
    one_way = Scenario.from_dict(dumbbell(record__packets=True))
    assert one_way.memory().packet_rows == 10_000
    without = Scenario.from_dict(dumbbell())
    assert one_way.memory().bytes - without.memory().bytes == 8 * 8 * 10_000
    limits = Scenario.from_dict(dumbbell(record__flow_limits=True))
    assert limits.memory().bytes - without.memory().bytes == 8 * 7 * 100
    arrivals = {"kind": "arrivals", "size": "10kB", "mean_interval": "100ms"}
    assert Scenario.from_dict(dumbbell(flows__0__traffic=arrivals)).memory().flow_series_rows == 100 + 2 * 100


def test_a_scenario_too_large_for_the_memory_is_rejected():
    scenario = Scenario.from_dict(dumbbell())
    size = scenario.memory().bytes
    scenario.refuse_if_too_large(available=size)
    with pytest.raises(ScenarioError) as caught:
        scenario.refuse_if_too_large(available=size - 1)
    assert str(caught.value) == (
        "scenario: the records of one run would take about 37 kB, and 37 kB of memory are free;"
        " set a larger record.interval, or make the run shorter"
    )
    with pytest.raises(ScenarioError, match=r"set record\.packets = false"):
        Scenario.from_dict(dumbbell(record__packets=True)).refuse_if_too_large(available=1000)
    with pytest.raises(ScenarioError, match=r"set a larger record\.interval"):
        Scenario.from_dict(dumbbell(record__interval="1ns")).refuse_if_too_large()


def test_the_schema_describes_every_key():
    schema = scenario_schema()
    tables = [schema, *schema["$defs"].values()]
    missing = [
        f"{table['title']}.{key}"
        for table in tables
        for key, field in table.get("properties", {}).items()
        if not field.get("description")
    ]
    assert missing == []
    assert all(table.get("additionalProperties") is False for table in tables)


def test_comparisons_differ_in_the_scheme_only():
    scenarios = compare_scenario(["cubic", "newreno:slow_start=hystart++"], "12mbps", flows=2, seed=5)
    first, second = (scenario.plan() for scenario in scenarios)
    assert first["links"] == second["links"]
    assert first["links"][0]["queue"]["limit_bytes"] == 60_000
    assert [flow["controller"]["kind"] for flow in first["flows"]] == ["cubic", "cubic"]
    assert second["flows"][0]["controller"] == {
        "kind": "newreno",
        "counting": "bytes",
        "threshold_unit": "bytes",
        "slow_start": "hystart++",
    }
    for flow in (*first["flows"], *second["flows"]):
        del flow["controller"]
    assert first == second
    assert [scenario.seed for scenario in scenarios] == [5, 5]


def test_a_scheme_with_plus_signs_is_compared_under_a_name_without():
    assert compare_scenario(["ledbat++"], "12mbps")[0].name == "compare-ledbat-plus-plus"


def test_comparisons_over_named_links_and_files(tmp_path):
    (named,) = compare_scenario(["cubic"], "ebe.bottleneck")
    assert named.resolved.base_rtt_ns["bottleneck"] == 64e6
    assert named.buffers["bottleneck"].bytes == 575_000
    (named,) = compare_scenario(["cubic"], "ebe.bottleneck", rtt="30ms", buffer="100 packets")
    assert named.resolved.base_rtt_ns["bottleneck"] == 30e6
    assert named.buffers["bottleneck"].packets == 100
    (tmp_path / "my.trace").write_text("1\n")
    (of_file,) = compare_scenario(["cubic"], str(tmp_path / "my.trace"))
    assert of_file.traces[0].path == tmp_path / "my.trace"
    assert of_file.resolved.base_rtt_ns["bottleneck"] == 40e6


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
def test_named_links_resolve_and_pair(link):
    (scenario,) = compare_scenario(["cubic"], link.name)
    assert scenario.resolved.mean_rate_bps["bottleneck"] > 1e6
    if link.reverse is not None:
        assert next(other for other in LINKS if other.name == link.reverse).reverse == link.name


@pytest.mark.parametrize(("name", "mean"), [("lte.down", 9e6), ("lte.up", 4e6)])
def test_the_synthetic_links_are_as_described(name, mean):
    times = [int(line) for line in (FOLDER / name).read_text().splitlines()]
    assert times[-1] == 60_000
    assert len(times) * 12_000 / 60 == pytest.approx(mean, rel=0.01)
    gaps = [after - before for before, after in pairwise(times)]
    # There are outages, but short ones.
    assert 200 < max(gaps) < 2000


def test_the_synthetic_links_equal_the_output_of_their_generator(tmp_path):
    subprocess.run([sys.executable, str(GENERATOR), str(tmp_path)], check=True, capture_output=True)
    for name in ("lte.down", "lte.up"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


def test_every_queue_of_the_registry_is_a_queue_of_the_language():
    assert [queue.name for queue in QUEUES] == list(QUEUE_TABLES)


@pytest.fixture(scope="module")
def validator():
    jsonschema = pytest.importorskip("jsonschema")
    kind = jsonschema.validators.validator_for(editor_schema())
    kind.check_schema(editor_schema())
    return kind(editor_schema())


@pytest.mark.parametrize("name", scenario_names())
def test_the_schema_accepts_the_shipped_scenarios(name, validator):
    tables = read_file(find_file(name))
    assert list(validator.iter_errors(tables)) == []
    assert list(validator.iter_errors(tables | {"seed": "one"})) != []


@pytest.mark.parametrize(
    ("flow", "is_valid"),
    [
        ({"scheme": "cubic", "parameters": {"beta": 0.8}}, True),
        ({"scheme": "cubic", "parameters": {"betta": 0.8}}, False),
        ({"scheme": "cubic:c=1", "parameters": {"beta": 2.0}}, False),
        ({"scheme": "reno", "parameters": {"slow_start": "hystart++"}}, True),
        ({"scheme": "westwood+", "parameters": {"rtt0": "5ms"}}, False),
        ({"scheme": "fixed:window=10 packets", "parameters": {}}, True),
    ],
    ids=str,
)
def test_the_schema_contains_the_parameters_of_schemes(flow, is_valid, validator):
    tables = dumbbell() | {"flows": [{"name": "flow"} | flow]}
    assert validator.is_valid(tables) == is_valid


def test_a_scenario_may_name_its_schema(validator):
    tables = {"$schema": "airpath.schema.json", **dumbbell()}
    assert validator.is_valid(tables)
    assert Scenario.from_dict(tables).to_dict() == Scenario.from_dict(dumbbell()).to_dict()


def test_the_schema_contains_defaults_as_written():
    tables = scenario_schema()["$defs"]
    assert tables["Record"]["properties"]["interval"]["default"] == "100 ms"
    assert tables["Flow"]["properties"]["start"]["default"] == "0 s"
    assert tables["Flow"]["properties"]["traffic"]["default"] == {"kind": "bulk"}
    assert tables["PoissonDatagramsTraffic"]["properties"]["packet"]["default"] == "1.5 kB"
    assert tables["Flow"]["properties"]["stop"]["default"] is None


def test_the_loss_of_a_coded_link_is_reported_with_the_formula_of_independent_bytes():
    loss = {"kind": "fading", "snr": 10.0, "antennas": "2x2", "beta": 0.91667, "code_rate": 0.93}
    described = Scenario.load("vcpw-satellite").override({"topology.bottleneck.loss": loss}).describe()
    # Both computed independently (VCP-W's chain, codewords of at most 255 symbols).
    said = "damages 0.186 % of packets of 1040 bytes in the long run (0.0016 % if bytes were independent)"
    channel = "fading, BPSK, SNR 10 dB, 0 dB in the bad state, antennas 2x2"
    coded = "chain clocked by bit, code rate 0.93 of data"
    assert f"losses in bursts ({channel}), {coded}; {said}" in described
    assert "parity takes time" not in described
    slower = loss | {"parity_takes_time": True}
    described = Scenario.load("vcpw-satellite").override({"topology.bottleneck.loss": slower}).describe()
    assert f"{coded}, parity takes time; {said}" in described
    direct = loss | {"ack_code_rate": 0.5, "rician_k": 5.0, "snr": 25.5}
    described = Scenario.load("vcpw-satellite").override({"topology.bottleneck.loss": direct}).describe()
    assert "SNR 25.5 dB, 15.5 dB in the bad state, antennas 2x2, Rician factor 5)" in described
    assert f"{coded}, code rate 0.5 of acknowledgments; damages" in described
    uncoded = Scenario.load("satellite-bursts-time").describe()
    assert "in the long run" in uncoded
    assert "independent)" not in uncoded


def test_losses_in_bursts_survive_writing_and_their_clock_is_described(tmp_path):
    loss = {"kind": "gilbert", "clock": "time", "step": "1ms", "mean_loss": 0.0256, "mean_burst": 16.7}
    arq = {"retries": 3, "delay": "8ms"}
    changes = {"topology.bottleneck.loss": loss, "topology.bottleneck.arq": arq}
    scenario = Scenario.load("satellite").override(changes)
    said = "losses in bursts (gilbert), chain clocked by time of 1 ms"
    assert f"{said}, retransmitted at most 3 times after 8 ms, delivered in order" in scenario.describe()
    path = tmp_path / "written.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    assert Scenario.load(path).plan() == scenario.plan()
