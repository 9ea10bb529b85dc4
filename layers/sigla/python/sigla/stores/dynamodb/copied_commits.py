"""What a commit of the source moves: by these numbers a part of the copy says whether it has the commit."""

from sigla import keys
from sigla.stores.dynamodb.actions import Key
from sigla.stores.dynamodb.numbers import MOVES, named_key
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.told_commits import ToldCommit
from sigla.stores.dynamodb.values import Item, unpacked


def commit_in(row: Item) -> ToldCommit | None:
    """What a row of the journal tells another region; None where it was written before the registry had a role."""
    form = unpacked(row["form"])
    return ToldCommit.of_row(keys.journal_at(row["sk"]), form) if "commit" in form else None


def numbers_of(target: Tools, told: ToldCommit) -> list[tuple[Key, str, int]]:
    """What a commit moves: the row, the name of its number, and what that is at least once the commit is in it."""
    places = target.places
    moved = [(places.head(subject), "revision", revision + 1) for subject, revision, _ in told.heads]
    moved += [(named_key(places, name), MOVES, number) for name, number in told.effects.moved.items()]
    # Whoever is referenced has the time of that; nothing of its own has moved.
    own = {subject for subject, _, _ in told.heads}
    return moved + [(places.head(each), "at", told.at) for each in told.targets if each not in own]
