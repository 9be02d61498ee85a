"""Results as people read them: lines of text, which the command line colours and `print` shows as they are."""
