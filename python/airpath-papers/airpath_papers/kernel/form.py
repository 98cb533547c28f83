"""Declaration of a figure's form on real kernels."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class KernelForm:
    """The part of a figure that runs on real kernels, where a run takes its nominal duration."""

    choices: Mapping[str, str]
    """Choices of the figure by their distinguishing name there, headline first; the name of a single one is
    empty.
    """
    runs: Mapping[str, str]
    """Labels of the experiments that run, with the duration of a run."""
    without: Mapping[str, str] = field(default_factory=dict)
    """Names of the claims that are not evaluated, with the reason."""
