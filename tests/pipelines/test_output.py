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


def test_a_job_names_the_package_that_it_lacks_and_what_brings_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The registry installs without the libraries of the jobs: most who run one never run the other."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "sigla_pipelines.land.gc_job", raising=False)
    for name in [each for each in sys.modules if each.startswith("sigla_pipelines.land")]:
        monkeypatch.delitem(sys.modules, name)
    assert jobs.main(["gc", "land.yaml"]) == 2
    assert capsys.readouterr().err == (
        "The job gc needs the package pyarrow, which is not installed: pip install 'sigla-registry[pipelines,spark]'.\n"
    )
