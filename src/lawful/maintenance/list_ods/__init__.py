"""List-based order dependencies of a table that changes."""
