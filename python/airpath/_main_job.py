"""The main job, `make run`: end-to-end and router-assisted schemes over a cellular link and EBE's bottleneck.

Prints both summaries, writes both results with their reports under `out/main-job`, and a page with
their findings.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from airpath.cli import guarded
from airpath.cli.output import show
from airpath.cli.trace import write_file
from airpath.cli.work import Output, compared_text, write_results
from airpath.results import summary_table
from airpath.results.significance import significant_differences
from airpath.runner import compare_scenarios, run_all
from airpath.scenario import Scenario

SCHEMES: Final = (
    "newreno",
    "vegas",
    "cubic",
    "cubic-ebe",
    "westwood+",
    "sarbe",
    "bbr",
    "copa",
    "xcp",
    "xcp-ebe",
    "vcp-ebe",
)
"""Schemes that react to loss, to delay, to an estimate at the sender or to a model of the path, and schemes
with routers, whose capacity is configured or estimated.
"""
REPETITIONS: Final = 3
OUT: Final = Path("out") / "main-job"


@dataclass(frozen=True)
class Part:
    """One comparison of the main job."""

    name: str
    """Name of its folder."""
    title: str
    """The subject of the comparison."""
    scenarios: Mapping[str, Scenario]
    """Scenario of each scheme."""


def main() -> None:
    """Run the main job and exit with its exit code, as the command line does."""
    sys.exit(guarded(lambda: run_parts(parts(), OUT)))


def parts() -> list[Part]:
    """Return both comparisons."""
    return [
        Part(
            "lte",
            "One download over a synthetic LTE link (lte.down), 60 s",
            compare_scenarios(SCHEMES, "lte.down", buffer="300 packets"),
        ),
        Part(
            "ebe",
            "20 flows each way and short flows over EBE's bottleneck of varying rate, 120 s",
            {scheme: _over_moving_bottleneck(scheme) for scheme in SCHEMES},
        ),
    ]


def run_parts(parts: list[Part], out: Path) -> None:
    """Run comparisons, print and write their results, and write a page with their findings."""
    sections = []
    for part in parts:
        results = run_all(part.scenarios, repetitions=REPETITIONS)
        findings = significant_differences(results.summary)
        show(f"\n{part.title}")
        show(summary_table(results.summary))
        for text in findings:
            show(text)
        write_results(results, Output(out / part.name), part.scenarios, compared_text(part.scenarios))
        sections.append(_section(part, findings))
    write_file(out / "index.html", _page(sections).encode())
    show(f"\nreports: {out / 'index.html'} (open it in a browser)")


def _over_moving_bottleneck(scheme: str) -> Scenario:
    """All flows use the scheme, because a router must serve every flow that crosses it."""
    every_flow = {"flows.0.scheme": scheme, "flows.1.scheme": scheme}
    return Scenario.load("ebe-moving-bottleneck").override(every_flow)


def _section(part: Part, findings: Sequence[str]) -> str:
    """Return the part of the page about one comparison: a link to its report, and the findings."""
    heading = f'<h2><a href="{escape(part.name)}/report.html">{escape(part.title)}</a></h2>'
    return "\n".join([heading, *(f"<p>{escape(text)}</p>" for text in findings)])


def _page(sections: Sequence[str]) -> str:
    body = "\n".join(sections)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>airpath: eleven schemes over two links of varying rate</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 46em; padding: 0 16px }}
h1 {{ font-size: 1.35rem }}
h2 {{ font-size: 1.08rem; margin-bottom: 0 }}
</style>
<h1>Eleven schemes over two links of varying rate</h1>
<p>{escape(", ".join(SCHEMES))}; {REPETITIONS} repetitions of each.</p>
{body}
</html>
"""


if __name__ == "__main__":
    main()
