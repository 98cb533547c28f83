"""A traffic control configuration: the queueing disciplines, classes and filters of each device."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from airpath_lint.options import HtbClass, Options

ROOT = "root"
INGRESS = "ingress"
INGRESS_HANDLE = "ffff:"


@dataclass(frozen=True, slots=True, order=True)
class Device:
    """A network device, in a network namespace or (empty) in the one in which the commands run."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an input: the input and the line (`None` if lines have no meaning there)."""

    source: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Statistics:
    """The counters of `tc -s` for a discipline or class since its creation, and the current backlog."""

    sent_bytes: int = 0
    sent_packets: int = 0
    dropped: int = 0
    overlimits: int = 0
    requeues: int = 0
    backlog_bytes: int = 0
    backlog_packets: int = 0


@dataclass(slots=True)
class Discipline:
    """A queueing discipline.

    Attributes
    ----------
    kind
        `netem`, `tbf`, …
    handle
        `1:`; empty if the kernel chooses it.
    parent
        `root`, `ingress`, or the class that it is attached to (`1:10`).
    options
        The parameters that were understood.
    given
        The text of each parameter by its name, as the user wrote it; empty for the output of `tc`.
    place
        The place in the input.
    statistics
        The counters of `tc -s`, if it was used.
    """

    kind: str
    handle: str
    parent: str
    options: Options
    given: dict[str, str]
    place: Place
    statistics: Statistics | None = None


@dataclass(slots=True)
class TrafficClass:
    """A class of a classful discipline; the attributes are those of `Discipline`."""

    kind: str
    classid: str
    parent: str
    options: HtbClass
    given: dict[str, str]
    place: Place
    statistics: Statistics | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter: the class that it selects and its actions.

    Attributes
    ----------
    parent
        The discipline that it is attached to (`1:`, `ffff:`).
    target
        The class that it selects; empty if none.
    redirect
        The device that packets are redirected to; empty if none.
    police_bps, police_burst
        Rate (bit/s) and bucket (bytes) of a policer; `None` if there is none.
    place
        The place in the input.
    """

    parent: str
    target: str
    redirect: str
    police_bps: int | None
    police_burst: int | None
    place: Place


@dataclass(slots=True)
class Tree:
    """The configuration of one device.

    Attributes
    ----------
    device
        The device.
    disciplines, classes, filters
        The configured disciplines, classes (by name) and filters.
    filters_known
        Whether filters would be listed here if there were any: `tc qdisc show` does not print them.
    """

    device: Device
    disciplines: list[Discipline] = field(default_factory=list)
    classes: dict[str, TrafficClass] = field(default_factory=dict)
    filters: list[Filter] = field(default_factory=list)
    filters_known: bool = False

    @property
    def root(self) -> Discipline | None:
        """The discipline at the root, if one was set."""
        return self.at(ROOT)

    def at(self, parent: str) -> Discipline | None:
        """Return the discipline at a parent."""
        return next((one for one in self.disciplines if one.parent == parent), None)

    def named(self, handle: str) -> Discipline | None:
        """Return the discipline with a handle."""
        return next((one for one in self.disciplines if one.handle == handle and handle), None)

    def below(self, discipline: Discipline) -> Iterator[Discipline]:
        """Yield the disciplines attached to a discipline or its classes, nearest first."""
        if not discipline.handle:
            return
        for one in self.disciplines:
            if major(one.parent) == discipline.handle and one is not discipline:
                yield one

    def above(self, discipline: Discipline) -> Iterator[Discipline]:
        """Yield the disciplines between this one and the root, nearest first."""
        seen = {id(discipline)}
        parent = self.named(major(discipline.parent))
        while parent is not None and id(parent) not in seen:
            seen.add(id(parent))
            yield parent
            parent = self.named(major(parent.parent))

    def remove(self, discipline: Discipline) -> None:
        """Remove a discipline and everything attached to it."""
        self.disciplines.remove(discipline)
        for one in list(self.below(discipline)):
            if one in self.disciplines:
                self.remove(one)
        if discipline.handle:
            self.classes = {
                name: one for name, one in self.classes.items() if major(name) != discipline.handle
            }
            self.filters = [one for one in self.filters if one.parent != discipline.handle]


@dataclass(frozen=True, slots=True)
class Unread:
    """Text that may be relevant and was not understood."""

    place: Place
    text: str
    why: str


@dataclass(slots=True)
class Setup:
    """The configuration that the inputs describe.

    Attributes
    ----------
    trees
        The devices, in order of their appearance.
    written
        Whether any part came from commands; the output of `tc` contains no offloads and programs.
    shown
        Whether any part was printed by `tc`.
    offloads_off
        The offloads that `ethtool -K` turned off, by device.
    programs
        Programs that send traffic, by the namespace in which they run, with the place of the first.
    paced
        The place where a controller that relies on pacing (BBR) is chosen, if any.
    unread
        Text that was not understood.
    """

    trees: dict[Device, Tree] = field(default_factory=dict)
    written: bool = False
    shown: bool = False
    offloads_off: dict[Device, set[str]] = field(default_factory=dict)
    programs: dict[str, tuple[str, Place]] = field(default_factory=dict)
    paced: Place | None = None
    unread: list[Unread] = field(default_factory=list)

    def tree(self, device: Device) -> Tree:
        """Return the tree of a device; a new one if there was none."""
        return self.trees.setdefault(device, Tree(device))


def major(classid: str) -> str:
    """Return the handle of the discipline that a class (`1:10`) belongs to (`1:`)."""
    return classid.split(":", 1)[0] + ":" if ":" in classid else ""
