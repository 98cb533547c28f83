"""Mark options in the text of the site: a hook of mkdocs.

The style of the site keeps them on one line: browsers break lines after dashes, also after those of `--loss`.
"""

import re
from typing import Any, Final

OPTION: Final = re.compile(r"<code>(?=--?[a-z][^<]{0,24}</code>)")
"""Code that begins with an option, short enough for a line of a phone."""


def on_page_content(content: str, **_: Any) -> str:
    """Add the class `option` to every option of a page."""
    return OPTION.sub('<code class="option">', content)
