"""The settings that Apache Kafka 4.4 knows, by family, and those of our own."""
