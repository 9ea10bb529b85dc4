"""Which topics are bound, and as what: each by its name, or by a pattern such as `shop.*`.

A pattern is a glob, because topics have dots: `shop.*` means what it looks like, and a regular expression would have to
escape each dot. And `*` is in no topic's name, so a pattern needs no setting of its own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from sigla_pipelines.land.bindings import Binding

ANY: Final = "*"
"""A `*` of a pattern stands for any part of a name, also an empty one.

At the beginning it stands for no `_`, as in `__consumer_offsets`.
"""

_PLACE: Final = re.compile(r"\{(\d+)\}")
"""In a table's name: what the first `*` stands for, or the second."""


_OF_ONE: Final = ("topic", "part", "records", "message")
"""Settings that belong to one binding alone."""
_OF_KEYS: Final = ("strategy", "reader", "skip")


def with_defaults(form: Any, settings: Iterable[str]) -> Any:
    """`land.yaml` in which every binding says what `defaults` has and it does not say otherwise. Raises ValueError.

    settings: of a binding. What has another form is left to who reads it.
    """
    given, bind = (form.get(name) for name in ("defaults", "bind")) if isinstance(form, dict) else (None, None)
    if not isinstance(given, dict) or not isinstance(bind, list):
        return form
    may = [name for name in settings if name not in _OF_ONE]
    if unknown := sorted(str(name) for name in given if name not in may):
        raise ValueError(f"unknown setting `defaults.{unknown[0]}`. Valid settings: {', '.join(may)}")
    return form | {"bind": [_completed(each, given) for each in bind]}


def _completed(bind: Any, given: Mapping[str, Any]) -> Any:
    if not isinstance(bind, dict):
        return bind
    fits = {name: each for name, each in given.items() if bind.get("part") != "key" or name in _OF_KEYS}
    if not is_pattern(str(bind.get("topic", ""))):
        fits.pop("skip", None)
    return fits | bind


def is_pattern(topic: str) -> bool:
    return ANY in topic


def parts_of(table: str) -> set[int]:
    """The stars of a pattern that a table's name speaks of."""
    return {int(found) for found in _PLACE.findall(table)}


def expression(pattern: str, skip: Iterable[str] = ()) -> str:
    """A regular expression for Python and for Java, with a group for each star. skip: patterns of what is left out."""
    without = "".join(f"(?!{_expression(each, '.*')}$)" for each in skip)
    return without + _expression(pattern, "(.*)")


def _expression(pattern: str, star: str) -> str:
    begun = "(?!_)" if pattern.startswith(ANY) else ""
    return begun + star.join(part.replace(".", "[.]") for part in pattern.split(ANY))


@dataclass(frozen=True)
class Rule:
    """A binding whose topic is a pattern. skip: topics that it leaves out, by names or patterns."""

    binding: Binding
    skip: tuple[str, ...] = ()

    @cached_property
    def expression(self) -> str:
        return expression(self.binding.topic, self.skip)

    def of(self, topic: str) -> Binding | None:
        """The binding of a topic; None if the pattern does not match it."""
        found = re.fullmatch(self.expression, topic)
        if found is None:
            return None
        # The stars are replaced first: a topic's own name may look like a place.
        table = _PLACE.sub(lambda place: found[int(place[1])], self.binding.table).replace("{topic}", topic)
        return replace(self.binding, topic=topic, table=table)


@dataclass(frozen=True)
class Bound:
    """named: bindings of topics by their names. rules: those by patterns, of which the first that fits counts.

    What is bound by its name, its values or its keys, is bound by no pattern.
    """

    named: tuple[Binding, ...] = ()
    rules: tuple[Rule, ...] = ()
    _found: dict[tuple[str, str], Binding | None] = field(default_factory=dict, compare=False, repr=False)

    def __contains__(self, topic: object) -> bool:
        """Whether values of a topic are bound."""
        return isinstance(topic, str) and self._binding(topic, "value") is not None

    def bindings(self, topics: Iterable[str]) -> tuple[Binding, ...]:
        """Those of all topics that are bound by their names, and of these. Keys without values are not bound."""
        names = sorted(dict.fromkeys(topics) if self.rules else ())
        by_rule = (self._by_rule(topic) for topic in names if topic in self)
        return (*self.named, *(each for several in by_rule for each in several))

    @property
    def pattern(self) -> str:
        """The pattern of all topics whose values are bound, for Java."""
        names = {each.topic for each in self.named if each.part == "value"}
        rules = [rule.expression for rule in self.rules if rule.binding.part == "value"]
        return "|".join([*(expression(name) for name in sorted(names)), *rules])

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str], Binding]:
        return {(each.topic, each.part): each for each in self.named}

    def _binding(self, topic: str, part: str) -> Binding | None:
        key = topic, part
        if key not in self._found:
            fitting = (rule.of(topic) for rule in self.rules if rule.binding.part == part)
            self._found[key] = self._by_name.get(key) or next((each for each in fitting if each), None)
        return self._found[key]

    def _by_rule(self, topic: str) -> Iterator[Binding]:
        for part in ("value", "key"):
            found = self._binding(topic, part)
            if found and (topic, part) not in self._by_name:
                yield found
