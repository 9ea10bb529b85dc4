"""Messages of pyiceberg about its own work, which no operator needs."""

import logging


def unsaid() -> None:
    """Replaced metadata that is gone already goes without a word: servers of REST catalogs remove it, too.

    What is really left is an orphan, which `maintain` removes.
    """
    logging.getLogger("pyiceberg.catalog").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Failed to delete metadata file")
