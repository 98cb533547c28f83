"""The result of a comparison in one sentence."""

from collections.abc import Callable
from typing import Final

import pyarrow as pa

from airpath.results.significance import Differences, listed

COMPARED: Final = (
    ("throughput_mbps", "throughput", "Mbit/s", True),
    ("delay_p95_ms", "p95 delay", "ms", False),
)
"""The metrics of the trade-off: name, display name, unit, and whether more is better."""


def findings(summary: pa.Table, name: Callable[[str], str]) -> str:
    """Return the significant differences in throughput and delay, and the schemes not beaten in both.

    A difference counts if its paired 95 % interval excludes zero. The text is empty for a single scheme.

    Parameters
    ----------
    summary
        One row for each run (`airpath.results.Results.summary`).
    name
        Returns the display name of a scheme.
    """
    compared = Differences(summary, COMPARED, name)
    if not (sentences := compared.sentences()):
        return ""
    text = f"{'; '.join(sentences)}.".replace(sentences[0], sentences[0][:1].upper() + sentences[0][1:], 1)
    if len(compared.schemes) < 3 or not compared.is_repeated:
        return text
    return f"{text} {_front(compared, name)}"


def _front(compared: Differences, name: Callable[[str], str]) -> str:
    """Return the schemes that no other one beats significantly in both metrics."""
    schemes = compared.schemes
    beaten = {one for one in schemes if any(compared.beats(other, one) for other in schemes)}
    if not beaten:
        return "No scheme is significantly better than another in both."
    if len(beaten) <= len(schemes) - len(beaten):
        worse = [name(one) for one in schemes if one in beaten]
        return f"Significantly worse than another scheme in both: {listed(worse)}."
    front = [name(one) for one in schemes if one not in beaten]
    return f"No scheme is significantly better in both than {listed(front)}."
