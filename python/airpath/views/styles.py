"""Names, colours, markers and dashes of schemes, the same in the report and in every figure."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from airpath.errors import UsageError
from airpath.schemes import LOOKS, find_scheme

DARK_GROUND: Final = "#14161a"
"""Background of the report in dark mode."""
LEAST_CONTRAST: Final = 3.0
"""The minimum contrast between a marker and its background (WCAG 2.2, 1.4.11)."""


@dataclass(frozen=True, slots=True)
class SchemeStyle:
    """Style of one scheme, the same in every figure.

    Attributes
    ----------
    display_name
        Its name in legends.
    colour
        Its colour on white, `#rrggbb`.
    marker
        A marker of matplotlib.
    """

    display_name: str
    colour: str
    marker: str

    @property
    def label(self) -> str:
        """The name for narrow places: a long one continues on a new line at each option."""
        if len(self.display_name) <= _LONGEST_LINE:
            return self.display_name
        return self.display_name.replace(":", ":\n", 1).replace(",", ",\n")

    @property
    def dark_colour(self) -> str:
        """Its colour on `DARK_GROUND`: mixed with white until the contrast suffices."""
        return lightened(self.colour)


_LONGEST_LINE = 24

Style = Mapping[str, SchemeStyle]
"""Style of each scheme, by scheme id."""

NO_SCHEME = SchemeStyle("other traffic", "#7f7f7f", ".")
"""Traffic without a controller."""


def style_for(schemes: Iterable[str]) -> Style:
    """Return the style of each scheme: as registered, else a colour and marker that no other scheme here has.

    Names that are not in the registry (`Mine`, `yeah=…`) have reserved colours and markers.

    Colours are the same in every figure. Schemes composed with the same capacity source share a marker; if
    several of them occur, the first keeps it and each later one gets a marker of its own.

    Parameters
    ----------
    schemes
        Names of schemes; those unknown to the registry get colours by their order.
    """
    ids = list(dict.fromkeys(schemes))
    registered = {scheme: look for scheme in ids if (look := _registered(scheme)) is not None}
    free_colours = _unused(_COLOURS, {look.colour.lower() for look in registered.values()})
    free_markers = _unused(_MARKERS, {look.marker for look in registered.values()})
    used = {look.colour for look in registered.values()}
    reserved = (look for look in LOOKS if look[0] not in used)
    styles: dict[str, SchemeStyle] = {}
    markers: set[str] = set()
    for scheme in ids:
        look = registered.get(scheme)
        if look is None:
            own = None if _registered(scheme.partition(":")[0]) else next(reserved, None)
            look = SchemeStyle(scheme, *(own or (next(free_colours), next(free_markers))))
        elif look.marker in markers:
            look = replace(look, marker=next(free_markers))
        markers.add(look.marker)
        styles[scheme] = look
    return styles


def lightened(colour: str, ground: str = DARK_GROUND, least: float = LEAST_CONTRAST) -> str:
    """Return a colour mixed with as little white as its contrast to the background needs."""
    channels = _channels(colour)
    for percent in range(101):
        mixed = [round(channel + (255 - channel) * percent / 100) for channel in channels]
        shade = "#" + "".join(f"{channel:02x}" for channel in mixed)
        if contrast(shade, ground) >= least:
            return shade
    return "#ffffff"


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours, `#rrggbb`, from 1 to 21 (WCAG 2.2)."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [channel / 255 for channel in _channels(colour)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _channels(colour: str) -> list[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


# Okabe and Ito's colours that are safe for colour-blind readers; yellow is too light for lines.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "H", "8", "d", "h")


def _unused(choices: Sequence[str], used: Set[str]) -> Iterator[str]:
    """Return the choices that are not used, in a cycle; all of them if every one is used."""
    return itertools.cycle([choice for choice in choices if choice not in used] or choices)


def _registered(scheme: str) -> SchemeStyle | None:
    """Return the style in the registry of schemes, if the scheme is registered."""
    try:
        entry = find_scheme(scheme)
    except UsageError:
        return None
    return SchemeStyle(entry.title, entry.colour, entry.marker)
