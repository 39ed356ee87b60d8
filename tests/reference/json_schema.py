"""The part of JSON Schema (2020-12) that Reprieve's schemas use. A keyword it does not know is an error, not a pass."""

import re

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}
REMARKS = {"$schema", "title", "description", "default", "examples", "format", "then", "additionalProperties"}


def faults(schema, value, path="$"):
    """What is wrong with the value, a text each."""
    for keyword, wanted in schema.items():
        if keyword in REMARKS or keyword.startswith("x-"):
            continue
        yield from CHECKS[keyword](schema, wanted, value, path)
    if "additionalProperties" in schema and "properties" not in schema:
        yield from check_properties(schema, {}, value, path)


def check_type(_, wanted, value, path):
    if not TYPES[wanted](value):
        yield f"{path}: is no {wanted}"


def check_enum(_, wanted, value, path):
    if value not in wanted:
        yield f"{path}: {value!r} is none of {wanted}"


def check_properties(schema, wanted, value, path):
    if not isinstance(value, dict):
        return
    extra = schema.get("additionalProperties", True)
    for name, inner in value.items():
        if name in wanted:
            yield from faults(wanted[name], inner, f"{path}.{name}")
        elif extra is False:
            yield f"{path}.{name}: is not known"
        elif isinstance(extra, dict):
            yield from faults(extra, inner, f"{path}.{name}")


def check_items(_, wanted, value, path):
    for i, item in enumerate(value if isinstance(value, list) else ()):
        yield from faults(wanted, item, f"{path}[{i}]")


def check_prefix(_, wanted, value, path):
    for i, (inner, item) in enumerate(zip(wanted, value)):
        yield from faults(inner, item, f"{path}[{i}]")


def check_if(schema, wanted, value, path):
    if not list(faults(wanted, value, path)):
        yield from faults(schema["then"], value, path)


def plain(breaks, words):
    def check(_, wanted, value, path):
        if breaks(wanted, value):
            yield f"{path}: {value!r} {words} {wanted!r}"

    return check


CHECKS = {
    "type": check_type,
    "enum": check_enum,
    "const": lambda s, wanted, value, path: check_enum(s, [wanted], value, path),
    "properties": check_properties,
    "items": check_items,
    "prefixItems": check_prefix,
    "required": lambda _, wanted, value, path: (
        f"{path}: {name} is missing" for name in wanted if isinstance(value, dict) and name not in value
    ),
    "allOf": lambda _, wanted, value, path: (fault for inner in wanted for fault in faults(inner, value, path)),
    "oneOf": lambda _, wanted, value, path: (
        () if sum(not list(faults(inner, value, path)) for inner in wanted) == 1 else (f"{path}: fits not exactly one form",)
    ),
    "if": check_if,
    "propertyNames": lambda _, wanted, value, path: (fault for name in value for fault in faults(wanted, name, f"{path}.{name}")),
    "pattern": plain(lambda p, v: isinstance(v, str) and not re.search(p, v), "does not match"),
    "minLength": plain(lambda n, v: isinstance(v, str) and len(v) < n, "is shorter than"),
    "minItems": plain(lambda n, v: isinstance(v, list) and len(v) < n, "has fewer items than"),
    "maxItems": plain(lambda n, v: isinstance(v, list) and len(v) > n, "has more items than"),
    "minimum": plain(lambda n, v: TYPES["number"](v) and v < n, "is less than"),
    "maximum": plain(lambda n, v: TYPES["number"](v) and v > n, "is more than"),
    "uniqueItems": plain(
        lambda _, v: isinstance(v, list) and len({repr(item) for item in v}) < len(v), "has an item twice, unique:"
    ),
}
