"""A real Keycloak on loopback, over HTTPS: an issuer that was not written beside the registry that believes it.

python -m tests.protocol.clients.keycloak      fetches it by Maven and prepares it, once
"""

import os
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import tarfile
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from json import dumps, loads
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlencode

from sigla.web.local.pair import Files
from sigla_pipelines.connectors.installation import HOME
from sigla_pipelines.connectors.maven import Unavailable, fetch_jars, is_fetched, java
from tests.certificates import Authority

HERE: Final = Path(__file__).parent
POM: Final = HERE / "keycloak.pom.xml"
PLACE: Final = HOME / "keycloak"
READY_WITHIN_S: Final = 180.0
STOPS_WITHIN_S: Final = 20.0
FETCHED_WITHIN_S: Final = 400.0
SECRET: Final = "shown to Keycloak alone"
ADMIN: Final = "admin"
SMALL: Final = "-Xms64m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true"


@dataclass(frozen=True, slots=True)
class Keycloak:
    """url: of the server, whose realm is `data`. authority: who signed its certificate. log: what it says."""

    url: str
    authority: Authority
    log: Path

    @property
    def issuer(self) -> str:
        return f"{self.url}/realms/data"

    @property
    def token_url(self) -> str:
        return f"{self.issuer}/protocol/openid-connect/token"

    def token(self, client: str) -> str:
        """By client credentials."""
        return self._granted(self.token_url, grant_type="client_credentials", client_id=client, client_secret=SECRET)

    def rotate(self, priority: int) -> None:
        """A new key, with which the realm signs from now on. priority: the greatest one signs."""
        admin = self._administrator()
        realm = self._asked(f"{self.url}/admin/realms/data", admin)
        new = {
            "name": f"rsa-{priority}",
            "providerId": "rsa-generated",
            "providerType": "org.keycloak.keys.KeyProvider",
            "parentId": realm["id"],
            "config": {"priority": [str(priority)], "keySize": ["2048"], "algorithm": ["RS256"]},
        }
        self._asked(f"{self.url}/admin/realms/data/components", admin, dumps(new).encode())

    def admit(self, console: str) -> None:
        """A public client for a console at this URL, and ada, who knows SECRET, as docs/security.md says it."""
        admin = self._administrator()
        client = {
            "clientId": "sigla-console",
            "publicClient": True,
            "standardFlowEnabled": True,
            "directAccessGrantsEnabled": False,
            "redirectUris": [console],
            "webOrigins": ["+"],
            "attributes": {"pkce.code.challenge.method": "S256", "post.logout.redirect.uris": "+"},
            "defaultClientScopes": ["basic", "sigla"],
        }
        ada = {
            "username": "ada",
            "enabled": True,
            "email": "ada@example.com",
            "emailVerified": True,
            "firstName": "Ada",
            "lastName": "Lovelace",
            "groups": ["data-eng"],
            "credentials": [{"type": "password", "value": SECRET, "temporary": False}],
        }
        self._asked(f"{self.url}/admin/realms/data/clients", admin, dumps(client).encode())
        self._asked(f"{self.url}/admin/realms/data/users", admin, dumps(ada).encode())

    def _administrator(self) -> str:
        return self._granted(
            f"{self.url}/realms/master/protocol/openid-connect/token",
            grant_type="password",
            client_id="admin-cli",
            username=ADMIN,
            password=SECRET,
        )

    def _granted(self, url: str, **form: str) -> str:
        return str(self._asked(url, "", urlencode(form).encode())["access_token"])

    def _asked(self, url: str, bearer: str = "", body: bytes | None = None) -> Any:
        asked = urllib.request.Request(url, body)
        if bearer:
            asked.add_header("authorization", f"Bearer {bearer}")
            asked.add_header("content-type", "application/json")
        trusting = ssl.create_default_context(cafile=self.authority.file)
        try:
            with urllib.request.urlopen(asked, context=trusting, timeout=60) as answer:
                return loads(answer.read() or b"{}")
        except HTTPError as refused:
            refused.add_note(refused.read().decode(errors="replace"))
            raise


def install() -> Path:
    """Where it is, fetched and prepared for `start --optimized`; nothing to do when it is there. Raises Unavailable."""
    home, done = PLACE / "keycloak", PLACE / "prepared"
    if is_fetched(POM, PLACE) and done.exists() and done.stat().st_mtime >= (PLACE / "pom").stat().st_mtime:
        return home
    fetch_jars(POM, PLACE, within_s=FETCHED_WITHIN_S)
    shutil.rmtree(home, ignore_errors=True)
    [archive] = (PLACE / "lib").glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(PLACE, filter="data")
    [unpacked] = PLACE.glob("keycloak-*")
    unpacked.rename(home)
    build = [str(home / "bin" / "kc.sh"), "build", "--db=dev-mem"]
    built = subprocess.run(build, env=_environ(), capture_output=True, text=True, check=False)
    if built.returncode:
        raise Unavailable(f"Keycloak could not be prepared. Its output:\n{built.stdout[-2000:]}{built.stderr[-2000:]}")
    done.touch()
    return home


@contextmanager
def running(folder: Path) -> Iterator[Keycloak]:
    """One with the realm of keycloak.realm.json; what it held is gone at the end. folder: empty. Raises Unavailable."""
    java()
    home = install()
    imported = home / "data" / "import"
    imported.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "keycloak.realm.json", imported / "data-realm.json")
    authority, port = Authority.made(folder), _free_port()
    pair, log = authority.pair(folder), folder / "keycloak.log"
    served = Keycloak(f"https://localhost:{port}", authority, log)
    with log.open("wb") as said:
        process = subprocess.Popen(
            [str(home / "bin" / "kc.sh"), "start", "--optimized", "--import-realm", *_settings(port, pair)],
            env=_environ(),
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait(served, process)
        yield served
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _settings(port: int, pair: Files) -> list[str]:
    return [
        "--cache=local",
        "--http-host=127.0.0.1",
        "--http-enabled=false",
        f"--https-port={port}",
        f"--https-certificate-file={pair.cert}",
        f"--https-certificate-key-file={pair.key}",
        f"--hostname=https://localhost:{port}",
    ]


def _environ() -> Mapping[str, str]:
    admin = {"KC_BOOTSTRAP_ADMIN_USERNAME": ADMIN, "KC_BOOTSTRAP_ADMIN_PASSWORD": SECRET}
    return {**os.environ, **admin, "JAVA_OPTS": SMALL}


def _wait(served: Keycloak, process: "subprocess.Popen[bytes]") -> None:
    ends = monotonic() + READY_WITHIN_S
    while "Listening on" not in served.log.read_text(errors="replace"):
        if process.poll() is not None or monotonic() > ends:
            raise AssertionError(f"Keycloak did not start. It said:\n{served.log.read_text(errors='replace')[-4000:]}")
        sleep(0.1)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def main() -> None:
    home = install()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"Keycloak is in {home}; {used.ru_utime + used.ru_stime:.0f} s of computing.")


if __name__ == "__main__":
    main()
