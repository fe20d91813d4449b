"""`python -m develop.looks`: write the strips of all looks anew from their recipes."""

from tintype.media.looks import cook_strips

if __name__ == "__main__":
    for strip in cook_strips():
        print(strip.name, strip.stat().st_size)
