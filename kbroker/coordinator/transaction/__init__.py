"""Transactions: who produces under a transactional id, what belongs to its transaction, how that ends."""
