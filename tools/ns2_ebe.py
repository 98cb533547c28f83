"""Run EBE's dumbbell under ns-2's own XCP, and keep each second of it.

    python tools/ns2_ebe.py

writes what `airpath reproduce ebe-j/fig6b` shows beside its own runs. Needs ns-2 (`ns`); two minutes.
"""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).parent.parent
SCRIPT: Final = ROOT / "tools" / "ns2" / "ebe_dumbbell.tcl"
OUT: Final = ROOT / "python" / "airpath" / "papers" / "ebe_j" / "xcp_ns2.json"
STARTS: Final = {"T": 30, "O": 10}
"""How many draws of the starts in each setting; runs of T differ much."""

ABOUT: Final = (
    "ns-2.35's own XCP (distribution package 2.35+dfsg) on EBE's dumbbell with its fixed schedule, run by"
    " the project with tools/ns2/ebe_dumbbell.tcl, each run with its own draw of the starts."
    " throughput_mbps: what left the forward link in each second, headers and acknowledgments included;"
    " queue_kb: its mean queue in that second; drops: packets lost at it in 120 s. died: draws (setting and"
    " seed) that ns-2 ended with a floating point exception; the next seed takes their place."
)


def main() -> None:
    """Run every setting and start, one after another."""
    runs, died = [], []
    for setting, starts in STARTS.items():
        seed, wanted = 1, len(runs) + starts
        while len(runs) < wanted:
            run = _run(setting, seed)
            if run is None:
                died.append([setting, seed])
            else:
                runs.append(run)
            seed += 1
    lines = ",\n".join("  " + json.dumps(run) for run in runs)
    head = f' "about": {json.dumps(ABOUT)},\n "died": {json.dumps(died)}'
    OUT.write_text(f'{{\n{head},\n "runs": [\n{lines}\n ]\n}}\n', encoding="utf-8")


def _run(setting: str, seed: int) -> dict[str, Any] | None:
    finished = subprocess.run(["ns", SCRIPT, setting, str(seed)], capture_output=True, text=True, check=False)
    if finished.returncode == -signal.SIGFPE:
        return None
    finished.check_returncode()
    run: dict[str, Any] = json.loads(finished.stdout)
    return run


if __name__ == "__main__":
    main()
