"""Discovery: one module a family of laws, each short enough to read as pseudocode."""
