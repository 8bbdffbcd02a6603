"""`python -m cgmh` is the command."""

from .cli import main

main()
