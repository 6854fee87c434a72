"""The segmented log over an injected disk."""
