"""Who may call a URL is said in one place."""

import re
from pathlib import Path

from tests.infra.reading import Template

ROOT = Path(__file__).parents[2]
PLACES = (ROOT / "infra", ROOT / "layers" / "sigla" / "python" / "sigla")
DOORS = PLACES[1] / "cdk" / "doors.py"


def test_urls_are_opened_in_one_place() -> None:
    """An organisation that wants credentials of AWS on a URL changes one line, and knows that there is no other."""
    opens = re.compile(r"add_function_url|add_method|FunctionUrlAuthType|AuthorizationType|CfnUrl\b")
    found = {path for place in PLACES for path in place.rglob("*.py") if opens.search(path.read_text())}
    assert found == {DOORS}


def test_every_url_of_a_stack_is_on_the_list(all_on: Template, zones: Template, private: Template) -> None:
    """Its table is what a reader of the stack's security asks for first."""
    listed = re.findall(r"^    (\w*Url)\b", DOORS.read_text(), re.MULTILINE)
    outputs = {name for template in (all_on, zones, private) for name in template["Outputs"] if "Url" in name}
    assert outputs
    assert {name for name in outputs if name.startswith(tuple(listed))} == outputs
