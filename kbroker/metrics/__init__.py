"""What the node counts, and the forms in which it is told (docs/metrics.md)."""
