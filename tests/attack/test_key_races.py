"""Two commands about one API key meet between any two steps of one of them: which secrets open it, who is told what.

A secret that a command showed is kept by a person, and one that was revoked by a stranger, perhaps: neither may be
good for anything that no order of the two explains.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import product
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple, cast

import pytest

from sigla.auth import api_keys, rotation
from sigla.auth.api_keys import Keys, Secret
from sigla.stores.s3.api_keys import AwsKeys
from sigla.stores.s3.objects import Objects
from sigla.stores.sqlite.keys import EmbeddedKeys
from tests.attack.ports import At, Between, client
from tests.build import NOW, FixedClock
from tests.contract.engines import BUCKET, in_process

NAME = "etl"
DAY = 86_400_000

Command = Callable[[Keys], str]
"""Yields the secret that it shows, if it shows one."""


def created(keys: Keys) -> str:
    return api_keys.create(keys, NAME, "writer", ["a-"], now=NOW)[1]


def rotated(keys: Keys) -> str:
    return rotation.rotate(keys, NAME, now=NOW, lasts_ms=DAY).secret


def rotated_at_once(keys: Keys) -> str:
    return rotation.rotate(keys, NAME, now=NOW, lasts_ms=0).secret


def revoked(keys: Keys) -> str:
    if not api_keys.revoke(keys, NAME, now=NOW, by=f"cli:{token_hex(4)}"):
        raise rotation.UnknownKey(NAME)
    return ""


COMMANDS: Mapping[str, Command] = {
    "create": created,
    "rotate": rotated,
    "rotate --for 0": rotated_at_once,
    "revoke": revoked,
}
BEGINNINGS: Mapping[str, tuple[Command, ...]] = {"no key": (), "a key": (created,), "a revoked key": (created, revoked)}
TRY_AGAIN = (rotation.NotRotated, api_keys.KeyChanged, api_keys.KeyTaken)
"""What a command may say that has met another one, having changed nothing."""


class Place(NamedTuple):
    """Where keys are; and how another process sees them, with a `Between` before what it calls."""

    keys: Keys
    watched: Callable[[Between], Keys]


@contextmanager
def directory(folder: Path) -> Iterator[Callable[[int], Place]]:
    def place(number: int) -> Place:
        kept = EmbeddedKeys(folder / str(number))
        return Place(kept, lambda between: cast("Keys", client("keys", kept, between)))

    yield place


@contextmanager
def bucket(_: Path) -> Iterator[Callable[[int], Place]]:
    """Each call of S3 is a step."""
    with in_process() as clients, closing(Objects(clients.s3, BUCKET, clock=FixedClock())) as objects:

        def place(number: int) -> Place:
            def watched(between: Between) -> Keys:
                found = Objects(client("s3", clients.s3, between), BUCKET, clock=FixedClock())
                return AwsKeys(found, registry=f"r{number}")

            return Place(AwsKeys(objects, registry=f"r{number}"), watched)

        yield place


PLACES = {"directory": directory, "bucket": bucket}


class Outcome(NamedTuple):
    """said: by each command, a refusal's name or nothing. opens: whose secrets do, and whether for good."""

    said: tuple[str, ...]
    opens: frozenset[tuple[str, bool]]


def ask(keys: Keys, command: Command) -> tuple[str, str]:
    """The refusal, and the secret."""
    try:
        return "", command(keys)
    except (*TRY_AGAIN, rotation.UnknownKey) as refusal:
        return type(refusal).__name__, ""


def outcome(keys: Keys, secrets: Mapping[str, str], said: Mapping[str, str]) -> Outcome:
    record = keys.get(NAME)
    kept = () if record is None else api_keys.read_key(NAME, record).secrets
    verifiers: dict[str, Secret] = {each.verifier: each for each in kept}
    opens = {
        (name, found.until > NOW + DAY)
        for name, secret in secrets.items()
        if secret and (found := verifiers.get(api_keys.verifier_of(secret))) and found.until > NOW
    }
    return Outcome((said["one"], said["other"]), frozenset(opens))


def in_order(place: Place, beginning: tuple[Command, ...], order: Mapping[str, Command]) -> Outcome:
    secrets = {f"before {at}": command(place.keys) for at, command in enumerate(beginning)}
    said: dict[str, str] = {}
    for name, command in order.items():
        said[name], secrets[name] = ask(place.keys, command)
    return outcome(place.keys, secrets, said)


def met(place: Place, beginning: tuple[Command, ...], one: Command, other: Command, step: int) -> Outcome | None:
    """The other comes before that step of the one, as a whole; None where there are fewer steps."""
    secrets = {f"before {at}": command(place.keys) for at, command in enumerate(beginning)}
    said: dict[str, str] = {}

    def meet(_: Any, carry_out: Callable[[], Any]) -> Any:
        said["other"], secrets["other"] = ask(place.keys, other)
        return carry_out()

    at = At(step, meet)
    said["one"], secrets["one"] = ask(place.watched(at), one)
    return outcome(place.keys, secrets, said) if at.acted else None


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_two_commands_about_a_key_end_as_if_one_had_been_first(where: str, beginning: str, tmp_path: Path) -> None:
    """Or one has done nothing, and says to try again. A revoked secret never opens anything, nor does a lost one."""
    numbers = iter(range(10_000))
    begun = BEGINNINGS[beginning]
    with PLACES[where](tmp_path) as place:
        for (name, one), (other_name, other) in product(COMMANDS.items(), repeat=2):
            explained = {
                in_order(place(next(numbers)), begun, {"one": one, "other": other}),
                in_order(place(next(numbers)), begun, {"other": other, "one": one}),
            }
            alone = in_order(place(next(numbers)), begun, {"other": other, "one": lambda _: ""})
            explained |= {alone._replace(said=(each.__name__, alone.said[1])) for each in TRY_AGAIN}
            step = 0
            while (happened := met(place(next(numbers)), begun, one, other, step)) is not None:
                assert happened in explained, (name, other_name, step)
                step += 1
            assert step, "they did not meet"
