"""`python -m sempre`: the command line."""

from sempre.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
