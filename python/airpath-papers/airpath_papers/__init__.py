"""The papers that airpath reproduces: figures and tables as experiments, plots and evaluated claims.

`airpath reproduce` is the command. `airpath_papers.registry` lists the figures, `airpath_papers.reproduce`
reproduces them.
"""

from typing import Final

from airpath.commands import Command

COMMAND: Final = Command(
    "Reproduce figures and tables of the papers and report whether their claims hold.",
    "airpath_papers.cli:reproduce",
    task="Verify",
)
"""The command `airpath reproduce`."""
