"""`python -m develop.render_look_strips`: regenerate the lookup-table strips of all looks from their recipes."""

from tintype.media.looks import write_strips

if __name__ == "__main__":
    for strip in write_strips():
        print(strip.name, strip.stat().st_size)
