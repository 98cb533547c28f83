"""Every scheme, queue and link has its page, and what the pages name exists."""

import importlib.util
from pathlib import Path

import pytest

from airpath.scenario import QUEUES, scenario_schema
from airpath.schemes import SCHEMES

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def make_docs():
    spec = importlib.util.spec_from_file_location("make_docs", ROOT / "tools" / "make_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("scheme", [scheme.id for scheme in SCHEMES])
def test_every_scheme_has_a_page(scheme):
    page = (DOCS / "schemes" / f"{scheme}.md").read_text(encoding="utf-8")
    for heading in ("## Parameters", "## Sources"):
        assert heading in page
    assert f"docs/reference/parameters/{scheme}.md" in page


@pytest.mark.parametrize("queue", [queue.name for queue in QUEUES])
def test_every_queue_has_a_page(queue):
    assert (DOCS / "queues" / f"{queue}.md").is_file()


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for folder in ("schemes", "queues", "links"):
        for page in (DOCS / folder).glob("*.md"):
            assert f"{folder}/{page.name}" in navigation


def test_every_key_of_a_scenario_is_in_the_reference(make_docs):
    schema = scenario_schema()
    page = make_docs.scenario_page(schema)
    for table in (schema, *schema["$defs"].values()):
        for key, value in table.get("properties", {}).items():
            assert f"| `{key}` |" in page
            assert value.get("description"), f"{table['title']}.{key} has no description"


def test_a_key_says_what_it_takes(make_docs):
    assert make_docs.kind({"anyOf": [{"type": "string", "examples": ["1s"]}, {"type": "null"}]}) == '`"1s"`'
    assert make_docs.kind({"type": "integer", "minimum": 1}) == "whole number at least 1"
    assert make_docs.default_of({"default": {"kind": "bulk"}}) == '`{kind = "bulk"}`'
    assert make_docs.cell("a\n| b") == "a \\| b"
