"""Values for the requests about access, passwords and quotas."""

from __future__ import annotations

import base64
from random import Random
from typing import Any

#: Names that exist on both sides of a filter and what it filters.
_TOPICS = ("*", "sec-a", "sec-ab", "sec-b")
_USERS = ("User:alice", "User:bob", "User:*")
_HOSTS = ("*", "127.0.0.9")
_SCRAM_USERS = ("anna", "ben", "carl")
_QUOTAS = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
_ADDRESSES = ("10.0.0.1", "::1")


class SecurityValues:
    """Mixed into the Filler, which finds a field's method by its name; has its `pick` and `rng`."""

    rng: Random

    def pick(self, good: Any, bad: Any) -> Any:
        """Of the Filler."""
        raise NotImplementedError

    # access

    def _CreateAcls_resourceType(self, _: Any) -> int:
        return int(self.pick((2, 2, 3, 4, 5, 6, 7), (0, 1, 8, -1)))

    def _CreateAcls_resourceName(self, _: Any) -> str:
        return str(self.pick((*_TOPICS, "kafka-cluster"), ("", " ", "x" * 300)))

    def _CreateAcls_resourcePatternType(self, _: Any) -> int:
        return int(self.pick((3, 3, 4), (0, 1, 2, 5, -1)))

    def _CreateAcls_principal(self, _: Any) -> str:
        return str(self.pick(_USERS, ("", "alice", "User:", ":x", "Group:x")))

    def _CreateAcls_host(self, _: Any) -> str:
        return str(self.pick(_HOSTS, ("", "nowhere.example")))

    def _CreateAcls_operation(self, _: Any) -> int:
        return int(self.pick((2, 2, 3, 4, 8, 10, 12), (0, 1, 15, 16, -1)))

    def _CreateAcls_permissionType(self, _: Any) -> int:
        return int(self.pick((3, 3, 2), (0, 1, 4, -1)))

    def _any_resourceTypeFilter(self, _: Any) -> int:
        return int(self.pick((1, 1, 2, 3, 4), (0, 7, 8, -1)))

    def _any_resourceNameFilter(self, _: Any) -> Any:
        return self.pick((None, *_TOPICS), ("", "nobody's"))

    def _any_patternTypeFilter(self, _: Any) -> int:
        return int(self.pick((1, 2, 3, 4), (0, 5, -1)))

    def _any_principalFilter(self, _: Any) -> Any:
        return self.pick((None, None, *_USERS), ("", "alice", "User:"))

    def _any_hostFilter(self, _: Any) -> Any:
        return self.pick((None, None, *_HOSTS), ("", "nowhere"))

    def _DescribeAcls_operation(self, _: Any) -> int:
        return int(self.pick((1, 1, 2, 3), (0, 15, 16, -1)))

    _DeleteAcls_operation = _DescribeAcls_operation

    def _DescribeAcls_permissionType(self, _: Any) -> int:
        return int(self.pick((1, 1, 2, 3), (0, 4, -1)))

    _DeleteAcls_permissionType = _DescribeAcls_permissionType

    # passwords

    def _AlterUserScramCredentials_name(self, _: Any) -> str:
        return str(self.pick(_SCRAM_USERS, ("", "nobody", "a,b=c")))

    _DescribeUserScramCredentials_name = _AlterUserScramCredentials_name

    def _AlterUserScramCredentials_mechanism(self, _: Any) -> int:
        return int(self.pick((1, 2), (0, 3, -1)))

    def _AlterUserScramCredentials_iterations(self, _: Any) -> int:
        return int(self.pick((4096, 8192, 16384), (0, -1, 4095, 16385)))

    def _AlterUserScramCredentials_saltedPassword(self, _: Any) -> str:
        size = self.pick((32, 64), (0, 1, 31))
        return base64.b64encode(self.rng.randbytes(size)).decode()

    # quotas

    def _AlterClientQuotas_entity(self, _: Any) -> list[dict[str, Any]]:
        chosen = self.pick(
            (("user",), ("client-id",), ("user", "client-id"), ("ip",)), ((), ("user", "ip"), ("x",))
        )
        entity = [self._entity(kind) for kind in chosen]
        if len(entity) == 2:
            self.rng.choice(entity)["entityName"] = None  # the other one is no name of the tester's
        return entity

    def _entity(self, kind: str) -> dict[str, Any]:
        """Never the default alone: its quota would hold for the tester, too."""
        names = _ADDRESSES if kind == "ip" else ("alice", "bob")
        return {"entityType": kind, "entityName": self.pick(names, ("", "nowhere.invalid", "a b"))}

    def _AlterClientQuotas_key(self, _: Any) -> str:
        return str(self.pick((*_QUOTAS, "connection_creation_rate"), ("", "x")))

    def _AlterClientQuotas_value(self, _: Any) -> float:
        return float(self.pick((100, 1, 2000.0), (0, -1, 0.5, 1e300)))

    def _DescribeClientQuotas_components(self, _: Any) -> list[dict[str, Any]]:
        kinds = self.pick(
            (("user",), ("client-id",), ("user", "client-id"), ("ip",), ()),
            (("x",), ("user", "user"), ("user", "ip")),
        )
        return [self._component(kind) for kind in kinds]

    def _component(self, kind: str) -> dict[str, Any]:
        match_type = self.pick((0, 1, 2), (3, -1))
        names = _ADDRESSES if kind == "ip" else ("alice", "bob")
        match = (
            self.pick((self.rng.choice(names),), (None, ""))
            if match_type == 0
            else self.pick((None,), ("x",))
        )
        return {"entityType": kind, "matchType": match_type, "match": match}

    # tokens

    def _any_principalType(self, _: Any) -> str:
        return str(self.pick(("User",), ("", "Group")))

    def _any_principalName(self, _: Any) -> str:
        return str(self.pick(("alice", "bob"), ("",)))

    def _any_maxLifetimeMs(self, _: Any) -> int:
        return int(self.pick((-1, 1000, 3600000), (0, -2, 2**63 - 1)))
