"""Tables that change and that no node holds: their rows as segments, and numbered manifests that say which count."""
