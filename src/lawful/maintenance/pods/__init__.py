"""Pointwise order dependencies of a table that changes: IncPOD, for rows that leave too."""
