"""What one region lacks of the other one, by what both tell of themselves."""

from sigla.ports.regions import RegionReport


def lacking(here: RegionReport, there: RegionReport) -> list[str] | None:
    """What a follower lacks of its primary, as their journals end, a sentence each; empty: nothing.

    None where they are not that to each other.
    """
    if here.role is None or there.role is None or not here.role.follows(there.role):
        return None
    number = there.journal.position - here.journal.position
    if number > 0:
        return [f"{number} commits."]
    return [] if here.journal == there.journal or number < 0 else ["Their journals have gone apart."]
