"""Applying YAML files without a YAML parser: the API server reads them itself (server-side apply).

Only the lines that decide the URL are looked at here: apiVersion, kind, and name and namespace of the metadata,
in block style at the usual indentation.
"""

import pathlib
import re

from .client import ApiError
from .waiting import wait_for


def documents(file):
    """The documents of a file that are objects, as text."""
    parts = re.split(r"(?m)^---[ \t]*$", pathlib.Path(file).read_text())
    return [part for part in parts if field(part, "kind")]


def apply_file(client, file):
    """Applies every document of a file, in order, and waits until a new kind is served."""
    for document in documents(file):
        apply_document(client, document)


def apply_document(client, document):
    version, kind = field(document, "apiVersion"), field(document, "kind")
    name, namespace = _metadata(document, "name"), _metadata(document, "namespace")
    assert version and name, f"a {kind} needs apiVersion and metadata.name"
    group = f"/api/{version}" if "/" not in version else f"/apis/{version}"
    resource = wait_for(lambda: _served(client, group, kind), 20, f"{version} {kind} being served")
    place = f"/namespaces/{namespace or 'default'}" if resource["namespaced"] else ""
    path = f"{group}{place}/{resource['name']}/{name}"
    client.patch(path, document, kind="apply", fieldManager="e2e", force="true")
    if kind == "CustomResourceDefinition":
        wait_for(lambda: _established(client.get(path)), 20, f"{name} being established")


def _served(client, group, kind):
    try:
        resources = client.get(group)["resources"]
    except ApiError as error:
        if error.status in (404, 503):
            return None
        raise
    return next((one for one in resources if one["kind"] == kind and "/" not in one["name"]), None)


def _established(definition):
    conditions = definition.get("status", {}).get("conditions") or []
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)


def field(document, key):
    found = re.search(rf"(?m)^{key}:[ \t]*(\S+)", document)
    return found and found.group(1)


def _metadata(document, key):
    block = re.search(r"(?m)^metadata:[ \t]*\n((?:[ ]+.*\n?)+)", document)
    found = block and re.search(rf"(?m)^[ ]{{2}}{key}:[ \t]*(\S+)", block.group(1))
    return found and found.group(1)
