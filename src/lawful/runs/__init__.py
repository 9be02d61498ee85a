"""What every command shares: the request, the run, and the way from a request to its answer."""
