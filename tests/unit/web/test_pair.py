"""A certificate and its key: what is refused before a client meets it, and what is read again."""

import os
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from sigla.observe import Facts
from sigla.web.local.pair import Files, InvalidPair, Renewed, read
from tests.certificates import CLIENT, DAY, Authority, elliptic_key, rsa_key


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.made(tmp_path_factory.mktemp("authority"))


@pytest.mark.parametrize("key", [elliptic_key, rsa_key])
def test_a_good_pair_says_whom_it_is_for_and_until_when(authority: Authority, tmp_path: Path, key: Callable) -> None:  # type: ignore[type-arg]  # whichever key
    """The banner, the log and an alert tell it."""
    pair = read(authority.pair(tmp_path, key=key()))
    assert pair.names == ["localhost", "127.0.0.1"]
    assert pair.ends > 0
    assert pair.context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_one_file_may_hold_both(authority: Authority, tmp_path: Path) -> None:
    """As some tools write it."""
    files = authority.pair(tmp_path)
    both = tmp_path / "both.pem"
    both.write_bytes(files.key.read_bytes() + files.cert.read_bytes() + authority.file.read_bytes())
    assert read(Files(both, both)).names == ["localhost", "127.0.0.1"]


def mixed(authority: Authority, folder: Path, make: Callable) -> Files:  # type: ignore[type-arg]  # whichever key
    """The certificate of one pair and the key of another."""
    first, second = folder / "first", folder / "second"
    first.mkdir()
    second.mkdir()
    return Files(authority.pair(first).cert, authority.pair(second, key=make()).key)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def broken(authority: Authority, folder: Path, harm: Callable[[Files], object]) -> Files:
    files = authority.pair(folder)
    harm(files)
    return files


BROKEN: dict[str, tuple[Callable[[Authority, Path], Files], str]] = {
    "no certificate": (
        lambda a, p: broken(a, p, lambda files: files.cert.unlink()),
        "The certificate {cert} cannot be read (No such file or directory).",
    ),
    "no key": (
        lambda a, p: broken(a, p, lambda files: files.key.unlink()),
        "The key {key} cannot be read (No such file or directory).",
    ),
    "an empty certificate": (
        lambda a, p: broken(a, p, lambda files: files.cert.write_bytes(b"")),
        "The certificate {cert} is not one in PEM: it has no whole block BEGIN CERTIFICATE.",
    ),
    "half a certificate": (
        lambda a, p: broken(a, p, lambda files: cut(files.cert)),
        "The certificate {cert} is not one in PEM: it has no whole block BEGIN CERTIFICATE.",
    ),
    "half a key": (
        lambda a, p: broken(a, p, lambda files: cut(files.key)),
        "{cert} and {key} are not a certificate and its key (not whole).",
    ),
    "a certificate for a key": (
        lambda a, p: Files((files := a.pair(p)).cert, files.cert),
        "The key {key} is not one in PEM: it has no block BEGIN PRIVATE KEY.",
    ),
    "an encrypted key": (
        lambda a, p: a.pair(p, passphrase="secret"),
        "The key {key} is encrypted: give it without a passphrase, readable by this user alone.",
    ),
    "another key": (
        lambda a, p: mixed(a, p, elliptic_key),
        "The key {key} is not that of the certificate {cert}.",
    ),
    "another kind of key": (
        lambda a, p: mixed(a, p, rsa_key),
        "The key {key} is not that of the certificate {cert}.",
    ),
    "expired": (
        lambda a, p: a.pair(p, starts=-2 * DAY, ends=-DAY),
        "The certificate {cert} has expired: renew it.",
    ),
    "not valid yet": (
        lambda a, p: a.pair(p, starts=DAY, ends=2 * DAY),
        "The certificate {cert} is not valid yet: look at the clock of this machine, or wait.",
    ),
    "of a client": (
        lambda a, p: a.pair(p, purpose=CLIENT),
        "The certificate {cert} is not one of a server: its extended key usage lacks serverAuth.",
    ),
}


@pytest.mark.parametrize("make, sentence", BROKEN.values(), ids=BROKEN)
def test_a_pair_that_no_client_would_take_is_refused_in_a_sentence(
    authority: Authority, tmp_path: Path, make: Callable[[Authority, Path], Files], sentence: str
) -> None:
    """Before the port is open, and not by the first client at night."""
    files = make(authority, tmp_path)
    with pytest.raises(InvalidPair) as refused:
        read(files)
    assert str(refused.value) == sentence.format(cert=files.cert, key=files.key)


def renewed(files: Files) -> tuple[Renewed, list[Facts]]:
    told: list[Facts] = []
    return Renewed(files, told.append), told


def test_a_new_pair_takes_the_place_of_the_old_one(authority: Authority, tmp_path: Path) -> None:
    """Certificates end each few months, and a registry does not stop for that."""
    pair, told = renewed(authority.pair(tmp_path))
    first = pair.pair
    pair.look()
    assert pair.pair is first, "nothing has changed"
    authority.pair(tmp_path, ends=3 * DAY)
    pair.look()
    assert pair.pair is first, "the key may still be on its way"
    pair.look()
    assert pair.pair.ends > first.ends
    assert [facts["event"] for facts in told] == ["tls-renewed"]
    pair.look()
    assert len(told) == 1


def test_what_is_half_written_is_refused_and_the_old_pair_goes_on(authority: Authority, tmp_path: Path) -> None:
    """It is told once, and the whole pair is taken when it is there."""
    files = authority.pair(tmp_path)
    pair, told = renewed(files)
    first = pair.pair
    whole = files.key.read_bytes()
    cut(files.key)
    for _ in range(3):
        pair.look()
    assert pair.pair is first
    ((event, message),) = [(facts["event"], str(facts["message"])) for facts in told]
    assert event == "tls-refused"
    assert str(files.key) in message
    assert "The pair before stays in use" in message
    files.key.unlink()
    pair.look()
    pair.look()
    files.key.write_bytes(whole)
    pair.look()
    pair.look()
    assert pair.pair is not first
    assert [facts["event"] for facts in told] == ["tls-refused", "tls-refused", "tls-renewed"]


def test_a_pair_behind_a_link_is_renewed_with_the_link(authority: Authority, tmp_path: Path) -> None:
    """So Kubernetes, and Certbot, put another pair in the place of one."""
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
    authority.pair(old)
    authority.pair(new, ends=3 * DAY)
    live = tmp_path / "live"
    live.symlink_to(old)
    pair, _ = renewed(Files(live / "server.pem", live / "server.key"))
    first = pair.pair
    beside = tmp_path / "beside"
    beside.symlink_to(new)
    os.replace(beside, live)  # noqa: PTH105 - at once, as they do
    pair.look()
    pair.look()
    assert pair.pair.ends > first.ends


def test_an_operator_may_ask_for_a_look(authority: Authority, tmp_path: Path) -> None:
    """SIGHUP, as to other services: also where the disk does not tell that a file has changed."""
    pair, told = renewed(authority.pair(tmp_path))
    first = pair.pair
    pair.ask()
    pair.look()
    assert pair.pair is not first
    assert [facts["event"] for facts in told] == ["tls-renewed"]
