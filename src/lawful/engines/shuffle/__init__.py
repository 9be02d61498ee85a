"""Checks of tables that no node holds: Spark sorts and groups, and only what refutes comes back."""
