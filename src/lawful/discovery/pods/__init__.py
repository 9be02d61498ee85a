"""Discovery of pointwise order dependencies."""
