"""The users of a test cluster, their tokens and their kubeconfig files."""

import dataclasses
import pathlib
import secrets


@dataclasses.dataclass(frozen=True)
class User:
    name: str  # what Kubernetes sees
    groups: tuple = ()


SERVICE_ACCOUNT_GROUPS = ("system:serviceaccounts", "system:serviceaccounts:reprieve-system", "system:authenticated")

# By short name. Reprieve's user is its service account, so that the roles bound to that account are what is tested.
USERS = {
    "admin": User("admin", ("system:masters",)),
    "reprieve": User("system:serviceaccount:reprieve-system:reprieve", SERVICE_ACCOUNT_GROUPS),
    "kube-scheduler": User("system:kube-scheduler"),
    "kube-controller-manager": User("system:kube-controller-manager", ("system:masters",)),
    "kwok": User("kwok", ("system:masters",)),
    "viewer": User("viewer"),
    "nobody": User("nobody"),
}


class Users:
    """Tokens of all users, drawn anew for every cluster."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._tokens = {short: secrets.token_hex(16) for short in USERS}

    def token(self, short):
        return self._tokens[short]

    def write_token_file(self):
        """The file for kube-apiserver's --token-auth-file."""
        file = self.folder / "tokens.csv"
        rows = [f'{self._tokens[short]},{user.name},{short},"{",".join(user.groups)}"' for short, user in USERS.items()]
        file.write_text("\n".join(rows) + "\n")
        return file

    def write_kubeconfig(self, short, server, authority, label=""):
        """A kubeconfig of one user for one server (the API server itself, or a proxy before it)."""
        credential = f"token: {self._tokens[short]}"
        return self._write(f"{short}{label}.kubeconfig", short, server, authority, credential)

    def write_token_file_kubeconfig(self, short, server, authority, token_file):
        """The same with a token that stands in a file and is replaced there."""
        return self._write(f"{short}-token-file.kubeconfig", short, server, authority, f"tokenFile: {token_file}")

    def write_certificate_kubeconfig(self, short, server, authority, certificate, key):
        """The same with a client certificate instead of a token."""
        credential = f"client-certificate: {certificate}\n    client-key: {key}"
        return self._write(f"{short}-certificate.kubeconfig", short, server, authority, credential)

    def _write(self, file_name, short, server, authority, credential):
        file = self.folder / file_name
        file.write_text(f"""\
apiVersion: v1
kind: Config
current-context: e2e
clusters:
- name: e2e
  cluster:
    server: {server}
    certificate-authority: {authority}
contexts:
- name: e2e
  context:
    cluster: e2e
    user: {short}
users:
- name: {short}
  user:
    {credential}
""")
        file.chmod(0o600)
        return file
