"""What stands in front of a catalog or of bodies: everything that it does not say itself comes from behind."""

import inspect
from typing import Any

import pytest

from sigla.auth.narrowed import Narrowed
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.in_front import BodiesInFront, CatalogInFront

SEEN_WHOLE = {
    *("id_of", "ids_of", "standing"),  # the id of a content is the same for every caller, who has the content
    *("next_id", "raise_counter", "admit", "max_id", "state"),
    *("kek", "deks_counted"),  # a client asks for the KEK of its rule by name; credentials are left out of answers
}
"""What a key with prefixes is told as every other one is."""


def promised(port: type) -> set[str]:
    """The names of a port, with those that it has from others."""
    return {name for name in dir(port) if not name.startswith("_")}


class Asked:
    """Notes what it was asked."""

    def __getattr__(self, name: str) -> Any:
        def answer(*args: Any, **kwargs: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
            return name, args, kwargs

        return answer


@pytest.mark.parametrize("port, in_front", [(Catalog, CatalogInFront), (Bodies, BodiesInFront)])
def test_every_question_is_passed_on_as_it_was_asked(port: type, in_front: type) -> None:
    """A port that grows is passed on whole: nothing falls back on what a class happens to have."""
    assert promised(port) <= set(vars(in_front))
    before = in_front(Asked())
    for name in promised(port) - {"state"}:
        parameters = [
            each for each in inspect.signature(getattr(port, name)).parameters.values() if each.name != "self"
        ]
        args = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
        named = {each.name: each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
        answer = getattr(before, name)(*args, **named)
        assert answer in ((name, tuple(args), named), None), name


def test_a_key_with_prefixes_is_told_its_part_of_everything_but_what_is_named_here() -> None:
    """A question that is new would else be passed on as it is, and tell a key of the subjects of others."""
    passed_on = promised(Catalog) - set(vars(Narrowed))
    assert passed_on == SEEN_WHOLE, "say in auth/narrowed.py what such a key is told, or name it in SEEN_WHOLE"
