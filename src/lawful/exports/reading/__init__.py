"""One module for each kind of file that rules are read from."""
