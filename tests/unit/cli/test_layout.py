from sempre.cli.layout import Column, arranged, shortened, unique_size
from sempre.cli.output import table_lines

COLUMNS = [
    Column("ID", is_id=True),
    Column("NAME", flexible=12),
    Column("TRIES", optional=True),
    Column("WHY", below=True),
]
WIDTHS = [10, 20, 5, 30]


def test_a_pipe_gets_every_column_in_full() -> None:
    assert arranged(COLUMNS, WIDTHS, None) == ({0: 10, 1: 20, 2: 5, 3: 30}, [])


def test_flexible_columns_are_shortened_before_others_move() -> None:
    assert arranged(COLUMNS, WIDTHS, 65) == ({0: 10, 1: 14, 2: 5, 3: 30}, [])


def test_long_columns_move_to_a_second_line() -> None:
    assert arranged(COLUMNS, WIDTHS, 50) == ({0: 10, 1: 20, 2: 5}, [3])
    assert arranged(COLUMNS, WIDTHS, 34) == ({0: 10, 1: 15, 2: 5}, [3])


def test_optional_columns_are_left_out_before_names_become_too_short() -> None:
    assert arranged(COLUMNS, WIDTHS, 28) == ({0: 10, 1: 16}, [3])
    assert arranged(COLUMNS, WIDTHS, 22) == ({0: 10, 1: 10}, [3])


def test_an_id_is_never_shortened() -> None:
    assert arranged(COLUMNS, WIDTHS, 5) == ({0: 10, 1: 8}, [3])


def test_a_long_text_ends_in_an_ellipsis() -> None:
    assert shortened("refresh_cache", 13) == "refresh_cache"
    assert shortened("refresh_cache", 8) == "refresh…"
    assert shortened("one two", 5) == "one…"
    assert shortened("請求書一覧", 6) == "請求…"


def test_cells_of_the_second_line_share_its_width() -> None:
    columns = [Column("NAME"), Column("WHEN", below=True), Column("RUNS", below=True)]
    row = ["bill", "09:00 on day 31 of every month", "..:|x"]

    assert list(table_lines(columns, [row], width=24)) == [
        "NAME",
        "bill",
        "   09:00 on day…   ..:|x",
    ]


def test_a_prefix_is_as_long_as_it_must_be() -> None:
    assert unique_size([]) == 8
    assert unique_size(["0123456789", "abcdefghij"]) == 8
    assert unique_size(["0123456789", "0123456788"]) == 10
    assert unique_size(["0123456789", "0123456789"]) == 8
    assert unique_size(["012345678", "0123456789"]) == 10
