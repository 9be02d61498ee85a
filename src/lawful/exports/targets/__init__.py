"""One module for each tool that laws are exported to."""
