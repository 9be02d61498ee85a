"""Discovery of list-based order dependencies: FindOD, or from canonical ones."""
