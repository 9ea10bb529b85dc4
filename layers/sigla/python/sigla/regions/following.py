"""One registry follows another: what is told comes until nothing is left, or until one row cannot be carried out."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sigla.ports.replaying import OrderedReplayer, Shipment, Shipper, WaitingReplayer
from sigla.regions.replay import Verdict


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


def deliver(shipments: Iterable[Shipment], target: WaitingReplayer) -> Mapping[Verdict, int]:
    """Carries out what was told, and what has waited for it; the rest waits. How many came to which verdict.

    May be cut off anywhere, and be given the same again. Raises as `Replayer.carry_out`.
    """
    verdicts: Counter[Verdict] = Counter()
    for shipment in shipments:
        verdict = target.carry_out(shipment)
        verdicts[verdict] += 1
        if verdict is Verdict.EARLY:
            target.put_aside(shipment)
    # One that was waited for may be waited for itself.
    while sum(_goes_on(shipment, target) for shipment in target.aside()):
        continue
    return verdicts


def _goes_on(shipment: Shipment, target: WaitingReplayer) -> bool:
    """Whether others may go on now, because a commit has waited long enough."""
    verdict = target.carry_out(shipment)
    if verdict in (Verdict.CARRY_OUT, Verdict.KNOWN):
        target.take(shipment)
    return verdict is Verdict.CARRY_OUT
