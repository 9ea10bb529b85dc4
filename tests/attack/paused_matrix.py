"""Which command is paused, in which situation, what runs to its end meanwhile, and how an operator goes on then."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from typing import Final

from sigla.regions import rules
from sigla.regions.nouns import RegionKind, Role
from sigla.rules import names
from tests.attack.paused_land import CRASHED, OTHER, Cut, Function, Land, Outcome, command, unpaused
from tests.attack.paused_stores import Paused

Run = Callable[[Land, Paused], Outcome | None]
"""What is under way. The outcome is that of a command."""

_numbers = count(100)


def text(number: int) -> str:
    return f'{{"type":"record","name":"R","fields":[{{"name":"f{number}","type":"int","default":0}}]}}'


# --- what can be paused ----------------------------------------------------------------------------------------------


def _command(*words: str, lost: str = "") -> Run:
    """words: A and B stand for the stores of the regions. lost: a region that does not answer the operator."""

    def run(land: Land, paused: Paused) -> Outcome:
        silent = frozenset(land.known.sites[lost]) if lost else frozenset[str]()
        done = command(
            land, *(land.url(each) if each in OTHER else each for each in words), paused=paused, silent=silent
        )
        if "--force" in words and done.wrote:
            land.known.forced.append(done.wrote[-1][1].epoch)
        if words[1] == "abandon" and done.wrote:
            land.known.given_up.add(land.known.sites[OTHER[words[2]]][0])
        return done

    return run


def _commands(new: str, old: str) -> dict[str, Run]:
    return {
        f"promote {new}": _command("promote", new, "--primary", old),
        f"undo {new}": _command("promote", new, "--primary", old, "--undo"),
        f"force {new}": _command("promote", new, "--force", "--primary", old),
        f"force {new} alone": _command("promote", new, "--force", lost=old),
        f"rejoin {old}": _command("rejoin", old, "--primary", new),
        f"dismiss at {new}": _command("regions", "dismiss", new),
        f"abandon at {new}": _command("regions", "abandon", new, lost=old),
        f"follow {new}": _command("regions", "follow", new, old, "--once"),
    }


COMMANDS: Final[Mapping[str, Run]] = _commands("B", "A") | _commands("A", "B")


def _client(which: str, ask: Callable[[Function], None]) -> Run:
    def run(land: Land, paused: Paused) -> None:
        ask(land.function(which) if paused is unpaused else Function(land, which, paused))

    return run


def _clients(which: str) -> dict[str, Run]:
    return {
        f"register at {which}": _client(which, lambda at: at.register("orders", text(next(_numbers)))),
        f"import at {which}": _client(
            which, lambda at: at.register(":.imported:orders", text(next(_numbers)), id=77, version=1)
        ),
        f"purge at {which}": _client(which, lambda at: at.purge("gone")),
    }


PAUSED: Final[Mapping[str, Run]] = {
    **COMMANDS,
    **_clients("A"),
    **_clients("B"),
    "turns": lambda land, paused: land.turn(paused),
}

# --- what runs to its end --------------------------------------------------------------------------------------------


def _anew(land: Land, _: Paused) -> None:
    """A gives its follower up, and an empty stack takes the place of that."""
    done = COMMANDS["dismiss at A"](land, unpaused)
    if done and done.wrote:
        land.rebuild("B")
        _several("turns", "turns", "turns")(land, unpaused)


def _several(*steps: str) -> Run:
    def run(land: Land, _: Paused) -> None:
        for step in steps:
            WHOLE[step](land, unpaused)

    return run


WHOLE: Final[Mapping[str, Run]] = {
    **PAUSED,
    "restore A": lambda land, _: land.restore("A"),
    "restore B": lambda land, _: land.restore("B"),
    "the run book": lambda land, _: good_end(land),
    "another B": _anew,
    "B by force, A rejoins": _several("force B alone", "register at A", "register at B", "rejoin A"),
    "B by force, A rejoins and leads": _several(
        *("force B alone", "register at A", "register at B", "rejoin A", "the run book", "promote A", "register at A")
    ),
    "B leads, A leads": _several("promote B", "register at B", "turns", "promote A", "register at A"),
    "B leads, A by force": _several("promote B", "register at B", "turns", "force A alone", "register at A"),
    "A by force, B rejoins": _several("force A alone", "register at A", "register at B", "rejoin B", "the run book"),
}

# --- situations ------------------------------------------------------------------------------------------------------


def _cut(land: Land, name: str, holds: Callable[[], bool]) -> None:
    """A command that was cut off as soon as that held."""

    def paused(_: str) -> None:
        if holds():
            raise Cut

    with suppress(Cut):
        COMMANDS[name](land, paused)


def healthy(land: Land) -> None:
    """With commits that the follower does not have yet."""
    a = land.function("A")
    for subject, number in (("orders", 1), ("orders", 2), ("gone", 3)):
        a.register(subject, text(number))
    a.registry.change_mode(names.subject(":.imported:"), "IMPORT")
    land.turn()
    land.clock.time += rules.KNOWN_MS
    for _ in range(2):
        land.turn()
    land.backup = land.copied()[0]
    a.register("gone-2", text(4))
    a.register(":.imported:other", text(5), id=50, version=1)
    land.turn()
    a.register("orders", text(6))
    a.register(":.imported:other", text(7), id=51, version=2)
    a.register("using", text(1))
    a.purge("gone-2")


def closed_by_a_cut_off_promotion(land: Land) -> None:
    healthy(land)
    _cut(land, "promote B", lambda: not land.role("A").open)


def promoted_and_cut_off(land: Land) -> None:
    healthy(land)
    _cut(land, "promote B", lambda: land.role("B").kind is RegionKind.PRIMARY)


def promoted_by_force(land: Land) -> None:
    """The primary of before is alive, and both take writes."""
    healthy(land)
    for step in ("force B alone", "register at A", "register at B"):
        WHOLE[step](land, unpaused)
    land.function("A").register("alone", text(8))


def promoted_by_force_and_closed(land: Land) -> None:
    promoted_by_force(land)
    land.turn()


def rejoining(land: Land) -> None:
    promoted_by_force(land)
    _cut(land, "rejoin A", lambda: land.role("A").kind is RegionKind.JOINING)


def joining(land: Land) -> None:
    promoted_by_force(land)
    COMMANDS["rejoin A"](land, unpaused)


def primary_restored(land: Land) -> None:
    healthy(land)
    land.restore("A")


def primary_restored_and_passed_over(land: Land) -> None:
    primary_restored(land)
    for step in ("force B alone", "register at B"):
        WHOLE[step](land, unpaused)


def follower_restored(land: Land) -> None:
    healthy(land)
    land.restore("B")


def dismissed(land: Land) -> None:
    healthy(land)
    for step in ("dismiss at A", "register at A"):
        WHOLE[step](land, unpaused)


SITUATIONS: Final[Mapping[str, Callable[[Land], None]]] = {
    each.__name__: each
    for each in (
        healthy,
        closed_by_a_cut_off_promotion,
        promoted_and_cut_off,
        promoted_by_force,
        promoted_by_force_and_closed,
        rejoining,
        joining,
        primary_restored,
        primary_restored_and_passed_over,
        follower_restored,
        dismissed,
    )
}

# --- the run book ----------------------------------------------------------------------------------------------------

PATIENCE: Final = 10
"""After so many commands an operator gives up."""
IN_THE_WAY: Final = ("`sigla regions abandon` gives", " answers: it is the ")
"""What a command says while the table before is there, whose stack is not wanted any more."""


def is_well(land: Land) -> bool:
    """One region takes writes, the other one follows it, and nothing is left to be brought."""
    a, b = land.role("A"), land.role("B")
    pairs = ((a, b), (b, a))
    return any(
        one.writes and one.reconciled and other.follows(one) and str(one.peer) == other.name for one, other in pairs
    )


def good_end(land: Land) -> None:
    """By docs/regions.md, for at most `PATIENCE` commands. Whether it came to one says `is_well`."""
    for _ in range(PATIENCE):
        land.turn()
        if is_well(land):
            land.turn()
            return
        advised = advice(land)
        if not advised:
            continue
        done = COMMANDS[advised](land, unpaused)
        assert done
        assert done.status != CRASHED, done.said
        if any(each in done.said for each in IN_THE_WAY):
            for table in land.known.given_up - {table for table, _ in land.known.sites.values()}:
                land.account.tables.drop(table)
            COMMANDS[f"abandon at {OTHER[advised[-1]]}"](land, unpaused)
        land.functions.clear()


def advice(land: Land) -> str:
    """The command for what `sigla regions` shows; empty where a minute is to be waited for."""
    roles = {which: land.role(which) for which in OTHER}
    writers = sorted((which for which in roles if roles[which].writes), key=lambda which: roles[which].epoch)
    if writers:
        return _advice(writers[-1], roles[writers[-1]], roles[OTHER[writers[-1]]])
    for which, role in roles.items():
        other = roles[OTHER[which]]
        if role.kind is RegionKind.FOLLOWER:
            is_closed = other.kind is RegionKind.PRIMARY and other.epoch == role.epoch
            return f"promote {which}" if is_closed else f"force {which}"
    return ""


def _advice(writer: str, ours: Role, theirs: Role) -> str:
    """One of the two takes writes, or the one that goes on does."""
    is_last_step = theirs.kind is RegionKind.PRIMARY and bool(theirs.token) and theirs.epoch == ours.epoch - 1
    if is_last_step and theirs.token == ours.token:
        return f"promote {writer}"
    if theirs.kind is RegionKind.JOINING and not theirs.joins and str(ours.peer) == theirs.name:
        return ""
    if theirs.follows(ours) and str(ours.peer) == theirs.name:
        return f"abandon at {writer}" if ours.lost else f"promote {OTHER[writer]}"
    if theirs.epoch > ours.epoch:
        return f"promote {OTHER[writer]}" if theirs.kind is RegionKind.FOLLOWER else ""
    return f"rejoin {OTHER[writer]}"


def is_lost_for_good(land: Land) -> bool:
    """Neither region can go on, and the run book says so: `sigla backup`, and a new stage.

    Both were restored, or the only one that has everything was.
    """
    a, b = land.role("A"), land.role("B")
    return any(
        one.is_restored and (other.kind is RegionKind.JOINING or (other.kind is RegionKind.PRIMARY and not other.open))
        for one, other in ((a, b), (b, a))
    )
