"""Tables that change: values get codes when they first come, and keep them."""
