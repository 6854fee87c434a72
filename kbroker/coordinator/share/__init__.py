"""Share groups (KIP-932): the records in flight of a partition, and the coordinator that keeps them."""
