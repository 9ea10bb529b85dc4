"""What became of a subject: every commit that was about it, also after it was deleted for good."""

from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from sigla.errors import SubjectNotFound
from sigla.journal import ANYONE, SIGLA
from sigla.model import Page, Subject
from sigla.ports.log import LogEntry
from sigla.ports.principals import KeptName
from sigla.registry.lookup import is_known
from sigla.registry.paging import paged, pulsing
from sigla.registry.parts import part_of
from sigla.registry.resources import Resources
from sigla.registry.side_by_side import beside_its_view


def subject_history(resources: Resources, subject: Subject, *, page: Page) -> list[LogEntry]:
    """Newest first. Raises SubjectNotFound for a subject that nothing was ever told of, and nothing is stored of."""

    def told(of: Subject) -> list[LogEntry] | None:
        entries = resources.catalog.commits_about(of)
        first = next(entries, None)
        return None if first is None else paged(chain([first], entries), page)

    view, found = beside_its_view(resources, subject, told)
    if found is None and not is_known(view, deleted=True):
        raise SubjectNotFound(subject=view.subject)
    return found or []  # what was stored before histories were has none


def recent_changes(resources: Resources, *, subject: str = "", page: Page) -> list[LogEntry]:
    """Newest first. subject: only what is about it, by its qualified name."""
    if resources.recent_log is None:
        return []
    found = (each for each in pulsing(resources.recent_log.recent()) if not subject or each.is_about(subject))
    return paged(found, page)


def names_of(resources: Resources, tokens: Iterable[str]) -> Mapping[str, str]:
    """The names that are kept behind tokens, by token. No question where no token has any."""
    wanted = _of_principals(tokens)
    return _names_behind(resources.principals.names(resources.clock.now()), wanted) if wanted else {}


def names_among(
    resources: Resources, tokens: Iterable[str], after: str, most: int
) -> tuple[Mapping[str, str], str | None]:
    """As `names_of`, of so many kept names behind one; and that behind which to go on, where there are others."""
    wanted = _of_principals(tokens)
    if not wanted:
        return {}, None
    looked = part_of(resources.principals.names_after(after, resources.clock.now(), glance=most + 1), most)
    found = _names_behind(looked.found, wanted)
    return found, looked.found[-1].name if looked.goes_on and len(found) < len(wanted) else None


def own_name(resources: Resources, name: str, tokens: Iterable[str]) -> Mapping[str, str]:
    """The token behind which a name is kept, with it, where that is among the tokens."""
    wanted = _of_principals(tokens)
    own = resources.principals.kept(name, resources.clock.now()) if wanted else None
    return _names_behind([own] if own else [], wanted)


def _of_principals(tokens: Iterable[str]) -> set[str]:
    return set(tokens) - {"", SIGLA, ANYONE}


def _names_behind(kept: Iterable[KeptName], wanted: Collection[str]) -> Mapping[str, str]:
    return {each.token: each.name for each in kept if each.token in wanted}
