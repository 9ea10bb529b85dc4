"""What is done as soon as the journal has told something new: the function of exporters is woken."""

from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from sigla import observe
from sigla.functions.lifecycle import Handler
from sigla.observe import Teller

NEWS: Final = b'{"source": "sigla.journal"}'
"""The event. Nothing in it is needed: what there is to do stands in the table."""


class Waking:
    """A `Handler` of the journal that wakes a function after segments. It fails as the journal does, and never more.

    functions: a client of Lambda. name: of the function that is woken, by an event: its work is not waited for.
    """

    def __init__(self, follow: Handler, functions: Any, name: str, *, tell: Teller = observe.tell) -> None:
        self._follow = follow
        self._functions = functions
        self._name = name
        self._tell = tell

    def __call__(self, event: Any, context: Any = None) -> dict[str, Any]:
        done = self._follow(event, context)
        if done["segments"]:
            try:
                self._functions.invoke(FunctionName=self._name, InvocationType="Event", Payload=NEWS)
            except (BotoCoreError, ClientError) as silent:  # its clock comes within minutes
                self._tell(observe.failure(silent, request_id=getattr(context, "aws_request_id", "")))
        return done
