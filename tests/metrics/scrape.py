"""Asking a broker for its metrics."""

from __future__ import annotations

import http.client
import json
import re

_LINE = re.compile(r'^([a-z0-9_]+)(?:\{((?:[a-zA-Z_]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)$')
_LABEL = re.compile(r'([a-zA-Z_]+)="((?:[^"\\]|\\.)*)"')


class Scraped:
    """A broker in a thread with a listener for metrics."""

    def __init__(self, broker):
        self.broker = broker
        self.port = broker._runner.node.metrics.server.port

    def ask(self, path, method="GET", body=None):
        """(status, text)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def json(self, path, body=None):
        status, text = self.ask(
            path, "GET" if body is None else "POST", None if body is None else json.dumps(body)
        )
        assert status == 200, text
        return json.loads(text)

    def samples(self):
        """{(name, sorted labels): value}"""
        status, text = self.ask("/metrics")
        assert status == 200
        return parse(text)

    def value(self, name, **labels):
        return self.samples().get((name, tuple(sorted(labels.items()))))


def parse(text):
    """Every line has to be right: no name twice in two places, every sample has a type."""
    found, types, finished = {}, {}, []
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types, f"{name} comes twice"
            types[name] = kind
            finished.append(name)
        elif not line.startswith("#"):
            match = _LINE.match(line)
            assert match, line
            name, labels, value = match.groups()
            assert finished[-1] == name, f"{name} is not below its type"
            key = name, tuple(sorted(_LABEL.findall(labels or "")))
            assert key not in found, f"twice: {key}"
            found[key] = float(value)
    return found
