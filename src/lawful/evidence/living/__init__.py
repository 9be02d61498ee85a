"""Evidence of a table that changes: agree sets counted exactly, or kept by a few witnesses each."""
