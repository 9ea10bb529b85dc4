"""What a region runs, as far as clients notice: a promotion by plan is of two that are alike."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sigla.regions.nouns import Role


class Installed(NamedTuple):
    """release: of Sigla. options: such settings, as an operator writes them.

    peer: the URL of the stores that the settings name as those of the other region; empty where they name none.
    """

    release: str
    options: Mapping[str, str]
    peer: str = ""

    @property
    def compared(self) -> dict[str, Any]:
        """What both regions are to have alike."""
        return {"release": self.release, "options": self.options}


def names_another(role: Role, named: str) -> bool:
    """Whether settings name another region than the data do. named: the URL; empty where they name none."""
    return bool(named) and not role.is_alone and role.is_elsewhere(named)


def told_of_setting(named: str, other: str) -> str:
    """What people are told of such settings. other: the URL of the region that the data name."""
    return f"`regions.peer` names {named}, and the other region is {other}: deploy this stack with that"


def unlike(here: Installed, there: Installed) -> Iterator[str]:
    """What is not the same in a follower and its primary, a sentence each."""
    if here.release != there.release:
        yield f"The primary runs release {there.release} and this region {here.release}: install one at both."
    for name in sorted({*here.options, *there.options}):
        ours, theirs = here.options.get(name, "nothing"), there.options.get(name, "nothing")
        if ours != theirs:
            yield f"The primary has {name}={theirs} and this region {ours}: clients would be answered otherwise."
