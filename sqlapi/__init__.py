"""The APIs of Glue and Athena over a bucket of Hudi tables or Parquet files.

Nothing here imports `labctl`.
"""
