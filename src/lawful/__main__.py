"""`python -m lawful` is the command."""

from lawful.cli.main import run

run()
