"""Which Protobuf messages the records of a topic are: found out by landing, and remembered.

A schema is a file of many messages, and only a record says which one it is. So a plan knows the messages that were met
before; where tasks meet another one, nothing of the attempt counts, and the batch is read again by a plan that knows
it. That happens once for each message of a topic, and never where the topic has the first message of its file alone.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

import orjson

from sigla_pipelines.land.bindings import Binding
from sigla_pipelines.land.landed import Met
from sigla_pipelines.land.manifest import Manifests
from sigla_pipelines.places import Place

FOLDER: Final = "messages/"


class Messages:
    """work: where they are remembered, a file for each part of a topic. manifests: what was landed there before.

    The first one has the table of the topic itself: of the first batch that had any, the first of its file. It never
    changes, also where two drivers meet their first ones at once, or the file is written in another order.
    """

    def __init__(self, work: Place, manifests: Manifests) -> None:
        self._work = work
        self._manifests = manifests
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}

    def of(self, binding: Binding) -> tuple[str, ...]:
        """Full names, in the order in which they were met; () before the first one was."""
        part = binding.topic, binding.part
        if part not in self._known:
            text = self._work.read(_name(binding))
            if text is None:
                return ()
            self._known[part] = _messages(text)
        return self._known[part]

    def meet(self, read: Mapping[Binding, tuple[str, ...]], met: Iterable[Met]) -> bool:
        """Remembers them. read: what the plan knew of. False if the batch is to be read by another plan."""
        found: dict[tuple[str, str], list[Met]] = {}
        for each in sorted(set(met)):
            found.setdefault((each.topic, each.part), []).append(each)
        fits = True
        for binding, names in read.items():
            new = [each.message for each in found.get((binding.topic, binding.part), ())]
            # One that is selected has its table in any case, and keeps it when it is selected no more.
            fits &= self._remember(binding, names, new) or bool(binding.message)
        return fits

    def _remember(self, binding: Binding, read: tuple[str, ...], met: list[str]) -> bool:
        known = self.of(binding)
        new = [message for message in met if message not in known]
        if new:
            if not known and self._landed(binding):
                new = [*dict.fromkeys([read[0], *new])]
            name = _name(binding)
            stands = _messages(self._work.put_if_absent(name, _form(binding, new)))
            known = tuple(dict.fromkeys([*stands, *met]))
            if known != stands:
                self._work.replace(name, _form(binding, known))
            self._known[binding.topic, binding.part] = known
        return not met or (known[0] == read[0] and {*met} <= {*read})

    def _landed(self, binding: Binding) -> bool:
        """Whether its values were landed when nothing was remembered: of each file the first message, and no other."""
        return any(
            (metric.topic, metric.table, metric.reason) == (binding.topic, binding.table, "") and metric.subject
            for manifest in self._manifests.all()
            for metric in manifest.metrics
        )


def _name(binding: Binding) -> str:
    return f"{FOLDER}{sha256(f'{binding.topic} {binding.part}'.encode()).hexdigest()[:16]}.json"


def _form(binding: Binding, messages: Iterable[str]) -> bytes:
    return orjson.dumps({"topic": binding.topic, "part": binding.part, "messages": [*messages]})


def _messages(text: bytes) -> tuple[str, ...]:
    form: dict[str, Any] = orjson.loads(text)
    return tuple(form["messages"])
