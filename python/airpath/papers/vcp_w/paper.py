"""What the figures of VCP-W have in common."""

from typing import Final

PAPER: Final = "VCP-W"
