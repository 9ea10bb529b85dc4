"""Jars and the Java that runs them: found, or refused with a sentence that says what to do."""

from pathlib import Path

import pytest

from localstack import dynamodb
from sigla_pipelines.connectors import installation, maven
from sigla_pipelines.connectors.maven import Unavailable
from tests.pipelines import broker

OLD_JAVA = 'openjdk version "11.0.20" 2023-07-18'
OLDEST_JAVA_NAMES = 'java version "1.8.0_392"'
GOOD_JAVA = 'openjdk version "21.0.1" 2023-10-17'

# As Maven is called: the folder for the jars is in an argument of its own.
FETCHES = 'for word; do case $word in -DoutputDirectory=*) into=${word#*=};; esac; done; mkdir "$into"; '
FETCHES += 'echo "$@" >"$into/asked.jar"'


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one folder on the PATH besides the system's own, with no Java and no Maven."""
    for name in ("sh", "mkdir"):
        (tmp_path / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.fixture
def pom(tmp_path: Path) -> Path:
    made = tmp_path / "one.pom.xml"
    made.write_text("<project/>")
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where nothing is yet."""
    return tmp_path / "fetched"


def a_program(path: Path, name: str, script: str) -> None:
    (path / name).write_text(f"#!/bin/sh\n{script}\n")
    (path / name).chmod(0o755)


def a_java(path: Path, says: str = GOOD_JAVA) -> None:
    a_program(path, "java", f"echo '{says}' >&2")


def test_without_java_it_says_what_to_do(path: Path) -> None:
    """As long as Java is missing."""
    with pytest.raises(Unavailable, match="Java 17 or newer is needed, but java is not on the PATH"):
        maven.java()


@pytest.mark.parametrize("says", [OLD_JAVA, OLDEST_JAVA_NAMES, "not a Java"])
def test_a_java_that_is_too_old_is_refused_before_anything_is_fetched(
    path: Path, pom: Path, folder: Path, says: str
) -> None:
    """So is what only calls itself Java."""
    a_program(path, "mvn", "exit 1")
    a_java(path, says)
    with pytest.raises(Unavailable, match="Java 17 or newer is needed"):
        maven.fetch_jars(pom, folder)
    assert not folder.exists()


def test_without_maven_it_says_what_to_do(path: Path, pom: Path, folder: Path) -> None:
    """The reason is a sentence; a test that is left out for it repeats it."""
    with pytest.raises(Unavailable, match="mvn is not on the PATH"):
        maven.fetch_jars(pom, folder)


def test_what_maven_says_when_it_fails_is_told_and_nothing_is_left(path: Path, pom: Path, folder: Path) -> None:
    """The next attempt begins anew."""
    a_java(path)
    a_program(path, "mvn", "echo '[ERROR] no such host'; exit 1")
    with pytest.raises(Unavailable, match="no such host"):
        maven.fetch_jars(pom, folder)
    assert not maven.is_fetched(pom, folder)
    assert list(folder.iterdir()) == []


def test_a_maven_that_hangs_is_given_up(path: Path, pom: Path, folder: Path) -> None:
    """A mirror that does not answer must not stop a test run for ever."""
    a_java(path)
    a_program(path, "mvn", "while :; do :; done")
    with pytest.raises(Unavailable, match="within"):
        maven.fetch_jars(pom, folder, within_s=0.1)
    assert not maven.is_fetched(pom, folder)


def test_what_is_fetched_is_not_fetched_again_until_its_pom_changes(path: Path, pom: Path, folder: Path) -> None:
    """The version that is pinned is the one that runs, and nothing of the one before it."""
    a_java(path)
    a_program(path, "mvn", FETCHES)
    maven.fetch_jars(pom, folder, properties={"spark": "4.1.1"}, without="org.slf4j")
    asked = (folder / "lib" / "asked.jar").read_text()
    assert "-Dspark=4.1.1 dependency:copy-dependencies -DincludeScope=runtime -DexcludeGroupIds=org.slf4j" in asked
    assert maven.class_path(folder) == f"{folder}/lib/*"
    a_program(path, "mvn", "exit 1")
    maven.fetch_jars(pom, folder)
    pom.write_text("<project></project>")
    assert not maven.is_fetched(pom, folder)
    a_program(path, "mvn", FETCHES.replace("asked", "newer"))
    maven.fetch_jars(pom, folder)
    assert [jar.name for jar in (folder / "lib").iterdir()] == ["newer.jar"]


@pytest.fixture
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "HOME", tmp_path / "spark")
    monkeypatch.setattr(broker, "PLACE", tmp_path / "broker")
    monkeypatch.setattr(dynamodb, "HOME", tmp_path / "dynamodb")


def test_each_that_needs_jars_fetches_them_in_one_way(path: Path, tmp_path: Path, nothing_installed: None) -> None:
    """Spark's connectors, Kafka's broker, DynamoDB's engine: from nothing, each into its own place."""
    a_java(path)
    a_program(path, "mvn", FETCHES)
    with pytest.raises(Unavailable, match=r"python -m sigla_pipelines\.connectors\.installation 4\.0\.2"):
        installation.kafka_jars("4.0.2")
    with pytest.raises(Unavailable, match=r"python -m tests\.pipelines\.broker --install"), broker.running():
        pass
    with pytest.raises(Unavailable, match=r"python -m sigla_pipelines\.connectors\.installation 4\.0\.2"):
        installation.iceberg("4.0.2")
    assert installation.main(["4.0.2"]) == 0
    broker.install()
    dynamodb.install()
    with pytest.raises(Unavailable, match=r"Iceberg has no runtime for Spark 4\.3\.0: install a PySpark of 4\.0"):
        installation.iceberg("4.3.0")
    [jar] = installation.kafka_jars("4.0.2")
    assert str(installation.POM) in jar.read_text()
    [jar] = installation.iceberg("4.0.2")
    assert f"{installation.ICEBERG_POM} -Dspark=4.0 " in jar.read_text()
    assert str(broker.POM) in (tmp_path / "broker/lib/asked.jar").read_text()
    assert str(dynamodb.POM) in (tmp_path / "dynamodb/lib/asked.jar").read_text()


def test_the_command_that_cannot_fetch_says_why(
    path: Path, nothing_installed: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sentence and 1."""
    assert installation.main(["4.0.2"]) == 1
    assert "mvn is not on the PATH" in capsys.readouterr().err
