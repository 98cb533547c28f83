"""The errors that airpath raises deliberately; each text is a clear message for a person."""


class AirpathError(Exception):
    """Base class of all errors that airpath raises deliberately."""


class ScenarioError(AirpathError):
    """A scenario is wrong.

    The text has a line for each fault: file, field, what was found, and what is accepted.
    """


class TraceError(AirpathError):
    """A trace file is missing, unreadable, or breaks the rules of its format."""


class CaptureError(AirpathError):
    """A capture is missing, unreadable, or not a capture."""


class LinkLogError(AirpathError):
    """A link log is missing, unreadable, or not a link log."""


class FitError(AirpathError):
    """A recording contains nothing to which a loss chain can be fitted."""


class LintError(AirpathError):
    """An input contains no traffic control configuration, or it cannot be read."""


class OutputError(AirpathError):
    """Results cannot be written or read back."""


class PluginError(AirpathError):
    """Code of the user failed: the text names file, line, scheme, seed and simulated time."""


class UsageError(AirpathError):
    """A function or command received an argument that it does not accept."""


class UnitError(UsageError, ValueError):
    """A quantity is not written as a number and an accepted unit."""


class EmulationError(AirpathError):
    """The system refuses a resource that an emulation needs, or the emulation failed."""
