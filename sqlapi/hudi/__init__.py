"""Hudi's tables: their folders, timelines, file names and columns. No other package knows them."""
