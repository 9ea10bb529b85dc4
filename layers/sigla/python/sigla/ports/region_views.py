"""What a person sees of two regions, only read: for the console."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from sigla.regions.nouns import Counter, Role

MOST_CONTEXTS = 16
"""A view tells of so many contexts how far their ids are given."""
MOST_WAITING = 16
"""So many commits that wait are counted."""


class WaitingCommits(NamedTuple):
    """Commits of the other region that are here and not carried out.

    why: what they do, as in a sentence. more: whether there are more than were counted. oldest: when the first one was
    made, in milliseconds since the epoch. subjects: some that the first one is about, by their qualified names.
    """

    why: str
    number: int
    more: bool
    oldest: int
    subjects: Sequence[str] = ()


class RegionView(NamedTuple):
    """One region. url: by which a command names it; empty where that is the URL of its clients.

    registry: its name there, where a command has to say it. setting: what is wrong with the setting that names the
    other region, a sentence without its end.
    behind: how old what a follower knows is at most, in milliseconds; None where that is not known. problem: why it
    does not go on. commits, newest: how many it has, and when the newest one was made; None where they are not counted.
    ids: how far those of each context are given; None: not told here. more_contexts: whether there are more.
    """

    url: str
    role: Role
    behind: int | None = None
    problem: str = ""
    commits: int | None = None
    newest: int | None = None
    waiting: Sequence[WaitingCommits] = ()
    ids: Sequence[tuple[str, Counter]] | None = None
    more_contexts: bool = False
    registry: str = ""
    setting: str = ""


class OtherRegionView(NamedTuple):
    """The other region, as this one sees it. url: where it was asked; empty where that is not known.

    region: None where it did not answer. why: a sentence then. lacking: what a forced promotion of the follower would
    lose at this moment, a sentence each; None where that is not known.
    """

    url: str
    region: RegionView | None
    why: str = ""
    lacking: Sequence[str] | None = None


class RegionViews(Protocol):
    """Reads alone. Raises StoreError where the own data do not answer."""

    def is_there(self) -> bool:
        """Whether the registry has a second region."""
        ...

    def here(self) -> RegionView | None:
        """None without a second region."""
        ...

    def other(self) -> OtherRegionView:
        """Asks the other region, which may take some seconds where that is silent."""
        ...


class NoRegionViews:
    """Those of a registry that can have no second region."""

    def is_there(self) -> bool:
        return False

    def here(self) -> None:
        return None

    def other(self) -> OtherRegionView:
        return OtherRegionView("", None)
