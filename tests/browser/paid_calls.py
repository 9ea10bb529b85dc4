"""What each page asks where each read costs money, before it is asked for more.

The browser's test finds that these are the calls (test_paid_reads.py), those of AWS what they cost
(tests/unit/aws/test_console_trips.py).
"""

from collections.abc import Mapping
from typing import Final

CALLER: Final = "GET /console/api/caller"
"""The first page of a tab asks it, for all of them."""


def of_subject(subject: str, version: int, *, named: bool = False) -> tuple[str, ...]:
    """named: whether the page is that of the version."""
    place = f"GET /subjects/{subject}"
    return (
        f"GET /console/api/subjects/{subject}/versions?limit=20{f'&version={version}' if named else ''}",
        f"{place}/versions/{version}?deleted=true",
        f"{place}/history?tokens=true&limit=21",
    )


def _of_editor(subject: str) -> tuple[str, ...]:
    return f"GET /subjects/{subject}/versions/latest", f"POST /console/api/subjects/{subject}/verdict"


_FOUND: Final = "limit=21&subjectPrefix=%3A*%3A"

CALLS: Final[Mapping[str, tuple[str, ...]]] = {
    "": (
        "GET /console/api/in-force/%3A.%3A",
        "GET /console/api/contexts?limit=100",
        "GET /console/api/associations?limit=1",
        "GET /console/api/keks?limit=1",
        "GET /console/api/subjects?names=true&limit=10",
        "GET /v1/metadata/version",
    ),
    "subjects": (f"GET /console/api/subjects?{_FOUND}",),
    "subjects?offset=20&after=customers-value": (f"GET /console/api/subjects?after=customers-value&{_FOUND}",),
    "subjects?deleted=true": ("GET /console/api/search?contains=&type=&deleted=true&subjectPrefix=%3A*%3A",),
    "subjects?q=pay": ("GET /console/api/search?contains=pay&type=&deleted=false&subjectPrefix=%3A*%3A",),
    "subjects?type=PROTOBUF": ("GET /console/api/search?contains=&type=PROTOBUF&deleted=false&subjectPrefix=%3A*%3A",),
    "subjects?context=.": ("GET /console/api/search?contains=&type=&deleted=false&subjectPrefix=",),
    "subjects/customers-value": of_subject("customers-value", 2),
    "subjects/payments-value": of_subject("payments-value", 1),
    "subjects/%3A.eu%3Acustomers-value": of_subject("%3A.eu%3Acustomers-value", 1),
    "subjects/gone-value": of_subject("gone-value", 1),
    "subjects/nothing": ("GET /console/api/subjects/nothing/versions?limit=20",),
    "subjects/orders-value/edit": _of_editor("orders-value"),
    "subjects/new-value/edit?type=PROTOBUF": _of_editor("new-value"),
    "edit": (),
    "subjects/orders-value/versions/1": of_subject("orders-value", 1, named=True),
    "subjects/orders-value/diff/1/2": (
        "GET /subjects/orders-value/diff/1/2?deleted=true",
        "GET /subjects/orders-value/versions/1?deleted=true",
        "GET /subjects/orders-value/versions/2?deleted=true",
    ),
    "ids/default/2": ("GET /schemas/ids/2?", "GET /console/api/ids/2?limit=16&"),
    "guids/none": ("GET /schemas/guids/none", "GET /schemas/guids/none/ids"),
    "contexts": ("GET /console/api/contexts?limit=50",),
    "settings": ("GET /console/api/settings?limit=20",),
    "decode": (),
    "zones": ("GET /zones",),
    "associations": ("GET /console/api/associations?limit=20",),
    "associations?topic=clicks": ("GET /associations/resources/-/clicks?limit=100",),
    "encryption": ("GET /console/api/keks?limit=20",),
}
