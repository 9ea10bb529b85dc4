"""What jobs print, wherever that goes."""

import io
import sys

import pytest

from sigla_pipelines import __main__ as jobs


def test_characters_that_the_output_lacks_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that has loaded a registry does not end in a trace because of a sign in its report."""
    printed = io.BytesIO()
    with io.TextIOWrapper(printed, encoding="ascii", write_through=True) as out:
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "argv", ["sigla_pipelines"])
        assert jobs.main() == 0
        print("1 × ü")
        assert "typed tables of records" in printed.getvalue().decode()
        assert printed.getvalue().endswith(b"1 \\xd7 \\xfc\n")
