"""The largest legal texts: twice the text takes at most 2.3 times the time, and nothing computes long without a pulse.

Each shape is legal near the limits, and hard on something: wide, deep, many names, long names, references,
alternatives. Every function of the language is timed on a text and on one half as long. Beside the ratio stands the
longest time between two pulses, at which a request could have been given up.

The half one is timed before the whole one and after it, for a processor that others share is not equally fast from one
second to the next. A shape that misses a goal is measured again, six times at most; then the ratio in the middle of its
attempts counts, and the least of the times without a pulse, to which a disturbance only ever adds.

Python's garbage collector rests meanwhile and is counted apart: a full collection falls into the whole text or into the
half one, and would be most of either figure. The longest one beside two such schemas stands at the end: so long may a
heap full of them hold others.

It may mislead: one text is one shape, and processor time still depends on caches.
"""

import gc
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import thread_time
from typing import Any, Final

from benchmarks.checks import ANY_FIELDS, STRICT
from benchmarks.harness import Goal, Line, Lines, main
from sigla.effort import Effort, Limits
from sigla.errors import CheckAbandoned, Malformed
from sigla.languages import LANGUAGES
from sigla.languages.language import Language
from sigla.model import Parsed

SIZE: Final = 1_000_000
"""Characters of a text; a registry takes 1 MiB."""
RATIO: Final = Goal(2.3)
GAP: Final = Goal(0.1, "s")
UNLIMITED: Final = Limits(computing_s=1e9, waiting_s=1e9)
SHORT: Final = 0.1
"""Seconds below which a ratio says nothing."""
NOTEWORTHY: Final = 0.02
"""Seconds without a pulse that are told."""
ATTEMPTS: Final = 7
CHECKED: Final = 30_000
"""Messages of the check that has a goal of its own."""
WITHIN: Final = Goal(1.0, "s")
REPEATED: Final = re.compile("«(.*?)(?:¦(.*?))?»", re.DOTALL)

# What stands in « » is repeated, with what follows ¦ in between: # is the number, ½ the half of it, and @ tells two
# versions of the schema apart.
AVRO: Final = {
    "fields": '{"type":"record","name":"R","doc":"@","fields":[«{"name":"f#","type":"int"}¦,»]}',
    "fields with defaults and docs": (
        '{"type":"record","name":"R","fields":[«{"name":"f#","type":"double","doc":"@","default":#.5,"x":[1]}¦,»]}'
    ),
    "records used by name": (
        '{"type":"record","name":"Top","fields":[«{"name":"f#","type":{"type":"record","name":"R#","doc":"@","fields":'
        '[{"name":"a","type":["null","int","R#"]}]}}¦,»]}'
    ),
    "symbols": '{"type":"enum","name":"E","doc":"@","symbols":[«"S#"¦,»]}',
    "enums": '[«{"type":"enum","name":"E#","doc":"@","symbols":["A#","B"]}¦,»]',
    "a union of records": '[«{"type":"record","name":"R#","doc":"@","fields":[]}¦,»]',
    "fields of unions": (
        '{"type":"record","name":"R","doc":"@","fields":'
        '[«{"name":"f#","type":["null","int",{"type":"map","values":"string"}]}¦,»]}'
    ),
    "aliases": '{"type":"record","name":"R","doc":"@","fields":[«{"name":"f#","type":"int","aliases":["a#","b#"]}¦,»]}',
    "aliases of one record": '{"type":"record","name":"R","doc":"@","fields":[],"aliases":[«"a.A#"¦,»]}',
    "long names": f'{{"type":"record","name":"R","doc":"@","fields":[«{{"name":"{"f" * 2_000}#","type":"int"}}¦,»]}}',
    "one name of many parts": '{"type":"fixed","name":"«a.»F","size":4,"doc":"@"}',
    "deep": (
        '{"type":"record","name":"R","doc":"@","fields":[«{"name":"f#","type":'
        + '{"type":"array","items":' * 200 + '"int"' + "}" * 200 + "}¦,»]}"
    ),
    "properties": '{"type":"int","v":"@","p":{«"k#":[{"z":1,"a":null}]¦,»}}',
    "a default of many values": (
        '{"type":"record","name":"R","fields":'
        '[{"name":"f","doc":"@","type":{"type":"array","items":"long"},"default":[«#¦,»]}]}'
    ),
    "comments": '{"type":"record","name":"R","doc":"@","fields":[«/*#*/{"name":"f#","type":"int"}¦,»]}',
    "one record redefined": (
        '{"type":"record","name":"R","doc":"@","fields":[«{"name":"f#","type":{"type":"record","name":"Same","fields":[]}}¦,»]}'
    ),
}  # fmt: skip
JSON: Final = {
    "properties": '{"properties":{«"p#":{"type":"string"}¦,»},"title":"@"}',
    "properties, all of them others": '{"additionalProperties":false,"properties":{«"p#@":{"type":"string"}¦,»}}',
    "pattern properties": (
        '{"additionalProperties":false,"patternProperties":{«"^x#_":{}¦,»},"properties":{«"p#@":{}¦,»}}'
    ),
    "hard patterns": (
        '{"additionalProperties":false,"patternProperties":{"^(a+)+([a-z]*)*$":{}},'
        '"properties":{«"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa#@":{}¦,»}}'
    ),
    "patterns": '{"title":"@","anyOf":[«{"pattern":"^[a-z]{2}(x|y#)*$"}¦,»]}',
    "required": '{"title":"@","properties":{«"p#":true¦,»},"required":[«"p#"¦,»]}',
    "enum": '{"enum":[«"S#"¦,»,"@"]}',
    "enum of numbers": '{"enum":[«#.50¦,»],"title":"@"}',
    "definitions": (
        '{"title":"@","properties":{«"p#":{"$ref":"#/definitions/d½"}¦,»},'
        '"definitions":{«"d#":{"type":"integer"}¦,»}}'
    ),
    "a tree of definitions": (
        '{"title":"@","$ref":"#/definitions/d9","definitions":{«"d#":{"properties":{"a":{"$ref":"~/definitions/d½"}}}¦,»}}'
    ),
    "a chain of definitions": (
        '{"title":"@","$ref":"#/definitions/d9","definitions":{«"d#":{"$ref":"~/definitions/d½"}¦,»}}'
    ),
    "all of": '{"title":"@","allOf":[«{"minimum":#}¦,»]}',
    "one of": '{"oneOf":[{"const":"@"},«{"const":#}¦,»]}',
    "anchors": (
        '{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"@","$defs":{«"d#":{"$anchor":"a#"}¦,»},'
        '"properties":{«"p#":{"$ref":"~a½"}¦,»}}'
    ),
    "ids": '{"title":"@","properties":{«"p#":{"$id":"http://x.org/#","$ref":"~"}¦,»}}',
    "dependencies": '{"title":"@","dependencies":{«"p#":["a","b#"]¦,»}}',
    "unknown words": '{"title":"@","x":{«"k#":[{"z":1}]¦,»}}',
    "tags": '{"title":"@","properties":{«"p#":{"type":"string","confluent:tags":["PII"]}¦,»}}',
    "deep": '{"title":"@","properties":{«"p#":' + '{"items":' * 100 + "{}" + "}" * 100 + "¦,»}}",
    "long numbers": f'{{"title":"@","enum":[«1#{"7" * 4_000}¦,»]}}',
}  # fmt: skip
PROTOBUF: Final = {
    "messages": "«message M#{optional int32 a@=1;}\n»",
    "messages that use messages": "«message M#{optional M½ a@=1;}\n»",
    "fields": "message M{«optional int32 f#@=1#;»}",
    "fields of one type": "message T{}message M{«optional T f#@=1#;»}",
    "fields deep inside": "".join(f"message A{n}{{" for n in range(60)) + "«optional A7 f#@=1#;»" + "}" * 60,
    "oneofs": "message M{«oneof o#@{int32 f#=1#;}»}",
    "one oneof": "message M{oneof o@{«int32 f#=1#;»}}",
    "one oneof again and again": "message M{«oneof o{int32 f#@=1#;}»}",
    "constants": "enum E{«C#@=#;»}",
    "enums": "«enum E#{A#@=0;}»",
    "options": 'message M{«option (o#).a="@";»}',
    "options of fields": "message M{«optional int32 f#@=1#[deprecated=true,(a.b)={c:#}];»}",
    "a value of many members": 'option (o)={«k#:# » v:"@"};',
    "a key again and again": 'option (o)={«k:# » v:"@"};',
    "maps": "message M{«map<string,M> f#@=1#;»}",
    "groups": "message M{«optional group G#=1#{optional int32 a@=1;}»}",
    "extends": "message M{extensions 1 to max;}«extend M{optional int32 f#@=1#;}»",
    "rpcs": "message M{}service S{«rpc R#@(M)returns(M);»}",
    "reserved": 'message M@{«reserved #,"a#";»}',
    "long names": f"«message {'m' * 480}#{{optional int32 a@=1;}}\n»",
    "a package of many parts": f"package {'.'.join(['p'] * 60)};«message M#{{optional M½ a@=1;}}»",
    "comments": "message M@{}«/* # */ // x\n»",
    "imports": 'message M@{}«import "a#.proto";»',
}
SHAPES: Final = {"AVRO": AVRO, "JSON": JSON, "PROTOBUF": PROTOBUF}


def text(shape: str, size: int, version: str = "a") -> str:
    """A text of this shape, of about so many characters."""
    share = size // max(1, len(REPEATED.findall(shape)))

    def repeated(match: re.Match[str]) -> str:
        piece, between = match[1], match[2] or ""
        count = max(10, share // (len(piece + between) + 4 * (piece.count("#") + piece.count("½"))))
        pieces = (piece.replace("#", str(number)).replace("½", str(number // 2)) for number in range(count))
        return between.join(pieces)

    return REPEATED.sub(repeated, shape.replace("@", version)).replace("~", "#")


# --- what is measured ------------------------------------------------------------------------------------------------


class Watch:
    """A clock for an effort: it is asked at every pulse that looks, and remembers the longest time in between."""

    def __init__(self) -> None:
        self.last = thread_time()
        self.longest = 0.0
        self.longest_collection = 0.0

    def collect(self) -> None:
        """A full collection of garbage, with all that the caller holds."""
        begun = thread_time()
        gc.collect()
        self.longest_collection = max(self.longest_collection, thread_time() - begun)

    def __call__(self) -> float:
        now = thread_time()
        self.longest = max(self.longest, now - self.last)
        self.last = now
        return now

    def timed(self, work: Callable[[], Any]) -> tuple[float, float, Any]:
        """Seconds of the processor, the longest without a pulse, and the result; what is refused took its time, too."""
        self.last, self.longest = thread_time(), 0.0
        begun = thread_time()
        try:
            with Effort(UNLIMITED, self, lambda: 0.0).turn():
                result = work()
        except (Malformed, CheckAbandoned) as refusal:
            result = refusal
        self()
        return thread_time() - begun, self.longest, result


def functions(language: Language, old: Parsed, new: Parsed) -> dict[str, Callable[[], Any]]:
    return {
        "validate": lambda: language.validate(new, ANY_FIELDS),
        "normalise": lambda: language.normalise(new),
        "equivalent": lambda: language.equivalent(new, old),
        "digest": lambda: language.digest(new),
        "compare": lambda: language.compare(new, old),
        "compare with itself": lambda: language.compare(new, new),
        "tagged": lambda: language.tagged(new),
        "resolved": lambda: language.render(new, "resolved"),
        "serialized": lambda: language.render(new, "serialized"),
    }


@dataclass(frozen=True, slots=True)
class Measured:
    """One function on the whole text, and on one half as long before it and after it.

    whole, half: seconds of the processor, half is the mean of the two. gap: the longest time without a pulse, in
    seconds. refused: why, empty if it was not.
    """

    whole: float
    half: float
    gap: float
    refused: str

    @property
    def ratio(self) -> float:
        return self.whole / self.half


def measured(watch: Watch, language: Language, shape: str, size: int) -> dict[str, Measured]:
    """What each function needed. The texts are read anew each time: what was computed once is remembered."""
    sizes = size // 2, size, size // 2
    offered = {version: [text(shape, each, version) for each in sizes] for version in "ab"}
    parsed: dict[str, list[Any]] = {}
    found: dict[str, Measured] = {}
    gc.disable()
    for version, texts in offered.items():
        found["parse"], parsed[version] = timed(watch, [partial(language.parse, each, (), STRICT) for each in texts])
    if all(isinstance(each, Parsed) for version in parsed.values() for each in version):
        sides = [functions(language, *pair) for pair in zip(parsed["a"], parsed["b"], strict=True)]
        for name in sides[0]:
            found[name], _ = timed(watch, [side[name] for side in sides])
    watch.collect()
    gc.enable()
    return found


def timed(watch: Watch, works: Sequence[Callable[[], Any]]) -> tuple[Measured, list[Any]]:
    """The same work on half, whole and half a text, and what came of each."""
    (before, _, _), (whole, gap, reason), (after, _, _) = runs = [watch.timed(work) for work in works]
    return Measured(whole, (before + after) / 2, gap, told(reason)), [result for *_, result in runs]


def told(result: Any) -> str:
    return str(getattr(result, "reason", result))[:60] if isinstance(result, Exception) else ""


def lines(*, quick: bool = False) -> Lines:
    size, attempts = (5_000, 1) if quick else (SIZE, ATTEMPTS)
    watch = Watch()
    gc.freeze()  # what was here before is not looked through: a process of tests holds millions of objects
    for name, shapes in SHAPES.items():
        for what, shape in shapes.items():
            yield from growth(watch, name, what, shape, size, most=attempts)
    yield Line("the longest collection of garbage", watch.longest_collection, "s", None, "")
    yield check(100 if quick else CHECKED)


def growth(watch: Watch, name: str, what: str, shape: str, size: int, *, most: int) -> Lines:
    """The lines of one shape: each function's ratio is the one in the middle of all attempts, its gap the least."""
    attempts: list[dict[str, Measured]] = []
    shown: list[Line] = []
    while len(attempts) < most and not (shown and all(line.holds for line in shown)):
        attempts.append(measured(watch, LANGUAGES[name], shape, size))
        shown = list(compared(f"{name}, {what}", attempts))
    yield from shown


def compared(title: str, attempts: Sequence[Mapping[str, Measured]]) -> Iterator[Line]:
    for function in attempts[0]:
        tried = sorted((each[function] for each in attempts), key=lambda one: one.ratio)
        middle, gap = tried[(len(tried) - 1) // 2], min(each.gap for each in tried)
        about = f"{title}: {function}" + (f" ({middle.refused})" if middle.refused else "")
        if middle.whole > SHORT and not middle.refused:
            yield Line(about, middle.whole, "s", middle.half, "half the text", RATIO)
        if gap > NOTEWORTHY:
            yield Line(f"{about}, the longest without a pulse", gap, "s", None, "", GAP)


def check(messages: int) -> Line:
    """One check as a registry does it: the reader's text is read and compared with what is in memory."""
    language = LANGUAGES["PROTOBUF"]
    old, new = (
        "".join(f"message M{number} {{optional int32 {field} = 1;}}\n" for number in range(messages)) for field in "ab"
    )
    writer = language.parse(old, (), STRICT)

    def checked() -> Any:
        return language.compare(language.parse(new, (), STRICT), writer)

    seconds = min(Watch().timed(checked)[0] for _ in range(ATTEMPTS))
    return Line(f"PROTOBUF: read and compare {messages:,} messages", seconds, "s", None, "", WITHIN)


if __name__ == "__main__":
    main(lines, __doc__)
