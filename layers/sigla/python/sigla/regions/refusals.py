"""What is refused for the sake of another region: rows like those of `sigla.errors`."""

from enum import StrEnum
from typing import ClassVar

from sigla.errors import NotDone, OperationNotPermitted, Refusal


class IdMayBeGiven(OperationNotPermitted):
    text = (
        "Id {id} may have been given in region {region} before the promotion; run `sigla rejoin`, or "
        "`sigla regions abandon` with the URL of this registry if that region never comes back"
    )


class NoBlock(NotDone):
    text = (
        "No id of context {context} is left that region {region} knows of, and it does not answer: a new one might be "
        "given there, too"
    )


class BodyNotInBoth(NotDone):
    text = (
        "Region {region} did not take the schema in time, and each has to stand in both regions: nothing was registered"
    )


class KeyNotInBoth(NotDone):
    text = "Region {region} did not take the key in time, and each has to stand in both regions: ask again"


class KeyHeldUp(NotDone):
    text = (
        "A change of KEK {kek} that is not made yet stands in region {region} and cannot be read: none is made under "
        "that KEK before an operator deletes its object, number {number} of the KEK; the log names it"
    )


class KeyDeletedBefore(NotDone):
    text = "The key was deleted for good at the same moment, and region {region} has to hear of that first: ask again"


class BodyApart(NotDone):
    text = "Region {region} has another schema under a new id: nothing was registered; asked again, another id is given"


class NotForwarded(Refusal):
    """Writes are taken elsewhere, and nothing was written."""

    # The sentence of Confluent's servers.
    code, text = 50003, "Error while forwarding {operation} request to the leader"


class OutcomeNotKnown(NotForwarded):
    """The request was sent on, and no answer came."""

    text = "Error while forwarding {operation} request to the leader; whether it was carried out is not known"


class MayBeElsewhere(NotForwarded):
    """Nothing is concluded from absence while a region is out that may know what is asked for."""

    text = (
        "Error while forwarding the request to the leader; what is asked for is not here, and the region that was "
        "passed over, and is not back, may have it"
    )


class NotBackYet(NotForwarded):
    """The request was sent on and carried out, and cannot be read here."""

    text = (
        "Error while forwarding {operation} request to the leader; it was carried out there, and did not come back to "
        "this region in time"
    )


class RefusedAs(StrEnum):
    """What a follower that is refused does something about by itself. The words are told over HTTP (`regions.wire`)."""

    GIVEN_UP = "given_up"
    """Its primary goes on without it."""
    SERVED_TWICE = "served_twice"
    """Another copy of its directory is served, and asks as the same follower since."""


class NotFollowed(OperationNotPermitted):
    """registry: the URL at which it is asked, which it does not know itself: whoever hears of it from there says it."""

    text = "{registry} cannot be followed: {why}"

    def __init__(self, *, why: str, registry: str = "This registry", reason: RefusedAs | None = None) -> None:
        super().__init__(registry=registry, why=why)
        self.why = why
        self.reason = reason


class NoRegionHere(OperationNotPermitted):
    text = (
        "This server tells and changes nothing of two regions: `sigla regions` and `sigla promote` take the URLs of "
        "the stores"
    )


class RegionRefused(OperationNotPermitted):
    """A region does not allow it; nothing was changed."""

    text = "{why}"


class RegionNotDone(NotDone):
    """It was begun; asked again, it goes on."""

    text = "{why}"


class NotPromoted(Exception):
    """Roles do not change that way, as an operator is told. Nothing was changed, but where the sentence says what."""

    text: ClassVar[str]

    def __init__(self, **facts: object) -> None:
        super().__init__(self.text.format(**facts))


class NoSecondRegion(NotPromoted):
    text = "This registry has no second region: nothing is promoted, and none follows it"


class NotOneRegistry(NotPromoted):
    text = (
        "These are regions of two registries, which know nothing of each other: nothing was changed. Look at the URLs"
    )


class NotTheFollower(NotPromoted):
    text = "This command is for {wanted}, and the region is the {kind} of epoch {epoch}: give the URL of the other one"


class StillJoining(NotPromoted):
    text = "This region is joining and does not have everything yet; promote it when /health/ready says 200"


class WasRestored(NotPromoted):
    text = (
        "The table of {which} was restored to an earlier moment and does not know what was done since. It takes no "
        "writes until `sigla rejoin` has brought it back to the region that takes them; if neither does, promote the "
        "one that was not restored, with --force"
    )


class NotToBeOpened(NotPromoted):
    text = (
        "This primary of epoch {epoch} is closed, and may lack what another region has: it comes back by `sigla "
        "rejoin` with the region that takes writes. If no region does any more, `sigla backup` and `sigla restore` "
        "make a new registry of what is here"
    )


class RoleTooNew(NotPromoted):
    text = (
        "The registry has had a second region for less than twenty minutes, and a writer may not know of it yet: "
        "promote it in {minutes} minutes"
    )


class NotRehearsed(NotPromoted):
    text = "Nothing was changed. {why}"


class RegionsApart(NotPromoted):
    text = (
        "The other region is closed, and this one does not have the same: {what} `sigla promote --undo` opens the "
        "other one again; `sigla promote --force` goes on with what is here"
    )


class ToRejoin(NotPromoted):
    text = (
        "This region is the primary of epoch {epoch} and was promoted by force: the other one may have what it lacks, "
        "and follows once `sigla rejoin` has brought that"
    )


class ToAbandon(NotPromoted):
    text = (
        "This region was promoted by force, and no other one follows it yet: `sigla regions abandon` gives {region} up "
        "if that never comes back"
    )


class NotOut(NotPromoted):
    text = "{region} is not out. The regions that may have what this one lacks are: {out}. Nothing was changed"


class SeveralOut(NotPromoted):
    text = (
        "Several regions may have what this one lacks: {out}. Name the one to be given up: "
        "sigla regions abandon URL NAME"
    )


class NotToRejoin(NotPromoted):
    text = (
        "The region to rejoin is {kind} of epoch {epoch}, not before that of its primary: see `sigla regions`. If it "
        "is a copy of a directory that had a later state, it rejoins after the next promotion"
    )


class LacksItsOwn(NotPromoted):
    text = (
        "The primary takes no writes, since it lacks what it has acknowledged: its directory is an older copy. "
        "`sigla promote --force` has this region go on, and `sigla rejoin` brings that one back then"
    )


class HasAFollower(NotPromoted):
    text = (
        "Region {region} follows this registry already, and there can be one: if it is lost for good, "
        "`sigla regions dismiss` makes room for another"
    )


class GivenUp(NotPromoted):
    text = (
        "This follower of epoch {epoch} was given up, or left behind: its primary answers, and is in epoch {theirs}. "
        "`sigla rejoin` has it follow again"
    )


class AlreadyPromoted(NotPromoted):
    text = "A primary of epoch {epoch} takes writes: there is nothing to take back. Promote the other region instead"


class RoleChanged(NotPromoted):
    text = "A role was changed by another at the same time: look at `sigla regions`, and run it again"


class AlreadyARegion(NotPromoted):
    text = "Region {region} is already one of two regions, or was: nothing was changed"
