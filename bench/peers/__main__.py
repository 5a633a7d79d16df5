"""Runs one verb of one script: `python -m bench.peers queues.huey enqueue 1000`.

A verb returns what to say, or nothing if it works until it is ended.
"""

import json
import logging
import sys
from importlib import import_module


def main(module: str, verb: str, *words: str) -> None:
    logging.basicConfig(level=logging.ERROR)
    script = import_module(f"bench.peers.{module}")
    said = getattr(script, verb)(*map(int, words))
    print(json.dumps(said or {}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
