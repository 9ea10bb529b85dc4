"""One registry follows another: what is told comes until nothing is left, or until one row cannot be carried out."""

from typing import NamedTuple

from sigla.ports.replaying import Replayer, Shipper
from sigla.regions.replay import Verdict


class CaughtUp(NamedTuple):
    """How far a follower has come. position: of the last row that is carried out. stopped: why it does not go on.

    That is `DIVERGES` where something else stands here, and `KNOWN` where nothing more was told.
    """

    position: int
    stopped: Verdict


def catch_up(source: Shipper, target: Replayer) -> CaughtUp:
    """Carries out what the source tells. May be cut off anywhere, and called again. Raises as `Replayer.carry_out`."""
    for shipment in source.shipments(target.end()):
        verdict = target.carry_out(shipment)
        if verdict is Verdict.DIVERGES:
            return CaughtUp(target.end(), verdict)
    return CaughtUp(target.end(), Verdict.KNOWN)
