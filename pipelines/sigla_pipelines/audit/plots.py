"""Bars as SVG, for a page without a network: values as text beside them, and said to those who do not see them."""

from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

_WIDTH: Final = 720
_NAMES: Final = 210
_BAR: Final = 22
_GAP: Final = 8
_VALUES: Final = 120


class Bar(NamedTuple):
    """tone: a class of the page's style: `plain`, `good`, `bad`."""

    name: str
    value: int
    tone: str = "plain"


def bars(title: str, what: str, values: Sequence[Bar]) -> str:
    """A figure. what: the sentence for those who do not see it."""
    if not values:
        return ""
    most = max(bar.value for bar in values) or 1
    height = len(values) * (_BAR + _GAP) + _GAP
    room = _WIDTH - _NAMES - _VALUES
    drawn = []
    for at, bar in enumerate(values):
        top, length = _GAP + at * (_BAR + _GAP), round(room * bar.value / most, 1)
        middle = top + _BAR - 6
        drawn.append(
            f'<text class="name" x="{_NAMES - 10}" y="{middle}" text-anchor="end">{escape(_short(bar.name))}'
            f"<title>{escape(bar.name)}</title></text>"
            f'<rect class="{bar.tone}" x="{_NAMES}" y="{top}" width="{max(length, 1)}" height="{_BAR}" rx="3"/>'
            f'<text class="value" x="{_NAMES + length + 8}" y="{middle}">{bar.value:,}</text>'
        )
    return (
        f'<figure><svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(what)}">{"".join(drawn)}</svg>'
        f"<figcaption>{escape(title)}</figcaption></figure>"
    )


def _short(name: str) -> str:
    return name if len(name) <= 30 else f"{name[:14]}…{name[-14:]}"
