"""The language of sweeps: what runs, and what is refused."""

import json
import tomllib
from pathlib import Path

import pytest

from airpath.errors import ScenarioError
from airpath.sweeps import SweepPlan, sweep_names

BASE = {"name": "x", "scenario": "two-way", "keep": ["flows"]}
QUEUE = "topology.bottleneck.queue"


def plan(**more):
    return SweepPlan.from_dict(BASE | more)


def test_everything_is_crossed_and_seeds_are_paired():
    swept = plan(
        schemes=["newreno", "cubic"],
        seed=7,
        repetitions=2,
        names={"rate": "topology.bottleneck.rate"},
        set={"duration": "20s"},
        grid={"rate": ["10mbps", "20mbps"]},
        zip=[{"topology.bottleneck.delay": ["5ms", "6ms", "7ms"], "record.warm_up": ["1s", "2s", "3s"]}],
        points=[{"transport.timestamps": True}, {"transport.timestamps": False}],
    )
    runs = list(swept.runs())
    assert len(runs) == len(swept) == 2 * 3 * 2 * 2 * 2
    assert [run.number for run in runs] == list(range(len(runs)))
    assert len({run.task.key for run in runs}) == len(runs)
    seeds = {}
    for run in runs:
        seeds.setdefault((run.point.number, run.scheme), []).append((run.task.repetition, run.task.seed))
    assert set(map(tuple, seeds.values())) == {((0, 7), (1, 8))}
    tables = [json.loads(run.task.scenario) for run in runs]
    # Zipped axes advance together, and only together.
    seen = {(one["topology"]["bottleneck"]["delay"], one["record"]["warm_up"]) for one in tables}
    assert seen == {("5ms", "1s"), ("6ms", "2s"), ("7ms", "3s")}
    assert {one["duration"] for one in tables} == {"20s"}
    assert {tuple(flow["scheme"] for flow in one["flows"]) for one in tables} == {
        ("newreno", "newreno"),
        ("cubic", "cubic"),
    }
    assert swept.axes.text(runs[-1].point) == "rate = 20mbps, delay = 7ms, warm_up = 3s, timestamps = false"
    assert swept.axes.cells(runs[-1].point) == {
        "rate_bps": 20e6,
        "delay_s": 0.007,
        "warm_up_s": 3.0,
        "timestamps": False,
    }


def test_varied_keys_are_set_after_their_parents_in_every_run():
    runs = plan(
        set={QUEUE: {"kind": "drop-tail", "limit": "9 packets"}}, grid={f"{QUEUE}.limit": ["20 packets"]}
    ).runs()
    (tables,) = (json.loads(run.task.scenario) for run in runs)
    assert tables["topology"]["bottleneck"]["queue"] == {"kind": "drop-tail", "limit": "20 packets"}


def test_only_the_flows_that_are_named_take_the_schemes():
    runs = list(plan(schemes=["bbr"], flows=["upload"]).runs())
    assert [flow["scheme"] for flow in json.loads(runs[0].task.scenario)["flows"]] == ["cubic", "bbr"]


def test_without_anything_the_scenario_is_run_as_it_is():
    (run,) = plan().runs()
    assert (run.scheme, run.task.seed) == ("cubic", 1)


def test_an_axis_named_like_a_result_column_uses_more_of_its_path():
    grid = {"topology.bottleneck.delay": ["10ms", "50ms"], "topology.bottleneck.rate": ["9mbps"]}
    assert [axis.column for axis in plan(grid=grid).axes.axes] == ["delay_s", "rate_bps"]
    columns = [axis.column for axis in plan(grid=grid, keep=["flows", "links"]).axes.axes]
    assert columns == ["bottleneck_delay_s", "rate_bps"]


def test_the_example_of_the_documentation_is_a_sweep():
    text = (Path(__file__).parents[3] / "docs" / "reference" / "sweep-files.md").read_text()
    (example,) = (block for block in text.split("```toml\n") if block.startswith("[grid]"))
    tables = tomllib.loads(example.split("```")[0])
    assert len(plan(scenario="lte-download", keep=["flows", "links"], seeds=[1], **tables)) == 20


def test_zipped_axes_may_repeat_a_value_with_another():
    assert len(plan(zip=[{"duration": ["20s", "30s"], "flows.0.count": [1, 1]}])) == 2


def test_a_run_is_named_by_the_scheme_of_its_flows_at_its_point():
    varied = plan(names={"rule": "flows.0.scheme"}, grid={"rule": ["bbr", "cubic"]})
    assert [run.scheme for run in varied.runs()] == ["bbr+cubic", "cubic"]
    (same,) = plan(set={"flows": [{"name": "only", "scheme": "bbr"}]}).runs()
    assert same.scheme == same.task.scheme == "bbr"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        *(
            ({key: empty}, f'"{key}": is empty')
            for key, empty in {
                "seeds": [],
                "schemes": [],
                "flows": [],
                "metrics": [],
                "grid": {},
                "zip": [],
            }.items()
        ),
        ({"names": {"rate": "topology.bottleneck.rate"}}, '"rate" is not a name in the sweep'),
        ({"scenario": "nowhere.toml"}, "sweep: scenario: nowhere.toml: neither a file nor"),
        ({"scenario": "two-wax"}, 'did you mean "two-way"'),
        ({"scheme": ["cubic"]}, 'unknown key; did you mean "schemes"'),
        ({"schemes": ["cubik"]}, "cubik"),
        ({"schemes": ["cubic", "cubic"]}, "cubic twice"),
        (
            {"schemes": ["cubic:beta=0.7", "newreno", "cubic:beta=0.70"]},
            "cubic:beta=0.7 twice, the second time as cubic:beta=0.70",
        ),
        ({"flows": ["nobody"], "schemes": ["bbr"]}, 'found "nobody"'),
        ({"flows": ["upload"]}, 'needs "schemes"'),
        ({"seeds": [1], "seed": 2}, "one of the two"),
        ({"keep": ["flow"]}, 'found "flow"'),
        ({"metrics": ["throughput"]}, 'found "throughput"'),
        ({"grid": {"topology.bottleneck.rate": "10..20 / 3"}}, "rate: found the bare number"),
        ({"grid": {"topology.bottleneck.rate": "20mbps..10mbps / 3"}}, "does not increase"),
        ({"grid": {"topology.bottelneck.rate": ["1mbps"]}}, "unknown key"),
        ({"grid": {"flows.7.count": [1]}}, "accepted are the numbers 0 to 1"),
        ({"zip": [{"duration": ["20s"], "seed": [1, 2]}]}, "duration has 1, seed has 2"),
        ({"points": [{"duration": "20s"}, {"seed": 2}]}, "the same keys"),
        ({"grid": {"duration": ["20s"]}, "set": {"duration": "30s"}}, '"duration" is set twice'),
        (
            {"names": {"time": "duration"}, "set": {"time": "20s", "duration": "30s"}},
            '"duration" is set twice',
        ),
        ({"grid": {QUEUE: [{"limit": "50 packets"}], f"{QUEUE}.limit": ["20 packets"]}}, "would replace"),
        (
            {"grid": {QUEUE: [{"limit": "9 packets"}]}, "set": {f"{QUEUE}.limit": "20 packets"}},
            "would replace",
        ),
        (
            {"names": {"a": "flows.0.count", "b": "flows.00.count"}, "grid": {"a": [1, 2], "b": [3, 4]}},
            '"flows.0.count" and "flows.00.count" are the same key',
        ),
        (
            {"names": {"rule": "flows.0.scheme"}, "grid": {"rule": ["bbr"]}, "schemes": ["cubic"]},
            '"schemes" sets "flows.0.scheme"',
        ),
        ({"grid": {"flows.0": [{}]}, "schemes": ["cubic"]}, '"schemes" sets "flows.0.scheme"'),
        ({"set": {"flows.00.scheme": "bbr"}, "schemes": ["cubic"]}, '"schemes" sets "flows.0.scheme"'),
        ({"names": {"first": "seed"}, "grid": {"first": [5, 6]}}, '"seed" cannot be varied'),
        ({"names": {"often": "repetitions"}, "grid": {"often": [2, 3]}}, '"repetitions" cannot be varied'),
        (
            {"grid": {"topology.bottleneck.delay": ["10ms", "20ms", "0.01s"]}},
            "found delay = 10ms and delay = 0.01s, which are equal",
        ),
        ({"grid": {f"{QUEUE}.limit": ["9 packets", "9kB", "9packets"]}}, "which are equal"),
        (
            {"grid": {QUEUE: [{"kind": "drop-tail", "limit": "9kB"}, {"limit": "9kB", "kind": "drop-tail"}]}},
            "which are equal",
        ),
        ({"grid": {"topology.bottleneck.loss": [0.5, 0.1, 0.5]}}, "found loss = 0.5 twice"),
        (
            {"zip": [{"duration": ["20s", "30s", "20s"], "flows.0.count": [1, 1, 1]}]},
            "found duration = 20s, count = 1 twice",
        ),
        ({"points": [{"duration": "20s"}, {"duration": "20000ms"}]}, "which are equal"),
        ({"set": {"seed": 5}}, '"seed" cannot be varied or set'),
        (
            {"grid": {"topology.bottleneck.rate": ["1mbps"], "topology.reverse.rate": ["1mbps"]}},
            'two axes are called "rate_bps"',
        ),
        ({"names": {"flow": "flows.0.count"}, "grid": {"flow": [1, 2]}}, 'no axis can be called "flow"'),
    ],
)
def test_errors_are_reported(more, said):
    with pytest.raises(ScenarioError) as refused:
        plan(**more)
    assert said in str(refused.value)


def test_a_fault_of_the_scenario_names_the_values():
    with pytest.raises(ScenarioError, match=r"warm_up = 70s\): .*must be shorter"):
        plan(grid={"record.warm_up": ["5s", "70s"]})


@pytest.mark.parametrize("name", sweep_names())
def test_shipped_sweeps_are_sweeps(name):
    shipped = SweepPlan.load(name)
    assert shipped.document.name == name
    assert shipped.document.description
    assert len(list(shipped.runs())) == len(shipped)


def test_the_key_of_a_run_contains_all_its_inputs():
    (one,) = plan().runs()
    others = [plan(seed=2), plan(set={"duration": "20s"}), plan(schemes=["bbr"]), plan(keep=["links"])]
    assert len({one.task.key, *(next(other.runs()).task.key for other in others)}) == 5
    # Another value does not change the runs of the others.
    few, more = plan(grid={"duration": ["20s"]}), plan(grid={"duration": ["20s", "30s"]})
    assert next(few.runs()).task.key == next(more.runs()).task.key
