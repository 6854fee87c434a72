"""The cluster as an immutable value, and how records change it."""
