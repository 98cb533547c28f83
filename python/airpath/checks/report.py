"""The outcome of a suite: for a terminal, for machines, and for CI systems."""

import math
import re
from collections.abc import Iterator
from typing import Any, Final
from xml.etree import ElementTree

from rich.table import Table
from rich.text import Text

from airpath.checks.expectation import Judged, mean_text
from airpath.checks.running import Checked, CheckedCase
from airpath.metrics import METRICS

CAPTION = (
    "mean ± half-width of the 95 % confidence interval over the repetitions; limits are checked against"
    " means, baselines against the interval of the difference"
)
PASSED, FAILED, SKIPPED = "pass", "FAIL", "skip"
HEADINGS: Final = ("case", "scheme", "metric", "expected", "measured", "n", "verdict", "remark")
"""Headings of the columns of `check_rows`."""
NUMBERS: Final = ("measured", "n")
"""Right-aligned columns."""

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that are not allowed in XML 1.0."""


def check_rows(checked: Checked) -> Iterator[tuple[Judged, tuple[str, ...]]]:
    """Yield each expectation with its cells, one for each of `HEADINGS`."""
    for case in checked.cases:
        for one in case.judged:
            yield (
                one,
                (
                    case.case.name,
                    case.label,
                    METRICS[one.metric].heading,
                    one.expected,
                    mean_text(one.measured),
                    str(one.measured.n),
                    _verdict(one),
                    one.remark,
                ),
            )


def check_table(checked: Checked, *, verbose: bool) -> Table | None:
    """Return a row for each failed expectation, or for each with `verbose`; ``None`` if there are none."""
    rows = [cells for one, cells in check_rows(checked) if verbose or not one.passed]
    if not rows:
        return None
    table = Table(caption=Text(CAPTION), caption_justify="left")
    for heading in HEADINGS:
        table.add_column(
            "" if heading == "verdict" else heading, justify="right" if heading in NUMBERS else "left"
        )
    for cells in rows:
        table.add_row(*(Text(cell, style="bold red" if cell == FAILED else "") for cell in cells))
    return table


def _verdict(one: Judged) -> str:
    return SKIPPED if one.skipped else PASSED if one.passed else FAILED


def check_text(checked: Checked) -> str:
    """Return the result in one sentence."""
    judged = [one for case in checked.cases for one in case.judged]
    failed = sum(not one.passed for one in judged)
    cases = sum(not case.passed for case in checked.cases)
    skipped = sum(one.skipped for one in judged)
    if not failed:
        rest = f"; {skipped} have no baseline yet, which --update writes" if skipped else ""
        return f"{len(judged) - skipped} expectations of {len(checked.cases)} cases are met{rest}"
    return f"{failed} of {len(judged)} expectations are not met, in {cases} of {len(checked.cases)} cases"


def check_json(checked: Checked) -> dict[str, Any]:
    """Return everything for ``json.dumps``; missing values are null."""
    return {
        "suite": checked.suite.name,
        "passed": checked.passed,
        "baseline": str(checked.baseline) if checked.baseline else None,
        "updated": checked.updated,
        "cases": [
            {
                "name": case.case.name,
                "scheme": case.label,
                "passed": case.passed,
                "expectations": [_expectation_json(one) for one in case.judged],
            }
            for case in checked.cases
        ],
    }


def _expectation_json(one: Judged) -> dict[str, Any]:
    difference = one.difference
    return {
        "metric": one.metric,
        "unit": METRICS[one.metric].unit,
        "expected": one.expected,
        "passed": one.passed,
        "skipped": one.skipped,
        "mean": _known(one.measured.mean),
        "ci95_low": _known(one.measured.low),
        "ci95_high": _known(one.measured.high),
        "n": one.measured.n,
        "difference": None
        if difference is None
        else {
            "mean": _known(difference.difference),
            "ci95_low": _known(difference.low),
            "ci95_high": _known(difference.high),
            "pairs": difference.pairs,
        },
        "remark": one.remark,
    }


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def junit(checked: Checked) -> bytes:
    """Return JUnit's XML: a test suite for each case, a test case for each expectation."""
    judged = [one for case in checked.cases for one in case.judged]
    root = ElementTree.Element(
        "testsuites", {"name": f"airpath check {checked.suite.name}", **_counts(judged)}
    )
    for case in checked.cases:
        root.append(_junit_suite(checked, case))
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _junit_suite(checked: Checked, case: CheckedCase) -> ElementTree.Element:
    attributes = {"name": case.case.name, **_counts(case.judged)}
    if math.isfinite(case.wall_s):
        attributes["time"] = f"{case.wall_s:.3f}"
    suite = ElementTree.Element("testsuite", attributes)
    for one in case.judged:
        test = ElementTree.SubElement(
            suite,
            "testcase",
            {"classname": _xml(f"{checked.suite.name}.{case.case.name}"), "name": _xml(one.name)},
        )
        said = _xml(
            f"{case.label}: {METRICS[one.metric].heading} {mean_text(one.measured)} (n = {one.measured.n})"
        )
        if one.skipped:
            ElementTree.SubElement(test, "skipped", {"message": _xml(one.remark)})
        if not one.passed:
            message = f"measured {mean_text(one.measured)}, expected {one.expected}"
            failure = ElementTree.SubElement(
                test, "failure", {"message": _xml(message), "type": "expectation"}
            )
            failure.text = _xml(f"{said}, expected {one.expected}. {one.remark}".strip())
        ElementTree.SubElement(test, "system-out").text = f"{said}. {_xml(one.remark)}".strip()
    return suite


def _counts(judged: "tuple[Judged, ...] | list[Judged]") -> dict[str, str]:
    failed = sum(not one.passed for one in judged)
    skipped = sum(one.skipped for one in judged)
    return {"tests": str(len(judged)), "failures": str(failed), "errors": "0", "skipped": str(skipped)}


def _xml(text: str) -> str:
    return _NOT_IN_XML.sub("�", text)
