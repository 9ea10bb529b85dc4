"""The wheel `sigla-registry`: what it brings to a user without a clone of this repository.

Third-party packages are those of this environment, found by a .pth file: what is tried is our own package.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from importlib.metadata import distribution
from pathlib import Path

import pytest

from sigla.deployment import packages
from tests.protocol.clients.server import Server, environment

ROOT = Path(__file__).parents[1]
ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
BLOCKS = re.findall(r"^```bash\n(.*?)\n```$", (ROOT / "docs" / "install.md").read_text(), re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    hatchling = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(hatchling, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of an environment that has the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    uv = [str(Path(sys.executable).parent / "uv"), "pip", "install", "--quiet", "--offline", "--no-deps"]
    python = folder / "bin" / "python"
    subprocess.run([*uv, "--python", str(python), str(wheel)], check=True, env={**os.environ, "UV_NO_CONFIG": "1"})
    see_others(python)
    return folder / "bin"


def see_others(python: Path) -> None:
    """Has this interpreter find the packages of our own environment, after those of its own."""
    told = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(told, check=True, capture_output=True, text=True).stdout.strip())
    # A path of a .pth file is not asked for .pth files of its own: the editable install of the clone stays unknown.
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))


def ran(installed: Path, *words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    command = [str(installed / "sigla"), *words]
    return subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, check=False)


@pytest.fixture
def server(installed: Path, tmp_path: Path) -> Iterator[Server]:
    command = [str(installed / "sigla"), "serve", "--port", "0", "--data", "data"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), **pipes) as process:  # type: ignore[call-overload] # pipes of bytes
        server = Server(process)
        server.wait_until_ready()
        yield server
        process.terminate()
        assert process.wait(30) == 0, server.said


def test_a_wheel_holds_our_two_packages_and_nothing_else_of_the_clone(wheel: Path) -> None:
    """Two names at the top of everybody's site-packages are ours to answer for; `tests` or `infra` would be theft."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == {"sigla", "sigla_pipelines"}
    assert {"sigla/py.typed", "sigla/web/console/swagger_ui/swagger-ui.css"} <= set(names)
    assert {"sigla/web/console/ui/index.html", "sigla/web/console/ui/vendor/LICENSE.preact"} <= set(names)
    assert {"sigla_pipelines/log4j2.properties", "sigla_pipelines/connectors/pom.xml"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_a_wheel_says_its_name_version_licence_and_extras(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        told = Parser().parsestr(archive.read(name).decode())
    assert told["Name"] == "sigla-registry"
    assert told["Version"] == distribution("sigla-registry").version
    assert told["License-Expression"] == "Apache-2.0"
    assert set(told.get_all("Provides-Extra", [])) >= {"aws", "cdk", "demo", "kafka", "local-kms", "pipelines", "spark"}


@pytest.fixture(scope="module")
def dist(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `make wheel` fills it, and with wheels of the extension for two processors, which have only their names."""
    folder = tmp_path_factory.mktemp("wheels")
    shutil.copy(wheel, folder)
    hatchling = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(hatchling, cwd=ROOT / "native" / "none", check=True, capture_output=True)
    (empty,) = folder.glob("sigla_registry_native-*-py3-none-any.whl")
    for processor in ("x86_64", "aarch64"):
        name = empty.name.replace("py3-none-any", f"cp311-abi3-manylinux_2_17_{processor}.manylinux2014_{processor}")
        shutil.copy(empty, folder / name)
    return folder


def test_pipelines_asks_for_the_extension_of_its_own_version(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        told = Parser().parsestr(archive.read(name).decode())
    wanted = [each for each in told.get_all("Requires-Dist", []) if each.startswith("sigla-registry-native")]
    assert wanted == [f"sigla-registry-native=={told['Version']}; extra == 'pipelines'"]


def test_the_wheel_for_machines_that_none_fits_is_empty(dist: Path) -> None:
    """So that `import sigla_native` fails there, and Python decodes."""
    (empty,) = dist.glob("sigla_registry_native-*-py3-none-any.whl")
    with zipfile.ZipFile(empty) as archive:
        assert [name for name in archive.namelist() if ".dist-info/" not in name] == []


@pytest.mark.parametrize(
    "platform, taken",
    [
        ("manylinux2014_x86_64", "manylinux2014_x86_64"),
        ("manylinux2014_aarch64", "manylinux2014_aarch64"),
        ("musllinux_1_2_x86_64", "none-any"),
        ("macosx_14_0_arm64", "none-any"),
        ("win_amd64", "none-any"),
    ],
)
def test_pip_takes_the_extension_where_it_fits_and_nothing_elsewhere(
    dist: Path, tmp_path: Path, platform: str, taken: str
) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-index", "--find-links", str(dist)]
    where = ["--platform", platform, "--python-version", "3.13", "--only-binary", ":all:", "--dest", str(tmp_path)]
    version = distribution("sigla-registry").version
    done = subprocess.run(
        [*pip, *where, f"sigla-registry-native=={version}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (found,) = tmp_path.iterdir()
    assert found.stem.endswith(taken)


def test_a_registry_runs_from_the_wheel_alone(server: Server) -> None:
    registered = server.ask("POST", "/subjects/orders-value/versions", {"schema": ORDER})
    assert (registered.status, registered.json["id"]) == (200, 1)
    assert server.ask("GET", "/schemas/ids/1").status == 200
    assert server.ask("GET", "/docs").status == 200


def test_alerts_and_the_dashboard_lie_where_the_page_says(installed: Path) -> None:
    """Whoever has no clone has them all the same, in `share/sigla` of the environment."""
    shared = installed.parent / "share" / "sigla"
    for name in ("alerts.yml", "dashboard.json"):
        assert (shared / name).read_bytes() == (ROOT / "watching" / name).read_bytes()


def test_jobs_are_commands_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    """`sigla land` and its like come with the package; the libraries that they need are extras."""
    assert ran(installed, "--version", cwd=tmp_path).stdout == f"sigla {distribution('sigla-registry').version}\n"
    told = ran(installed, "tables", "--help", cwd=tmp_path)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("usage: sigla tables ")
    missing = ran(installed, "tables", "land.yaml", cwd=tmp_path)
    assert missing.returncode == 2
    assert "land.yaml" in missing.stderr


def test_the_page_of_installation_is_typed_as_it_stands(wheel: Path, tmp_path: Path) -> None:
    """`make wheel` apart, which the fixture is. Nothing is fetched: other packages are those of this environment."""
    (tmp_path / "dist").mkdir()
    shutil.copy(wheel, tmp_path / "dist")
    environ = {**environment(), "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    (made, *others) = [line.partition("#")[0].strip() for block in BLOCKS for line in block.splitlines()]
    assert made == "make wheel"
    for command in others:
        if command.endswith(" serve"):
            folder = tmp_path / Path(command).parts[0]
            see_others(folder / "bin" / "python")
            command = command.replace(" serve", " serve --help")  # noqa: PLW2901 - as typed, but for the end
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def test_the_page_of_a_service_is_typed_as_it_stands(wheel: Path, tmp_path: Path) -> None:
    """But for root: below a folder of our own. The release that runs is the one that `current` leads to."""
    (tmp_path / "dist").mkdir()
    shutil.copy(wheel, tmp_path / "dist")
    version, opt, data = distribution("sigla-registry").version, tmp_path / "opt", tmp_path / "data"
    (opt / "sigla").mkdir(parents=True)
    page = (ROOT / "docs" / "service.md").read_text()
    machine = page[page.index("## The machine") : page.index("## systemd")]
    installing, key = re.findall(r"^```\n(.*?)\n```$", machine, re.MULTILINE | re.DOTALL)
    environ = {**environment(), "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    # The Python whose packages are used.
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"

    def typed(command: str) -> str:
        for name, ours in (("sudo -u sigla ", ""), ("sudo ", ""), ("/opt", str(opt)), ("/var/lib/sigla", str(data))):
            command = command.replace(name, ours)
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    user, folder, *others = installing.replace("VERSION", version).splitlines()
    assert (user.split()[1], folder.split()[1]) == ("useradd", "install")
    for command in others:
        typed(command)
    see_others(opt / "sigla" / version / "bin" / "python")
    assert typed("/opt/sigla/current/bin/sigla --version") == f"sigla {version}\n"
    assert "secret: " in typed(key)


@pytest.mark.spark
def test_topics_become_tables_by_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    """The demonstration is a whole estate: a registry, topics of all three kinds, bad records, tables."""
    done = ran(installed, "demo", "--records", "1000", "--keep", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (config,) = tmp_path.rglob("land.yaml")
    again = ran(installed, "land", str(config), cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    listed = ran(installed, "tables", str(config), cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert "orders" in listed.stdout


def test_an_app_of_ten_lines_has_a_registry_from_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    """docs/cdk.md as it stands. Its packages have the names that a clone gives them: these are built here already."""
    node = shutil.which("node")
    if not node:
        pytest.skip("CDK needs Node.js on the PATH")
    page = (ROOT / "docs" / "cdk.md").read_text()
    (app,) = (block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "app.synth()" in block)
    (tmp_path / "app.py").write_text(app)
    functions = (packages.code(name) for name in ("registry", "journal", "heartbeat"))
    for package in (packages.layer("arm64"), *functions):
        (tmp_path / "cache" / "sigla" / package.folder.name).mkdir(parents=True)
    environ = {**environment(), "XDG_CACHE_HOME": str(tmp_path / "cache"), "CDK_OUTDIR": str(tmp_path / "cdk.out")}
    # CDK's rules of CloudFormation take seconds to load: test_cloudformation_rules.py asks them of such stacks. So do
    # notes of where each construct was made.
    environ |= {"CDK_VALIDATION": "false", "CDK_CONTEXT_JSON": json.dumps({"aws:cdk:disable-stack-trace": True})}
    # Whatever is not there already would have to be fetched by uv, which this machine has not.
    environ["PATH"] = str(Path(node).parent)
    command = [str(installed / "python"), "app.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    template = json.loads((tmp_path / "cdk.out" / "Data.template.json").read_text())
    kinds = {each["Type"] for each in template["Resources"].values()}
    assert {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::Lambda::Function", "AWS::ElastiCache::User"} <= kinds
    assert "RegistryUrl" in template["Outputs"]
