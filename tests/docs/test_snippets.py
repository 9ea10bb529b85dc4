"""README, docs/service.md, docs/tools.md: what is shown and not run is well-formed, and says what is true."""

import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from sigla.cli import _parser
from sigla.registry import Registry
from sigla.settings import Settings
from sigla.web.local.server import BACKLOG, LONGEST_FAREWELL_S
from tests.test_docs import ROOT, blocks
from tests.unit.web.conftest import Client, client, registry

__all__ = ["client", "registry"]

DOCS = Path(__file__).parents[2] / "docs"
UPSTREAM = "http://127.0.0.1:8081"
MAVEN = "{http://maven.apache.org/POM/4.0.0}"


def shown(page: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


SERVICE, SOCKET, TLS, EVERYWHERE = range(4)
"""The units of docs/service.md, and what is put beside each of them for TLS."""


def unit(number: int = SERVICE) -> configparser.ConfigParser:
    """Where a name is said twice, the last one counts."""
    parsed = configparser.ConfigParser(interpolation=None, strict=False)
    parsed.optionxform = str  # type: ignore[assignment, method-assign]  # names as they are written
    parsed.read_string(shown("service.md", "ini")[number])
    return parsed


def test_the_readme_is_typed_as_it_stands() -> None:
    """Nothing has put `sigla` on a newcomer's path: `make playground` leaves it in `.venv`."""
    shells = [block for block in blocks(ROOT / "README.md") if block.kind in ("console", "sh")]
    commands = [shlex.split(command)[0] for block in shells for command, _ in block.commands]
    assert set(commands) == {"make", "curl", ".venv/bin/sigla"}


# --- a service --------------------------------------------------------------------------------------------------------


def test_the_unit_starts_what_the_command_knows() -> None:
    """An option that was renamed would show at three in the morning."""
    service = unit()["Service"]
    command, *arguments = shlex.split(service["ExecStart"])
    assert command == "/opt/sigla/current/bin/sigla"
    args = _parser().parse_args(arguments)
    assert (args.command, args.auth, f"http://{unit(SOCKET)['Socket']['ListenStream']}") == ("serve", True, UPSTREAM)
    assert str(args.data) == f"/var/lib/{service['StateDirectory']}"
    name, _, value = service["Environment"].partition("=")
    assert Settings.read({name: value}).default_level == value


def test_the_unit_with_tls_serves_other_machines_and_names_the_pair_by_where_systemd_puts_it() -> None:
    tls = unit(TLS)["Service"]
    settings = dict(each.split("=") for each in tls["Environment"].split())
    named = {Path(path).name for path in settings.values()}
    loaded = set(re.findall(r"^LoadCredential=(.+?):", shown("service.md", "ini")[TLS], re.MULTILINE))
    assert named == loaded
    assert Settings.read(settings).tls_key == "%d/registry.key"
    host, _, port = unit(EVERYWHERE)["Socket"]["ListenStream"].partition(":")
    assert (host, port) == ("0.0.0.0", unit(SOCKET)["Socket"]["ListenStream"].partition(":")[2])


def test_the_socket_keeps_as_many_clients_waiting_as_the_server_does() -> None:
    assert int(unit(SOCKET)["Socket"]["Backlog"]) == BACKLOG


def test_the_unit_leaves_the_time_that_stopping_takes() -> None:
    """It kills what has not ended by then, and whoever waits for an answer gets none."""
    assert int(unit()["Service"]["TimeoutStopSec"]) > LONGEST_FAREWELL_S + 10


def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    """Where there is one to ask."""
    if verify := shutil.which("systemd-analyze"):
        text, listening, tls, everywhere = shown("service.md", "ini")
        for name, beside in (("service.d/tls", tls), ("socket.d/everywhere", everywhere)):
            (tmp_path / f"sigla.{name}.conf").parent.mkdir()
            (tmp_path / f"sigla.{name}.conf").write_text(beside)
        runs = text.replace("/opt/sigla/current/bin/sigla", sys.executable).replace("User=sigla", "User=root")
        (tmp_path / "sigla.service").write_text(runs)
        (tmp_path / "sigla.socket").write_text(listening)
        asked = [verify, "verify", str(tmp_path / "sigla.service"), str(tmp_path / "sigla.socket")]
        told = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert "sigla." not in told.stderr, told.stderr


def test_each_night_a_backup_is_made_of_the_data_that_the_unit_serves() -> None:
    """A timer whose command was renamed would be noticed on the day when the disk is gone."""
    service, timer = shown("operations.md", "ini")
    (cron,) = shown("operations.md", "cron")
    serving = unit()["Service"]["ExecStart"]
    found = re.search(r"^ExecStart=/bin/sh -c '(.*)'$", service, re.MULTILINE)
    assert found is not None
    _, by_cron = cron.strip().split(" sigla ", 1)
    for command in (found[1].replace("$$", "$").replace("%%", "%"), by_cron.replace("\\%", "%")):
        told = subprocess.run(["sh", "-c", f"echo {command}"], capture_output=True, text=True, check=True).stdout
        program, *arguments = shlex.split(told)
        args = _parser().parse_args(arguments)
        assert (program, args.command, args.force) == (serving.split()[0], "backup", True)
        assert str(args.data) == f"/var/lib/{unit()['Service']['StateDirectory']}"
        assert re.fullmatch(r"/var/backups/sigla/\d{4}-\d\d-\d\d\.tar\.gz", str(args.file))
    assert "OnCalendar=*-*-* 03:15" in timer


def test_systemd_understands_the_timer(tmp_path: Path) -> None:
    """Where there is one to ask."""
    if verify := shutil.which("systemd-analyze"):
        service, timer = shown("operations.md", "ini")
        (tmp_path / "sigla-backup.service").write_text(service.replace("User=sigla", "User=root"))
        (tmp_path / "sigla-backup.timer").write_text(timer)
        asked = [verify, "verify", str(tmp_path / "sigla-backup.timer")]
        told = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert "sigla-backup" not in told.stderr, told.stderr


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_a_proxy_leads_to_where_the_unit_listens(kind: str) -> None:
    (text,) = shown("service.md", kind)
    assert text.count("{") == text.count("}")
    assert "127.0.0.1:8081" in text


def test_nginx_takes_the_bodies_and_passes_the_paths_that_the_registry_takes() -> None:
    """With a path behind the port, nginx would decode `a%2Fb` and ask for another subject."""
    (text,) = shown("service.md", "nginx")
    directives = dict(re.findall(r"^\s*(\w+) +([^;{]+);", text, re.MULTILINE))
    assert directives["proxy_pass"] == UPSTREAM
    (megabytes,) = re.findall(r"^(\d+)m$", directives["client_max_body_size"])
    assert int(megabytes) * 2**20 >= Settings().request_bytes


# --- tools ------------------------------------------------------------------------------------------------------------

CONSOLES: list[tuple[str, tuple[Any, ...], tuple[tuple[Any, ...], ...]]] = [
    (
        "akhq",
        ("akhq", "connections", "production", "schema-registry"),
        (("url",), ("basic-auth-username",), ("basic-auth-password",)),
    ),
    (
        "kafbat",
        ("kafka", "clusters", 0),
        (("schemaRegistry",), ("schemaRegistryAuth", "username"), ("schemaRegistryAuth", "password")),
    ),
    (
        "console",
        ("schemaRegistry",),
        (("urls", 0), ("authentication", "basic", "username"), ("authentication", "basic", "password")),
    ),
]
"""Where each of them looks, by its own documentation: for the address, and for a name and a secret."""


def within(form: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        form = form[step]
    return form


@pytest.mark.parametrize("number", range(len(CONSOLES)), ids=[name for name, *_ in CONSOLES])
def test_a_console_is_told_the_address_and_the_key_where_it_looks_for_them(number: int) -> None:
    _, place, paths = CONSOLES[number]
    form = yaml.safe_load(shown("tools.md", "yaml")[number])
    told = [within(within(form, place), path) for path in paths]
    assert told == ["http://registry:8081", "NAME", "SECRET"]


def test_the_maven_plugin_is_told_a_subject_and_its_language() -> None:
    (text,) = shown("tools.md", "xml")
    plugin = ET.fromstring(text).find(f".//{MAVEN}plugin")
    assert plugin is not None
    said = {each.tag.removeprefix(MAVEN): each for each in plugin.iterfind(f"{MAVEN}configuration/*")}
    assert set(said) == {"schemaRegistryUrls", "userInfoConfig", "subjects", "schemaTypes"}
    assert [each.tag for each in said["subjects"]] == [each.tag for each in said["schemaTypes"]]
    assert plugin.findtext(f".//{MAVEN}goal") == "test-compatibility"


@pytest.mark.parametrize(
    "target",
    [
        "/compatibility/subjects/orders-value/versions?normalize=false&verbose=true",
        "/compatibility/subjects/orders-value/versions/latest?verbose=true",
    ],
)
def test_what_the_maven_plugin_asks_is_answered(registry: Registry, client: Client, target: str) -> None:
    """By its client in Java, of either generation; what does not fit comes with reasons, which it prints."""
    media = {"content-type": "application/vnd.schemaregistry.v1+json"}
    assert client("POST", "/subjects/orders-value/versions", {"schema": '"string"'}, media).status == 200
    fits = client("POST", target, {"schema": '"string"', "schemaType": "AVRO", "references": []}, media)
    assert fits.json == {"is_compatible": True, "messages": []}
    other = client("POST", target, {"schema": '"int"'}, media).json
    assert other["is_compatible"] is False
    assert json.dumps(other["messages"]).count("TYPE_MISMATCH") == 1
