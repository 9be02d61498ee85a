"""A program: run a command that prints a lawful document, and print the seconds in it as one line."""

from __future__ import annotations

import json
import subprocess
import sys


def main(command: list[str]) -> None:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    print(json.dumps(json.loads(done.stdout)["stats"]["seconds"]))


if __name__ == "__main__":
    main(sys.argv[1:])
