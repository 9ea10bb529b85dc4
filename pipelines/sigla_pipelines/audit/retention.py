"""How long topics keep records, as their brokers say: what a topic has dropped, no audit of data can have missed."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sigla.errors import StoreError
from sigla.settings import InvalidSetting

FOR_EVER: Final = -1
PATIENCE_S: Final = 15.0
INSTALL: Final = "--brokers needs confluent-kafka, which is not installed: pip install 'sigla-registry[kafka]'."


def client_settings(brokers: str, file: Path | None) -> Mapping[str, str]:
    """Those of Kafka's client in C. file: lines `name=value`, as Kafka's tools keep them. Raises InvalidSetting."""
    try:
        import confluent_kafka  # noqa: F401, PLC0415 - an extra of its own, for who has topics
    except ImportError:
        raise InvalidSetting(INSTALL) from None
    settings: dict[str, str] = {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines() if file else []
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidSetting(f"{file} cannot be read ({problem}).") from None
    for line in lines:
        name, equals, value = line.partition("=")
        if equals and not line.lstrip().startswith("#"):
            settings[name.strip()] = value.strip()
    return {**settings, "bootstrap.servers": brokers}


def retention_of(topics: Iterable[str], settings: Mapping[str, str]) -> Mapping[str, int]:
    """Milliseconds by topic, or FOR_EVER. What brokers do not tell of a topic is left out.

    A topic that is compacted alone keeps the last record of each key for ever. Raises StoreError where none answers.
    """
    from confluent_kafka import KafkaException  # noqa: PLC0415 - as above
    from confluent_kafka.admin import (  # type: ignore[attr-defined]  # noqa: PLC0415 - as above; its types forget two
        AdminClient,
        ConfigResource,
        ResourceType,
    )

    wanted = sorted(set(topics))
    if not wanted:
        return {}
    try:
        admin = AdminClient({**settings, "log_level": "0"})
        there = admin.list_topics(timeout=PATIENCE_S).topics
        asked = [ConfigResource(ResourceType.TOPIC, name) for name in wanted if name in there]
        told = admin.describe_configs(asked, request_timeout=PATIENCE_S) if asked else {}
    except KafkaException as failure:
        raise StoreError(f"the brokers do not answer: {failure.args[0].str()}") from failure
    found: dict[str, int] = {}
    for resource, answer in told.items():
        with suppress(KafkaException, ValueError, KeyError):  # not everybody who reads a topic may read its settings
            found[resource.name] = _kept_ms(answer.result(PATIENCE_S))
    return found


def _kept_ms(config: Mapping[str, Any]) -> int:
    if config["cleanup.policy"].value.strip() == "compact":
        return FOR_EVER
    return max(int(config["retention.ms"].value), FOR_EVER)
