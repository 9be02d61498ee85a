"""The command line: options in, one call of the Python functions, people-readable or JSON out."""
