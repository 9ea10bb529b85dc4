"""What the console asks beyond the API, by names: what answers is imported with the first question.

A function starts cold a thousand times for clients, and once for a person.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from sigla.registry import Registry
from sigla.web.api.exchange import Exchange
from sigla.web.http.answer import Answer


def _imported_when_asked(name: str, module: str = "console_answers") -> Callable[..., Answer]:
    def endpoint(exchange: Exchange, registry: Registry, **values: Any) -> Answer:
        answers = import_module(f"sigla.web.api.endpoints.{module}")
        answer: Answer = getattr(answers, name)(exchange, registry, **values)
        return answer

    return endpoint


found = _imported_when_asked("found")
search = _imported_when_asked("search")
in_force = _imported_when_asked("in_force")
verdict = _imported_when_asked("verdict")
graph = _imported_when_asked("graph")
token_names = _imported_when_asked("token_names")
stakes = _imported_when_asked("stakes")
fields = _imported_when_asked("fields")
decode = _imported_when_asked("decode")
log = _imported_when_asked("log")
own_region = _imported_when_asked("own_region")
other_region = _imported_when_asked("other_region")
caller = _imported_when_asked("caller")
usage_part = _imported_when_asked("usage_part", "part_answers")
version_part = _imported_when_asked("version_part", "part_answers")
context_part = _imported_when_asked("context_part", "part_answers")
settings_part = _imported_when_asked("settings_part", "part_answers")
holder_part = _imported_when_asked("holder_part", "part_answers")
referrer_part = _imported_when_asked("referrer_part", "part_answers")
kek_part = _imported_when_asked("kek_part", "part_answers")
association_part = _imported_when_asked("association_part", "part_answers")
key_list = _imported_when_asked("key_list", "key_answers")
key_use = _imported_when_asked("key_use", "key_answers")
make_key = _imported_when_asked("make_key", "key_answers")
rotate_key = _imported_when_asked("rotate_key", "key_answers")
revoke_key = _imported_when_asked("revoke_key", "key_answers")
