"""Which pages there are, as the console's own modules say."""

import re
from importlib import resources

UI = resources.files("sigla.web.console").joinpath("ui")


def patterns() -> set[str]:
    """The address of each page below the console, with names in braces for what may stand there."""
    found = set(re.findall(r'^  \["([^"]*)", \(\) => import', UI.joinpath("main.js").read_text(), re.MULTILINE))
    assert len(found) > 10, "the table of pages is found"
    return found


def parameters() -> set[str]:
    """What any page reads of its query."""
    texts = [each.read_text() for each in UI.joinpath("pages").iterdir()]
    found = {name for text in texts for name in re.findall(r'\bsaid\.get\("(\w+)"\)', text)}
    assert {"q", "offset", "type"} <= found, "the names are found"
    return found
