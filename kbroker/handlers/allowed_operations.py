"""What a client may do, as the bit fields of Metadata and the Describe APIs (KIP-430).

Without an authorizer everybody may do everything that a kind of resource knows. Bit n is ACL operation n.
"""

from __future__ import annotations

#: Not asked for.
UNKNOWN = -(2**31)

#: READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS.
TOPIC = 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 11

#: CREATE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE.
CLUSTER = 1 << 5 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12

#: READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS.
GROUP = 1 << 3 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11
