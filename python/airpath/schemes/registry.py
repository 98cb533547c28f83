"""Every scheme by name."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from airpath._declared.declarations import declaration, ids
from airpath._declared.tables import TableError, table
from airpath._nearest import suggestion
from airpath.errors import UsageError
from airpath.plugins.specs import PROGRAMS, Spec, split_label
from airpath.schemes.agent import AGENT
from airpath.schemes.end_to_end import END_TO_END
from airpath.schemes.kernel import PREFIX, kernel_scheme
from airpath.schemes.loss_differentiation import ENDING, SUFFIX, differentiated
from airpath.schemes.options import options_of, split_options
from airpath.schemes.quinn import PREFIX as QUINN
from airpath.schemes.quinn import quinn_scheme
from airpath.schemes.router_assisted import ROUTER_ASSISTED, compositions, why_no_pair
from airpath.schemes.scheme import Scheme, controller_plan
from airpath.schemes.westwood import WESTWOOD

QUIC: Final = "quic:"
"""A prefix that users write for a scheme over QUIC; the error message explains the option instead."""


def find_scheme(name: str) -> Scheme:
    """Return the scheme with this identifier or alias, or the pair of family and source that it names.

    The suffix `-ld` adds loss differentiation to any of them. Names that begin with `kernel:` are congestion
    controls of the operating system's kernel, and those that begin with `quinn:` are those of quinn; `agent`
    is controlled by an environment for learning.

    Raises
    ------
    UsageError
        If there is none; the message names the nearest.
    """
    if (spec := Spec.parse(name)) is not None and not spec.options:
        from airpath.schemes.plugin import plugin_scheme  # imported here because few commands need it

        return plugin_scheme(spec)
    if name.startswith(PREFIX):
        return kernel_scheme(name.removeprefix(PREFIX))
    if name.startswith(QUINN):
        return quinn_scheme(name.removeprefix(QUINN))
    if name == AGENT.id:
        return AGENT
    try:
        if name in _LISTED:
            return _LISTED[name]
        if name not in named_schemes() and name.endswith(SUFFIX):
            return _differentiated(name.removesuffix(SUFFIX))
        return named_schemes()[name]
    except KeyError:
        raise UsageError(f'there is no scheme "{name}"; {_instead(name)}') from None


@functools.cache
def _differentiated(name: str) -> Scheme:
    """Return a scheme with loss differentiation, the same object for the same name."""
    return differentiated(named_schemes()[name])


def _instead(name: str) -> str:
    """Return why two existing parts do not form a scheme, or the names nearest to one that does not exist."""
    if (file := Path(f"{name}.py")).is_file():
        return f"to run {file}, write {file}:CLASS (`airpath list {file}` shows its classes)"
    if reason := why_no_pair(name.removesuffix(SUFFIX)):
        return reason
    return f"{suggestion(name, (scheme.id for scheme in SCHEMES), 'schemes')}; {ENDING}"


def parse_scheme(text: str) -> tuple[Scheme, dict[str, Any]]:
    """Read a scheme with options, as in `cubic:beta=0.8,slow_start=standard`. A name before it is ignored.

    Returns
    -------
    tuple
        The scheme, and the options as written (not yet checked against the scheme's parameters): numbers and
        `true`/`false` as such, everything else as text.

    Raises
    ------
    UsageError
        If there is no such scheme, or an option is not of the form `name=value`.
    """
    text = split_label(text)[1]
    if text.strip().startswith(QUIC):
        scheme = text.strip().removeprefix(QUIC)
        raise UsageError(
            f'found "{text}"; write "{scheme}", and --world quic for all schemes in quinn, a QUIC stack'
        )
    if text.strip().startswith((PREFIX, QUINN)):
        return find_scheme(text.strip()), {}
    if (spec := Spec.parse(text)) is not None:
        return find_scheme(spec.without_options), options_of(spec.options, text)
    if (program := text.strip().partition(":")[0]) in PROGRAMS:
        raise UsageError(
            f'found "{text}"; accepted: {program}:FILE.c, or {program}:FILE.c+FILE.c for several files'
        )
    name, _, _ = text.partition(":")
    if name.strip() not in named_schemes():
        find_scheme(name.strip())  # checked first: the options of a scheme that does not exist do not matter
    name, options = split_options(text)
    return find_scheme(name), options


def same_scheme(texts: Iterable[str]) -> tuple[str, str] | None:
    """Return the first two texts that denote one scheme with the same options, in any notation.

    `cubic:beta=0.7` is `cubic:beta=0.70`: it would be run twice, and compared with itself. An option with its
    default value differs from an omitted one, because the user wants to see it.

    Parameters
    ----------
    texts
        Schemes with options. Invalid ones are equal to no other; the error is reported elsewhere.
    """
    seen: dict[tuple[str, str], str] = {}
    for text in texts:
        try:
            scheme, options = parse_scheme(text)
            given = scheme.parameters.read(options).given
        except (UsageError, TableError):
            continue
        first = seen.setdefault((scheme.id, repr(sorted(given.items()))), text)
        if first != text:
            return first, text
    return None


_COLOURS: Final = (
    *("#5B2A86", "#C2185B", "#6B8E23", "#2F6FDE", "#00796B", "#A8500F", "#607D8B"),
    *("#9C5BD0", "#B08900", "#0E8FA8", "#D0437A", "#4F5D2F"),
)
_MARKERS: Final = ("o", "s", "^", "D", "v", "P")
"""Colours and markers of the schemes that do not define their own, in their order."""


def _of_declarations(listed: Iterable[Scheme]) -> Iterator[Scheme]:
    """Return a scheme for every declared controller that is in no scheme of `listed`."""
    known = {name for scheme in listed for name in (scheme.id, scheme.controller)}
    new = (name for name in ids("controller") if name not in known and not _goes_around_another(name))
    for index, name in enumerate(new):
        declared = declaration("controller", name)
        yield Scheme(
            id=name,
            title=declared["title"],
            description=declared["description"],
            colour=_COLOURS[index % len(_COLOURS)],
            marker=_MARKERS[index % len(_MARKERS)],
            controller=name,
            parameters=table("controller", name),
            build=controller_plan,
        )


def _goes_around_another(name: str) -> bool:
    """Return whether a controller requires another component that has no default."""
    parameters = declaration("controller", name).get("properties", {}).values()
    return any("x-component" in one and "default" not in one for one in parameters)


SCHEMES: Final = (
    *END_TO_END,
    *_of_declarations((*END_TO_END, *WESTWOOD, *ROUTER_ASSISTED)),
    *WESTWOOD,
    *ROUTER_ASSISTED,
)
"""Every scheme that can be simulated and is listed, in the order of lists and legends."""


def _by_name(schemes: Iterable[Scheme]) -> Mapping[str, Scheme]:
    return MappingProxyType({name: scheme for scheme in schemes for name in (*scheme.aliases, scheme.id)})


_LISTED: Final = _by_name(SCHEMES)


@functools.cache
def named_schemes() -> Mapping[str, Scheme]:
    """Return every scheme by its names, including the pairs that are not listed."""
    return MappingProxyType({**_by_name(compositions()), **_LISTED})
