"""How strongly a table speaks for a law: the pairs that test it, what chance would lose, and what is lost."""
