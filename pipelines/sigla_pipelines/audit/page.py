"""The page of an audit: one file that needs no other and no network, light and dark, readable without seeing it."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from string import Template
from typing import Any, Final

from sigla.model import Subject
from sigla_pipelines.audit.facts import Status
from sigla_pipelines.audit.plots import Bar, bars
from sigla_pipelines.audit.summary import Line, Summary

_PAGE: Final = Template((Path(__file__).parent / "page.html").read_text(encoding="utf-8"))

_CHARACTERS: Final = 300
"""The length of a cell; the tables have the whole text."""
_NAMES: Final = 5
"""The length of a list in a cell."""

_MESSAGE: Final = re.compile(
    r"""\{errorType:['"](?P<rule>\w+)['"], description:['"](?P<text>.*?)['"](, additionalInfo:.*)?\}""", re.DOTALL
)
"""How the checker words what breaks a rule; of JSON Schema a quote is closed by another one."""

_BAD, _NUMBER = ' class="bad"', ' class="number"'

Column = tuple[str, Callable[[Line], Any]]
"""A heading, and what stands below it in a line."""

_PROBLEMS: Final = {
    "NO_BODY": "the body is missing",
    "NO_VERSION": "the version does not exist",
    "DELETED": "the version is deleted",
}


def page(summary: Summary) -> str:
    sections = (_tiles, _levels, _broken, _usage, _never, _duplicates, _problems, _orphans)
    content = "\n".join(section(summary) for section in sections)
    made = f"{_time(summary.made)} UTC" + (f" · only level {summary.level}" if summary.level else "")
    return _PAGE.substitute(registry=escape(summary.registry), made=escape(made), content=content)


def _tiles(summary: Summary) -> str:
    counted = summary.counted
    tiles = [
        ("subjects", counted["subjects"], False),
        ("versions", counted["versions"], False),
        ("schema ids", counted["ids"], False),
        ("pairs compared", counted["compared"], False),
    ]
    if summary.searched:
        tiles += [
            ("records", counted["rows"], False),
            ("ids never seen", counted["never"], False),
            ("unknown ids in data", counted["unknown"], True),
            ("unknown ids in the quarantine", counted["garbage"], False),
        ]
    tiles += [
        ("schemas with more than one home", counted["equal"] + counted["equivalent"], False),
        ("unreadable", counted["unreadable"], True),
        ("references that lead nowhere", counted["references"], True),
    ]
    items = (f"<li{_BAD if wrong and value else ''}><b>{value:,}</b>{name}</li>" for name, value, wrong in tiles)
    return f'<ul class="tiles">{"".join(items)}</ul>'


def _levels(summary: Summary) -> str:
    shown = [line for line in summary.levels if summary.level in {None, line["level"]}]
    values = [
        Bar(
            line["level"],
            line["broken_subjects"],
            "bad" if line["broken_subjects"] else "good",
        )
        for line in shown
    ]
    said = "; ".join(f"{bar.name}: {bar.value} subjects" for bar in values)
    return _section(
        "What would break if a level were raised",
        "Subjects whose active versions a level would refuse. Raising the level changes nothing that is stored: it "
        "applies to the next version, and a transitive level compares that one with all of these.",
        bars("Subjects that a level would refuse", said, values),
        _table(
            "By level",
            shown,
            ("level", lambda line: line["level"]),
            ("subjects on it now", lambda line: line["subjects"]),
            ("subjects that it would refuse", lambda line: line["broken_subjects"]),
            ("pairs of versions", lambda line: line["broken_pairs"]),
        ),
    )


def _broken(summary: Summary) -> str:
    return _section(
        "Subjects with incompatible versions",
        f"{summary.counted['broken_subjects']:,} subjects, each with one message of the checker; of "
        f"{summary.counted['own_subjects']:,} the subject's own level refuses a pair: these come first. All pairs with "
        "all messages: table <code>breaks</code>.",
        _table(
            "Messages",
            summary.broken,
            ("what is wrong", lambda line: plainly(line["message"])),
            ("own level", lambda line: f"{line['level']} refuses it" if line["own"] else "allows it"),
            ("subjects", lambda line: line["subjects"]),
            ("pairs", lambda line: line["pairs"]),
            ("for example", lambda line: f"{_subject(line)}: {line['older']} → {line['newer']}"),
            ("in", lambda line: _some_names([_subject(each) for each in line["examples"]], line["subjects"])),
            none="Every version can be read as every other, in both directions.",
            of=summary.counted["messages"],
        ),
    )


def _usage(summary: Summary) -> str:
    if not summary.searched:
        return _section(
            "Which schemas occur in the data", "This audit was given no data to look through (--land or --records)."
        )
    seen = [Bar(f"{line['id']} {line['subject'] or ''}", line["rows"]) for line in summary.seen[:20]]
    months = [Bar(line["month"], line["ids"]) for line in summary.months[:24]]
    return _section(
        "Which schemas occur in the data",
        f"{summary.counted['seen']:,} ids in {summary.counted['rows']:,} parts of records.",
        bars("Records by schema id, the most frequent first", _quoted_values(seen), seen),
        bars("Schema ids by the month in which they were last seen", _quoted_values(months), months),
        _table(
            "Schema ids in the data",
            summary.seen,
            ("id", lambda line: str(line["id"])),
            ("subject", _subject),
            ("rows", lambda line: line["rows"]),
            ("last seen", lambda line: _time(line["last_seen"])),
            ("topics", lambda line: _some_names(line["topics"] or ())),
            folded=True,
            of=summary.counted["seen"],
        ),
        _table(
            "Ids in the data that the registry does not know",
            summary.unknown,
            ("id", lambda line: str(line["id"])),
            ("rows", lambda line: line["rows"]),
            ("in the quarantine", lambda line: line["quarantined"]),
            ("last seen", lambda line: _time(line["last_seen"])),
            ("topics", lambda line: _some_names(line["topics"] or ())),
            none="The registry knows every id in the data.",
            of=summary.counted["unknown"] + summary.counted["garbage"],
        ),
    )


def _never(summary: Summary) -> str:
    if not summary.searched:
        return ""
    return _section(
        "Schemas that never occur",
        "Active schemas that do not occur in the data that were looked through. Before you delete one: do the topics "
        "keep records that are older than these data?",
        _table(
            "Never seen",
            summary.never,
            ("id", lambda line: str(line["id"])),
            ("subject", _subject),
            ("type", lambda line: line["type"]),
            none="Every active schema occurs.",
            folded=True,
            of=summary.counted["never"],
        ),
    )


def _duplicates(summary: Summary) -> str:
    return _section(
        "The same schema in several subjects",
        f"{summary.counted['equal']:,} contents are equal in several subjects; {summary.counted['equivalent']:,} more "
        "groups are equivalent: they differ in spelling and mean the same.",
        _table(
            "Groups, the largest first",
            summary.duplicates,
            ("kind", lambda line: line["kind"].lower()),
            ("subjects", lambda line: line["subjects"]),
            ("versions", lambda line: line["versions"]),
            ("for example", lambda line: ", ".join(line["examples"])),
            none="No schema is in two subjects.",
            folded=True,
            of=summary.counted["equal"] + summary.counted["equivalent"],
        ),
    )


def _problems(summary: Summary) -> str:
    return _section(
        "What cannot be read",
        "Bodies that are missing or damaged, or whose text cannot be parsed; references that lead nowhere.",
        _table(
            "Schemas",
            summary.unreadable,
            ("id", lambda line: str(line["id"])),
            ("subject", _subject),
            ("what is wrong", lambda line: Status[line["status"]].value),
            ("detail", lambda line: line["detail"] or ""),
            none="Every schema is understood.",
            of=summary.counted["unreadable"],
        ),
        _table(
            "References of active versions",
            summary.references,
            ("subject", _subject),
            ("version", lambda line: line["version"]),
            ("references", lambda line: f"{line['name']}: {line['target']} version {line['target_version']}"),
            ("what is wrong", lambda line: _PROBLEMS[line["problem"]]),
            none="Every reference leads somewhere.",
            of=summary.counted["references"],
        ),
    )


def _orphans(summary: Summary) -> str:
    return _section(
        "Schemas that no version points to",
        "Bodies left by registrations that were cut off. They do no harm; the next one with the content takes it over.",
        _table(
            "Ids without a version",
            summary.orphans,
            ("id", lambda line: str(line["id"])),
            ("context", lambda line: line["context"]),
            ("type", lambda line: line["type"] or ""),
            none="Every schema has a version.",
            folded=True,
            of=summary.counted["orphans"],
        ),
    )


# --- pieces ----------------------------------------------------------------------------------------------------------


def _section(heading: str, lead: str, *pieces: str) -> str:
    """lead: our own words, as HTML."""
    return f"<section><h2>{escape(heading)}</h2><p>{lead}</p>{''.join(pieces)}</section>"


def _table(
    caption: str, lines: Sequence[Line], *columns: Column, none: str = "", folded: bool = False, of: int = 0
) -> str:
    """none: what is said if the table has no lines. folded: closed until a reader opens it.

    of: how many there are in all.
    """
    if not lines:
        return f"<p>{escape(none)}</p>" if none else ""
    rows = [[column(line) for _, column in columns] for line in lines]
    numbers = [all(isinstance(row[at], int) for row in rows) for at in range(len(columns))]
    head = _cells("th", (heading for heading, _ in columns), numbers, ' scope="col"')
    body = "".join(f"<tr>{_cells('td', row, numbers)}</tr>" for row in rows)
    more = f": the first {len(rows):,} of {of:,}" if of > len(rows) else ""
    title = escape(f"{caption}{more}")
    inside = f"<caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    table = f'<div class="scroll"><table>{inside}</table></div>'
    return f"<details><summary>{title}</summary>{table}</details>" if folded else table


def _cells(tag: str, cells: Iterable[Any], numbers: Sequence[bool], more: str = "") -> str:
    found = zip(cells, numbers, strict=True)
    return "".join(
        f"<{tag}{more}{_NUMBER if number else ''}>{escape(_cell_text(cell))}</{tag}>" for cell, number in found
    )


def _cell_text(cell: Any) -> str:
    if isinstance(cell, int):
        return f"{cell:,}"
    text = str(cell)
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}…"


def plainly(message: str) -> str:
    """A message of the checker as a person says it: what is wrong, and the rule's name behind it."""
    found = _MESSAGE.fullmatch(message)
    return f"{found['text']} ({found['rule']})" if found else message


def _some_names(names: Sequence[str], of: int = 0) -> str:
    """of: how many there are, where not all are in `names`."""
    more = max(of, len(names)) - min(_NAMES, len(names))
    return ", ".join(names[:_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def _quoted_values(values: Sequence[Bar]) -> str:
    return "; ".join(f"{bar.name}: {bar.value}" for bar in values)


def _subject(line: Line) -> str:
    return Subject(line["context"], line["subject"]).qualified if line["subject"] else ""


def _time(ms: int | None) -> str:
    """The number itself if it is not a date."""
    try:
        return "" if ms is None else datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return f"{ms}"
