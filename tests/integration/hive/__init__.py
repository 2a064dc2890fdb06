"""Hive's metastore and Spark's Thrift server, over tables of the application's own classes."""
