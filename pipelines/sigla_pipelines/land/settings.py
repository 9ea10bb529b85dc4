"""`land.yaml`: what is landed, from where, as what, and what may be wrong with it."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    model_validator,
)

from sigla import strict_yaml
from sigla.decoding.decoder import DEEPEST, Limits
from sigla.settings import Address
from sigla_pipelines.land import bindings, starts, upsert, wording
from sigla_pipelines.land.bound import ANY, Bound, Rule, is_pattern, parts_of, with_defaults
from sigla_pipelines.land.column_settings import ColumnPart
from sigla_pipelines.land.dead_letter_settings import DeadLetterPart
from sigla_pipelines.land.decoders.decoder import Additional, Native
from sigla_pipelines.land.hash_key import REFERENCE
from sigla_pipelines.land.maintain_settings import MaintainPart
from sigla_pipelines.land.outputs import ROW_GROUP, Format
from sigla_pipelines.land.protection import Do
from sigla_pipelines.land.setting_values import Columns, Duration, Part, Partition, Reader, Size, Text, Topic, Topics
from sigla_pipelines.land.sinks.sink import OURS
from sigla_pipelines.land.starts import Start
from sigla_pipelines.land.targets import Evolve
from sigla_pipelines.land.type_settings import TypesPart
from sigla_pipelines.places import check_name


class InvalidLanding(Exception):
    """One sentence: which setting, and what is wrong with it."""


class RegistryPart(Part):
    """Where schemas are. table: not needed where every reader is an id."""

    data: str = ""
    bucket: str = ""
    table: str = ""
    name: Text = "default"
    context: str = "."

    @model_validator(mode="after")
    def _one(self) -> Self:
        if bool(self.data) == bool(self.bucket):
            raise ValueError("set either `data` or `bucket`: where the schemas are")
        if not self.context.startswith("."):
            raise ValueError(f"invalid context '{self.context}': it must begin with a dot: `context: .{self.context}`")
        if ":" in self.context:
            raise ValueError(f"invalid context '{self.context}': a context cannot contain a colon")
        if self.data:
            check_name(self.data)
        return self

    @property
    def address(self) -> Address:
        return Address.of(self.data, self.bucket, self.table, self.name)


_SAID_ELSEWHERE: Final = {
    "assign": "`bind`",
    "auto.offset.reset": "`source.start`",
    "bootstrap.servers": "`source.brokers`",
    "maxoffsetspertrigger": "`source.max_offsets`",
    "startingoffsets": "`source.start`",
    "subscribe": "`bind`",
    "subscribepattern": "`bind`",
}
"""Which setting is for an option of Kafka's consumer, or of Spark's source. Spark knows no capitals."""


class KafkaPart(Part):
    """options: of Kafka's consumer, with dots. max_offsets: of one batch.

    gaps: topics in which offsets may be missing because they are written in transactions; compacted ones are known by
    themselves.
    """

    kind: Literal["kafka"]
    brokers: Text
    start: Annotated[Start, BeforeValidator(starts.parse_start)] = Start()
    max_offsets: int | None = Field(default=None, gt=0, lt=2**63)
    options: dict[str, str] = Field(default_factory=dict)
    gaps: tuple[Topic, ...] = ()

    @model_validator(mode="after")
    def _said_once(self) -> Self:
        for option in self.options:
            name = option.lower().removeprefix("kafka.")
            if name in _SAID_ELSEWHERE:
                raise ValueError(f"the option {option} cannot be set here: use {_SAID_ELSEWHERE[name]}")
            if name != option.lower() or "." not in name:
                raise ValueError(f"unknown option {option}: expected one of Kafka's consumer, as security.protocol")
        return self


class FilesPart(Part):
    """path: of Parquet files with the columns of raw records. batch_files: of one batch."""

    kind: Literal["files"]
    path: Text
    batch_files: int = Field(default=64, gt=0)


class BindPart(Part):
    """topic: its name, or a pattern of several. skip: of a pattern, what it leaves out."""

    topic: Topics
    part: Literal["value", "key"] = "value"
    strategy: bindings.Strategy = bindings.Strategy.TOPIC
    reader: Reader = bindings.Reader()
    records: tuple[Text, ...] = ()
    table: str = ""
    message: str = ""
    mode: Literal["append", "upsert"] = "append"
    keys: tuple[Text, ...] = ()
    unwrap: upsert.Unwrap = upsert.Unwrap.NONE
    partition: Partition = None
    sort: Columns = None
    skip: tuple[Topics, ...] = ()

    @model_validator(mode="after")
    def _of_a_state(self) -> Self:
        if self.mode == "append":
            if self.keys or self.unwrap is not upsert.Unwrap.NONE:
                raise ValueError("`keys` and `unwrap` need `mode: upsert`")
            return self
        if self.part == "key":
            raise ValueError("`mode: upsert` is said of a topic's values: remove it from the binding of its keys")
        if self.strategy is not bindings.Strategy.TOPIC and (
            len(self.records) != 1 or "{record}" in self.binding.table
        ):
            raise ValueError(
                f"under {self.strategy.value} each record has a table of its own, and a delete does not say which "
                "record it deletes. `mode: upsert` needs one of each: write `records: [shop.Order]` and `table: orders`"
            )
        if is_pattern(self.topic):
            raise ValueError(f"`mode: upsert` needs the name of a topic, and {self.topic} is a pattern")
        if len(set(self.keys)) < len(self.keys):
            raise ValueError("`keys` names a field twice")
        return self

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        by_record = self.strategy is not bindings.Strategy.TOPIC
        if self.records and not by_record:
            raise ValueError("`records` needs the strategy RecordName or TopicRecordName")
        if self.strategy is bindings.Strategy.RECORD and not self.records:
            raise ValueError("the strategy RecordName needs `records`: the full names of the records")
        if by_record and self.message:
            raise ValueError("`message` needs the strategy TopicName: with other strategies use `records`")
        if any(record.startswith(":") for record in self.records):
            raise ValueError("`records` are full names without a context: set `registry.context`")
        if by_record and self.reader.kind == "id" and not self.records:
            raise ValueError("a reader that is an id needs `records`: the full names of the records that it reads")
        if self.part == "key" and self.table:
            raise ValueError("a key has no `table`: it becomes a column in the table of its value")
        if self.part == "key" and self.laid_out:
            raise ValueError("a key has no table: set `partition` and `sort` in the binding of the topic's values")
        several = by_record and self.part == "value" and len(self.records) != 1
        if several and "{record}" not in self.binding.table:
            raise ValueError("each record of a topic has its own table: `table` must contain `{record}`")
        if not by_record and "{record}" in self.table:
            raise ValueError("`{record}` in `table` needs the strategy RecordName or TopicRecordName")
        self._check_pattern()
        if self.part == "value" and self.binding.table in OURS:
            raise ValueError(f"the job uses the table {self.binding.table} itself: choose another for {self.topic}")
        return self

    def _check_pattern(self) -> None:
        stars = self.topic.count(ANY)
        if self.skip and not stars:
            raise ValueError(f"`skip` needs a pattern, and {self.topic} is a topic: remove `skip`")
        if unknown := sorted(number for number in parts_of(self.table) if not 0 < number <= stars):
            raise ValueError(f"`table` names {{{unknown[0]}}}, but `topic` contains {stars} of `*`")

    @property
    def binding(self) -> bindings.Binding:
        default = "{topic}" if self.strategy is bindings.Strategy.TOPIC else "{topic}.{record}"
        table = self.table or default
        if not is_pattern(self.topic):
            table = table.replace("{topic}", self.topic)
        return bindings.Binding(
            self.topic,
            self.part,
            self.strategy,
            self.reader,
            self.records,
            table,
            self.message,
            self.partition,
            self.sort,
        )

    @property
    def laid_out(self) -> bool:
        return self.partition is not None or self.sort is not None


class ChecksPart(Part):
    membership: bindings.Policy = bindings.Policy.FAIL
    deleted: bindings.Policy = bindings.Policy.ALLOW
    trailing: bindings.Policy = bindings.Policy.FAIL
    max_bytes: Size = Limits().max_bytes
    values: int = Field(default=Limits().values, gt=0)
    depth: int = Field(default=Limits().depth, gt=0, le=DEEPEST)

    @property
    def checks(self) -> bindings.Checks:
        limits = Limits(self.max_bytes, self.depth, self.values, trailing=self.trailing is bindings.Policy.ALLOW)
        return bindings.Checks(self.membership, self.deleted, limits)


class SinkPart(Part):
    """lake: the folder of all tables. catalog: of Iceberg, as pyiceberg names its properties; {} for the lake's own."""

    kind: Literal["iceberg", "parquet"] = "iceberg"
    lake: Text
    evolve: Evolve = Evolve.ADD
    additional: Additional = Additional.KEEP
    zstd: int = Field(default=3, ge=1, le=22)
    row_group: int = Field(default=ROW_GROUP, gt=0)
    namespace: Text = "sigla"
    catalog: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not all(level.strip() for level in self.namespace.split(".")):
            raise ValueError(f"a level of the namespace {self.namespace} is empty")
        return self

    @property
    def format(self) -> Format:
        return Format(self.zstd, self.row_group)


class StopPart(Part):
    """A batch with so large a share of bad records is not landed: a wrong deployment should not fill the quarantine."""

    bad_ratio: float = Field(default=0.2, ge=0, le=1)
    min_rows: int = Field(default=10_000, ge=0)


class TriggerPart(Part):
    every: Duration = timedelta(seconds=60)


class Landing(Part):
    """name: of the job, in manifests and metrics. work: the folder of what the job remembers.

    max_stale: how old an answer of the catalog may be while it is silent. columns: what is not landed as it is.
    hash_key: where the key of hashes is, never the key itself.
    """

    name: str = Field(default="land", pattern="^[A-Za-z0-9_.-]+$")
    registry: RegistryPart
    source: Annotated[KafkaPart | FilesPart, Field(discriminator="kind")]
    defaults: dict[str, Any] = Field(default_factory=dict)
    bind: tuple[BindPart, ...] = Field(min_length=1)
    checks: ChecksPart = ChecksPart()
    sink: SinkPart
    columns: tuple[ColumnPart, ...] = ()
    hash_key: str = Field(default="", pattern=REFERENCE)
    types: TypesPart = TypesPart()
    stop_if: StopPart = StopPart()
    dead_letter: DeadLetterPart | None = None
    trigger: TriggerPart = TriggerPart()
    native: Native = Native.AUTO
    maintain: MaintainPart = MaintainPart()
    work: Text
    max_stale: Duration = timedelta(hours=1)

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, form: Any) -> Any:
        return with_defaults(form, BindPart.model_fields)

    @model_validator(mode="after")
    def _topics_agree(self) -> Self:
        bound = [(each.topic, each.part) for each in self.bind]
        if len(set(bound)) < len(bound):
            raise ValueError("two bindings have the same topic and part")
        known = self.bound
        lonely = [topic for topic, part in bound if part == "key" and not is_pattern(topic) and topic not in known]
        if lonely:
            raise ValueError(f"the keys of {min(lonely)} are bound, but its values are not")
        if self.dead_letter:
            some = [each.topic.replace(ANY, "x") for each in self.bind]
            self.dead_letter.check(some, known, self.source)
        return self

    @model_validator(mode="after")
    def _states_agree(self) -> Self:
        upsert.check_states((each.binding.table, self._state(each)) for each in self.bind if each.part == "value")
        if self.states and self.sink.kind != "iceberg":
            raise ValueError("`mode: upsert` needs Iceberg tables: write `kind: iceberg`")
        return self

    def _state(self, value: BindPart) -> upsert.StateTable | None:
        if value.mode == "append":
            return None
        bound = any((each.topic, each.part) == (value.topic, "key") for each in self.bound.bindings([value.topic]))
        return upsert.StateTable(value.binding.table, value.keys, value.unwrap, bound)

    @property
    def states(self) -> tuple[upsert.StateTable, ...]:
        """The states of the tables that have one."""
        found = (self._state(each) for each in self.bind if each.part == "value")
        return tuple(dict.fromkeys(state for state in found if state))

    @model_validator(mode="after")
    def _has_its_key(self) -> Self:
        if any(each.do is Do.HASH for each in self.columns) and not self.hash_key:
            raise ValueError("`columns` has a rule that hashes: set `hash_key` to the place of the key, as env:NAME")
        return self

    @property
    def bound(self) -> Bound:
        rules = tuple(Rule(each.binding, each.skip) for each in self.bind if is_pattern(each.topic))
        return Bound(tuple(each.binding for each in self.bind if not is_pattern(each.topic)), rules)

    @property
    def bindings(self) -> tuple[bindings.Binding, ...]:
        """The bindings of topics, by their names."""
        return self.bound.bindings(())

    @property
    def topics(self) -> tuple[str, ...]:
        """Those that are bound by their names."""
        return tuple(dict.fromkeys(each.topic for each in self.bindings))


def read_settings(path: Path) -> Landing:
    """Raises InvalidLanding."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise InvalidLanding(f"{path} cannot be read ({problem.strerror}).") from problem
    return parse_landing(content, str(path))


def parse_landing(content: str | bytes, name: str) -> Landing:
    """name: of where the content is from, for the sentence. Raises InvalidLanding."""
    try:
        found = strict_yaml.read(content)
    except strict_yaml.Unreadable as problem:
        raise InvalidLanding(f"{name} cannot be read: {problem}.") from problem
    if found is None:
        raise InvalidLanding(f"{name} is empty: it needs `registry`, `source`, `bind`, `sink` and `work`.")
    try:
        return Landing.model_validate(found)
    except ValidationError as problem:
        raise InvalidLanding(f"{name}: {wording.first(problem, _PARTS)}.") from None


_PARTS: Final[Mapping[str, type[BaseModel]]] = {
    "": Landing,
    "registry": RegistryPart,
    "kafka": KafkaPart,
    "files": FilesPart,
    "bind": BindPart,
    "checks": ChecksPart,
    "sink": SinkPart,
    "columns": ColumnPart,
    "types": TypesPart,
    "stop_if": StopPart,
    "dead_letter": DeadLetterPart,
    "trigger": TriggerPart,
    "maintain": MaintainPart,
}
"""By the last name on the way to it."""
