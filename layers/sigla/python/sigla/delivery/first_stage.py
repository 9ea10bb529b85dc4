"""The first stage file of a deployment: what a person chooses, what the environment offers, and an identity.

`sigla stage` and this repository's own `make stage` both begin here. A file that is there stays.
"""

import json
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sigla.delivery.accounts import Unreachable, here
from sigla.deployment.settings import InvalidSetting, Settings, flat
from sigla.deployment.stage_files import pairs

Ask = Callable[[str], str]

EMPTY = "-"
"""What is typed where the answer is empty, and what is offered is not."""

QUESTIONS = {
    "registry_name": "Name of the registry; every stored name begins with it",
    "account": f"Number of the AWS account to deploy to; {EMPTY}: the account of the credentials",
    "region": f"Region to deploy to; {EMPTY}: the region of the environment",
    "zones": f"Ids of availability zones that get a URL each, as in use1-az1,use1-az2; {EMPTY}: no zones",
    "front_door.function_url": "A function URL beside the REST API, true or false",
    "watch.email": f"Email address for alarms; {EMPTY}: no email",
}

WORDS = {
    "registry_name": "The metadata space: every stored name begins with it. Another name is another, empty registry.",
    "registries": "Further registries in the same table and bucket, each with a function and URLs of its own.",
    "pool": "Further registries that the same function serves; their clients name them, as in etl@payments.",
    "stack_name": "The CloudFormation stack.",
    "account": "Where it is deployed. With other credentials, or in another region, this file deploys nothing.",
    "identity": "The registry's identity, also in its table and bucket. Never change it, or use it for another one.",
    "bucket_name": "A bucket and a table that exist already, kept or restored; empty: the stack makes its own.",
    "zones": "Ids of availability zones that get a URL and a ring of caches each. Removing one removes its URL.",
}
"""What the file says above a setting."""

HEAD = """\
# A deployment of Sigla, for `sigla deploy {file}`; in a clone `make deploy STAGE={name}` reads it from stages/.
# docs/deploy.md#settings has every setting.
# It holds no secret. Keep it where your team does: without it the next deployment does not know where the data is.
"""
ALWAYS = (
    *("stack_name", "account", "region", "registry_name", "identity"),
    *("bucket_name", "table_name", "table_stream_arn", "zones"),
)
"""What stands in every file, so that a reader sees where the data is."""


def make(path: Path, given: Iterable[str], ask: Ask | None) -> str:
    """Writes the file; a sentence that says so. given: settings, each as in `name=value`. ask: as of `chosen`.

    Raises InvalidSetting.
    """
    refuse_another(path)
    settings = chosen(path.stem, pairs(given), ask, surroundings())
    write(path, text(path, settings))
    return f"Wrote {path}: the stack {settings.stack_name}, the registry {settings.registry_name}."


def chosen(name: str, given: Mapping[str, str], ask: Ask | None, found: Mapping[str, str] | None = None) -> Settings:
    """The settings of a deployment: what is given, what is answered, and defaults. Raises InvalidSetting.

    ask: puts a question to a person; None without one. found: where the environment leads, which is offered to a
    person, and taken without one. An identity is given for a stack that is there, whose file was lost.
    """
    known = flat(Settings())
    if "stage" in given:
        raise InvalidSetting("A stage file is for AWS only: for LocalStack use `make localstack`.")
    settings: dict[str, Any] = {"registry_name": name.lower(), **(found or {}), **given}
    for setting, question in QUESTIONS.items():
        if ask and setting not in given:
            offered = settings.pop(setting, known[setting])
            settings[setting] = _answer(setting, question, offered, settings, ask)
    return Settings.read({"identity": secrets.token_hex(16), **settings})


def _answer(setting: str, question: str, default: object, so_far: Mapping[str, Any], ask: Ask) -> str:
    """One that the setting can be. What is wrong whatever it is, with other settings, is not asked about."""
    before = _wrong(so_far)
    shown = json.dumps(default) if isinstance(default, bool) else str(default)
    while True:
        typed = ask(f"{question} [{shown or EMPTY}]: ").strip()
        answer = "" if (typed or shown) == EMPTY else typed or shown
        wrong = _wrong({**so_far, setting: answer})
        if wrong in ("", before):
            return answer
        sys.stderr.write(f"{wrong}\n")


def _wrong(settings: Mapping[str, Any]) -> str:
    """What cannot be about them, in a sentence; empty: nothing."""
    try:
        Settings.read(settings)
    except InvalidSetting as wrong:
        return str(wrong)
    return ""


def surroundings() -> dict[str, str]:
    """The account and the region of the environment, as far as there are credentials, and AWS answers."""
    try:
        account = here()
    except Unreachable:
        return {}
    try:
        return {"account": account.number(), "region": account.region}
    except Unreachable:
        return {"region": account.region}


def text(path: Path, settings: Settings) -> str:
    """A stage file that says these settings; of those with a default only what differs."""
    values, defaults = flat(settings), flat(Settings())
    said = {each: value for each, value in values.items() if each in ALWAYS or value != defaults[each]}
    lines = [HEAD.format(file=path.name, name=path.stem)]
    for setting in (each for each in said if "." not in each):
        lines += [f"\n# {WORDS[setting]}\n" if setting in WORDS else "", f"{setting} = {_toml(said[setting])}\n"]
    for table in dict.fromkeys(each.partition(".")[0] for each in said if "." in each):
        inside = {each.partition(".")[2]: value for each, value in said.items() if each.startswith(f"{table}.")}
        lines += [f"\n[{table}]\n", *(f"{each} = {_toml(value)}\n" for each, value in inside.items())]
    return "".join(lines)


def _toml(value: str | float) -> str:
    """Strings, numbers and booleans of JSON are TOML's, but for DEL; characters beyond the BMP only as themselves."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")


def write(path: Path, content: str) -> None:
    """The whole file or none. Raises InvalidSetting if one is there: with it an identity would go."""
    try:
        path.parent.mkdir(exist_ok=True)
        refuse_another(path)
        with path.open("x", encoding="utf-8") as file, _removed_unless_whole(path):
            file.write(content)
            file.flush()
    except OSError as failure:
        raise InvalidSetting(f"{path} cannot be written ({failure.strerror}).") from None
    except UnicodeEncodeError:
        raise InvalidSetting(f"{path} cannot be written: its name, or a setting, is not valid UTF-8.") from None


@contextmanager
def _removed_unless_whole(path: Path) -> Iterator[None]:
    """A part of one, as a full disk or Ctrl-C leaves it, would be neither a stage nor make room for one."""
    try:
        yield
    except BaseException:
        path.unlink()
        raise


def refuse_another(path: Path) -> None:
    """Raises InvalidSetting where something is there, be it a link that leads nowhere yet."""
    if os.path.lexists(path):
        raise InvalidSetting(f"{path} exists already and is not changed: it has the identity of a registry.")
