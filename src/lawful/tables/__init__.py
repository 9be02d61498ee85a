"""The data pipeline: sources, types, nulls and rank encoding, ending in an EncodedTable."""
