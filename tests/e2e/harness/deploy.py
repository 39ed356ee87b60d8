"""What deploy/base installs, read without a YAML parser: the files that its kustomization lists, document by document.

The e2e cluster gets Reprieve's rights from there and from nowhere else, so that what is tested is what is shipped.
"""

import re

from .manifests import apply_document, documents, field
from .programs import ROOT

BASE = ROOT / "deploy" / "base"
CONFIG = BASE / "config.yaml"

ACCESS = ("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")


def shipped(kinds=None):
    """The documents of deploy/base in the order of its kustomization; only these kinds, if given."""
    listing = re.search(r"(?m)^resources:\n((?:- .*\n)+)", (BASE / "kustomization.yaml").read_text())
    found = []
    for name in re.findall(r"- (\S+)", listing.group(1)):
        found += [one for one in documents(BASE / name) if kinds is None or field(one, "kind") in kinds]
    assert found, f"deploy/base has nothing of {kinds}"
    return found


def config_map():
    """The ConfigMap that kustomize would generate, under its plain name."""
    lines = "".join(f"    {line}\n" for line in CONFIG.read_text().splitlines())
    return (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: reprieve-config\n  namespace: reprieve-system\n"
        f"data:\n  config.yaml: |\n{lines}"
    )


def install_access(client):
    """Namespace, service account and roles: what a scheduler needs that runs outside the cluster."""
    for document in shipped(ACCESS):
        apply_document(client, document)


def install(client):
    """Everything, as `kubectl apply -k deploy/base` does."""
    for document in [*shipped(), config_map()]:
        apply_document(client, document)
