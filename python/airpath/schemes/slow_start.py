"""Slow starts that any window-based scheme can have."""

from typing import Literal

SlowStart = Literal["standard", "per-acknowledgment", "every-other-round", "hystart++", "hoe"]
"""`standard` (RFC 5681 with RFC 3465, L = 2), `per-acknowledgment` (L = 1, as ns-2 does), `every-other-round`
(L = 1 in every other round trip, as Vegas was published), `hystart++` (RFC 9406) or `hoe` (towards a
threshold that three acknowledgments tell, Hoe 1996).
"""
