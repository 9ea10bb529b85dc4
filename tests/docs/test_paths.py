"""The map and the ground: every file that the pages for engineers name is there."""

import re

import pytest

from tests.house import ROOT, SIGLA, our_files

# Where a page may begin a path: the repository, the package, and what is named below a heading of its own.
BEGINNINGS = (
    "",
    "docs/",
    "infra/",
    "layers/sigla/python/",
    *(f"{folder.relative_to(ROOT)}/" for folder in (SIGLA, SIGLA / "deployment")),
)
JOBS = "pipelines/sigla_pipelines/"
# Paths of other places, each with where it is.
ELSEWHERE = {
    "pending/": "in the data directory",
}


def named(page: str) -> list[tuple[int, str]]:
    """What a page has in code that looks like a path, with its line: `web/api/wire/`, `rules.py`, `cache/ring`."""
    text = re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), page, flags=re.DOTALL)
    return [
        (number, word)
        for number, line in enumerate(text.splitlines(), 1)
        for word in re.findall(r"`([a-z_.][\w./-]*)`", line)
        if ("/" in word or word.endswith((".py", ".md"))) and not word.startswith(".")
    ]


def is_there(word: str, files: set[str], folders: set[str]) -> bool:
    """A file or a folder; a module without its ending, also with a name of it: `registry/lookup.meaning`."""
    if "/" not in word:  # of each language, or of each store
        return any(name.endswith(f"/{word}") or name == word for name in files)
    module = word if word.endswith((".py", ".md")) else re.sub(r"\.\w+$", "", word)
    return any(
        f"{start}{word.rstrip('/')}" in files | folders or f"{start}{module}.py" in files
        for start in (*BEGINNINGS, "pipelines/", JOBS, f"{JOBS}land/")
    )


@pytest.mark.parametrize("page", ["docs/architecture.md", "docs/glossary.md", "CONTRIBUTING.md"])
def test_every_path_that_a_page_names_is_there(page: str) -> None:
    """A map with a street that is gone costs a newcomer the morning."""
    files = {path.relative_to(ROOT).as_posix() for path in our_files()}
    folders = {name[:end] for name in files for end in range(len(name)) if name[end] == "/"}
    words = [each for each in named((ROOT / page).read_text(encoding="utf-8")) if each[1] not in ELSEWHERE]
    assert words
    missing = [f"{page}:{line} {word}" for line, word in words if not is_there(word, files, folders)]
    assert not missing, "\n".join(missing)
