"""Which topics are tied to which subjects: none are, here. Clients ask before the first message of every topic."""

from sigla.registry import Registry
from sigla.web.api.exchange import SCHEMAS_PER_PAGE, Exchange
from sigla.web.api.replies import told
from sigla.web.http.answer import Answer
from sigla.web.http.refusals import NoSuchArgument

LIFECYCLES = frozenset({"STRONG", "WEAK"})


def none(exchange: Exchange, registry: Registry) -> Answer:  # noqa: ARG001 - every endpoint is called alike
    """Returns the empty list, whatever is asked for. Raises NoSuchArgument where a parameter cannot be understood."""
    exchange.page(SCHEMAS_PER_PAGE)
    lifecycle = exchange.text("lifecycle")
    if lifecycle and lifecycle not in LIFECYCLES:
        raise NoSuchArgument
    return told([])
