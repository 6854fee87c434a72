"""Groups of consumers, of the classic protocol, and their offsets."""
