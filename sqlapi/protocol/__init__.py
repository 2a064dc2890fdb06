"""AWS's JSON protocol 1.1 over HTTP: dispatch, signatures, validation, errors."""
