"""The compiled parts of indexes on two columns."""
