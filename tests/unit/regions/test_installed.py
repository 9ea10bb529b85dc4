"""Two regions that are to change places run the same release with the same options, or it is said what differs."""

from sigla.regions.installed import unlike
from sigla.regions.installed_here import installed_here
from sigla.settings import NONE, Settings

ALIKE = installed_here("2.0", Settings(), NONE)


def test_two_that_are_alike_change_places() -> None:
    """What a machine has of its own does not matter."""
    other = Settings(data="/srv/b", memory_bytes=1, console=False, usage=False)
    assert [*unlike(ALIKE, installed_here("2.0", other, NONE))] == []


def test_whatever_clients_notice_is_told_with_both_values() -> None:
    other = installed_here("1.9", Settings(default_level="FULL", mode_mutability=False, schema_bytes=7), "keys")
    assert [*unlike(ALIKE, other)] == [
        "The primary runs release 1.9 and this region 2.0: install one at both.",
        "The primary has SIGLA_AUTH=keys and this region none: clients would be answered otherwise.",
        "The primary has SIGLA_DEFAULT_LEVEL=full and this region backward: clients would be answered otherwise.",
        "The primary has SIGLA_MODE_MUTABILITY=false and this region true: clients would be answered otherwise.",
        "The primary has SIGLA_SCHEMA_BYTES=7 and this region 1048576: clients would be answered otherwise.",
    ]


def test_case_does_not_matter_where_a_registry_does_not_look_at_it() -> None:
    assert [*unlike(ALIKE, installed_here("2.0", Settings(default_level="Backward"), NONE))] == []
