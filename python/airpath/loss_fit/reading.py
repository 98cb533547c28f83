"""Recordings of losses: one 0 or 1 for each packet, or a table with times."""

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from airpath._os.input_file import InputFile
from airpath.errors import FitError

CAPTURE_MARKS = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
    b"\x1f\x8b",
)
"""First bytes of pcap of either byte order, pcapng and gzip."""

TIMES = {"time_s": 1.0, "time_ms": 1e-3, "time_us": 1e-6}
"""Names of the time column, with their unit in seconds."""
DIGITS = set("01 \t")
"""Characters of lines of losses."""
WORDS = {"0": False, "1": True, "false": False, "true": True}


@dataclass(frozen=True)
class Losses:
    """Packets in the order of sending.

    Attributes
    ----------
    lost
        Whether each was lost.
    time_s
        Send time of each packet, in seconds; `None` if not known.
    """

    lost: npt.NDArray[np.bool_]
    time_s: npt.NDArray[np.float64] | None = None


def is_capture(recording: InputFile) -> bool:
    """Return whether a file begins as captures do."""
    with recording.path.open("rb") as file:
        return file.read(4).startswith(CAPTURE_MARKS)


def read_losses(recording: InputFile) -> Losses | None:
    """Read a trace of losses; `None` if the file is something else.

    Text of 0 (arrived) and 1 (lost), with any white space between them or none; or a table with a header,
    comma-separated, with a column `lost` and perhaps one of `time_s`, `time_ms`, `time_us`. Lines that begin
    with # are ignored.

    Raises
    ------
    FitError
        If it begins as a trace of losses does, but is not one.
    """
    try:
        lines = _lines(recording)
    except UnicodeDecodeError:
        return None
    if set(lines[0][1]) <= DIGITS:
        digits = "".join("".join(line.split()) for _, line in lines)
        if set(digits) <= set("01"):
            return Losses(np.frombuffer(digits.encode(), dtype=np.uint8) == ord("1"))
        return None
    head = [cell.strip().lower() for cell in _cells(lines[0][1])]
    return _table(recording, head, lines[1:]) if "lost" in head else None


def what_is_no_loss(recording: InputFile) -> str | None:
    """Return where a file is not a trace of losses and what was found there; `None` for a whole number.

    Traces of delivery opportunities consist of whole numbers above 1.
    """
    try:
        lines = _lines(recording)
    except UnicodeDecodeError:
        return ": found bytes that are not text"
    number, line = next((one for one in lines if not set(one[1]) <= DIGITS), lines[0])
    if line.isdecimal():
        return None
    return f', line {number}: found "{line if len(line) <= 80 else line[:77] + "..."}"'


def _lines(recording: InputFile) -> list[tuple[int, str]]:
    """Return the lines that are neither empty nor comments, each with its number."""
    text = recording.path.read_text(encoding="utf-8-sig")
    lines = [
        (number, line.strip())
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise FitError(f"{recording}: is empty")
    return lines


def from_numbers(values: Iterable[object]) -> Losses:
    """Return a sequence of 0 and 1, or of truth values.

    Raises
    ------
    FitError
        If there is anything else in it.
    """
    array = np.asarray(list(values))
    if array.ndim != 1 or not np.isin(array, [0, 1]).all():
        raise FitError("losses: found other values; accepted: a sequence of 0 (arrived) and 1 (lost)")
    return Losses(array.astype(bool))


def _table(recording: InputFile, head: list[str], lines: list[tuple[int, str]]) -> Losses:
    place = head.index("lost")
    time = next((name for name in TIMES if name in head), None)
    lost, times = [], []
    for number, line in lines:
        row = _cells(line)
        if len(row) != len(head):
            raise FitError(
                f"{recording}, line {number}: found {len(row)} columns;"
                f" accepted: {len(head)}, as in the header"
            )
        word = row[place].strip().lower()
        if word not in WORDS:
            raise FitError(
                f'{recording}, line {number}: lost: found "{row[place]}"; accepted: 0, 1, false, true'
            )
        lost.append(WORDS[word])
        if time is not None:
            times.append(_time(row[head.index(time)], f"{recording}, line {number}: {time}") * TIMES[time])
    if time is None:
        return Losses(np.array(lost, dtype=bool))
    time_s = np.array(times)
    if back := np.flatnonzero(np.diff(time_s) < 0).tolist():
        raise FitError(f"{recording}, line {lines[back[0] + 1][0]}: {time}: earlier than the line before")
    return Losses(np.array(lost, dtype=bool), time_s)


def _cells(line: str) -> list[str]:
    """Return the cells of a line of a table; none if it is longer than a table's line may be (`csv.Error`).

    Lines are parsed separately, so that an unclosed quotation mark does not swallow the following lines.
    """
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


def _time(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FitError(f'{where}: found "{text}"; accepted: a number')
    return value
