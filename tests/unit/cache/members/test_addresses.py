"""What may stand in SIGLA_RING."""

import subprocess
import sys
from pathlib import Path

import pytest

from sigla.cache.members import addresses, member
from sigla.cache.members.addresses import Address
from sigla.cache.members.memcached import MemcachedMember
from sigla.cache.members.valkey import ValkeyMember

ADDRESSES = {
    "valkey://10.0.0.7:6379": Address("valkey", "10.0.0.7", 6379),
    "valkey://[fd00::7]:6379": Address("valkey", "fd00::7", 6379),
    "valkeys://cache.example:6379": Address("valkey", "cache.example", 6379, tls=True),
    "valkeys://cache.example:6379?ca=/etc/ca.pem": Address("valkey", "cache.example", 6379, tls=True, ca="/etc/ca.pem"),
    "valkeys://sigla@cache.example:6379?iam=ring-a": Address(
        "valkey", "cache.example", 6379, tls=True, user="sigla", group="ring-a"
    ),
    "memcached://10.0.0.7:11211": Address("memcached", "10.0.0.7", 11211),
    "memcacheds://cache.example:11211": Address("memcached", "cache.example", 11211, tls=True),
}

NO_ADDRESSES = {
    "": "must begin with one of valkey://, valkeys://, memcached://, memcacheds://",
    "10.0.0.7:6379": "Invalid address of a cache 10.0.0.7:6379: it must begin with one of",
    "user:secret@10.0.0.7:6379": "must begin with one of",
    "redis://10.0.0.7:6379": "Invalid address of a cache redis://10.0.0.7:6379",
    "valkey://10.0.0.7": "must name a host and a port",
    "valkey://:6379": "must name a host and a port",
    "valkey://10.0.0.7:0": "must name a host and a port",
    "valkey://10.0.0.7:seven": "must name a host and a port",
    "valkey://10.0.0.7:70000": "must name a host and a port",
    "valkey://[fd00::7:6379": "its brackets do not match",
    "valkey://10.0.0.7:6379/0": "no path",
    "valkey://10.0.0.7:6379#0": "no path",
    "valkey://10.0.0.7:6379?ca=x": "unknown option ca; valid options: none",
    "valkeys://10.0.0.7:6379?db=1": "unknown option db; valid options: ca, iam",
    "valkeys://user@10.0.0.7:6379": "belong together",
    "valkeys://10.0.0.7:6379?iam=ring": "belong together",
    "valkey://user@10.0.0.7:6379": "belong together",
    "valkeys://user:secret@10.0.0.7:6379?iam=ring": "a password does not belong there",
    "valkeys://:secret@10.0.0.7:6379": "a password does not belong there",
}


def no_token(user: str, group: str) -> str:
    raise AssertionError(f"nobody has connected: {user}, {group}")


@pytest.mark.parametrize("text, address", ADDRESSES.items())
def test_an_address_says_all_that_is_needed(text: str, address: Address) -> None:
    """And nothing twice."""
    assert addresses.read(text) == address
    assert addresses.read(f" {text}\n") == address


@pytest.mark.parametrize("text, sentence", NO_ADDRESSES.items())
def test_what_is_no_address_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    """Which does not repeat what may be a secret."""
    with pytest.raises(ValueError) as refused:
        addresses.read(text)
    assert sentence in str(refused.value)
    assert str(refused.value).endswith(".")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "text, name, kind",
    [
        ("valkey://10.0.0.7:6379", "10.0.0.7:6379", ValkeyMember),
        ("valkeys://sigla@cache.example:6379?iam=ring-a", "cache.example:6379", ValkeyMember),
        ("memcached://[fd00::7]:11211", "[fd00::7]:11211", MemcachedMember),
        ("memcacheds://cache.example:11211", "cache.example:11211", MemcachedMember),
    ],
)
def test_a_member_is_known_by_host_and_port(text: str, name: str, kind: type) -> None:
    """By which a ring tells whose a key is: in every instance of a zone the same, whatever else the address says."""
    named, made = member(text, token=no_token)
    assert named == name
    assert isinstance(made, kind)


def test_certificates_that_are_not_there_are_found_missing_at_once(tmp_path: Path) -> None:
    """And not when the first request wants them."""
    with pytest.raises(OSError, match="No such file"):
        member(f"valkeys://10.0.0.7:6379?ca={tmp_path}/ca.pem", token=no_token)


@pytest.mark.process
@pytest.mark.parametrize("scheme, library", [("valkey", "valkey"), ("memcached", "pymemcache")])
def test_a_library_is_imported_by_those_who_use_it(scheme: str, library: str) -> None:
    """Imports are cold starts."""
    program = f"""
import sys
from sigla.cache.members import member
assert not {{"valkey", "pymemcache", "ssl"}} & set(sys.modules), "imported by nobody"
member("{scheme}://10.0.0.7:6379", token=str)
assert {{"valkey", "pymemcache"}} & set(sys.modules) == {{"{library}"}}, "imported for another"
"""
    subprocess.run([sys.executable, "-c", program], check=True)
