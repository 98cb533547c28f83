"""The shipped figures: they are complete, and their experiments are scenarios that the engine accepts."""

import json
from collections import defaultdict

import pytest

from airpath.errors import UsageError
from airpath.scenario import Scenario, scenario_names
from airpath.scenario.simulation import simulation
from airpath.schemes import parse_scheme
from airpath_papers.beyond import kite
from airpath_papers.registry import FIGURES, select
from airpath_papers.settings import believing, in_setting, parking_lot, with_options

# The figures and tables that a reader of the papers looks for.
PROMISED = {
    "ebe-j": "fig1 fig3a fig3b fig4a fig4b fig5a fig5b fig6a fig6b fig7 fig8a fig8b fig9a fig9b fig10"
    " fig11 fig12 files files-cubic join-leave small-buffers anova-vcp anova-cubic"
    " cubic-beside-routers queues-by-topology convergence-by-topology cubic-small",
    "ebe-c": "fig2 fig3 fig4 fig5",
    "ebe": "ablation ablation-cubic",
    "gm": "fig3 fig4 fig5 fig6 fig7 fig8 fig9 fig10 fig11",
    "sarbe": "fig1 fig2a fig2b fig4 fig5 fig6",
    "estimators": "links",
    "diagnosis": "windows",
    "satellite": "downloads",
    "beyond": "busy busy-parts busy-links kite kite-four kite-cubic kite-links",
    "vcp-w": "fig2a fig2b fig2c fig2d fig3 text3b fig5a fig5c causes fig6 surfaces"
    " fig10a fig10b fig10c fig10d table1 fig11a fig11b fig11c fig11d fig12 fig13 fig14"
    " heuristic hurts repairs",
}


def test_all_promised_figures_exist():
    promised = {f"{paper}/{name}" for paper, names in PROMISED.items() for name in names.split()}
    assert {figure.id for figure in FIGURES} == promised
    assert len(FIGURES) == len(promised)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.id)
def test_experiments_are_accepted_by_the_engine_and_paired(figure):
    for experiments in figure.experiments.values():
        scenarios = [one.resolve() for one in experiments.values()]
        for one, scenario in zip(experiments.values(), scenarios, strict=True):
            simulation(scenario, 1)
            used = {flow["controller"]["kind"] for flow in scenario.plan()["flows"] if flow["controller"]}
            asked = {one.scheme, *(value for path, value in one.changes.items() if is_of_flows(path))}
            asked |= {flow["scheme"] for flow in one.changes.get("flows", ())}
            assert used == {kind_of(scheme) for scheme in asked}
        assert_paired(figure.id, experiments, [scenario.plan()["flows"] for scenario in scenarios])


def assert_paired(figure_id, experiments, flows_of_each):
    """Check that seeds and flows are the same except for the scheme: otherwise differences would mean
    nothing.

    Traffic that some of them lack changes no random sample of the shared flows: each flow has its own
    streams.
    """
    assert len({one.seed for one in experiments.values()}) == 1
    repetitions = defaultdict(set)
    for label, one in experiments.items():
        repetitions[compared_with(figure_id, label)].add(one.repetitions)
    assert {len(counts) for counts in repetitions.values()} == {1}
    if figure_id in UNPAIRED:
        return
    starts = [{flow["name"]: json.dumps(flow["start_ns"]) for flow in flows} for flows in flows_of_each]
    shared = set.intersection(*(set(one) for one in starts))
    assert shared
    assert all(
        {name: one[name] for name in shared} == {name: starts[0][name] for name in shared} for one in starts
    )


def kind_of(scheme: str) -> str:
    """Return the kind of controller in a plan."""
    known, options = parse_scheme(scheme)
    return known.build(known.parameters.read(options), 1000)["kind"]


def is_of_flows(path: str) -> bool:
    return path.startswith("flows.") and path.endswith(".scheme")


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.id)
def test_claims_name_choices_that_exist(figure):
    # The claims of this figure are about recorded links, which do not come with airpath.
    assert figure.claims or (figure.id == "beyond/kite-links" and not kite.HELD_OUT)
    assert len({claim.name for claim in figure.claims}) == len(figure.claims)
    for claim in figure.claims:
        assert set(claim.choices) <= set(figure.experiments)


def compared_with(figure_id, label):
    """Return what an experiment of a choice shares with those it is compared with: mostly nothing."""
    # Schemes are compared at each point of curves, and one of them may have more runs.
    if figure_id in {"vcp-w/fig2a", "vcp-w/fig11a"}:
        return label.partition(", ")[2]
    # A run of transfers is plotted; unlimited flows are evaluated.
    return label if figure_id in {"vcp-w/fig10b", "vcp-w/fig10c"} else ""


UNPAIRED = {
    "ebe-j/cubic-beside-routers",
    "ebe-j/queues-by-topology",
    "ebe-j/convergence-by-topology",
}
"""Comparisons of runs over different links, which state so: pairs of runs have nothing in common."""


EBE_FAMILIES = ("ebe-dumbbell", "ebe-steps", "ebe-files", "ebe-five-flows", "ebe-join-leave")


def family_of(scenario: str) -> str:
    return next((family for family in EBE_FAMILIES if scenario in {f"{family}-{one}" for one in "tol"}), "")


def test_every_experiment_on_the_dumbbell_has_the_three_settings_the_headline_first():
    found = set()
    for figure in select(["ebe-j", "ebe-c"]):
        if any(family_of(one.scenario) for one in figure.all_experiments()):
            found.add(figure.id)
            assert list(figure.experiments)[:3] == list(figure.readings) == ["L", "T", "O"], figure.id
            for setting in "TOL":
                used = (one.scenario for one in figure.experiments[setting].values())
                ends = {scenario[-2:] for scenario in used if family_of(scenario)}
                assert ends == {f"-{setting.lower()}"}, figure.id
    assert len(found) == 21


@pytest.mark.parametrize("family", EBE_FAMILIES)
def test_in_setting_l_the_reverse_path_is_fast_and_its_router_has_the_capacity(family):
    for scheme in ("xcp-ebe", "vcp"):
        plan = in_setting(family, "L", scheme, 1).resolve().plan()
        names = [link["name"] for link in plan["links"]]
        back = names.index("bottleneck-reverse")
        assert plan["links"][back]["rate"] == {"kind": "constant", "bps": 100_000_000}
        source = plan["links"][back]["queue"]["source"]
        assert 100_000_000 in source.values()
        assert plan["links"][names.index("bottleneck")]["rate"] != plan["links"][back]["rate"]
        assert any(flow["measured_at"] == back for flow in plan["flows"])


def test_routers_have_a_configured_capacity_of_ten_and_other_links_of_twenty():
    plan = parking_lot(40, "xcp", 1).resolve().plan()
    beliefs = {
        link["name"]: link["queue"]["source"]["capacity"] / 1e6
        for link in plan["links"]
        if link["queue"]["kind"] == "router"
    }
    assert beliefs == {
        f"R{one}-R{other}": 10.0 if {one, other} == {2, 3} else 20.0
        for near in range(5)
        for one, other in ((near, near + 1), (near + 1, near))
    }


def test_the_fixed_schedule_has_the_means_that_the_paper_implies():
    plan = Scenario.load("ebe-dumbbell-t").plan()
    (bottleneck,) = (link for link in plan["links"] if link["name"] == "bottleneck")
    rates = [bps / 1e6 for bps in bottleneck["rate"]["rates"]]
    assert sum(rates) / len(rates) == pytest.approx(10.17, abs=0.005)
    assert sum(min(10, rate) for rate in rates) / len(rates) == pytest.approx(7.5)
    assert bottleneck["queue"]["limit_bytes"] == 575_000


@pytest.mark.parametrize(
    ("setting", "reverse_flows", "reverse_mbps"), [("t", 20, None), ("o", 0, None), ("l", 20, 100)]
)
def test_settings_differ_in_the_reverse_traffic(setting, reverse_flows, reverse_mbps):
    plan = Scenario.load(f"ebe-dumbbell-{setting}").plan()
    names = [link["name"] for link in plan["links"]]
    back = names.index("bottleneck-reverse")
    assert sum(flow["measured_at"] == back for flow in plan["flows"]) == reverse_flows
    rate = plan["links"][back]["rate"]
    if reverse_mbps is None:
        assert rate == plan["links"][names.index("bottleneck")]["rate"]
    else:
        assert rate == {"kind": "constant", "bps": reverse_mbps * 10**6}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in scenario_names()
        if name.startswith(("ebe-", "estimators-", "gm-", "sarbe-", "stress-", "vcpw-"))
    ],
)
def test_shipped_scenarios_are_accepted_by_the_engine(name):
    scenario = Scenario.load(name)
    simulation(scenario, scenario.seed)
    assert scenario.document.description


def test_configured_capacities_are_set_where_required():
    assert believing("xcp", "10mbps") == "xcp:capacity=10mbps"
    assert believing("xcp-b", "10mbps") == "xcp-b"
    assert with_options("vcp:beta=0.5", pace_small_windows=False) == "vcp:beta=0.5,pace_small_windows=false"


@pytest.mark.parametrize(
    ("names", "first", "count"),
    [
        ([], "ebe-j/fig1", len(FIGURES) - 17),
        (["ours"], "vcp-w/causes", 17),
        (["all"], "ebe-j/fig1", len(FIGURES)),
        (["ebe-c"], "ebe-c/fig2", 4),
        (["ebe-j/fig3"], "ebe-j/fig3a", 2),
        (["ebe-j/fig1"], "ebe-j/fig1", 1),
        (["ebe/ablation"], "ebe/ablation", 1),
        (["gm"], "gm/fig3", 9),
        (["sarbe"], "sarbe/fig1", 6),
        (["sarbe/fig2"], "sarbe/fig2a", 2),
        (["vcp-w/fig2"], "vcp-w/fig2a", 4),
        (["sarbe/fig2", "ebe-j/fig3", "ebe-j/fig3a"], "ebe-j/fig3a", 4),
    ],
)
def test_figures_are_found_by_name(names, first, count):
    chosen = select(names)
    assert (chosen[0].id, len(chosen)) == (first, count)


@pytest.mark.parametrize("what", ["ebe-x", "ebe-j/fig", "ebe-j/fig99", "fig1"])
def test_an_unknown_figure_is_rejected(what):
    with pytest.raises(UsageError, match="no paper or figure is named"):
        select(["ebe-j", what])
