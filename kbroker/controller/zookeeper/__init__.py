"""What is true, kept in ZooKeeper's znodes as Kafka 2.8 to 3.9 keeps it. Pure: no session, no watch."""
