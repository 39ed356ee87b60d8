"""Keys and certificates of one control plane: its own authority, so that every client verifies TLS.

Made with the openssl program, valid for two days.
"""

import os
import pathlib
import subprocess

from .clock import shifted


class Pki:
    """Files in one folder: ca.crt, and NAME.crt with NAME.key for everything issued.

    age makes certificates that old, for programs whose clock is behind.
    """

    def __init__(self, folder, age=None):
        self._environment = {**os.environ, **(shifted(f"-{age}") if age else {})}
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._key("ca")
        self._openssl(
            "req",
            "-x509",
            "-new",
            "-key",
            self.key("ca"),
            "-out",
            self.certificate("ca"),
            "-days",
            "2",
            "-subj",
            "/CN=reprieve-e2e",
            "-addext",
            "basicConstraints=critical,CA:TRUE",
            "-addext",
            "keyUsage=critical,keyCertSign,digitalSignature",
        )

    @property
    def authority(self):
        return self.certificate("ca")

    def key(self, name):
        return self.folder / f"{name}.key"

    def certificate(self, name):
        return self.folder / f"{name}.crt"

    def issue_server(self, name):
        """A certificate for a server on loopback."""
        self._issue(
            name, f"/CN={name}", "serverAuth", "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc"
        )

    def issue_client(self, name, user, groups=()):
        """A client certificate: Kubernetes takes the user from CN and the groups from O."""
        subject = "".join(f"/O={group}" for group in groups) + f"/CN={user}"
        self._issue(name, subject, "clientAuth", None)

    def signing_key(self, name):
        """An RSA key pair (NAME.key, NAME.pub) for service account tokens."""
        self._openssl("genrsa", "-out", self.key(name), "2048")
        public = self.folder / f"{name}.pub"
        self._openssl("rsa", "-in", self.key(name), "-pubout", "-out", public)
        return public

    def _key(self, name):
        self._openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.key(name))

    def _issue(self, name, subject, usage, names):
        self._key(name)
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        lines = ["basicConstraints=CA:FALSE", "keyUsage=digitalSignature", f"extendedKeyUsage={usage}"]
        extensions.write_text("\n".join(lines + ([names] if names else [])) + "\n")
        self._openssl("req", "-new", "-key", self.key(name), "-subj", subject, "-out", request)
        self._openssl(
            "x509",
            "-req",
            "-in",
            request,
            "-CA",
            self.authority,
            "-CAkey",
            self.key("ca"),
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            extensions,
            "-out",
            self.certificate(name),
        )

    def _openssl(self, *arguments):
        command = ["openssl", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=self._environment)
        if done.returncode != 0:
            raise RuntimeError(f"openssl {arguments[0]} failed: {done.stderr.strip()}")
