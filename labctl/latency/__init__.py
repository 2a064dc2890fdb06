"""Measuring a change's way from the source's commit to a query over silver, hop by hop."""
