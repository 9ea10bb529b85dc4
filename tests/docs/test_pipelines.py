"""docs/pipelines.md: settings, reasons and figures are those of the code."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from infra import usage
from sigla.decoding.reasons import Reason
from sigla.deployment.choices.pipelines import GB_PER_VCPU, LEAST_VCPUS
from sigla_pipelines.__main__ import JOBS
from sigla_pipelines.land.settings import Landing, read_settings
from sigla_pipelines.land.targets import SYSTEM

PAGE = (Path(__file__).parents[2] / "docs" / "pipelines.md").read_text()


def rows(head: str) -> list[list[str]]:
    """The cells of the table that begins so."""
    found = re.match(r"(?:\|.*\n)+", PAGE[PAGE.index(head) :])
    assert found
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[0].splitlines()[2:]]


def settings() -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def names(form: Any, prefix: str = "") -> Iterator[str]:
    """`sink.lake`, of whatever stands in a list as of what stands alone."""
    for name, value in form.items():
        yield prefix + name
        inner = value if isinstance(value, list) else [value]
        for each in inner:
            if isinstance(each, dict) and name not in ("options", "catalog", "reader"):
                yield from names(each, f"{prefix}{name}.")


def fields(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for attribute, field in model.model_fields.items():
        name = field.alias or attribute
        yield prefix + name
        for part in re.findall(r"\b(\w+Part)\b", str(field.annotation)):
            module = __import__("sigla_pipelines.land.settings", fromlist=[part])
            yield from fields(getattr(module, part), f"{prefix}{name}.")


@pytest.mark.parametrize("number", [0, 1])
def test_the_settings_that_are_shown_can_be_read(number: int, tmp_path: Path) -> None:
    path = tmp_path / "land.yaml"
    path.write_text(settings()[number])
    assert isinstance(read_settings(path), Landing)


def test_every_setting_is_shown() -> None:
    """`registry.data` stands in a comment of the first, and in the second."""
    shown = {name for text in settings() for name in names(yaml.safe_load(text))}
    assert shown == set(fields(Landing))


def test_what_is_said_to_be_assumed_is(tmp_path: Path) -> None:
    """All but what has to be said stands there with its default, where it has one; in S3 a catalog has to be."""
    full, least = (yaml.safe_load(text) for text in settings())
    path = tmp_path / "land.yaml"
    path.write_text(yaml.safe_dump(least))
    assumed = read_settings(path)
    path.write_text(
        yaml.safe_dump({**least, **{each: full[each] for each in ("name", "checks", "trigger", "stop_if", "maintain")}})
    )
    assert read_settings(path) == assumed
    shown = {**full["sink"], "catalog": {}, "lake": least["sink"]["lake"]}
    path.write_text(yaml.safe_dump({**least, "sink": shown, "max_stale": full["max_stale"]}))
    assert read_settings(path) == assumed


def test_every_reason_is_explained() -> None:
    documented = [row[0].strip("`") for row in rows("| reason | means |")]
    assert documented == [reason.value for reason in Reason], "docs/pipelines.md has a row for each, in this order"


def test_every_column_is_explained() -> None:
    listed = [name for row in rows("| column | holds |") for name in re.findall(r"`(_sr_\w+)`", row[0])]
    assert listed == SYSTEM.names


def test_every_job_is_named() -> None:
    assert {*JOBS} <= {row[0].strip("`") for row in rows("| job | does |")}


@pytest.mark.usefixtures("cdk")
def test_prefixes_are_those_that_roles_may_use() -> None:
    from sigla.cdk.jobs import RAW, REPORTS, TABLES, WORK

    said = PAGE[PAGE.index("In the lake's bucket") :].split("\n\n")[0]
    assert set(re.findall(r"`(\w+)/`", said)) == {TABLES, WORK, REPORTS, RAW}


def test_costs_follow_from_what_is_said() -> None:
    """Prices, sizes and the processor time of a record stand in the sentences, and in what prices are computed by."""
    said = [float(price) for price in re.findall(r"\$(\d\.\d{4})", PAGE)]
    for (per_vcpu, per_gb), found in zip(usage.EMR_HOURS.values(), (said[:3], said[3:]), strict=True):
        assert found == pytest.approx([per_vcpu, per_gb, per_vcpu + GB_PER_VCPU * per_gb])
    together = said[2]
    assert together == pytest.approx(usage.WORKER_VCPU_HOUR)
    (micros,) = re.findall(r"At (\d+) µs a record", PAGE)
    assert int(micros) / 1e6 == usage.RECORD_SECONDS
    for records, hours, dollars in rows("| records a day |"):
        number, unit = records.split()
        daily = usage.landed_hours(int(number) * {"million": 1e6, "billion": 1e9}[unit])
        assert float(hours) == pytest.approx(daily, rel=0.01)
        assert float(dollars) == pytest.approx(30 * daily * together, rel=0.01)
    ((runs, vcpus, hourly, quarterly),) = re.findall(
        r"(\d+) runs a month of two minutes with (\d+) vCPU are \$([\d.]+), .* quarter of an hour, \$([\d.]+)\.", PAGE
    )
    assert (int(runs), int(vcpus)) == (730, LEAST_VCPUS)
    assert float(hourly) == pytest.approx(730 * usage.run("land"), abs=0.005)
    assert float(quarterly) == pytest.approx(4 * 730 * usage.run("land"), abs=0.005)
