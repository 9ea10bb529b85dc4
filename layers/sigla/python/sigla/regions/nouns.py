"""What a region is to the other one, and how far the ids of a context are given."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from sigla.model import SchemaId


class RegionKind(StrEnum):
    PRIMARY = "primary"
    FOLLOWER = "follower"
    JOINING = "joining"
    """It does not know everything yet, or not any more, as after its table was restored."""


class Joins(StrEnum):
    """How a region joins that had something before: it is not simply filled. The words are those that are stored."""

    FORGETS = "rejoining"
    """It has not forgotten its catalog yet: it is not filled meanwhile."""
    ANEW = "anew"
    """With a copy of its primary, and has something else as yet."""
    RESTORED_PRIMARY = "restored primary"
    """Its table was restored to an earlier moment. It joins once it has rejoined; so do the next two."""
    RESTORED_FOLLOWER = "restored follower"
    RESTORED_JOINING = "restored joining"


_RESTORED: Final = {
    RegionKind.PRIMARY: Joins.RESTORED_PRIMARY,
    RegionKind.FOLLOWER: Joins.RESTORED_FOLLOWER,
    RegionKind.JOINING: Joins.RESTORED_JOINING,
}
"""By what the region was at the moment to which its table was restored."""


def is_region_url(text: str) -> bool:
    """Whether it is the URL of a region, and not the name that one has drawn."""
    return "://" in text


@dataclass(frozen=True, slots=True)
class KnownBy:
    """By what a region knows the other one: its name, or a URL; neither where it knows none."""

    name: str = ""
    url: str = ""

    @classmethod
    def of(cls, text: str) -> "KnownBy":
        """From its one text, as it is stored and told."""
        return cls(url=text) if is_region_url(text) else cls(name=text)

    def __str__(self) -> str:
        return self.url or self.name

    def __bool__(self) -> bool:
        return bool(self.url or self.name)


class Trace(NamedTuple):
    """What is known of a region that is out. url: where it was served; empty where that is not known.

    seen: when it was heard of last, in milliseconds since the epoch; 0: that is not known. abandoned: whether what it
    had is given up. It is closed all the same, should it take writes one day.
    """

    name: str
    url: str
    seen: int
    abandoned: bool = False

    @property
    def line(self) -> str:
        return "\t".join((self.name, self.url, str(self.seen), *([_ABANDONED] * self.abandoned)))

    @property
    def has_url(self) -> bool:
        """Another region may have put a name into its place."""
        return is_region_url(self.url)


_ABANDONED: Final = "abandoned"


def _traces(text: str) -> list[Trace]:
    """From any text: another region may have put it into the role. A name has neither line ends nor tabs."""
    rows = (f"{line}\t\t\t".split("\t") for line in text.split("\n") if line)
    return [
        Trace(name, url, int(seen) if seen.isdecimal() else 0, mark == _ABANDONED) for name, url, seen, mark, *_ in rows
    ]


@dataclass(frozen=True, slots=True)
class Role:
    """What a region is. A registry without a second region has none.

    epoch: goes up by one with each promotion. name: by which a primary knows this region, drawn when it began to
    follow. peer: the other region: by its URL where that is followed, or was, before a promotion; by its name once it
    follows; nothing while no region does. open: whether a primary takes writes. token: of the planned promotion that is
    under way, or that made it what it is. joins: of a region that joins and had something before; it has no token then
    (`regions.role_form`). reconciled: False after a forced promotion, until the other region has rejoined, or is given
    up. armed: milliseconds since the epoch at which the registry got its first role; 0 where every writer knows of a
    role at once, as in a directory. at: the URL where the follower of a primary is served, as it said last; empty where
    that is not known. lost: names of regions that were given up and may have what this one lacks, while that is not
    reconciled. pair: drawn with the first role of a registry that is served: both of its regions have the same. adopts:
    since a promotion by force, an id that no version holds means what its body says (`regions.adoption`). traces: of
    `out`, and of regions that were abandoned. turn: goes up by one with each change of the role; set by the store.

    Where two primaries hear of each other, that of the greater epoch goes on, and in the same epoch, which takes a
    region that was abandoned and is back, that of the greater name.
    """

    epoch: int
    kind: RegionKind
    peer: KnownBy = KnownBy()
    open: bool = True
    token: str = ""
    joins: Joins | None = None
    reconciled: bool = True
    armed: int = 0
    at: str = ""
    name: str = ""
    lost: str = ""
    pair: str = ""
    adopts: bool = False
    traces: str = ""
    turn: int = 0

    @property
    def given_up(self) -> list[str]:
        """The names in `lost`."""
        return [name for name in self.lost.split(", ") if name]

    @property
    def out(self) -> "list[Trace]":
        """Regions that may have what this one lacks, for people."""
        if self.reconciled:
            return []
        known = {each.name: each for each in _traces(self.traces) if not each.abandoned}
        leads = self.kind is RegionKind.PRIMARY  # the peer of any other is the region that leads
        is_unknown = leads and self.has_passed_over and str(self.peer) not in [each.url for each in known.values()]
        passed_over = [str(self.peer)] if is_unknown else []
        unknown = [Trace(name, "", 0) for name in (*self.given_up, *passed_over) if name not in known]
        return [*known.values(), *unknown]

    @property
    def shown_out(self) -> str:
        """The regions in `out`, by their URLs as far as these are known."""
        return ", ".join(each.url or each.name for each in self.out) or self.lost or str(self.peer)

    @property
    def abandoned(self) -> "list[Trace]":
        return [each for each in _traces(self.traces) if each.abandoned]

    @property
    def has_passed_over(self) -> bool:
        """Whether `peer` is a region that was passed over by force, and is not back."""
        if self.reconciled or not self.peer:
            return False
        is_by_url = bool(self.peer.url) and not self.token and self.joins is None
        return is_by_url or str(self.peer) in [each.name for each in _traces(self.traces) if not each.abandoned]

    @property
    def elsewhere(self) -> "list[str]":
        """The URLs of all other regions that this one knows of, those first that may have gone on without it."""
        known = (self.at, self.peer.url, *(each.url for each in _traces(self.traces)))
        return [*dict.fromkeys(filter(is_region_url, known))]

    def outranks(self, other: "Role") -> bool:
        """Whether this one goes on, of two primaries."""
        return (self.epoch, self.name) > (other.epoch, other.name)

    def without(self, name: str, *, abandoned: "Trace | None" = None) -> "Role":
        """What a primary is once another region is back, or abandoned: others may be out still.

        name: of that region; for one that was passed over, any other than those of regions that were given up. While
        some are out that were given up, it is as it was then: not reconciled, and to be followed by another one.
        """
        if self.reconciled:
            return self.without_traces(name)
        is_passed_over = self.has_passed_over and name not in self.given_up
        others = [each for each in self.given_up if each != name]
        peer = KnownBy() if is_passed_over and others else self.peer
        is_last = not others and (is_passed_over or not self.has_passed_over)
        role = replace(self, reconciled=is_last, lost=", ".join(others), peer=peer)
        role = role.without_traces(name, *([str(self.peer)] if is_passed_over else []))
        return role.with_trace(abandoned._replace(abandoned=True)) if abandoned and abandoned.has_url else role

    def with_trace(self, trace: "Trace") -> "Role":
        """It remembers where another region was."""
        return self._with([*_traces(self.traces), trace])

    def without_traces(self, *names: str) -> "Role":
        return self._with([each for each in _traces(self.traces) if each.name not in names])

    def restored(self) -> "Role":
        """What a region is whose data were restored to an earlier moment: it does not know all that it gave since.

        It joins, once it has rejoined: `regions.rejoining`.
        """
        return replace(self, kind=RegionKind.JOINING, joins=_RESTORED[self.kind], token="")

    def made_anew(self, pair: str) -> "Role":
        """For a registry of its own that is made of a backup of this region: it gives ids above those of both regions.

        The next epoch may be that of the other one.
        """
        return Role(self.epoch + 2, RegionKind.PRIMARY, pair=pair, adopts=self.adopts)

    @property
    def is_restored(self) -> bool:
        return self.joins in _RESTORED.values()

    @property
    def was_primary(self) -> bool:
        """Whether it is one, or was when it was restored to."""
        return self.kind is RegionKind.PRIMARY or self.joins is Joins.RESTORED_PRIMARY

    def _with(self, traces: "list[Trace]") -> "Role":
        return replace(self, traces="\n".join(each.line for each in traces))

    @property
    def writes(self) -> bool:
        """Whether the region takes writes."""
        return self.kind is RegionKind.PRIMARY and self.open

    @property
    def is_closed(self) -> bool:
        """Whether it is a primary that takes no writes."""
        return self.kind is RegionKind.PRIMARY and not self.open

    @property
    def shown_kind(self) -> str:
        """For people: a primary that takes no writes is told from one that does."""
        if self.kind is RegionKind.JOINING:
            return "joining region"
        return f"closed {self.kind.value}" if self.is_closed else self.kind.value

    @property
    def adopts_keys(self) -> bool:
        """Whether the primary before may have handed over keys whose commits are not here (`regions.handed_keys`)."""
        return self.writes and self.adopts and not self.reconciled

    @property
    def is_followed(self) -> bool:
        """Whether a primary has a region that follows, or that is to follow after a promotion by plan."""
        return bool(self.peer) and not self.has_passed_over and bool(self.peer.name or self.token)

    @property
    def is_alone(self) -> bool:
        """Whether it is a primary that no region follows, and none is to be told how far ids are given."""
        return self.kind is RegionKind.PRIMARY and not self.peer

    @property
    def other_url(self) -> str:
        """Where the other region is, or was last; empty where that is not known."""
        return self.peer.url or self.at

    def is_elsewhere(self, url: str) -> bool:
        """Whether the other region is known to be in another place than this one: host, or table, and query differ."""
        known, asked = urlsplit(self.other_url), urlsplit(url)
        return bool(self.other_url) and (known.netloc, known.query) != (asked.netloc, asked.query)

    def follows(self, other: "Role") -> bool:
        """Whether it is the follower of the other one, and has everything as soon as that is told."""
        same_epoch = self.epoch == other.epoch
        return self.kind is RegionKind.FOLLOWER and other.kind is RegionKind.PRIMARY and same_epoch

    def is_known_to(self, other: "Role") -> bool:
        """Whether one of both knows the other one by its name. That is drawn at random: they are of one registry."""
        return (bool(self.name) and self.name in other.known) or (bool(other.name) and other.name in self.known)

    @property
    def known(self) -> set[str]:
        """Names of other regions, and URLs where it has no name."""
        return {str(self.peer), *self.given_up, *(each.name for each in _traces(self.traces))}

    def is_of_another_registry(self, other: "Role", urls: tuple[str, str] = ("", "")) -> bool:
        """Whether both are sure to be of two registries: neither knows the other, nor a region that both know.

        urls: of this region and of the other one, as roles name them; empty where that is not known. Pairs and names
        are drawn at random; where a role has neither, nothing is sure.
        """
        if self.pair and other.pair:
            return self.pair != other.pair
        ours, theirs = (
            {each.name, each.at, *each.known, url} - {""} for each, url in zip((self, other), urls, strict=True)
        )
        return all((self.name, other.name, *urls)) and not ours & theirs

    def is_of(self, other: "Role | None") -> bool:
        """Whether both are of one registry, as far as it was served when it got its first role."""
        return other is not None and bool(self.pair) and self.pair == other.pair


class Counter(NamedTuple):
    """How far the ids of a context are given. Above `ceiling` none is; those below `first` are of another epoch.

    epoch: in which it was written; 0 for a counter of a registry that had no role then: its ceiling is its last id.
    """

    next: SchemaId
    """The last one that was given, as the table calls it."""
    ceiling: SchemaId
    epoch: int
    first: SchemaId


class RegionSeen(NamedTuple):
    """A region's role and one of its counters, as they stand at one moment."""

    role: Role | None
    counter: Counter | None


class RegionState(NamedTuple):
    """What a region is by now. complete_at: up to which moment it has what its primary has; 0: that is unknown."""

    role: Role | None
    complete_at: int
