"""Typeset the formulas of the site: a hook of mkdocs that replaces TeX with MathML.

Browsers display MathML without scripts. A formula that math-core cannot convert fails the build.
"""

import html
import re
from typing import Any, Final

from math_core import LatexToMathML

CONVERTER: Final = LatexToMathML(fancy_error=False)
FORMULA: Final = re.compile(r'(<(span|div) class="arithmatex">)\\([(\[])(.*?)\\[)\]](</\2>)', re.DOTALL)
"""A formula as `pymdownx.arithmatex` leaves it in the page."""


def on_page_content(content: str, **_: Any) -> str:
    """Replace every formula of a page."""
    return FORMULA.sub(typeset, content)


def typeset(formula: re.Match[str]) -> str:
    """Return a formula in its element as MathML."""
    opening, _, kind, tex, closing = formula.groups()
    mathml = CONVERTER.convert_with_local_state(html.unescape(tex), displaystyle=kind == "[")
    return f"{opening}{mathml}{closing}"
