"""What the rows of a class say about each other's values: the votes of almost-laws on single cells."""
