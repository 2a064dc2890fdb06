"""Bronze: every change of a topic in Avro files, written and read as the S3 sink connector does."""
