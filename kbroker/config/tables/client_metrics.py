"""Settings of a client-metrics subscription (KIP-714). The notation is explained in `definition.py`."""

TABLE = """\
metrics | list |  | no empty items |  |
    Prefixes of the metrics that clients are asked for; * asks for all, nothing for none.
interval.ms | int | 300000 | - |  |
    How often clients push their metrics.
match | list |  | no empty items |  |
    Which clients are meant, as selector=pattern pairs; every client if empty.
"""
