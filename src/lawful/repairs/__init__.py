"""Which cell is to blame when almost-laws find something wrong with a row, and what it should have been."""
