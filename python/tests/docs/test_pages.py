"""Every scheme, queue and link has its page, and everything that the pages name exists."""

import re
from importlib import import_module
from pathlib import Path

import make_docs
import pytest
import scheme_figures
from results_tables import result_columns

import airpath
from airpath._declared.declarations import ids
from airpath._declared.json_schema import json_schema
from airpath.checks.document import CaseTable, ExpectationTable, RunsTable, SuiteTable
from airpath.checks.suite import suite_names
from airpath.cli.commands import all_commands, load
from airpath.leaderboard.board import board_names
from airpath.leaderboard.document import BoardCaseTable, BoardTable, EntryTable
from airpath.links.networks import networks
from airpath.links.options import LinkAndFlows, options_of
from airpath.results.observations import FLOW_OBSERVATIONS, OBSERVATIONS
from airpath.scenario import QUEUES, scenario_schema
from airpath.scenario.rates import RATES
from airpath.schemes import ESTIMATORS, SCHEMES, Scheme
from airpath.sweeps.document import SweepDocument

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"


END_TO_END = [scheme for scheme in SCHEMES if scheme.router is None]
ROUTER_ASSISTED = [scheme for scheme in SCHEMES if scheme.router is not None]


def by_id(scheme: Scheme) -> str:
    return scheme.id


def has_formula(page: str) -> bool:
    """Return whether a page has a typeset formula: a `math` block, or TeX between dollars outside code."""
    text = re.sub(r"^```(?!math$).*?^```$|`[^`\n]+`", "", page, flags=re.MULTILINE | re.DOTALL)
    return bool(re.search(r"^```math\n.+?^```$|\$[^\s$][^$\n]*\$", text, re.MULTILINE | re.DOTALL))


def section(page: str, heading: str) -> str:
    """Return the text below a heading, up to the next heading; fail on a page without it."""
    assert f"\n## {heading}\n" in page, f'no section "{heading}"'
    return page.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def pages_of(scheme: Scheme) -> dict[str, str]:
    """Return the pages that document a scheme, by the name of their table of parameters."""
    if scheme.router is None:
        places = {scheme.id: REFERENCE / "schemes" / f"{scheme.id}.md"}
    else:
        protocol, source = scheme.router.protocol, scheme.router.source
        places = {
            f"protocols/{protocol}": REFERENCE / "schemes" / f"{protocol}.md",
            f"sources/{source}": REFERENCE / "sources" / f"{source}.md",
        }
    return {table: place.read_text(encoding="utf-8") for table, place in places.items()}


@pytest.mark.parametrize("scheme", SCHEMES, ids=by_id)
def test_every_scheme_has_its_pages(scheme):
    for table, page in pages_of(scheme).items():
        assert f'"docs/reference/parameters/{table}.md"' in section(page, "Parameters")
        assert len(section(page, "Sources").split()) > 1
        assert has_formula(page), "no formula"
        if scheme.router is not None:
            assert section(page, "Departures").strip()


PAGES_IN_ORDER = sorted([*(REFERENCE / "schemes").glob("*.md"), *(REFERENCE / "queues").glob("*.md")])


@pytest.mark.parametrize("path", PAGES_IN_ORDER, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_sections_of_a_page_have_one_order(path):
    found = re.findall(r"^## (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    order = [name for name in ("Parameters", "Departures", "Sources", "Compared with") if name in found]
    assert [name for name in found if name in order] == order


@pytest.mark.parametrize("name", scheme_figures.figures())
def test_a_scheme_page_begins_with_its_figure_and_its_formula(name):
    opening = (REFERENCE / "schemes" / f"{name}.md").read_text(encoding="utf-8").split("\n## ", 1)[0]
    _, figure, below = opening.partition(f"](../figures/{name}.svg)")
    assert figure
    assert has_formula(below)


@pytest.mark.parametrize("scheme", ROUTER_ASSISTED, ids=by_id)
def test_the_page_of_a_source_names_its_schemes_and_what_it_reports(scheme):
    pages = pages_of(scheme)
    assert all(f"`{scheme.id}`" in page for page in pages.values())
    # Pages also state that it is not reported: the metrics of an estimator depend on it.
    assert "`capacity_estimate_bps`" in section(pages[f"sources/{scheme.router.source}"], "What it reports")


@pytest.mark.parametrize("scheme", SCHEMES, ids=by_id)
def test_every_parameter_is_in_a_table_of_the_pages(scheme):
    tables = make_docs.parameter_tables()
    described = {key for table in pages_of(scheme) for key in tables[table].keys}
    assert set(scheme.parameters.keys) <= described


def test_pages_link_to_tables_of_the_results_that_exist():
    linked = {
        table for page in DOCS.rglob("*.md") for table in re.findall(r"results\.md#(\w+)", page.read_text())
    }
    assert len(linked) >= 5
    assert linked <= set(re.findall(r"^## (\w+)$", result_columns(), re.MULTILINE))


def test_loss_differentiation_has_its_page():
    page = (REFERENCE / "schemes" / "loss-differentiation.md").read_text(encoding="utf-8")
    assert '"docs/reference/parameters/loss-differentiation.md"' in section(page, "Parameters")
    assert "loss-differentiation" in make_docs.parameter_tables()
    assert all(f"`{quantity}`" in page for quantity in FLOW_OBSERVATIONS if quantity.startswith("losses_"))
    assert section(page, "Departures").strip()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.id)
def test_every_estimator_has_its_page(estimator):
    page = (REFERENCE / "estimators" / make_docs.page_of(estimator.id)).read_text(encoding="utf-8")
    assert f"`{estimator.id}`" in page
    table = f'"docs/reference/parameters/estimators/{estimator.id}.md"'
    assert table in section(page, f"Parameters of `{estimator.id}`")
    assert f"estimators/{estimator.id}" in make_docs.parameter_tables()
    assert len(section(page, "Sources").split()) > 1
    assert section(page, "Departures").strip()
    assert has_formula(page), "no formula"


def test_the_compositions_are_listed_with_their_pages():
    rows = {line.split("|")[1].strip(): line for line in make_docs.compositions().splitlines()[2:]}
    assert list(rows) == [f"`{scheme.id}`" for scheme in ROUTER_ASSISTED]
    for scheme in ROUTER_ASSISTED:
        assert f"(../schemes/{scheme.router.protocol}.md)" in rows[f"`{scheme.id}`"]
        assert f"(../sources/{scheme.router.source}.md)" in rows[f"`{scheme.id}`"]
    assert "`digits = 2`" in rows["`dpcp`"]  # a default that differs from that of the protocol's table
    assert rows["`mpcp`"].endswith("|  |")
    index = (REFERENCE / "sources" / "index.md").read_text(encoding="utf-8")
    assert "docs/reference/lists/compositions.md" in index


@pytest.mark.parametrize("quantity", OBSERVATIONS)
def test_every_reported_quantity_is_on_a_page(quantity):
    pages = {page for scheme in ROUTER_ASSISTED for page in pages_of(scheme).values()}
    pages |= {path.read_text(encoding="utf-8") for path in (REFERENCE / "queues").glob("*.md")}
    assert any(f"`{quantity}`" in page for page in pages)


def test_a_default_has_its_unit():
    table = "\n".join(make_docs.keys(json_schema(make_docs.parameter_tables()["sources/ebe"].keys)))
    assert '`"200 ms"`' in table


QUEUE_PAGES = {"scheme": "router"}
"""Queues that are documented on the page of another queue."""


@pytest.mark.parametrize("queue", [queue.name for queue in QUEUES])
def test_every_queue_has_a_page(queue):
    page = (REFERENCE / "queues" / f"{QUEUE_PAGES.get(queue, queue)}.md").read_text(encoding="utf-8")
    assert f'kind = "{queue}"' in page


MANAGED = [queue.name for queue in QUEUES if queue.name not in ("drop-tail", "router", "scheme")]


@pytest.mark.parametrize("queue", MANAGED)
def test_every_parameter_of_a_managed_queue_is_on_its_page(queue):
    page = (REFERENCE / "queues" / f"{queue}.md").read_text(encoding="utf-8")
    assert f'"docs/reference/parameters/queues/{queue}.md"' in section(page, "Parameters")
    assert f"queues/{queue}" in make_docs.parameter_tables()
    assert has_formula(page), "no formula"
    assert section(page, "Departures").strip()
    assert section(page, "What it reports").strip()
    assert len(section(page, "Sources").split()) > 1


def test_observations_and_actions_of_agents_are_on_their_page():
    from airpath import learning

    page = (REFERENCE / "learning.md").read_text(encoding="utf-8")
    for name, meaning in (learning.QUANTITIES | learning.ACTIONS).items():
        assert f"| `{name}` | {meaning} |" in page
    for feature in learning.FEATURES + learning.PRIVILEGED_FEATURES:
        made_of, low, high = feature.formula, feature.low, feature.high
        assert f"| `{feature.name}` | {made_of} | {low:g} to {high:g} |" in page
    assert learning.ENVIRONMENT in page


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for folder in ("schemes", "sources", "estimators", "queues", "links"):
        for page in (REFERENCE / folder).glob("*.md"):
            assert f"{folder}/{page.name}" in navigation


@pytest.mark.parametrize("kind", ids("rate"))
def test_every_rate_has_its_page(kind):
    index = (REFERENCE / "links" / "index.md").read_text(encoding="utf-8")
    if kind == "unlimited":
        assert f"| {kind}" in index
        return
    assert f"({kind}.md)" in index
    page = (REFERENCE / "links" / f"{kind}.md").read_text(encoding="utf-8")
    keys = RATES[kind].keys if kind in RATES else ("trace",)
    assert all(re.search(rf"\b{key}\b", page) for key in keys)


@pytest.mark.parametrize("network", networks(), ids=lambda network: network.name)
def test_every_network_has_a_section_with_its_limits(network):
    page = (REFERENCE / "links" / "networks.md").read_text(encoding="utf-8")
    assert "\nNot: " in section(page, network.name)


def test_the_options_of_a_link_are_on_their_page():
    page = (DOCS / "how-to" / "compare.md").read_text(encoding="utf-8")
    assert "docs/reference/lists/link-options.md" in section(page, "Options of the link")
    table = make_docs.link_options()
    assert all(f"`--{name}`" in table for name in options_of(LinkAndFlows))


def test_the_names_of_the_package_are_on_the_api_page():
    listed = re.findall(r"^::: (\S+)", (REFERENCE / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    found = []
    for path in listed:
        module, _, name = path.rpartition(".")
        if module == "airpath":
            found.append(import_module(path))
            continue
        home = import_module(module)
        assert name in getattr(home, "__all__", [name]), path
        found.append(getattr(home, name))
    missing = [name for name in airpath.__all__ if not any(getattr(airpath, name) is one for one in found)]
    assert missing == ["__version__"]


def test_members_on_the_api_page_are_public():
    text = (REFERENCE / "api.md").read_text(encoding="utf-8")
    for package in ("plots", "statistics"):
        listed = text.split(f"::: airpath.{package}\n")[1].split(":::")[0]
        members = re.findall(r"^        - (\w+)", listed, re.MULTILINE)
        assert members
        assert set(members) <= set(import_module(f"airpath.{package}").__all__)


def test_every_command_is_in_the_reference():
    leaves = [
        f"{name} {inner}".strip()
        for name, row in all_commands().items()
        for inner in getattr(load(name, row), "commands", {"": None})
    ]
    assert sorted(leaves) == sorted(make_docs.COMMANDS)


def test_every_key_of_a_scenario_is_in_the_reference():
    schema = scenario_schema()
    page = make_docs.scenario_page(schema)
    for table in (schema, *schema["$defs"].values()):
        for key, value in table.get("properties", {}).items():
            assert f"| `{key}` |" in page
            assert value.get("description"), f"{table['title']}.{key} has no description"


def test_every_key_of_a_sweep_is_on_its_page():
    page = (REFERENCE / "sweep-files.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    for key in SweepDocument.model_fields:
        assert any(f"`{key}`" in row for row in rows), key


@pytest.mark.parametrize("table", [SuiteTable, CaseTable, ExpectationTable])
def test_every_key_of_a_suite_is_on_its_page(table):
    page = (REFERENCE / "suites.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    for key in table.model_fields:
        assert any(f"`{key}`" in row for row in rows), key


@pytest.mark.parametrize("table", [BoardTable, EntryTable, BoardCaseTable])
def test_every_key_of_a_leaderboard_is_on_its_page(table):
    page = (REFERENCE / "leaderboards.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    for key in table.model_fields.keys() - RunsTable.model_fields.keys():
        assert any(f"`{key}`" in row for row in rows), key


@pytest.mark.parametrize("board", board_names())
def test_every_leaderboard_has_its_section(board):
    assert section((REFERENCE / "leaderboards.md").read_text(encoding="utf-8"), f"The leaderboard `{board}`")


@pytest.mark.parametrize("suite", suite_names())
def test_every_suite_has_its_section(suite):
    assert section((REFERENCE / "suites.md").read_text(encoding="utf-8"), f"The suite `{suite}`")


def test_a_key_lists_its_accepted_values():
    assert make_docs.kind({"anyOf": [{"type": "string", "examples": ["1s"]}, {"type": "null"}]}) == '`"1s"`'
    assert make_docs.kind({"type": "integer", "minimum": 1}) == "whole number at least 1"
    assert make_docs.default_of({"default": {"kind": "bulk"}}) == '`{kind = "bulk"}`'
    assert make_docs.cell("a\n| b") == "a \\| b"
