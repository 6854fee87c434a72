"""How much clients may do: rates, token buckets, which quota holds for whom, how long they have to wait."""
