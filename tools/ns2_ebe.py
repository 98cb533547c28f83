"""Run EBE's dumbbell under ns-2's own XCP, and keep each second of it.

    python tools/ns2_ebe.py

writes what `airpath reproduce ebe-j/fig6b` shows beside its own runs. Needs ns-2 (`ns`); a minute.
"""

import json
import subprocess
from pathlib import Path
from typing import Final

ROOT = Path(__file__).parent.parent
SCRIPT: Final = ROOT / "tools" / "ns2" / "ebe_dumbbell.tcl"
OUT: Final = ROOT / "python" / "airpath" / "papers" / "ebe_j" / "xcp_ns2.json"
SETTINGS: Final = ("T", "O")
STARTS: Final = 10

ABOUT: Final = (
    "ns-2.35's own XCP (distribution package 2.35+dfsg) on EBE's dumbbell with its fixed schedule, run by the"
    " project with tools/ns2/ebe_dumbbell.tcl: ten draws of the starts in each setting. throughput_mbps: what left"
    " the forward link in each second, headers and acknowledgments included; queue_kb: its mean queue in that"
    " second; drops: packets lost at it in 120 s."
)


def main() -> None:
    """Run every setting and start, one after another."""
    runs = [_run(setting, seed) for setting in SETTINGS for seed in range(1, STARTS + 1)]
    lines = ",\n".join("  " + json.dumps(run) for run in runs)
    OUT.write_text(f'{{\n "about": {json.dumps(ABOUT)},\n "runs": [\n{lines}\n ]\n}}\n', encoding="utf-8")


def _run(setting: str, seed: int) -> dict[str, object]:
    finished = subprocess.run(["ns", SCRIPT, setting, str(seed)], capture_output=True, text=True, check=True)
    run: dict[str, object] = json.loads(finished.stdout)
    return run


if __name__ == "__main__":
    main()
