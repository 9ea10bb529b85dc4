"""What an operator decides is refused by name where it makes no sense."""

from dataclasses import fields
from pathlib import Path

import pytest

from sigla import opening
from sigla.settings import InvalidSetting, Settings

NUMBERS = [field.name.upper() for field in fields(Settings) if type(field.default) in (int, float)]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("text", ["-1", "-0.5"])
def test_no_number_is_below_zero(name: str, text: str) -> None:
    """A limit of less than nothing would refuse everything, or nothing, for a reason that is hard to find."""
    with pytest.raises(InvalidSetting, match=rf"^SIGLA_{name} is '?{text}(\.0)?'?; it must be "):
        Settings.read({f"SIGLA_{name}": text})


@pytest.mark.parametrize("text", ["nan", "inf", "1.5"])
def test_a_share_is_between_nothing_and_all(text: str) -> None:
    with pytest.raises(InvalidSetting, match=f"^SIGLA_LOG_READS is {text}; it must be "):
        Settings.read({"SIGLA_LOG_READS": text})


@pytest.mark.parametrize(
    "text", ["ui.example", "https://ui.example/", "https://a.example, b.example", "https://UI.example", "https://*/x"]
)
def test_an_origin_that_no_browser_sends_is_refused(text: str) -> None:
    """It would match no page, for a reason that is hard to find."""
    with pytest.raises(InvalidSetting, match=r"^SIGLA_CORS_ORIGINS has '.*'; an origin is written as browsers send it"):
        Settings.read({"SIGLA_CORS_ORIGINS": text})


@pytest.mark.parametrize("text", ["", "*", "null", "https://ui.example, http://localhost:3000", "http://[::1]:3000"])
def test_origins_are_written_as_browsers_send_them(text: str) -> None:
    assert Settings.read({"SIGLA_CORS_ORIGINS": text}).cors_origins == text


def test_a_registry_tries_a_write_again_for_as_long_as_it_is_told(tmp_path: Path) -> None:
    """A setting that reaches nothing is worse than none: the operator believes in it."""
    told = Settings.read({"SIGLA_RETRYING_SECONDS": "3"})
    with opening.embedded(told, tmp_path / "data") as (registry, _):
        assert registry.options.retrying_seconds == 3
