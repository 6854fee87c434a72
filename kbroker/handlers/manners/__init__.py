"""How older releases of Kafka answered, where `kbroker.compatibility` names one: see `manner.py`."""
