"""The page of an audit, by its words and its structure."""

from html.parser import HTMLParser

from sigla_pipelines.audit.page import page, plainly
from sigla_pipelines.audit.plots import Bar, bars
from sigla_pipelines.audit.summary import MOST, Summary
from tests.build import NOW

COUNTED = {
    **dict.fromkeys(("subjects", "versions", "deleted", "ids", "compared", "broken_subjects", "broken_pairs"), 0),
    **dict.fromkeys(("rows", "seen", "never", "unknown", "unreadable", "references", "orphans"), 0),
    **dict.fromkeys(("equal", "equivalent", "garbage", "messages", "own_subjects", "staged"), 0),
}
EVIL = '<script>alert("x")</script>'


class Structure(HTMLParser):
    """Opening and closing tags in order; raises on those that do not match."""

    EMPTY = frozenset({"input", "meta", "rect"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.met: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.met.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


def _summary(**fields: object) -> Summary:
    given = {"registry": "data", "made": NOW, "level": None, "searched": True, "counted": COUNTED}
    return Summary(**{**given, **fields})  # type: ignore[arg-type]  # by name


def _broken(**fields: object) -> dict[str, object]:
    """A line of the list of breaks."""
    example = {"context": ".", "subject": "s", "level": "FULL", "newer": 2, "older": 1}
    plain = {"message": "no", "own": False, "subjects": 1, "pairs": 1, "examples": [example]}
    return example | plain | fields


def test_a_name_is_text_and_never_markup() -> None:
    """Subjects, topics and messages come from strangers."""
    seen = {"context": ".", "id": 1, "subject": EVIL, "rows": 2, "last_seen": NOW, "topics": [EVIL]}
    shown = page(_summary(registry=EVIL, broken=(_broken(subject=EVIL, message=EVIL),), seen=(seen,)))
    assert shown.count("<script") == 1, "the one of the search"
    assert shown.count("&lt;script&gt;") >= 6
    assert not Structure(shown).open


def test_it_can_be_read_without_being_seen() -> None:
    """Plots say their values, tables their headings, the page its language."""
    seen = {"context": ".", "id": 7, "subject": "orders", "rows": 1_234, "last_seen": NOW, "topics": ["orders"]}
    met = Structure(page(_summary(broken=(_broken(),), seen=(seen,)))).met
    assert ("html", {"lang": "en"}) in met
    plots = [attributes for tag, attributes in met if tag == "svg"]
    assert [each["role"] for each in plots] == ["img"] * len(plots)
    assert "7 orders: 1234" in [each["aria-label"] for each in plots]
    assert all(attributes.get("scope") == "col" for tag, attributes in met if tag == "th")


def test_messages_are_sentences_and_say_in_how_many_subjects() -> None:
    """The checker's own form is for programs, and differs from language to language."""
    avro = "{errorType:'GONE', description:'The field 'a' is gone', additionalInfo:'a'}"
    many = [{"context": ".", "subject": f"s{number}"} for number in range(20)]
    shown = page(_summary(broken=(_broken(message=avro, own=True, subjects=1_000, examples=many),)))
    assert "The field &#x27;a&#x27; is gone (GONE)<" in shown
    assert "FULL refuses it<" in shown
    assert "s0, s1, s2, s3, s4 and 995 more<" in shown
    json_schema = """{errorType:"GONE", description:"The property was 'removed''}"""
    assert plainly(json_schema) == "The property was 'removed' (GONE)"
    assert plainly("anything else") == "anything else"


def test_lines_can_be_searched_and_without_a_script_all_are_there() -> None:
    shown = page(_summary(broken=(_broken(),)))
    assert '<p class="search" hidden>' in shown
    assert '<input type="search"' in shown


def test_a_list_says_that_it_is_only_the_beginning() -> None:
    never = tuple({"context": ".", "id": id, "subject": "s", "type": "AVRO"} for id in range(MOST))
    shown = page(_summary(never=never, counted=COUNTED | {"never": 5_000}))
    assert "Never seen: the first 100 of 5,000" in shown


def test_every_list_of_a_large_registry_says_how_many_there_are() -> None:
    """A hundred of a million lines look like all of them otherwise."""
    counted = {
        "messages": 1,
        "seen": 2,
        "unknown": 3,
        "never": 4,
        "unreadable": 5,
        "references": 6,
        "orphans": 7,
    }
    of = {"context": ".", "id": 1, "subject": "s", "type": "AVRO", "rows": 1, "last_seen": NOW, "topics": ["t"]}
    wrong = {"status": "NO_BODY", "detail": None, "version": 1, "name": "n", "target": "t", "target_version": 1}
    line = of | wrong | {"problem": "NO_BODY", "quarantined": 0}
    lists = dict.fromkeys(("seen", "unknown", "never", "unreadable", "references", "orphans"), (line,) * MOST)
    counts = COUNTED | {name: number * 1_000_000 for name, number in counted.items()}
    shown = page(_summary(broken=(_broken(),) * MOST, counted=counts, **lists))
    for number in counted.values():
        assert f"the first 100 of {number},000,000<" in shown


def test_a_cell_of_a_large_registry_is_still_a_cell() -> None:
    """An id in ten thousand topics, or a message that tells a thousand symbols, would be a page of its own."""
    topics = [f"topic-{number}" for number in range(10_000)]
    seen = {"context": ".", "id": 1, "subject": "s", "rows": 1, "last_seen": NOW, "topics": topics}
    shown = page(_summary(broken=(_broken(message="x" * 5_000),) * MOST, seen=(seen,) * MOST))
    assert "topic-4 and 9,995 more<" in shown
    assert "x" * 200 in shown
    assert "x…<" in shown
    assert len(shown) < 200_000


def test_a_time_that_is_no_date_is_shown_as_its_number() -> None:
    """One record of the year 33658 does not cost a reader the page."""
    times = (NOW, 10**15, 2**63 - 1, None)
    line = {"context": ".", "id": 1, "subject": "s", "rows": 1, "topics": ["t"]}
    seen = tuple(line | {"last_seen": ms} for ms in times)
    shown = page(_summary(seen=seen))
    assert "<td>1000000000000000</td>" in shown
    assert "<td>9223372036854775807</td>" in shown


def test_without_data_nothing_is_said_about_usage() -> None:
    """That a schema was not looked for does not mean that it does not occur."""
    shown = page(_summary(searched=False))
    assert "This audit was given no data" in shown
    assert "never seen" not in shown


def test_an_empty_registry_is_in_order() -> None:
    shown = page(_summary())
    assert "Every version can be read as every other" in shown
    assert "Every schema is understood" in shown


def test_a_plot_of_nothing_is_nothing() -> None:
    assert bars("Nothing", "nothing", []) == ""
    assert "<svg" in bars("Zero", "zero", [Bar("zero", 0)])


def test_only_what_somebody_has_to_look_at_is_amiss() -> None:
    """A level that was not asked for breaks nothing."""
    broken = COUNTED | {"broken_subjects": 3}
    assert not _summary(counted=broken).amiss
    assert _summary(counted=broken, level="FULL").amiss
    assert _summary(counted=COUNTED | {"unknown": 1}).amiss
