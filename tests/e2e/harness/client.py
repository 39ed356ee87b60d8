"""A tiny Kubernetes client: JSON over verified TLS, kept-alive HTTP/1.1 connections."""

import collections
import http.client
import json
import select
import socket
import ssl
import urllib.parse

_GROUPS = {
    "": "api/v1",
    "apps": "apis/apps/v1",
    "batch": "apis/batch/v1",
    "policy": "apis/policy/v1",
    "scheduling": "apis/scheduling.k8s.io/v1",
    "coordination": "apis/coordination.k8s.io/v1",
    "rbac": "apis/rbac.authorization.k8s.io/v1",
    "apiextensions": "apis/apiextensions.k8s.io/v1",
}
_RESOURCES = {
    "": "pods nodes namespaces events configmaps secrets serviceaccounts bindings persistentvolumes "
    "persistentvolumeclaims resourcequotas",
    "apps": "deployments replicasets statefulsets daemonsets",
    "batch": "jobs",
    "policy": "poddisruptionbudgets",
    "scheduling": "priorityclasses",
    "coordination": "leases",
    "rbac": "roles rolebindings clusterroles clusterrolebindings",
    "apiextensions": "customresourcedefinitions",
}
_PREFIXES = {name: _GROUPS[group] for group, names in _RESOURCES.items() for name in names.split()}

_PATCH_TYPES = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}


class ApiError(Exception):
    """The API server said no. status is the HTTP code, reason Kubernetes' word for it."""

    def __init__(self, method, path, status, body, headers):
        self.status = status
        self.body = body
        self.headers = headers
        self.reason = body.get("reason", "") if isinstance(body, dict) else ""
        message = body.get("message", "") if isinstance(body, dict) else str(body)
        super().__init__(f"{method} {path}: {status} {self.reason}: {message}")


class ConnectionLost(Exception):
    """The connection broke before an answer came; whether the request was carried out is unknown."""


def path_of(resource, name=None, namespace=None, sub=None):
    """The URL path of a resource: a well-known plural ("pods"), or "group/version/plural" for any other."""
    if resource in _PREFIXES:
        parts, plural = [_PREFIXES[resource]], resource
    else:
        group, version, plural = resource.split("/")
        parts = ["apis", group, version]
    if namespace:
        parts += ["namespaces", namespace]
    parts += [part for part in (plural, name, sub) if part]
    return "/" + "/".join(parts)


class Client:
    """Talks to one server as one user. May be used from many threads."""

    def __init__(self, server, authority, token, timeout=60):
        self.server = server
        self.token = token
        self._timeout = timeout
        self._host, self._port = server.removeprefix("https://").split(":")
        self._tls = ssl.create_default_context(cafile=str(authority))
        self._idle = collections.deque()  # connections that no thread uses now; deque operations are atomic

    def close(self):
        """Closes idle connections. The client can still be used."""
        while self._idle:
            self._idle.pop().close()

    def get(self, path, **query):
        return self.call("GET", path, query=query)

    def post(self, path, body, **query):
        return self.call("POST", path, body, query=query)

    def put(self, path, body, **query):
        return self.call("PUT", path, body, query=query)

    def patch(self, path, body, kind="merge", **query):
        return self.call("PATCH", path, body, content_type=_PATCH_TYPES[kind], query=query)

    def delete(self, path, body=None, **query):
        return self.call("DELETE", path, body, query=query)

    def find(self, path):
        """Like get, but None for an object that is not there."""
        try:
            return self.get(path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list(self, path, **query):
        """All items of a collection, page by page."""
        return self.list_with_version(path, **query)[0]

    def list_with_version(self, path, **query):
        """All items, and the resourceVersion from which a watch goes on."""
        items, query = [], {"limit": 500, **query}
        while True:
            page = self.get(path, **query)
            items += page.get("items") or []
            query["continue"] = page["metadata"].get("continue")
            if not query["continue"]:
                return items, page["metadata"]["resourceVersion"]

    def watch(self, path, **query):
        """An open watch; see Watch."""
        return Watch(self, path, {"watch": "true", "allowWatchBookmarks": "true", **query})

    def call(self, method, path, body=None, content_type="application/json", query=None):
        """One request. Raises ApiError for an answer of 400 and above, ConnectionLost for none."""
        status, headers, data = self._exchange(method, _with_query(path, query), _encode(body), content_type)
        is_json = headers.get("Content-Type", "").startswith("application/json")
        answer = json.loads(data) if is_json and data else data.decode(errors="replace")
        if status >= 400:
            raise ApiError(method, path, status, answer, headers)
        return answer

    def _exchange(self, method, target, data, content_type):
        connection = self._take()
        try:
            connection.request(method, target, body=data, headers=self.headers(content_type if data else None))
            response = connection.getresponse()
            result = response.status, response.headers, response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise ConnectionLost(f"{method} {target}: {error!r}") from error
        self._idle.append(connection)
        return result

    def _take(self):
        """An idle connection that the server has not closed meanwhile, or a new one."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:
                break
            if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                return connection
            connection.close()
        return self.connect(self._timeout)

    def connect(self, timeout):
        return _Connection(self._host, int(self._port), context=self._tls, timeout=timeout)

    def headers(self, content_type=None):
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if content_type:
            headers["Content-Type"] = content_type
        return headers


class Watch:
    """An open watch stream: iterate over its events. It ends when the server ends it or close() is called;
    a stream that breaks off raises ConnectionLost."""

    def __init__(self, client, path, query):
        target = _with_query(path, query)
        self._connection = client.connect(timeout=60)
        self._closed = False
        try:
            self._connection.request("GET", target, headers=client.headers())
            self._response = self._connection.getresponse()
            if self._response.status >= 400:
                data = self._response.read()
                self._connection.close()
                raise ApiError("GET", target, self._response.status, json.loads(data), self._response.headers)
            self._connection.sock.settimeout(None)
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise ConnectionLost(f"watch {path}: {error!r}") from error

    def __iter__(self):
        try:
            rest = b""
            while data := self._response.read1(1 << 16):  # readline() would take a broken stream for an ended one
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    yield json.loads(line)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if not self._closed:
                raise ConnectionLost(f"watch broke off: {error!r}") from error
        finally:
            self._response.close()
            self._connection.close()

    def close(self):
        """Ends the stream, also one that another thread is waiting on."""
        self._closed = True
        sock = self._connection.sock
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class _Connection(http.client.HTTPSConnection):
    def connect(self):
        super().connect()
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _with_query(path, query):
    given = {key: str(value) for key, value in (query or {}).items() if value is not None}
    return path + "?" + urllib.parse.urlencode(given) if given else path


def _encode(body):
    if body is None or isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()
