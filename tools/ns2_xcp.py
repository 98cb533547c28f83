"""Run EBE's dumbbell and VCP-W's parking lot under ns-2's own XCP.

    .venv/bin/python tools/ns2_xcp.py

Writes the data that `airpath reproduce` compares with its own runs: of the dumbbell each second, for
`ebe-j/fig6b`; of the parking lot shares and queues before and after the third group starts, for `vcp-w/fig5a`
and `fig6`. Needs ns-2 (`ns`); takes four minutes.
"""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any, Final

from airpath_papers.vcp_w import fig6, parking_lot
from airpath_papers.vcp_w.channel import DATA_BYTES

ROOT = Path(__file__).parent.parent
SCRIPTS: Final = ROOT / "tools" / "ns2"
PAPERS: Final = ROOT / "python" / "airpath-papers" / "airpath_papers"
STARTS: Final = {"T": 30, "O": 10}
"""Number of random samples of the start times in each setting of the dumbbell; runs of T differ much."""
LEAST_TIMEOUTS_S: Final = (0.2, 4.0)
"""Minimum timeouts in the parking lot: ns-2's own, and one that never expires without a loss."""
PARKING_LOTS: Final = 10
"""Random samples of the start times for each of them."""
INTERVAL_S: Final = 10
_SHARES: Final = (parking_lot.BEFORE, parking_lot.AFTER)
_QUEUES: Final = (fig6.BEFORE, fig6.AFTER)

_BY: Final = "ns-2.35's own XCP (distribution package 2.35+dfsg)"
ABOUT_DUMBBELL: Final = (
    f"{_BY} on EBE's dumbbell with its fixed schedule, run by the project with tools/ns2/ebe_dumbbell.tcl,"
    " each run with its own draw of the starts."
    " throughput_mbps: what left the forward link in each second, headers and acknowledgments included;"
    " queue_kb: its mean queue in that second; drops: packets lost at it in 120 s. died: draws (setting and"
    " seed) that ns-2 ended with a floating point exception; the next seed takes their place."
)
ABOUT_PARKING_LOT: Final = (
    f"{_BY} in VCP-W's parking lot, run by the project with tools/ns2/parking_lot.tcl, each run with its own"
    " draw of the starts. least_timeout_s: ns-2's default of 0.2, or more than ever expires without a loss;"
    " timeouts: of all flows in 1500 s. local_over_long: rate of the local flows of a link over that of the"
    " long ones, from 500 to 1000 and from 1250 to 1500 s; queue_packets: mean queue in packets of 1040 bytes"
    " from 100 to 1000 and from 1100 to 1500 s. drops: packets lost at the four links. died: draws (least"
    " timeout and seed) that ns-2 ended with a floating point exception; the next seed takes their place."
)


def main() -> None:
    """Run every setting and sample, one after another."""
    runs, died = [], []
    for setting, starts in STARTS.items():
        some = _all("ebe_dumbbell.tcl", starts, lambda seed, setting=setting: (setting, seed))
        runs += some[0]
        died += some[1]
    _write(PAPERS / "ebe_j" / "xcp_ns2.json", ABOUT_DUMBBELL, runs, died)
    runs, died = [], []
    for least in LEAST_TIMEOUTS_S:
        some = _all("parking_lot.tcl", PARKING_LOTS, lambda seed, least=least: (seed, least))
        runs += [{"least_timeout_s": least, **_means(run)} for run in some[0]]
        died += some[1]
    _write(PAPERS / "vcp_w" / "xcp_ns2.json", ABOUT_PARKING_LOT, runs, died)


def _all(script: str, wanted: int, arguments: Any) -> tuple[list[dict[str, Any]], list[list[Any]]]:
    """Run a script with one seed after another until `wanted` runs have completed."""
    runs: list[dict[str, Any]] = []
    died: list[list[Any]] = []
    seed = 1
    while len(runs) < wanted:
        given = arguments(seed)
        run = _run(script, given)
        if run is None:
            died.append([*given])
        else:
            runs.append(run)
        seed += 1
    return runs, died


def _run(script: str, arguments: tuple[Any, ...]) -> dict[str, Any] | None:
    command: list[str | Path] = ["ns", SCRIPTS / script, *map(str, arguments)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode == -signal.SIGFPE:
        return None
    finished.check_returncode()
    run: dict[str, Any] = json.loads(finished.stdout)
    return run


def _means(run: dict[str, Any]) -> dict[str, Any]:
    """Return shares and queues of a run of the parking lot."""

    def mean(series: list[float], span: tuple[float, float]) -> float:
        part = series[int(span[0]) // INTERVAL_S : int(span[1]) // INTERVAL_S]
        return sum(part) / len(part)

    def shares(link: dict[str, Any]) -> list[float]:
        both = [(mean(link["mbps"], span), mean(run["long_mbps"], span)) for span in _SHARES]
        return [round(whole / long - 1, 3) for whole, long in both]

    def queues(link: dict[str, Any]) -> list[float]:
        return [round(mean(link["queue_kb"], span) * 1e3 / DATA_BYTES, 2) for span in _QUEUES]

    return {
        "seed": run["seed"],
        "timeouts": run["timeouts"],
        "drops": run["drops"],
        "local_over_long": {name: shares(link) for name, link in run["links"].items()},
        "queue_packets": {name: queues(link) for name, link in run["links"].items()},
    }


def _write(file: Path, about: str, runs: list[dict[str, Any]], died: list[list[Any]]) -> None:
    lines = ",\n".join("  " + json.dumps(run) for run in runs)
    head = f' "about": {json.dumps(about)},\n "died": {json.dumps(died)}'
    file.write_text(f'{{\n{head},\n "runs": [\n{lines}\n ]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
