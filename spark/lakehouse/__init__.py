"""The silver application: change records from Kafka (or bronze files) into Hudi tables."""
