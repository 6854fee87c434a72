"""kbroker: a Kafka-compatible broker that installs with pip."""

__version__ = "0.1.0"
