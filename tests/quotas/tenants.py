"""A callback for quotas, as somebody might write it."""

from __future__ import annotations


class Tenants:
    """Tenants share what is set for the user of their name; others have no limits; `bad` breaks it."""

    made = ()

    def __init__(self, settings):
        self.settings, self.limits, self.clusters = settings, {}, 0
        Tenants.made = (*Tenants.made, self)

    def sharers(self, kind, user, client_id):
        if client_id == "bad":
            raise KeyError(client_id)
        return {"tenant": client_id.partition(".")[0]}

    def limit(self, kind, sharers):
        return self.limits.get((kind, sharers["tenant"]))

    def quota_changed(self, kind, entity, value):
        name = dict(entity).get("client-id")
        self.limits.pop((kind, name), None)
        if value is not None:
            self.limits[kind, name] = value

    def cluster_changed(self, leaders):
        self.clusters += 1
        return False


class Unfinished:
    def __init__(self, settings):
        self.limit = None
