"""Laws that are kept while a table changes: the state on disk, and what a batch does to it."""
