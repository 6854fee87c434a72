"""What only a KRaft controller does."""
