"""What another region sends on names the registry that it is for: no other one carries it out, and the answer says so.

At the address of a region another registry may answer, by a wrong setting or by now: there an id means another thing.
"""

from collections.abc import Callable
from typing import Any, Final

from starlette.types import Receive

from sigla.ports.primary import ANOTHER, PAIR
from sigla.web.api.call import Call
from sigla.web.api.unserved import not_forwarded
from sigla.web.app import RouteTable
from sigla.web.http.answer import Answer

_PAIR: Final = PAIR.encode()


def no_pair(_: str) -> bool:
    """What `is_own` says where a registry has no other region."""
    return False


class PairedTable(RouteTable):
    """A `RouteTable` of a registry that may have another region.

    is_own: whether a pair, as of `Role`, is that of this registry. Raises StoreError.
    """

    def __init__(self, is_own: Callable[[str], bool], *of_table: Any) -> None:
        super().__init__(*of_table)
        self._is_own = is_own

    async def _answer(self, call: Call, receive: Receive) -> Answer:
        if (sent := call.headers.get(_PAIR)) is not None:
            if not self._is_own(sent.decode("latin-1")):
                call.pair = ANOTHER.encode()
                raise not_forwarded(None)
            call.pair = sent
        return _with_pair(call, await self._answered(call, receive))

    async def _answered(self, call: Call, receive: Receive) -> Answer:
        """What is for this registry."""
        return await super()._answer(call, receive)

    def _failed(self, call: Call, error: Exception) -> Answer:
        return _with_pair(call, super()._failed(call, error))


def _with_pair(call: Call, answer: Answer) -> Answer:
    if call.pair:
        answer.headers = (*answer.headers, (_PAIR, call.pair))
    return answer
