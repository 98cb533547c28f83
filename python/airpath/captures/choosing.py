"""Selection of flows of a capture."""

from collections.abc import Sequence
from dataclasses import replace

from airpath.captures.analysis import CaptureAnalysis
from airpath.errors import UsageError


def choose(capture: CaptureAnalysis, wanted: Sequence[str]) -> CaptureAnalysis:
    """Keep the selected flows, by number or a part of their addresses; all of them without a selection.

    Raises
    ------
    UsageError
        If no flow matches.
    """
    if not wanted:
        return capture
    flows = tuple(
        flow
        for flow in capture.flows
        if any(text == str(flow.number) or (not text.isdigit() and text in flow.name) for text in wanted)
    )
    if not flows:
        count = len(capture.flows)
        numbers = "the number 1" if count == 1 else f"a number from 1 to {count}"
        accepted = (
            f"accepted: {numbers}, or a part of ADDRESS:PORT > ADDRESS:PORT" if count else "it has none"
        )
        raise UsageError(f"{capture.path}: flow: found {' and '.join(wanted)}; {accepted}")
    return replace(capture, flows=flows, sums=())
