"""The errors that airpath raises on purpose: each text is one clear message for a person."""


class AirpathError(Exception):
    """Base of every error that airpath raises on purpose."""


class ScenarioError(AirpathError):
    """A scenario is wrong.

    The text has a line for each fault: file, field, what was found, and what is accepted.
    """


class TraceError(AirpathError):
    """A trace file is missing, unreadable, or breaks the rules of its format."""


class CaptureError(AirpathError):
    """A capture is missing, unreadable, or no capture at all."""


class LinkLogError(AirpathError):
    """A log of a link is missing, unreadable, or no such log."""


class FitError(AirpathError):
    """There is nothing in a recording that a chain of losses could be fitted to."""


class LintError(AirpathError):
    """There is no traffic control set-up in an input, or it cannot be read."""


class OutputError(AirpathError):
    """Results cannot be written or read back."""


class PluginError(AirpathError):
    """Code of the user failed: the text names file, line, scheme, seed and simulated time."""


class UsageError(AirpathError):
    """A function or command was called with something it does not accept."""


class UnitError(UsageError, ValueError):
    """A quantity is not written as a number and an accepted unit."""


class EmulationError(AirpathError):
    """The system refuses something that an emulation needs, or the emulation went wrong."""
