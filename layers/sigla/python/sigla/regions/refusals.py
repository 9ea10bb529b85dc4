"""What is refused for the sake of another region: rows like those of `sigla.errors`."""

from sigla.errors import NotDone, OperationNotPermitted, Refusal


class IdMayBeGiven(OperationNotPermitted):
    text = (
        "Id {id} may have been given in region {region} before the promotion; run `sigla rejoin`, or "
        "`sigla regions abandon {region}` if it never comes back"
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


class NotForwarded(Refusal):
    """Writes are taken elsewhere, and nothing was written."""

    # The sentence of Confluent's servers.
    code, text = 50003, "Error while forwarding {operation} request to the leader"
