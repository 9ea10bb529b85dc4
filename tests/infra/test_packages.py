"""What Lambda unpacks is named by what it is made from, and holds what it must."""

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sigla.deployment import packages, sources
from sigla.deployment.packages import Package
from sigla.deployment.uv import NotInstalled
from tests.infra.conftest import IDENTITY, Synthesise
from tests.infra.reading import Template, all_of, only


def test_two_syntheses_name_the_same_packages(template: Template, synthesise: Synthesise) -> None:
    """From other folders, at another time: what has not changed is not deployed again."""
    again = synthesise(IDENTITY, ("log_requests", True))
    assert only(again, "AWS::Lambda::LayerVersion")["Content"] == only(template, "AWS::Lambda::LayerVersion")["Content"]
    assert again == template


def test_the_layer_is_named_by_its_lock_and_its_processor(tmp_path: Path) -> None:
    """One package more, or another processor, is another layer."""
    before = packages.layer("arm64")
    assert packages.layer("arm64").digest == before.digest != packages.layer("x86_64").digest
    lock = tmp_path / "aws.txt"
    lock.write_text(packages.LOCK.read_text() + "left-pad==1.0\n")
    assert packages.layer("arm64", lock).digest != before.digest


def test_the_code_is_named_by_every_one_of_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte more, or the same bytes under another name, is other code; what Python leaves behind is not."""
    handler = tmp_path / "registry" / "handler.py"
    handler.parent.mkdir(parents=True)
    handler.write_text("handler = 1\n")
    monkeypatch.setattr(packages, "FUNCTIONS", tmp_path)
    first = packages.code("registry").digest
    (handler.parent / "__pycache__").mkdir()
    (handler.parent / "__pycache__" / "handler.pyc").write_bytes(b"left behind")
    assert packages.code("registry").digest == first
    handler.write_text("handler = 2\n")
    second = packages.code("registry").digest
    handler.rename(handler.with_name("handlers.py"))
    assert len({first, second, packages.code("registry").digest}) == 3


def test_parts_cannot_run_into_each_other() -> None:
    """`ab` and `c` are not `a` and `bc`."""
    assert packages.digest([b"ab", b"c"]) != packages.digest([b"a", b"bc"])


# Every Python that a deployer may have. They need nothing installed: naming a package is work for the standard library.
OTHERS = ("3.11", "3.12", "3.13", "3.14")
NAMES = """
from sigla.deployment import packages, pipeline_package as jobs
made = [packages.layer("arm64"), packages.layer("x86_64"), jobs.code(), jobs.packages()]
made += [packages.code(function) for function in ("registry", "journal", "heartbeat")]
print(*(f"{package.name} {package.digest}" for package in made), sep="\\n")
"""


def pythons() -> dict[str, str]:
    """Those of OTHERS that are here and run, by version; version managers leave shims that only fail."""
    managed = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = {}
    for version in OTHERS:
        asked = f"import sys; sys.exit('{version}' != '%d.%d' % sys.version_info[:2])"
        for python in (sys.executable, f"python{version}", *map(str, managed.glob(f"{version}.*/bin/python"))):
            if (
                shutil.which(python)
                and subprocess.run([python, "-c", asked], capture_output=True, check=False).returncode == 0
            ):
                found[version] = python
                break
    return found


def test_packages_have_the_same_names_whatever_python_the_deployer_has() -> None:
    """Two people of a team deploy the same; what changes by itself would be rolled out by whoever comes next."""
    here = pythons()
    if len(here) < 2:
        pytest.skip(f"only one Python is here: {', '.join(here)}")
    # Isolated from what is installed beside them, and without leaving bytecode behind.
    named = {
        version: subprocess.run(
            [python, "-S", "-B", "-c", NAMES],
            cwd=sources.ROOT,
            env={**os.environ, "PYTHONPATH": str(sources.SIGLA.parent)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for version, python in here.items()
    }
    assert len(set(named.values())) == 1, named
    assert len(next(iter(named.values())).splitlines()) == 7


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where packages are built into, and nothing is yet."""
    monkeypatch.setattr(packages, "BUILD", tmp_path / "build")
    return tmp_path / "build"


def test_a_package_is_compiled_by_lambdas_own_python_or_not_built(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bytecode it would have the same name and start twice as slowly: whoever deployed it would not be told."""

    def none_here(*_: object) -> str:
        raise NotInstalled("no Python 3.13")

    packages.compiler.cache_clear()
    try:
        monkeypatch.setattr(packages, "_runs", lambda *_: False)
        monkeypatch.setattr(packages, "python_of", none_here)
        with pytest.raises(NotInstalled, match=r"no Python 3\.13"):
            packages.built(packages.code("heartbeat"))
        assert list(build.iterdir()) == []
    finally:
        packages.compiler.cache_clear()


def compiler() -> None:
    """Skips where none is here and none can be fetched."""
    try:
        packages.compiler()
    except NotInstalled as reason:
        pytest.skip(f"Lambda's Python is not here: {reason}")


@pytest.mark.parametrize("function", ["registry", "journal", "heartbeat"])
def test_the_code_holds_the_handler_and_all_of_sigla(tmp_path: Path, function: str) -> None:
    """With bytecode that never looks at its source: nothing can be compiled where nothing can be written."""
    compiler()
    packages.code(function).fill(tmp_path)
    assert (tmp_path / "handler.py").exists()
    assert (tmp_path / "sigla" / "web" / "gateway.py").exists()
    served_only = tmp_path / "sigla" / "web" / "console" / "swagger_ui"
    assert not served_only.exists(), "the page /docs is `sigla serve`'s alone"
    assert (served_only.parent / "ui" / "index.html").exists()
    for source in tmp_path.rglob("*.py"):
        found = source.parent / "__pycache__" / f"{source.stem}.cpython-313.pyc"
        assert int.from_bytes(found.read_bytes()[4:8], "little") == 0b01, "PEP 552: a hash that is not checked"


def test_what_a_function_leaves_out_it_imports_nowhere_on_its_way() -> None:
    """It would start here, beside the whole of sigla, and fail in AWS at the first request that needs it."""
    left_out = {name.removesuffix(".py").rstrip("/").replace("/", ".") for name in packages.NOT_IN_FUNCTIONS}
    of_functions = {
        name: path
        for name, path in packages.product()
        if name.endswith(".py") and not name.startswith(packages.NOT_IN_FUNCTIONS)
    }
    importing = {
        (name, imported)
        for name, path in of_functions.items()
        for imported in imports_of(path)
        if any(f"{imported}.".startswith(f"{room}.") for room in left_out)
    }
    assert {name for name, _ in importing} == {"sigla/__main__.py", "sigla/wiring.py"}, sorted(importing)
    assert "sigla/cli/__init__.py" not in of_functions


def imports_of(path: Path) -> set[str]:
    """Modules that a file names in its imports, wherever these stand."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_a_build_that_breaks_off_leaves_nothing_that_looks_built(build: Path) -> None:
    """Half a layer would be deployed under the name of a whole one."""

    def broken(folder: Path) -> None:
        (folder / "half").write_text("of it")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        packages.built(Package("layer", "0" * 64, broken))
    assert list(build.iterdir()) == []


def test_what_is_built_is_not_built_again(build: Path) -> None:
    """A synthesis must not cost more than it has to."""
    built = []
    package = Package("layer", "0" * 64, lambda folder: built.append(folder.name))
    assert packages.built(package) == packages.built(package)
    assert built == ["layer"]


def test_what_was_built_before_goes_after_an_hour(build: Path) -> None:
    """A folder for each edit would fill a disk. At once it must not go: another synthesis may be copying it."""
    for name, digest in (("layer", "0"), ("registry", "1"), ("layer", "2")):
        packages.built(Package(name, digest * 64, lambda _: None))
    assert len(list(build.iterdir())) == 3
    for folder in build.iterdir():
        os.utime(folder, (0, 0))
    packages.built(Package("layer", "2" * 64, lambda _: None))
    assert {path.name.split("-")[0] for path in build.iterdir()} == {"layer", "registry"}
    assert len(list(build.iterdir())) == 2


def test_what_is_installed_says_nothing_of_the_machine_that_did_it(tmp_path: Path) -> None:
    """Commands name the Python that installed them: with their sums a layer differed from folder to folder."""
    wheel, about = tmp_path / "told-1.0-py3-none-any.whl", "told-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("told.py", "def main(): ...\n")
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: told\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/entry_points.txt", "[console_scripts]\ntold = told:main\n")
        archive.writestr(f"{about}/RECORD", "")
    into = tmp_path / "layer"
    words = ("--offline", "--no-deps", str(wheel))
    packages.install(into, *words, python=packages.PYTHON, platform=packages.PLATFORMS["arm64"])
    recorded = [line.split(",")[0] for line in (into / about / "RECORD").read_text().splitlines()]
    assert "told.py" in recorded
    assert all((into / name).exists() for name in recorded)


def test_the_layer_is_hash_locked(template: Template) -> None:
    """What was tested is what runs: every line of the lock that names a package has its hashes."""
    lines = packages.LOCK.read_text().splitlines()
    pins = [at for at, line in enumerate(lines) if "==" in line]
    assert pins
    assert all("--hash=sha256:" in lines[at + 1] for at in pins)
    assert len(all_of(template, "AWS::Lambda::LayerVersion")) == 1


def test_a_package_that_cannot_be_had_is_told_and_leaves_nothing(
    build: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half a layer under its name would be deployed by the next synthesis."""

    def cut_off(folder: Path) -> None:
        (folder / "half").touch()
        raise NotInstalled("no network")

    assert packages.build_and_print([Package("layer", "0" * 64, cut_off)]) == 1
    assert capsys.readouterr().err == "no network\n"
    assert list(build.iterdir()) == []


def test_a_processor_that_there_is_not_is_told_in_a_sentence() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sigla.deployment.packages", "sparc"],
        cwd=sources.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.endswith("Unknown architecture sparc. Valid architectures: arm64, x86_64\n")
