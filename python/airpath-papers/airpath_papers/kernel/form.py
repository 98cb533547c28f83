"""What a figure declares to run on real kernels."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class KernelForm:
    """The part of a figure that runs on real kernels, where a run takes as long as it says."""

    choices: Mapping[str, str]
    """Choices of the figure by what tells them apart there, headline first; empty for the only one."""
    runs: Mapping[str, str]
    """Labels of the experiments that run, and how long a run takes."""
    without: Mapping[str, str] = field(default_factory=dict)
    """Names of the claims that are not judged, and why."""
