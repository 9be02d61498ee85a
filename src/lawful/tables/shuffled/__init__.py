"""Tables larger than a node: ranks and values as datasets that Spark has written, and that no process holds."""
