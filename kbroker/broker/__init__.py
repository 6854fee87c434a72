"""What drives the pure cores: replicas, the KRaft node, coordinators, housekeeping."""
