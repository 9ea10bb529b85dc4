"""When the library that verifies tokens is imported: it is a quarter of a cold start, and most requests need none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.functions.test_registry_starts import DEPLOYED, ROOT
from tests.issuer import Issuer

LIBRARIES = ("jwt", "cryptography")
SEEN = f"print([each for each in {LIBRARIES} if each in sys.modules])"


def told(code: str, **environ: str) -> str:
    """What a program of its own prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SIGLA_"))}
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}"],
        cwd=ROOT,
        env=environment | environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    "issuers, imported", [("", []), (json.dumps([Issuer().setting()]), list(LIBRARIES))], ids=["without", "with"]
)
def test_a_function_without_issuers_imports_no_cryptography_and_one_with_them_before_its_snapshot(
    issuers: str, imported: list[str]
) -> None:
    """What is imported then is in the snapshot: no bearer waits for it."""
    asked = f"import functions.registry.handler; {SEEN}"
    environ = DEPLOYED | {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"} | ({"SIGLA_ISSUERS": issuers} if issuers else {})
    assert told(asked, **environ) == str(imported)


def test_a_server_imports_it_with_the_first_bearer(tmp_path: Path) -> None:
    """Not at its start, not for keys, and not for what is refused before a signature is looked at."""
    issuer = Issuer()
    (tmp_path / "keys.json").write_text(json.dumps(issuer.jwks))
    setting = json.dumps([issuer.setting(jwks=str(tmp_path / "keys.json"))])
    program = f"""
from sigla.authentication import bearer_tokens, issuers_of
from sigla.settings import Settings
tokens = bearer_tokens(issuers_of(Settings(issuers={setting!r})), print, waits=False)
tokens(b"Basic abc"), tokens(b"Bearer abc"), tokens(b"Bearer {issuer.token("ec", exp=1)}")
{SEEN}
tokens(b"Bearer {issuer.token("ec", 4_000_000_000)}"), tokens(b"Bearer {issuer.token("ec", iat=1, exp=4_000_000_000)}")
{SEEN}
"""
    assert told(f"exec({program!r})").splitlines() == ["[]", str(list(LIBRARIES))]
