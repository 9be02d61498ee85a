"""States whose rows are spread over a cluster: pinned laws, kept part by part."""
