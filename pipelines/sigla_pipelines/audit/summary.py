"""What a person wants to know of an audit: counts, and of each table its beginning, the worst first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from sigla_pipelines.audit.facts import Status

MOST: Final = 100
"""Lines of a list on the page; the tables have all of them."""
_SOME: Final = 5
_SHOWN: Final = 20
"""Subjects of a message."""

_NEVER = "versions > 0 AND active > 0 AND rows = 0"
_UNKNOWN = "status IS NULL AND rows > quarantined"
_GARBAGE = "status IS NULL AND rows = quarantined"
"""Only the quarantine has it: bytes that look like an id, and a producer that has no serializer writes them daily."""
_UNREADABLE = f"status <> '{Status.UNDERSTOOD.name}'"
_DATED = "last_seen BETWEEN -62135596800000 AND 253402300799999"
"""From the year 1 to 9999: later months have no name, and Spark's numbers end some time."""
_ORPHAN = "status IS NOT NULL AND versions = 0 AND NOT coalesce(gone, false)"

Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Summary:
    """registry: its address. made: milliseconds since the epoch. level: the only one that was asked for, or None.

    counted: by name, see `summarise`. Lists have at most MOST lines, with the columns of their tables.
    """

    registry: str
    made: int
    level: str | None
    searched: bool
    """Whether data were looked through at all."""
    counted: Mapping[str, int]
    levels: tuple[Line, ...] = ()
    broken: tuple[Line, ...] = ()
    """Messages of the checker, those first that a subject's own level refuses, then by subjects: message, own,
    subjects, pairs, examples; and of one of them context, subject, level, newer, older."""
    seen: tuple[Line, ...] = ()
    never: tuple[Line, ...] = ()
    unknown: tuple[Line, ...] = ()
    months: tuple[Line, ...] = ()
    """Ids by the month in which they were last seen: month, ids."""
    duplicates: tuple[Line, ...] = ()
    """Groups: kind, versions, subjects, examples."""
    unreadable: tuple[Line, ...] = ()
    references: tuple[Line, ...] = ()
    orphans: tuple[Line, ...] = ()

    @property
    def amiss(self) -> bool:
        """A finding that needs attention: what cannot be read, and what the asked level would refuse."""
        wrong = self.counted["unreadable"] + self.counted["references"] + self.counted["unknown"]
        return bool(wrong or (self.level and self.counted["broken_subjects"]))


def summarise(
    registry: str,
    made: int,
    level: str | None,
    *,
    versions: DataFrame,
    ids: DataFrame,
    levels: Sequence[Line],
    breaks: DataFrame,
    duplicates: DataFrame,
    references: DataFrame,
    compared: int,
    searched: bool,
) -> Summary:
    """compared: pairs in one direction. searched: whether there were data to look through."""
    # An id that only records know has no status.
    known, unknown = ids.where("status IS NOT NULL"), ids.where("status IS NULL")
    broken = _broken(breaks).persist()
    never = known.where(_NEVER) if searched else known.where("false")
    groups = _groups(duplicates)
    subjects = f.count_distinct(f.col("context"), f.col("subject"))
    counted = {
        **_counts(versions, subjects=subjects, versions=f.count("*"), deleted=f.count_if("deleted")),
        **_counts(
            ids,
            ids=f.count_if(f.expr("versions > 0")),
            rows=f.sum("rows"),
            seen=f.count_if(f.expr("rows > 0")),
            never=f.count_if(f.expr(_NEVER)) if searched else f.lit(0),
            unknown=f.count_if(f.expr(_UNKNOWN)),
            garbage=f.count_if(f.expr(_GARBAGE)),
            unreadable=f.count_if(f.expr(_UNREADABLE)),
            orphans=f.count_if(f.expr(_ORPHAN)),
        ),
        **_counts(
            breaks,
            broken_subjects=subjects,
            own_subjects=f.count_distinct(f.when(f.col("own"), f.struct("context", "subject"))),
            broken_pairs=f.count_distinct(f.col("context"), f.col("subject"), f.col("newer"), f.col("older")),
        ),
        **_counts(broken, messages=f.count("*")),
        **_counts(references, references=f.count("*")),
        **_counts(
            groups,
            equal=f.count_if(f.expr("kind = 'EQUAL'")),
            equivalent=f.count_if(f.expr("kind = 'EQUIVALENT'")),
        ),
        "compared": compared,
    }
    return Summary(
        registry,
        made,
        level,
        searched,
        counted,
        levels=tuple(levels),
        broken=_as_lines(broken.orderBy(f.desc("own"), f.desc("subjects"), f.desc("pairs"), "message")),
        seen=_as_lines(ids.where("rows > 0").orderBy(f.desc("rows"), "id")),
        never=_as_lines(never.orderBy("context", "id")),
        unknown=_as_lines(unknown.orderBy(f.expr(_GARBAGE), f.desc("rows"), "id")),
        months=_as_lines(_months(ids)),
        duplicates=_as_lines(groups.orderBy(f.desc("subjects"), f.desc("versions"), "examples")),
        unreadable=_as_lines(known.where(_UNREADABLE).orderBy("context", "id")),
        references=_as_lines(references.orderBy("context", "subject", "version")),
        orphans=_as_lines(known.where(_ORPHAN).orderBy("context", "id")),
    )


def _counts(frame: DataFrame, **named: Column) -> dict[str, int]:
    """One pass over the frame."""
    found = frame.agg(*(column.alias(name) for name, column in named.items())).first()
    return {name: found[name] or 0 for name in named}


def _broken(breaks: DataFrame) -> DataFrame:
    """Each subject by one message, and what several subjects have in one line.

    A subject's message is of a pair that its own level refuses, if there is one, else of neighbours, if there are.
    """
    message = f.expr("messages[0]").alias("message")
    pair = f.struct((~f.col("own")).alias("allowed"), (~f.col("neighbours")).alias("apart"), "newer", "older", message)
    each = breaks.groupBy("context", "subject", "level").agg(
        f.countDistinct("newer", "older").alias("pairs"), f.min(pair).alias("first")
    )
    example = f.min(f.struct("context", "subject", "level", "first.newer", "first.older"))
    return (
        each.groupBy(f.col("first.message").alias("message"), (~f.col("first.allowed")).alias("own"))
        .agg(
            f.count("*").alias("subjects"),
            f.sum("pairs").alias("pairs"),
            f.slice(f.sort_array(f.collect_list(f.struct("context", "subject"))), 1, _SHOWN).alias("examples"),
            example.alias("example"),
        )
        .select("message", "own", "subjects", "pairs", "examples", "example.*")
    )


def _groups(duplicates: DataFrame) -> DataFrame:
    return duplicates.groupBy("kind", "digest").agg(
        f.count("*").alias("versions"),
        f.countDistinct("context", "subject").alias("subjects"),
        f.slice(f.sort_array(f.collect_set("subject")), 1, _SOME).alias("examples"),
    )


def _months(ids: DataFrame) -> DataFrame:
    month = f.date_format(f.timestamp_millis("last_seen"), "yyyy-MM")
    return ids.where(_DATED).groupBy(month.alias("month")).agg(f.count("*").alias("ids")).orderBy(f.desc("month"))


def _as_lines(frame: DataFrame) -> tuple[Line, ...]:
    return tuple(row.asDict(recursive=True) for row in frame.limit(MOST).collect())
