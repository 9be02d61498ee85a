"""Discovery: one module per family of laws, each short enough to read as pseudocode."""
