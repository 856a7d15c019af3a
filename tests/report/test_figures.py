"""Inline pictures: the page's colours, ids of their own, words as they are, classes that can be told apart."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from actune.report.figures import MOST_CLASSES, class_style, shown_classes
from actune.report.svg import INK, PAPER, RULE, picture, short_line, write_names


def drawing(name: str = "one") -> str:
    def draw(figure):
        axes = figure.subplots()
        (line,) = axes.plot([0, 1], [0, 1], marker="o", markeredgecolor=PAPER)
        axes.set_title('$x^2$ <b> & "q" \'')
        axes.grid(True)
        write_names(axes.legend([line], ["-"]), ["_underscore"])

    return picture(name, 'a "line" <drawn>', (3, 2), draw)


def test_words_are_kept_as_they_are():
    texts = [text.text for text in ElementTree.fromstring(drawing()).iter("text")]
    assert '$x^2$ <b> & "q" \'' in texts and "_underscore" in texts


def test_ink_is_the_pages_own():
    svg = drawing()
    assert not any(colour in svg for colour in (INK, RULE, PAPER))
    assert all(colour in svg for colour in ("currentColor", "var(--rule)", "var(--paper)"))


def test_a_picture_is_the_same_twice_and_shares_no_id_with_another():
    assert drawing() == drawing()
    ids = [{each.get("id") for each in ElementTree.fromstring(drawing(name)).iter() if each.get("id")} for name in "ab"]
    assert ids[0] and not ids[0] & ids[1]


def test_a_picture_has_no_style_for_the_page_and_no_size_of_its_own():
    root = ElementTree.fromstring(drawing())
    assert not list(root.iter("style")) and not list(root.iter("metadata"))
    assert root.get("width") is None and root.get("viewBox")
    assert (root.get("role"), root.get("aria-label")) == ("img", 'a "line" <drawn>')


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("a\nb\tc", "a b c"),
        ("\x00\x1b[31m", "��[31m"),
        ("x" * 40, "x" * 27 + "…"),
        ("分類 é 🙂", "分類 é 🙂"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("", ""),
    ],
)
def test_a_users_word_is_one_printable_line(word, line):
    assert short_line(word) == line


def test_a_letter_that_matplotlib_lacks_is_no_warning(recwarn):
    assert "分類" in picture("one", "", (3, 2), lambda figure: figure.subplots().set_title("分類"))
    assert not recwarn.list


def test_the_most_frequent_classes_are_shown_in_their_own_order():
    assert shown_classes([[1, 2], [3, 4]]) == ([0, 1], [])
    counts = [[0] * 5 + [9] * 11 + [1] * 4]
    assert shown_classes(counts) == (list(range(5, 16)), [0, 1, 2, 3, 4, 16, 17, 18, 19])


def test_no_two_classes_look_alike():
    styles = [class_style(place) for place in range(MOST_CLASSES)]
    assert len({(colour, marker) for colour, marker, _ in styles}) == MOST_CLASSES
    assert len({(colour, hatch) for colour, _, hatch in styles}) == MOST_CLASSES
