"""Who may know what: the arrows that import-linter cannot draw, because they are about names and not about modules."""

import re
import tomllib
from pathlib import Path

from tests.house import ROOT, dotted_uses, imported, product, python_files


def test_the_environment_is_read_in_wiring_alone() -> None:
    """Adapters are handed a mapping, so that a test, a Lambda and a laptop configure them the same way.

    `deployment/` and `delivery/` run on a deployer's machine alone, with its environment as it is. Commands that only
    read have a file of their own: `wiring` takes them longer than their work.
    """
    readers = {"os.environ", "os.environb", "os.getenv", "os.putenv"}
    found = [
        f"{name}:{line}"
        for name, path in product().items()
        if name not in ("wiring.py", "terminal/environment.py") and not name.startswith(("delivery/", "deployment/"))
        for line, use in dotted_uses(path, "environ", "getenv", "putenv")
        if use in readers
    ]
    assert not found, f"hand the mapping over from wiring.py: {found}"


def test_boto3_is_named_in_the_rooms_of_aws_alone() -> None:
    """The playground must run where no AWS package is installed, so also lazy imports count."""
    found = [
        f"{name}:{line}"
        for name, path in product().items()
        if not name.startswith(("aws/", "delivery/", "stores/dynamodb/", "stores/s3/", "functions/"))
        for line, module in imported(path)
        if module.split(".")[0] in {"boto3", "botocore", "aws_lambda_powertools"}
    ]
    assert not found, found


def test_the_time_is_asked_of_the_clock_alone() -> None:
    """Time that comes in by a port can be stopped in a test."""
    clocks = {"time.time", "time.time_ns", "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.date.today"}
    clocks |= {"datetime.now", "datetime.utcnow", "time.sleep"}
    found = [
        f"{name}:{line} {use}"
        for name, path in product().items()
        if Path(name).name != "clock.py"
        for line, use in dotted_uses(path, "import time", "from time", "datetime")
        if use in clocks
    ]
    assert not found, f"only stores/clock.py asks the machine: {found}"


def test_the_core_knows_no_machine() -> None:
    """Rules and languages are values in, values out: no files, no sockets, no threads, no chance."""
    worldly = {
        "asyncio",
        "http",
        "multiprocessing",
        "os",
        "pathlib",
        "random",
        "secrets",
        "shutil",
        "socket",
        "sqlite3",
    }
    worldly |= {"subprocess", "tempfile", "threading", "time", "urllib"}
    pure = ("rules/", "languages/", "model.py", "errors.py", "keys.py", "ports/")
    found = [
        f"{name}:{line} {module}"
        for name, path in product().items()
        if name.startswith(pure)
        for line, module in imported(path)
        if module.split(".")[0] in worldly and not module.startswith("urllib.parse")
    ]
    assert not found, found


def test_sigla_knows_nothing_of_who_uses_it() -> None:
    """Functions, pipelines, infrastructure and tests import sigla; the other way round there is no arrow."""
    users = {"functions", "infra", "sigla_pipelines", "localstack", "benchmarks", "tests"}
    found = [
        f"{name}:{line} {module}"
        for name, path in product().items()
        for line, module in imported(path)
        if module.split(".")[0] in users
    ]
    assert not found, found


def test_pipelines_use_the_core_and_never_the_web() -> None:
    """A job on a Spark worker needs what schemas mean, not how HTTP says it."""
    found = [
        f"{path.relative_to(ROOT)}:{line} {module}"
        for path in python_files("pipelines")
        for line, module in imported(path)
        if re.match(r"sigla\.(web|cli|wiring|cache)\b", module)
    ]
    assert not found, found


def test_the_picture_shows_every_room_where_its_arrows_are_held() -> None:
    """A newcomer looks for rooms in docs/architecture.md; who adds one meets it in pyproject.toml alone."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = [set(re.findall(r"\w+(?:/(?:verbs|running))?", line)) for line in page.split("```")[1].splitlines()]
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    [picture] = [contract for contract in contracts if contract["name"] == "Arrows point down"]
    wanting, above = [], 0
    for layer in picture["layers"]:
        rooms = {_as_drawn(room) for room in re.findall(r"[\w.]+", layer)} - {"__main__"}
        found = next((at for at, line in enumerate(drawn) if at >= above and rooms <= line), None)
        if found is None:
            wanting.append(f"{', '.join(sorted(rooms))}: draw it on one line, below what may import it")
        else:
            above = found
    assert not wanting, "docs/architecture.md, The rooms: " + "; ".join(wanting)


def _as_drawn(room: str) -> str:
    """`keks.verbs` is a room of its own, as `exporters.running` is; for the rest of an aggregate, one room is drawn."""
    whole, _, part = room.partition(".")
    return f"{whole}/{part}" if part in ("verbs", "running") else whole
