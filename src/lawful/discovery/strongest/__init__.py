"""The strongest laws of a table, holding or almost holding, without a threshold to guess."""
