"""One registry follows another: what is told comes until nothing is left, or until one row cannot be carried out."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from typing import NamedTuple

from sigla.errors import BodyLost
from sigla.journal import UnknownCommit
from sigla.ports.replaying import OrderedReplayer, Shipment, Shipper, WaitingReplayer
from sigla.regions.replay import Needs, Verdict


class CaughtUp(NamedTuple):
    """How far a follower has come. position: of the last row that is carried out. stopped: why it does not go on.

    That is `DIVERGES` where something else stands here, and `KNOWN` where nothing more was told.
    """

    position: int
    stopped: Verdict


def catch_up(source: Shipper, target: OrderedReplayer) -> CaughtUp:
    """Carries out what the source tells. May be cut off anywhere, and called again. Raises as `Replayer.carry_out`."""
    for shipment in source.shipments(target.end()):
        verdict = target.carry_out(shipment)
        if verdict is Verdict.DIVERGES:
            return CaughtUp(target.end(), verdict)
    return CaughtUp(target.end(), Verdict.KNOWN)


def deliver(shipments: Iterable[Shipment], target: WaitingReplayer) -> Counter[Verdict]:
    """Carries out what was told, and what has waited for it; the rest waits. How many came to which verdict.

    Without shipments it looks at what waits alone. May be cut off anywhere, and be given the same again. Raises as
    `Replayer.carry_out`, but for what only a newer release can carry out, and for what has lost its schema: that waits.
    """
    verdicts: Counter[Verdict] = Counter()
    for shipment in shipments:
        verdict = _verdict(shipment, target)
        verdicts[verdict] += 1
        if verdict in (Verdict.EARLY, Verdict.UNKNOWN, Verdict.LOST):
            target.put_aside(shipment)
        elif verdict is Verdict.DIVERGES:
            target.set_apart(shipment)
    if not verdicts or verdicts.keys() - {Verdict.KNOWN, Verdict.DIVERGES}:
        # How often others refer to a subject is a number that no commit names: it is read anew.
        while (resumed := _resume(target))[Verdict.CARRY_OUT]:
            verdicts[Verdict.DIVERGES] += resumed[Verdict.DIVERGES]
    return +verdicts


def _verdict(shipment: Shipment, target: WaitingReplayer) -> Verdict:
    try:
        return target.carry_out(shipment)
    except UnknownCommit:
        return Verdict.UNKNOWN
    except BodyLost:
        return Verdict.LOST


def _resume(target: WaitingReplayer) -> Counter[Verdict]:
    """Carries out what waits, each commit once it has all that it needs: thousands cost what each of them costs."""
    needs = {shipment.position: (shipment, _needs(shipment, target)) for shipment in target.aside()}
    numbers = target.numbers({name for _, each in needs.values() for name in (*each.moves, *each.rests)})
    waiting: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    ready, verdicts = deque(needs), Counter[Verdict]()
    while ready:
        position = ready.popleft()
        shipment, each = needs[position]
        if (missing := each.missing(numbers)) is not None:
            waiting[missing].append(position)
            continue
        verdict = _verdict(shipment, target)
        verdicts[verdict] += 1
        if verdict is Verdict.DIVERGES:
            target.set_apart(shipment)
        elif verdict in (Verdict.CARRY_OUT, Verdict.KNOWN):
            target.take(shipment)
            for moved in each.moves.items():
                numbers[moved[0]] = max(numbers[moved[0]], moved[1])
                ready.extend(waiting.pop(moved, ()))
    return verdicts


def _needs(shipment: Shipment, target: WaitingReplayer) -> Needs:
    """Nothing of what a newer release has to carry out: it may be that release now."""
    try:
        return target.needs(shipment)
    except UnknownCommit:
        return Needs({}, {})
