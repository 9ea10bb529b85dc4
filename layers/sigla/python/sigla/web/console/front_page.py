"""The page that a person's browser gets for `/`: what this is, and where to go. Programs get what the contract says."""

from collections.abc import Iterable

from sigla import __version__
from sigla.web.http.answer import Answer

PLACES = {
    "/console": "to see, compare and check schemas",
    "/docs": "every request, to read and to try",
    "/openapi.json": "the same for programs, as OpenAPI",
    "/zones/live": "from where each zone has its schemas",
    "/metrics": "counters, for Prometheus",
    "/health": "whether it is well",
}
"""What a browser can show, where it stands beside the API."""

_LINKS = {"/console": "console/"}
"""Where a link leads, if not to the path itself: links of that page are relative to it."""

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sigla</title>
<link rel="icon" href="data:,">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; color: #1f2933 }}
h1 {{ margin: 0 }} h1 small {{ font-weight: normal; color: #52606d }}
a {{ color: #2f6f4f }} code {{ background: #eaf3ee; padding: .1em .3em }}
@media (prefers-color-scheme: dark) {{
  body {{ background: #14191f; color: #e4e7eb }} a {{ color: #8fd3ae }} code {{ background: #24322b }}
  h1 small {{ color: #9aa5b1 }}
}}
</style>
</head>
<body>
<h1>Sigla <small>{version}</small></h1>
<p>A schema registry for Kafka that speaks Confluent's Schema Registry API.</p>
<p>Clients take the address of this page as their <code>schema.registry.url</code>.</p>
<ul>
{places}
</ul>
</body>
</html>
"""

_POLICY = (
    b"default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"vary", b"Accept"),
    (b"content-security-policy", _POLICY),
)


def front_page(beside: Iterable[str]) -> Answer:
    """beside: paths of what stands beside the API. Links are relative: a door may put the registry below a path."""
    there = set(beside)
    places = [
        f'<li><a href="{_LINKS.get(path, path[1:])}">{path}</a>: {about}</li>'
        for path, about in PLACES.items()
        if path in there
    ]
    body = _PAGE.format(version=__version__, places="\n".join(places))
    return Answer(200, body.encode(), media=b"text/html; charset=utf-8", headers=_HEADERS)
