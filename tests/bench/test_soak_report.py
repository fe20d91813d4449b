"""The table and the picture of `bench soak`."""

from xml.etree import ElementTree as ET

from bench.soak_report import Sample, render_svg, render_table, render_text

SAMPLES = [
    Sample(15, 900, 0, 4.0, 31.0, {"supervisor": 50.0, "postgres-1": 300.0, "web": 150.0}),
    Sample(75, 1100, 2, 5.0, 62.5, {"supervisor": 50.0, "postgres-1": 600.0, "web": 150.0, "web-2": 20.0}),
]


def test_the_table_has_a_row_per_sample_and_a_column_per_process() -> None:
    head, _, first, second = render_table(SAMPLES).splitlines()

    columns = "time requests errors p50 ms p99 ms MB supervisor postgres-1 web web-2"
    assert " ".join(head.split()) == columns
    assert first.split() == ["0:15", "900", "0", "4.0", "31.0", "500", "50", "300", "150", "0"]
    assert second.split() == ["1:15", "1100", "2", "5.0", "62.5", "820", "50", "600", "150", "20"]


def test_the_text_picture_has_a_line_per_process_and_one_for_all() -> None:
    lines = render_text(SAMPLES).splitlines()

    assert [line.split()[0] for line in lines] == ["all", "supervisor", "postgres-1", "web", "web-2"]
    assert lines[2].split() == ["postgres-1", "▅█", "600", "MB,", "at", "most", "600"]


def test_the_picture_is_svg_with_a_line_per_process_and_percentile() -> None:
    picture = ET.fromstring(render_svg(SAMPLES, "120 people & more"))  # noqa: S314 - made here

    lines = picture.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 5 + 2
    assert picture.attrib["aria-label"] == "120 people & more"
    points = lines[0].attrib["points"].split()
    assert len(points) == len(SAMPLES)
    assert float(points[0].split(",")[1]) > float(points[1].split(",")[1]), "more memory is higher up"
