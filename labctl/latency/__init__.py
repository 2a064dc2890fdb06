"""Measuring a change's path from the source's commit to a query over silver, hop by hop."""
