"""Decisions on topics, partitions, brokers, configs and features: image and request -> records and answer."""
