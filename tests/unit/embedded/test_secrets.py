"""Credentials of exporters in a directory: for their owner alone, there as long as an exporter names them."""

from contextlib import closing, suppress
from pathlib import Path

import pytest

from sigla.changes import ExporterChanged
from sigla.errors import StoreError
from sigla.exporters.nouns import Credentials, Exporter
from sigla.ports.secrets import SecretName
from sigla.stores.sqlite.reading import ReadingStore
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import NOW, a_nonce

NAME = SecretName("e.1", "mark")
CREDENTIALS = Credentials({"basic.auth.user.info": "orders:é-secret"})


def files(data: Path) -> list[Path]:
    return [path for path in (data / "default" / "secrets").rglob("*") if path.is_file()]


def name_them(store: EmbeddedStore, name: SecretName = NAME, seen: Exporter | None = None) -> Exporter:
    exporter = Exporter(name.exporter, credentials=name.nonce, revision=a_nonce())
    store.catalog.commit(ExporterChanged(exporter.name, seen, exporter, NOW, exporter.revision))
    return exporter


def test_credentials_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    """Other users of the machine may read the schemas, and must not enter another registry."""
    with EmbeddedStore(tmp_path) as store:
        store.secrets.put(NAME, CREDENTIALS)
        assert store.secrets.get(NAME) == CREDENTIALS
        (file,) = files(tmp_path)
        assert file.stat().st_mode & 0o777 == 0o600
        store.secrets.put(NAME, CREDENTIALS)
        assert store.secrets.get(SecretName("e.1", "other")) is None
        assert store.secrets.get(SecretName("e", "1.mark")) is None
        name_them(store)
    with EmbeddedStore(tmp_path) as store:
        assert store.secrets.get(NAME) == CREDENTIALS


def test_an_exporter_may_have_the_longest_name_there_is(tmp_path: Path) -> None:
    """Three letters of a file's name for each capital are more than a file's name takes."""
    name = SecretName("TO." * 42 + "DR", "0123456789abcdef")
    with EmbeddedStore(tmp_path) as store:
        store.secrets.put(name, CREDENTIALS)
        store.secrets.put(SecretName(name.exporter, "left"), CREDENTIALS)
        name_them(store, name)
    with EmbeddedStore(tmp_path) as store:
        assert store.secrets.get(name) == CREDENTIALS
        assert [each.name for each in store.secrets.kept()] == [name]
        store.secrets.delete(SecretName(name.exporter, "other"))
        assert store.secrets.get(name) == CREDENTIALS


def test_no_text_of_credentials_tells_them() -> None:
    """A value may end in a log, or in a traceback."""
    assert "secret" not in f"{CREDENTIALS!r} {CREDENTIALS}"


def test_credentials_go_when_the_change_that_left_them_is_on_disk(tmp_path: Path) -> None:
    """Where a group fails its rows come back, and name what they named."""
    with EmbeddedStore(tmp_path) as store:
        store.secrets.put(NAME, CREDENTIALS)
        seen = name_them(store)
        with suppress(KeyError), store.group():
            name_them(store, SecretName("e.1", "next"), seen)
            store.secrets.delete(NAME)
            raise KeyError
        assert store.secrets.get(NAME) == CREDENTIALS
        with store.group():
            name_them(store, SecretName("e.1", "next"), seen)
            store.secrets.delete(NAME)
            assert store.secrets.get(NAME) == CREDENTIALS
        assert store.secrets.get(NAME) is None
        store.secrets.delete(NAME)


def test_what_a_crash_left_is_taken_away_by_the_next_opening(tmp_path: Path) -> None:
    """Credentials that no exporter names would lie there for ever."""
    with EmbeddedStore(tmp_path) as store:
        store.secrets.put(NAME, CREDENTIALS)
        name_them(store)
        store.secrets.put(SecretName("e.1", "left"), CREDENTIALS)
        store.secrets.put(SecretName("other", "left"), CREDENTIALS)
        (tmp_path / "default" / "secrets" / "notes.TXT").write_text("mine")
    with EmbeddedStore(tmp_path) as store:
        assert sorted(path.name for path in files(tmp_path)) == ["e%2e1.mark.json", "notes.TXT"]
        assert store.secrets.get(NAME) == CREDENTIALS


def test_a_place_that_cannot_be_written_says_so_and_keeps_nothing(tmp_path: Path) -> None:
    """Half a file of credentials would be taken for all of them."""
    with EmbeddedStore(tmp_path) as store:
        (tmp_path / "default").mkdir(exist_ok=True)
        (tmp_path / "default" / "secrets").write_text("in the way")
        with pytest.raises(StoreError, match=r"the credentials of the exporter e\.1 cannot be written"):
            store.secrets.put(NAME, CREDENTIALS)


def test_damaged_credentials_are_not_guessed_at(tmp_path: Path) -> None:
    """A sentence is better than a login that fails."""
    with EmbeddedStore(tmp_path) as store:
        store.secrets.put(NAME, CREDENTIALS)
        (file,) = files(tmp_path)
        file.write_text("{")
        with pytest.raises(StoreError, match=r"the credentials of the exporter e\.1 cannot be read"):
            store.secrets.get(NAME)


def test_a_list_has_all_credentials_whether_an_exporter_names_them_or_not(tmp_path: Path) -> None:
    """Also for a reader beside a registry that runs; half a file, and foreign ones, are not among them."""
    with EmbeddedStore(tmp_path) as store:
        assert not list(store.secrets.kept())
        names = {NAME, SecretName("A", "other"), SecretName("é-_", "mark")}
        for name in names:
            store.secrets.put(name, CREDENTIALS)
        for foreign in ("notes.TXT", "e.mark.json.new", "e.json", "+a.mark.json"):
            (tmp_path / "default" / "secrets" / foreign).write_text("mine")
        with closing(ReadingStore(tmp_path)) as reading:
            for secrets in (store.secrets, reading.secrets):
                assert {each.name for each in secrets.kept()} == names
                assert all(
                    each.ts == round(1000 * min(times(tmp_path))) for each in secrets.kept() if each.name == NAME
                )


def times(data: Path) -> list[float]:
    return [path.stat().st_mtime for path in files(data) if path.name.startswith("e%2e1")]


def test_whoever_only_reads_a_directory_keeps_no_credentials(tmp_path: Path) -> None:
    """An export and a backup have none."""
    with EmbeddedStore(tmp_path) as store:
        store.secrets.put(NAME, CREDENTIALS)
        reading = ReadingStore(tmp_path)
        try:
            assert reading.secrets.get(NAME) is None
            with pytest.raises(StoreError):
                reading.secrets.put(NAME, CREDENTIALS)
        finally:
            reading.close()
