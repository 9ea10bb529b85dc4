"""Names behind the tokens of the journal: they come with changes, and go by themselves or when someone says so."""

from dataclasses import replace
from itertools import islice

from sigla.changes import Author
from sigla.changes.kinds import DAY_MS
from sigla.journal import ANYONE, SIGLA
from tests.build import NOW, a_registered, a_subject
from tests.contract.conftest import Stores

ORDERS = a_subject("o")
ADA, BOB = (Author(name, "api", kept_ms=10 * DAY_MS) for name in ("ada", "bob"))


def changed_by(stores: Stores, author: Author | None, at: int = NOW) -> str:
    """The token of a change."""
    head = stores.catalog.snapshot(ORDERS).head
    change = a_registered(head, id=head.highest + 1, text=f"text {head.highest}", ts=at)
    stores.catalog.commit(replace(change, author=author))
    *_, (_, row) = stores.journal.read()
    return str(row["by"])


def names(stores: Stores, now: int = NOW) -> dict[str, str]:
    return {kept.token: kept.name for kept in stores.principals.names(now)}


def test_a_principal_has_one_token_behind_which_its_name_is_kept(stores: Stores) -> None:
    first, other, again = (changed_by(stores, author) for author in (ADA, BOB, ADA))
    assert first == again != other
    assert names(stores) == {first: "ada", other: "bob"}
    assert [kept.name for kept in stores.principals.names(NOW)] == ["ada", "bob"]


def test_what_has_no_name_needs_none(stores: Stores) -> None:
    assert changed_by(stores, None) == SIGLA
    assert changed_by(stores, Author("", "api")) == ANYONE
    assert not names(stores)


def test_a_name_goes_some_time_after_the_last_change(stores: Stores) -> None:
    """Each day with a change puts that off; a principal that comes back later gets another token."""
    token = changed_by(stores, ADA)
    assert changed_by(stores, ADA, NOW + 9 * DAY_MS) == token
    assert names(stores, NOW + 18 * DAY_MS) == {token: "ada"}
    assert not names(stores, NOW + 19 * DAY_MS)
    assert changed_by(stores, ADA, NOW + 20 * DAY_MS) != token


def test_a_name_is_forgotten_and_its_token_stays_what_it_is(stores: Stores) -> None:
    """The journal is not touched: a row names a token, whoever that was."""
    token = changed_by(stores, ADA)
    assert stores.principals.forget("ada")
    assert not stores.principals.forget("ada")
    assert not names(stores)
    assert [row["by"] for _, row in stores.journal.read()] == [token]
    assert changed_by(stores, ADA, NOW + 300_000) != token


def test_names_go_on_behind_a_name_and_each_is_found_by_itself(stores: Stores) -> None:
    """Those that are kept no more are passed by."""
    strange = ["n" * 5000, "Ä # % /", *(f"name-{at}" for at in range(9))]
    tokens = {name: changed_by(stores, Author(name, "api", kept_ms=10 * DAY_MS)) for name in strange}
    changed_by(stores, Author("name-3 of a day", "api", kept_ms=DAY_MS))
    later, found = NOW + 2 * DAY_MS, list[str]()
    while some := list(islice(stores.principals.names_after(found[-1] if found else "", later, glance=4), 4)):
        found += [each.name for each in some]
    assert sorted(found) == sorted(strange)
    for name in strange:
        kept = stores.principals.kept(name, later)
        assert kept is not None
        assert (kept.name, kept.token) == (name, tokens[name])
    assert stores.principals.kept("name-3 of a day", later) is None
    assert stores.principals.kept("nobody", later) is None


def test_any_text_may_be_a_name(stores: Stores) -> None:
    """Tokens of issuers name their principals as they like."""
    strange = ["https://issuer.example/realms/x#sub", "Ä # % / \u2028", "n" * 5000]
    tokens = [changed_by(stores, Author(name, "api")) for name in strange]
    assert names(stores) == dict(zip(tokens, strange, strict=True))
    assert all(stores.principals.forget(name) for name in strange)
