"""A deployment's settings in one file, `stages/NAME.toml`, and what a command line may change of them.

Where the data is, which registry it is, and by which names clients find it stands in the file only: with flags, the
one deployment that forgets one would give the same stack another, empty registry, and ids a second meaning. A file
cannot be forgotten: without one nothing is deployed. Its tables mirror the names of settings: `function_url = true`
below `[front_door]` is `front_door.function_url`.
"""

import json
import os
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from sigla.deployment.choices import issuers
from sigla.deployment.settings import EXPECTED, LOCAL, InvalidSetting, Settings, flat, is_of_cdk
from sigla.deployment.sources import ROOT

FOLDER = Path("stages")
EXAMPLES = ROOT / "infra" / "examples"
DEFAULT = "default"
FLAG = "stage_file"
"""What names a stage file among the settings of a command line."""

COMPARED = "sigla:settings"
"""Under this name CDK's context has the fingerprint of the settings that `make deploy` has compared."""

FILE_ONLY = (
    "stage",
    "stack_name",
    "account",
    "region",
    "registry_name",
    "registries",
    "pool",
    "identity",
    "bucket_name",
    "table_name",
    "table_stream_arn",
    "zones",
    "regions.peer",
    "regions.role",
    "front_door.domain_name",
    "front_door.private_domain",
    "front_door.private_endpoints",
)
"""Settings that say where the data is, whose it is and where its clients find it."""

LOST = "docs/deploy.md#a-lost-file restores a lost one"

EXAMPLES_IDENTITY = "0" * 32
"""It was not drawn at random: whoever copies an example draws one."""

_PATHS = ("pipelines.land", "pipelines.jars")
"""Settings that name files, seen from the stage file."""


def path_of(name: str) -> Path:
    """Raises InvalidSetting."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise InvalidSetting(f"Invalid name of a stage {name!r}: expected up to 64 letters, digits, '-', '_' and '.'.")
    return FOLDER / f"{name}.toml"


def pairs(given: Iterable[str]) -> dict[str, str]:
    """What a command line gives, each as in `name=value`. Raises InvalidSetting."""
    chosen = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InvalidSetting(f"Invalid setting '{pair}': expected NAME=VALUE, as in -c stage=local.")
        if is_of_cdk(name):  # where CDK's own are expected, it would be passed by
            raise InvalidSetting(f"Unknown setting {name}: no setting has a colon or a slash in its name.")
        chosen[name] = value
    return chosen


def settings_of(context: Mapping[str, Any], *, otherwise: Path | None = None) -> Settings:
    """The settings of CDK's context: those of its stage file, and over them those that a command line may give.

    A context with stage=local needs no file. otherwise: the file where the context names none. Raises InvalidSetting.
    """
    flags = {name: value for name, value in context.items() if not is_of_cdk(name)}
    named = flags.pop(FLAG, "")
    if not named and flags.get("stage") == LOCAL:
        return Settings.read(flags)
    path = Path(named) if named else otherwise or path_of(DEFAULT)
    if not named and not os.path.lexists(path):
        raise InvalidSetting(f"No stage file: name one by -c {FLAG}=PATH, or write one: `sigla stage {path}`.")
    settings = merged(read(path), flags, path)
    if context.get(COMPARED, fingerprint(settings)) != fingerprint(settings):
        raise InvalidSetting(
            f"Nothing was deployed: the settings differ from those that were checked. {path} has changed since, or CDK "
            "has settings of its own (`context` in ~/.cdk.json or in cdk.context.json). Correct them, then deploy "
            "again."
        )
    return settings


def fingerprint(settings: Settings) -> str:
    """The same for the same settings only."""
    return sha256(json.dumps(flat(settings), sort_keys=True).encode()).hexdigest()[:16]


def read(path: Path) -> dict[str, Any]:
    """What a stage file says, by the names of settings. Raises InvalidSetting."""
    try:
        return _checked(tomllib.loads(path.read_bytes().decode("utf-8-sig")), path.parent)
    except FileNotFoundError:
        raise InvalidSetting(f"Stage file not found: {path}: `sigla stage {path}` writes a new one, {LOST}.") from None
    except OSError as failure:
        raise InvalidSetting(f"The stage file {path} cannot be read ({failure.strerror}).") from None
    except UnicodeDecodeError:
        raise InvalidSetting(f"The stage file {path} is not TOML: it is not UTF-8.") from None
    except tomllib.TOMLDecodeError as wrong:
        raise InvalidSetting(f"The stage file {path} is not TOML: {wrong}.") from None
    except InvalidSetting as wrong:
        raise InvalidSetting(f"{path}: {wrong}") from None
    except (ValueError, RecursionError):
        raise InvalidSetting(
            f"The stage file {path} contains a number that is too large, or tables nested too deeply."
        ) from None


def merged(of_file: Mapping[str, Any], flags: Mapping[str, Any], path: Path) -> Settings:
    """The settings of a stage file with those of a command line over them. Raises InvalidSetting."""
    local = of_file.get("stage") == flags.get("stage", LOCAL) == LOCAL
    if kept := [name for name in FILE_ONLY if name in flags and not local]:
        raise InvalidSetting(
            f"-c cannot set {', '.join(kept)}: the place of the data and the addresses of clients belong in the "
            f"stage file {path}."
        )
    try:
        settings = Settings.read({**of_file, **flags})
    except InvalidSetting as wrong:
        raise wrong if flags else InvalidSetting(f"{path}: {wrong}") from None
    if not settings.local and not settings.identity:
        raise InvalidSetting(f"{path}: identity is missing; `sigla stage` writes a file that has one.")
    if settings.identity == EXAMPLES_IDENTITY and path.resolve().parent != EXAMPLES.resolve():
        raise InvalidSetting(f"{path}: identity is the one of the examples; `sigla stage` makes a new one.")
    return settings


def _checked(tables: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Each value under its setting's name, of the kind that it must be. Raises InvalidSetting."""
    known = flat(Settings())
    found: dict[str, Any] = {}
    for name, value in _flat(tables, _sections(known)):
        if name in found:
            raise InvalidSetting(f"{name} occurs twice.")
        found[name] = _typed(name, value, known)
    for name in _PATHS:
        if found.get(name):
            found[name] = str(folder / found[name])
    return found


def _sections(known: Iterable[str]) -> set[str]:
    return {name.partition(".")[0] for name in known if "." in name}


def _flat(tables: Mapping[str, Any], sections: Collection[str]) -> Iterator[tuple[str, Any]]:
    """A table other than one of settings is a value like any other, and refused as one: it must not say nothing."""
    for name, value in tables.items():
        if isinstance(value, dict) and name in sections:
            yield from ((f"{name}.{each}", inner) for each, inner in value.items())
        else:
            yield name, value


def _typed(name: str, value: object, known: Mapping[str, Any]) -> object:
    """TOML has kinds of its own: `"true"` is a text, not a boolean. Raises InvalidSetting."""
    if name not in known:
        raise InvalidSetting(_unknown(name, known))
    kind = type(known[name])
    if name == "issuers" and isinstance(value, list):
        return issuers.as_text(value)
    if name in ("registries", "pool") and isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ",".join(value)
    if type(value) is not kind and (kind, type(value)) != (float, int):
        hint = ", without quotes" if isinstance(value, str) else ", in quotes" if kind is str else ""
        raise InvalidSetting(f"{name} is {value!r}; {EXPECTED[kind]}{hint}.")
    return value


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    """Why the setting is unknown; in TOML what stands below a table's head is of that table."""
    if name in _sections(known):
        return f"{name} is a table: write [{name}] once, and its settings below."
    table, _, last = name.rpartition(".")
    if last in known:
        return f"{last} is below [{table}]: move it above the first table."
    return f"Unknown setting {name}. Valid settings: {', '.join(known)}."
