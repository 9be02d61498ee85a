"""A page to open in a browser: what is known of a table and its laws, in one file that needs no network."""
