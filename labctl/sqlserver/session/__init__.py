"""A client's session: login, batches and calls, transactions, results."""
