"""A leader's view of its replicas, and requests that wait for them."""
