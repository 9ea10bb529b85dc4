"""Tells which topic goes to which table: when a job begins, and when a table is new to it."""

from collections.abc import Callable, Iterable

from sigla_pipelines.land.bindings import Binding, Strategy
from sigla_pipelines.land.plan import Plan, TableNames
from sigla_pipelines.land.sinks.sink import folder_of


class Destinations:
    """tell: takes each sentence, once."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told: set[tuple[str, str]] = set()

    def begin(self, bindings: Iterable[Binding], named: TableNames) -> None:
        """Begins with the bindings whose table follows from the settings alone."""
        tables = {each: each.table_of() for each in bindings if _has_one(each)}
        names = named(tables.values())
        for binding, table in tables.items():
            self._say(binding.topic, names.get(table, table))

    def add(self, plan: Plan) -> None:
        """Adds all that a batch may write to."""
        for binding in plan.bindings:
            if binding.part == "value":
                for head in plan.answer.heads[binding].values():
                    for record in plan.messages.get(binding, (head.record,)):
                        self._say(binding.topic, plan.table(binding, record) or "")

    def _say(self, topic: str, table: str) -> None:
        if (topic, table) not in self._told:
            self._told.add((topic, table))
            self._tell(f"The topic {topic} goes to the table {folder_of(table)}.")


def _has_one(binding: Binding) -> bool:
    return binding.part == "value" and binding.strategy is Strategy.TOPIC
