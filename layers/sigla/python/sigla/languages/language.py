"""What the registry asks of a schema language: a record of functions, one value per language."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from sigla import effort
from sigla.contract import STRICT
from sigla.errors import CheckAbandoned, Malformed
from sigla.model import Finding, Parsed, Resolved, Tagged

MAX_STEPS: Final = 1_000_000
"""What the comparisons of one check may take together. A step is what a microsecond or less is enough for."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of difference between two schemas.

    id: what messages call it. source: where it is written down. compatible: the policies under which a reader can live
    with it.
    """

    id: str
    source: str
    compatible: frozenset[str] = frozenset()


@dataclass(slots=True)
class Budget:
    """The steps that are left, shared by all comparisons that it is handed to.

    looked: how many were left when the clock was looked at last, see `effort`. next_look: below so many it is again.
    """

    left: int = MAX_STEPS
    looked: int = MAX_STEPS
    next_look: int = MAX_STEPS - effort.STEPS_PER_LOOK

    def spend(self, steps: int) -> None:
        """Raises CheckAbandoned once nothing is left, effort.Interrupted where the work is to end."""
        self.left -= steps
        if self.left < self.next_look:  # the one comparison that each step of every check pays
            self._look()

    def _look(self) -> None:
        if self.left < 0:
            raise abandoned(f"the schemas need more than {MAX_STEPS} steps to be compared")
        effort.pulse(self.looked - self.left)
        self.looked = self.left
        self.next_look = max(0, self.left - effort.STEPS_PER_LOOK)


def abandoned(reason: str) -> CheckAbandoned:
    return CheckAbandoned(f"Unexpected exception during compatibility check: {reason}")


def check_unicode(text: str) -> None:
    """Half a surrogate pair cannot be stored or hashed: it has no UTF-8. Raises Malformed."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Malformed("The schema contains half of a surrogate pair") from None


if TYPE_CHECKING:
    from sigla.languages.outline import Outlines


class Compare(Protocol):
    def __call__(
        self, reader: Parsed, writer: Parsed, budget: Budget | None = None, policy: str = STRICT, /
    ) -> tuple[Finding, ...]: ...


@dataclass(frozen=True, slots=True)
class Language:
    """A schema language as a value.

    parse(text, references, strict): strict is for schemas offered as new. Raises errors.Malformed with the reason.
    validate(parsed, fields): what parsing leaves open and every schema offered outside an import must hold.
        fields: strict field validation. Raises errors.Malformed.
    normalise(parsed): the same schema with everything that has no meaning put in one order; idempotent.
    equivalent(a, b): the same structure, whatever the spelling.
    digest(parsed): equal for equivalent schemas, so that candidates can be looked up; equality is then checked exactly.
    compare(reader, writer, budget, policy): what hinders the reader from reading the writer's data; () if nothing does.
        Raises errors.CheckAbandoned where the comparison itself makes no sense, or takes more than the budget has left;
        without one, it has a whole one to itself.
    outlines(old, new): what the two consist of, in normal form, so that changes can be told. Raises errors.Malformed.
    sentence(finding, reader, writer): the message of a finding; reader and writer are `new` or `old`.
    render(parsed, form): the text in another form; unknown forms are the canonical one. Raises errors.Malformed.
    compiled(parsed): a form that readers without a parser can use, to be kept in the body; None without such a form.
    top_level_fields(parsed): names that `confluent:reserved` can collide with.
    tagged(parsed): every entity with inline tags, in document order.
    retag(parsed, add, remove): the text with tags added, then removed. Raises errors.Malformed for an unknown entity.
    """

    name: str
    parse: Callable[[str, Sequence[Resolved], bool], Parsed]
    validate: Callable[[Parsed, bool], None]
    normalise: Callable[[Parsed], Parsed]
    equivalent: Callable[[Parsed, Parsed], bool]
    digest: Callable[[Parsed], str]
    compare: Compare
    outlines: "Callable[[Parsed, Parsed], Outlines]"
    sentence: Callable[[Finding, str, str], str]
    render: Callable[[Parsed, str], str]
    compiled: Callable[[Parsed], bytes | None]
    top_level_fields: Callable[[Parsed], frozenset[str]]
    tagged: Callable[[Parsed], tuple[Tagged, ...]]
    retag: Callable[[Parsed, Sequence[Tagged], Sequence[Tagged]], str]
