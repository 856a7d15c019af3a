"""The page's own functions, where an example says more than a click."""

from __future__ import annotations

import pytest

from tests.web.serving import serve


@pytest.fixture(scope="module")
def call(browser, tmp_path_factory):
    """Calls a function of one of the page's modules."""
    from tests.web.browser.steps import written

    data = written(tmp_path_factory.mktemp("data") / "few.csv", ["one", "two", "three"])
    server = serve(data, "--labels", "a,b", "--no-training", "--port", "0")
    page = browser.new_page()
    page.goto(server.fresh_link())

    def called(module: str, expression: str, *words):
        return page.evaluate(
            f"async (words) => {{ const m = await import('/static/{module}'); return {expression}; }}", words
        )

    yield called
    page.close()
    server.kill()


def test_no_class_has_the_key_of_a_command(call):
    keys = call("keys.js", "m.classKeys(12)")
    commands = call("keys.js", "m.COMMANDS.flatMap(each => each.keys)")
    assert keys[:10] == list("1234567890")
    assert len(set(keys)) == 12
    assert not {key.upper() for key in keys} & set(commands)


def test_many_classes_have_the_digits_alone(call):
    assert call("keys.js", "m.classKeys(150)") == [*"1234567890", *[None] * 140]


@pytest.mark.parametrize(
    "written, names, twice",
    [
        ("a\nb", [{"name": "a"}, {"name": "b"}], []),
        (" a \n\n b: what b is: really ", [{"name": "a"}, {"name": "b", "description": "what b is: really"}], []),
        ("a:b", [{"name": "a:b"}], []),  # without a space it is part of the name
        ("Yes\nyes", [{"name": "Yes"}, {"name": "yes"}], ["yes"]),
        ("日本: 東京", [{"name": "日本", "description": "東京"}], []),
    ],
)
def test_the_classes_that_are_written_down(call, written, names, twice):
    assert call("views/start.js", "m.read(words[0])", written) == {"names": names, "twice": twice}


@pytest.mark.parametrize(
    "pressed, name, key",
    [
        ({"key": "1", "code": "Digit1"}, None, "1"),
        ({"key": "&", "code": "Digit1"}, None, "1"),  # a French keyboard, where digits need Shift
        ({"key": "1", "code": "Digit1", "shiftKey": True}, None, "1"),
        ({"key": "é", "code": "Digit2"}, None, "2"),
        ({"key": "!", "code": "Digit1", "shiftKey": True}, None, None),
        ({"key": "1", "code": "Numpad1"}, None, "1"),
        ({"key": "/", "code": "Digit7", "shiftKey": True}, "find", None),  # a German one
        ({"key": "г", "code": "KeyU"}, "undo", "u"),  # a Russian one
        ({"key": "я", "code": "KeyZ", "ctrlKey": True}, "undo", None),
        ({"key": "c", "code": "KeyI"}, None, "c"),  # Dvorak: what is printed counts
        ({"key": "U", "code": "KeyU", "shiftKey": True}, "undo", None),
        ({"key": "ö", "code": "Semicolon"}, None, "ö"),
    ],
)
def test_keyboards_of_other_languages(call, pressed, name, key):
    expression = "(event => [m.command(event), m.classKey(event)])(new KeyboardEvent('keydown', words[0]))"
    assert call("keys.js", expression, pressed) == [name, key]


def test_a_search_takes_every_sign_as_it_is(call):
    ranked = "m.ranked([{name: 'reply to e-mail'}, {name: 'C++ (new)'}], words[0]).map(each => each.name)"
    for letters in ("-", "e-", "+", "(", "[", "\\", "/", "^", "$", "]"):
        assert isinstance(call("views/picker.js", ranked, letters), list), letters
    assert call("views/picker.js", ranked, "e-m") == ["reply to e-mail"]
    assert call("views/picker.js", ranked, "c++") == ["C++ (new)"]


def test_a_search_puts_beginnings_first(call):
    names = ["late refund", "refund", "prefund", "Refund today", "fee (refund)", "cash"]
    found = call(
        "views/picker.js", "m.ranked(words[0].map(name => ({name})), words[1]).map(each => each.name)", names, "REFUND"
    )
    assert found == ["refund", "Refund today", "late refund", "fee (refund)", "prefund"]
    assert call("views/picker.js", "m.ranked([{name: 'a.b'}, {name: 'axb'}], '.').length") == 1


def test_a_line_holds_the_points_inside_it(call):
    points = [[5, 5], [15, 5], [5, 15], [9, 1]]
    hook = [[0, 0], [20, 0], [20, 10], [10, 10], [10, 20], [0, 20]]
    triangle = [[0, 0], [10, 0], [0, 10]]
    inside = "m.inside(row => words[0][row], words[0].length, words[1])"
    assert call("map.js", inside, points, hook) == [0, 1, 2, 3]
    assert call("map.js", inside, [[2, 2], [9, 9], [11, 1]], triangle) == [0]


def test_a_click_finds_the_nearest_point_within_reach(call):
    nearest = "m.nearest(row => words[0][row], words[0].length, words[1], words[2])"
    assert call("map.js", nearest, [[0, 0], [6, 0]], 4, 0) == 1
    assert call("map.js", nearest, [[0, 0], [6, 0]], 40, 0) == -1


@pytest.mark.parametrize("seconds, words", [(0.2, "1 s"), (59.4, "59 s"), (90, "2 min"), (3700, "1 h 2 min")])
def test_durations(call, seconds, words):
    assert call("words.js", "m.duration(words[0])", seconds) == words


def test_what_is_empty_stays_out_of_an_address(call):
    found = call("api.js", "m.address('/history', {label: 'a b&c', search: '', before: null, limit: 5})")
    assert found == "/api/v1/history?label=a+b%26c&limit=5"


@pytest.mark.parametrize(
    "before, after, names",
    [
        ([("a", 2), ("b", 1)], [("x", 2), ("b", 1)], {"a": "x"}),
        ([("a", 2), ("b", 1)], [("b", 3)], {}),  # merged
        ([("a", 2), ("b", 1)], [("b", 3), ("c", 0)], {}),  # merged, and another one added
        ([("a", 2), ("b", 1)], [("a", 3), ("c", 0)], {}),
        ([("a", 0), ("b", 1)], [("x", 0), ("b", 1), ("c", 0)], {"a": "x"}),
        ([("a", 2), ("b", 1)], [("b", 2), ("a", 1)], {}),
    ],
)
def test_which_classes_were_renamed(call, before, after, names):
    facts = [[{"name": name, "answers": answers} for name, answers in each] for each in (before, after)]
    assert call("deck.js", "Object.fromEntries(m.renamed(...words[0]))", facts) == names


RACE = """(async () => {
    const real = window.fetch;
    window.fetch = async () => {
        await new Promise((done) => setTimeout(done, 100));
        return new Response('{"told": "before"}', { headers: { ETag: 'old' } });
    };
    const live = new m.Live();
    const asked = live.poll();
    live.take({ told: 'with the reply to an answer' });
    await asked;
    clearTimeout(live.timer);
    window.fetch = real;
    return [live.state.told, live.etag];
})()"""


def test_a_state_that_was_asked_for_earlier_does_not_replace_a_newer_one(call):
    assert call("live.js", f"await {RACE}") == ["with the reply to an answer", None]
