"""Where the sources of packages are: in a clone of the repository, or in an installed wheel, which ships them."""

import os
from pathlib import Path

SIGLA = Path(__file__).parents[1]
"""The package sigla itself."""

SHIPPED = Path(__file__).parent / "shipped"
"""Handlers and locks as pyproject.toml puts them into the wheel, laid out as in a clone, which has no such folder."""


def _cache() -> Path:
    """The user's folder of what may be removed at any time."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sigla"


if SHIPPED.exists():
    ROOT, BUILD, JOBS = SHIPPED, _cache(), SIGLA.with_name("sigla_pipelines")
else:
    ROOT = Path(__file__).parents[5]
    BUILD, JOBS = ROOT / "build", ROOT / "pipelines" / "sigla_pipelines"

FUNCTIONS = ROOT / "functions"
LOCKS = ROOT / "requirements"

TEMPLATES = (SHIPPED if SHIPPED.exists() else BUILD) / "templates"
"""What `sigla deploy` deploys: `infra/templates.py` makes them for a release."""
