"""A client of the Kubernetes API from nothing but Python's own library: no line of it is shared with what it watches."""

import base64
import http.client
import json
import os
import ssl
import tempfile
import urllib.parse


class Refused(Exception):
    """The server answered, and not with success."""

    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status = status


class Away(Exception):
    """The server could not be reached, or is not able to answer now."""


class Api:
    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf8") as file:
            config = json.load(file)
        cluster = config["clusters"][0]["cluster"]
        user = config["users"][0]["user"]
        folder = os.path.dirname(os.path.abspath(kubeconfig))
        address = urllib.parse.urlparse(cluster["server"])
        self.host, self.port = address.hostname, address.port
        self.tls = ssl.create_default_context(cafile=os.path.join(folder, cluster["certificate-authority"]))
        with tempfile.NamedTemporaryFile() as pair:
            for part in ("client-certificate-data", "client-key-data"):
                pair.write(base64.b64decode(user[part]))
            pair.flush()
            self.tls.load_cert_chain(pair.name)

    def ask(self, method, path, body=None):
        """One request, one answer, one connection."""
        connection, answer = self._send(method, path, body, timeout=10)
        try:
            return json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Away(error) from error
        finally:
            connection.close()

    def follow(self, path):
        """The lines of a watch, until the server ends it."""
        connection, answer = self._send("GET", path, None, timeout=40)
        try:
            while line := answer.readline():
                yield json.loads(line)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Away(error) from error
        finally:
            connection.close()

    def _send(self, method, path, body, timeout):
        connection = http.client.HTTPSConnection(self.host, self.port, context=self.tls, timeout=timeout)
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        try:
            connection.request(method, path, body and json.dumps(body), {"Content-Type": kind})
            answer = connection.getresponse()
            if answer.status >= 400:
                text = answer.read(1000).decode("utf8", "replace")
                connection.close()
                # A server that has just started knows nobody's rights yet.
                if answer.status in (401, 403, 429) or answer.status >= 500:
                    raise Away(text)
                raise Refused(answer.status, text)
            return connection, answer
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Away(error) from error
