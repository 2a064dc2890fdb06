"""Glue's and Athena's own APIs over a bucket of Hudi tables or Parquet.

Nothing here imports `labctl`.
"""
