"""`python -m tintype`: the command line."""

from tintype.cli import main

main()
