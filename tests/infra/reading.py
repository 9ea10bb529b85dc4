"""Reading a template."""

from typing import Any

Template = dict[str, Any]


def all_of(template: Template, kind: str) -> list[dict[str, Any]]:
    """The properties of every resource of a type."""
    return [each.get("Properties", {}) for each in template["Resources"].values() if each["Type"] == kind]


def only(template: Template, kind: str) -> dict[str, Any]:
    """The properties of the one resource of a type."""
    (found,) = all_of(template, kind)
    return found


def ids_in(template: Template, part: str, kind: str) -> list[str]:
    """Logical ids of a part of the stack, such as `Journal`."""
    return [name for name in ids(template, kind) if name.startswith(part)]


def all_in(template: Template, part: str, kind: str) -> list[dict[str, Any]]:
    """The properties of every resource of a type in a part of the stack."""
    return [template["Resources"][name].get("Properties", {}) for name in ids_in(template, part, kind)]


def of(template: Template, part: str, kind: str) -> dict[str, Any]:
    """The properties of the one resource of a type in a part of the stack."""
    (found,) = all_in(template, part, kind)
    return found


def kinds(template: Template) -> set[str]:
    return {each["Type"] for each in template["Resources"].values()}


def ids(template: Template, kind: str) -> list[str]:
    """Logical ids."""
    return [name for name, each in template["Resources"].items() if each["Type"] == kind]


def written(value: Any) -> str:
    """A value with what CloudFormation will put into it: `<Bucket.Arn>/schemas/*`."""
    match value:
        case {"Fn::Join": [between, parts]}:
            return str(between).join(map(written, parts))
        case {"Fn::GetAtt": names}:
            return f"<{'.'.join(names)}>"
        case {"Ref": name}:
            return f"<{name}>"
    return str(value)


def mentioned(value: Any) -> set[str]:
    """The logical ids that a value refers to, those that its resource only waits for included."""
    match value:
        case {"Ref": str(name)}:
            return {name}
        case {"Fn::GetAtt": [str(name), _]}:
            return {name}
        case dict():
            waited_for = set(as_list(value.get("DependsOn", [])))
            return waited_for.union(*map(mentioned, value.values()))
        case list():
            return set().union(*map(mentioned, value))
    return set()


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
