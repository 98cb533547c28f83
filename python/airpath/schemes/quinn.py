"""The congestion controllers of quinn, a QUIC stack: `quinn:NAME`, over QUIC only."""

from typing import Final

from airpath.errors import UsageError
from airpath.schemes.elsewhere import scheme_elsewhere
from airpath.schemes.scheme import Scheme

PREFIX: Final = "quinn:"
"""Prefix of the name of every controller of quinn."""


def quinn_scheme(name: str) -> Scheme:
    """Return the scheme for quinn's controller `name`.

    Raises
    ------
    UsageError
        If quinn has none with this name, or its runs would not be reproducible.
    """
    accepted = ", ".join(scheme.id for scheme in QUINN_SCHEMES)
    if name == "bbr":
        raise UsageError(
            f'found "{PREFIX}bbr", which draws from random numbers without a seed, so that no run could be'
            f" repeated; accepted: {accepted}"
        )
    if name not in _BY_NAME:
        raise UsageError(f'found "{PREFIX}{name}"; accepted: {accepted}')
    return _BY_NAME[name]


_BY_NAME: Final = {
    name: scheme_elsewhere("quinn", name, *rest)
    for name, *rest in (
        ("cubic", "CUBIC (quinn)", "quinn's CUBIC (RFC 8312), over QUIC", "#b35900", "s"),
        ("newreno", "New Reno (quinn)", "quinn's New Reno (RFC 9002), over QUIC", "#1f6fa8", "o"),
    )
}

QUINN_SCHEMES: Final = tuple(_BY_NAME.values())
"""All schemes of quinn."""
