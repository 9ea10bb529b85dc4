"""The extension `sigla_native`: whether it is here, and whether it is wanted."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

from sigla_pipelines.land.decoders.decoder import Native

PACKAGE: Final = "sigla-registry-native"
VARIABLE: Final = "SIGLA_NATIVE"
"""A variable of the environment, which goes before the setting `native`."""


class NotInstalled(ValueError):
    """The extension was asked for, and is not here; the message is a sentence for people."""


@cache
def installed() -> Any | None:
    """The module; None where it is not installed, or not for this machine."""
    try:
        return import_module("sigla_native")
    except ImportError:
        return None


def chosen_extension(native: Native) -> Any | None:
    """None where it is not used. Raises NotInstalled."""
    found = None if native is Native.OFF else installed()
    if found is None and native is Native.ON:
        raise NotInstalled(
            f"The extension of {PACKAGE} is not installed, and `native: on` asks for it: install a wheel that fits "
            "this machine, or say `auto`."
        )
    return found


def chosen_native(setting: Native, environ: Mapping[str, str]) -> Native:
    """What the environment says, or else the setting. Raises ValueError."""
    said = environ.get(VARIABLE)
    if not said:
        return setting
    try:
        return Native(said)
    except ValueError:
        valid = ", ".join(each.value for each in Native)
        raise ValueError(f"Unknown value of {VARIABLE}: {said}. Valid values: {valid}.") from None


def remark(native: Native) -> str:
    """What to tell people, once; empty where there is nothing."""
    if native is not Native.AUTO or installed():
        return ""
    return (
        f"The extension of {PACKAGE} is not installed: Avro and Protobuf are decoded in Python, which takes about 20 "
        "times the CPU."
    )
