"""Texts and classes of every kind: hostile, long, right to left, many."""

from __future__ import annotations

import json

import pytest

from tests.web.browser.steps import written
from tests.web.serving import serve

HOSTILE = "<img src=x onerror=\"document.title='owned'\"> <script>document.title='owned'</script> & &lt;b&gt;"
LONG = "A long complaint about an order that came late, was broken, and was sent back twice.\n" * 60
KINDS = {
    "hostile": HOSTILE,
    "long": LONG,
    "right-to-left": "أين تقع عاصمة النرويج؟ سؤال قصير عن مكان",
    "chinese": "挪威的首都在哪里？这是一个关于地点的简短问题。",
    "emoji": "👩‍👩‍👧‍👦 loved it!! 🇳🇴 10/10 🎉",
}


@pytest.fixture
def odd(tmp_path):
    return written(tmp_path / "odd <b>texts.csv", [*KINDS.values(), *(f"plain text {n}" for n in range(20))])


def test_every_text_stands_there_as_it_is(sit_down, started, odd):
    server = started(
        serve(odd, "--labels", f"<b>bold</b>,{HOSTILE.split(',')[0][:60]},عربي", "--no-training", "--port", "0")
    )
    desk = sit_down(server)
    for row, (name, text) in enumerate(KINDS.items()):
        desk.go(f"label/q{row}")
        desk.wait_for("text => document.querySelector('#text')?.textContent === text", text)
        desk.shots_of_all(f"text-{name}")
    assert desk.page.evaluate("document.querySelectorAll('#app img, #app script, #app b b').length") == 0
    desk.press("n")
    desk.page.keyboard.type(HOSTILE)
    desk.press("Enter")
    desk.press("1")
    desk.wait_until_saved()
    for view in ("progress", "review/history", "classes", "export"):
        desk.go(view)
        desk.page.wait_for_timeout(300)
    assert desk.page.title() != "owned"
    assert desk.page.locator("#app img").count() == 0


def test_a_long_text_folds(sit_down, started, odd):
    desk = sit_down(started(serve(odd, "--labels", "a,b", "--no-training", "--port", "0")))
    desk.go("label/q1")
    folded = desk.see(".text.folded").bounding_box()["height"]
    desk.press("e")
    unfolded = desk.see(".text:not(.folded)").bounding_box()["height"]
    assert folded < 400 < unfolded


def test_a_text_of_a_million_letters(sit_down, started, tmp_path):
    """It is laid out when somebody unfolds it; keys stay fast before."""
    huge = "word 🙂 " * 150_000
    data = written(tmp_path / "huge.csv", [huge, *map(str, range(9))])
    desk = sit_down(started(serve(data, "--labels", "a,b", "--no-training", "--port", "0")))
    desk.go("label/q0")
    desk.see(".text.folded", "word")
    shown = "document.querySelector('#text').textContent"
    assert huge.startswith(desk.page.evaluate(shown)) and len(desk.page.evaluate(shown)) < 10_000
    desk.see("article > button", "Show more of 1,200,000 characters")
    desk.press("e")
    desk.see("article > button", "50,000 of 1,200,000 characters are shown")
    assert huge.startswith(desk.page.evaluate(shown)) and len(desk.page.evaluate(shown)) > 40_000
    desk.press("1")
    desk.wait_until_saved()
    assert desk.history()[0]["id"] == "q0"


ARRIVES = """() => {
    const round = { round: 7, knows: 20, fine_tuned: false };
    const real = window.fetch;
    window.fetch = async (url, init) => {
        const response = await real(url, { ...init, headers: {} });
        if (!String(url).endsWith('/state')) return real(url, init);
        return new Response(JSON.stringify({ ...await response.json(), model: round }), { status: 200 });
    };
}"""


def test_a_note_outlives_the_arrival_of_a_model(sit_down, started, data):
    desk = sit_down(started(serve(data, "--labels", "a,b", "--no-training", "--port", "0")))
    noted = desk.text
    desk.press("n")
    desk.page.keyboard.type("half a thou")
    desk.page.evaluate(ARRIVES)
    desk.see(".toast", "A new model has arrived")
    desk.page.keyboard.type("ght …  «ñ» 日本 🙂 <b>")
    assert desk.page.input_value(".note textarea") == "half a thought …  «ñ» 日本 🙂 <b>"
    desk.page.click(".class[data-label=b]")  # which leaves the text with its note
    desk.wait_for("text => document.querySelector('#text')?.innerText !== text", noted)
    desk.wait_until_saved()
    (row,) = [row for row in desk.history() if row["text"] == noted and row["kind"] == "label"]
    assert (row["label"], row["note"]) == ("b", "half a thought …  «ñ» 日本 🙂 <b>")


def test_a_note_that_is_too_long_stays_in_its_field(sit_down, started, data):
    desk = sit_down(started(serve(data, "--labels", "a,b", "--no-training", "--port", "0")))
    assert desk.text
    desk.press("n")
    desk.page.fill(".note textarea", "x" * 10_001)
    desk.press("Enter")
    desk.see(".note .problem", "at most 10,000 characters, and this one has 10,001")
    desk.press("Backspace", "Enter")
    desk.see(".note p", "xxx")
    desk.wait_until_saved()
    assert desk.page.locator(".banner").count() == 0


SLOW = """() => {
    const real = window.fetch;
    window.fetch = async (url, init) => {
        if (String(url).includes('/texts/')) await new Promise((done) => setTimeout(done, 500));
        return real(url, init);
    };
}"""


def test_a_key_after_an_undo_means_the_text_that_comes_back(sit_down, started, data, truth):
    """A text far back is fetched first; until it is there, a key does not answer the one that still stands there."""
    desk = sit_down(started(serve(data, "--labels", "a,b", "--initial", "60", "--no-training", "--port", "0")), truth)
    done = [desk.answer("a") for _ in range(30)]
    desk.wait_until_saved()
    desk.page.reload()
    assert desk.text not in done
    desk.page.evaluate(SLOW)
    desk.press(*"u" * 25, "2")
    desk.wait_for("text => document.querySelector('#text').innerText === text", done[5])
    desk.wait_until_saved()
    assert not [row for row in desk.history() if row["label"] == "b"]
    assert desk.state()["labels"] == 5
    desk.press("2")
    desk.wait_until_saved()
    assert [row["text"] for row in desk.history() if row["label"] == "b"] == [done[5]]


def test_the_address_names_a_text_only_while_it_is_there(sit_down, started, data):
    desk = sit_down(started(serve(data, "--labels", "a,b", "--no-training", "--port", "0")))
    desk.go("label/q7")
    desk.wait_for("() => location.hash === '#/label/q7' && document.querySelector('#text')")
    desk.page.wait_for_timeout(300)
    text = desk.text
    desk.press("f", "w", "w")  # which leaves the text where it is
    assert desk.page.evaluate("location.hash") == "#/label/q7"
    desk.press("1")
    desk.wait_for("() => location.hash === '#/label'")
    desk.wait_until_saved()
    following = desk.text
    desk.page.reload()
    assert desk.text == following != text


@pytest.fixture
def many(tmp_path):
    """A project of 150 classes: one is typed, not looked for."""
    names = tmp_path / "labels.json"
    names.write_text(json.dumps([f"{first} {second}" for first in FIRST for second in SECOND]))
    return names


FIRST = ("card", "loan", "transfer", "account", "cash", "fee", "limit", "app", "refund", "identity")
SECOND = tuple(
    f"{word} {part}" for word in ("lost", "late", "wrong", "new", "closed") for part in ("at home", "abroad", "today")
)


def test_a_class_among_150_is_found_by_its_letters(sit_down, started, data, many):
    names = ",".join(json.loads(many.read_text()))
    desk = sit_down(started(serve(data, "--labels", names, "--no-training", "--port", "0", "--initial", "200")))
    text = desk.text
    assert desk.page.locator(".class").count() == 150
    desk.shots_of_all("many")
    desk.press("r", "e", "f", "u")
    assert desk.page.locator(".class").count() == 15
    desk.page.keyboard.type("nd late ab")
    assert desk.page.locator(".class").all_inner_texts()[0].split("\n")[-1] == "refund late abroad"
    desk.shots_of_all("many-search")
    desk.press("Enter")
    desk.wait_until_saved()
    assert desk.history()[0]["label"] == "refund late abroad"
    assert desk.text != text
    desk.press("2")  # the digits choose among those that are shown
    desk.wait_until_saved()
    assert desk.history()[0]["label"] == "card lost abroad"


def test_long_names_of_many_classes_have_room(sit_down, started, data):
    names = [f"{word} {'verylongname' * 5 if long else 'short'}" for word in FIRST for long in (True, False)]
    server = started(serve(data, "--labels", ",".join(names), "--no-training", "--port", "0"))
    desk = sit_down(server)
    desk.shots_of_all("many-long-names")
    spills = "[...document.querySelectorAll('.class')].filter(each => each.scrollHeight > each.clientHeight + 1).length"
    assert desk.page.evaluate(spills) == 0
    desk.press("2")
    desk.wait_until_saved()
    desk.go("classes")
    desk.see(".class-list li")
    desk.shots_of_all("classes-long-names")
    desk.go("progress")
    desk.see("summary", "The other 8 classes")
    assert desk.page.locator(".counts li").first.inner_text().startswith(names[1])
    assert desk.page.locator(".counts li").count() == len(names)
    desk.shots_of_all("progress-many-classes")


def test_everything_is_done_without_a_mouse(sit_down, started, data, truth):
    desk = sit_down(started(serve(data, "--labels", "human,location,numeric", "--no-training", "--port", "0")), truth)
    page = desk.page
    text = desk.text
    page.locator(".class").nth(2).focus()
    desk.press("Space")  # on a button, the key presses it and skips nothing
    desk.wait_until_saved()
    assert (desk.history()[0]["text"], desk.history()[0]["label"]) == (text, "numeric")
    assert page.evaluate("document.activeElement.id") == "text"
    seen = []
    for _ in range(30):
        desk.press("Tab")
        seen.append(
            page.evaluate(
                "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText).trim()"
            )
        )
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none" or page.evaluate("document.activeElement === document.body"), seen[-1]
    assert any("Skip" in words for words in seen) and any("Why" in words for words in seen)
    assert page.locator("#saved-live").inner_text().strip() == "Saved"
    assert page.locator(".top nav [aria-current=page]").all_inner_texts() == ["Label"]
    desk.go("review/history")
    page.locator(".skip-link").focus()
    desk.press("Enter")
    assert page.evaluate("[document.activeElement.id, location.hash]") == ["main", "#/review/history"]
    desk.see(".frame[data-view=review]")
    unnamed = page.evaluate("""[...document.querySelectorAll('button, a, input, select, textarea')]
        .map(each => each.innerText || each.ariaLabel || each.labels?.length || each.title)
        .filter(name => !String(name ?? '').trim()).length""")
    assert unnamed == 0


def test_the_colours_can_be_switched_and_stay(sit_down, started, data):
    desk = sit_down(started(serve(data, "--labels", "a,b", "--no-training", "--port", "0")))
    desk.page.click("#theme")
    dark = desk.page.evaluate("getComputedStyle(document.body).backgroundColor")
    desk.page.reload()
    desk.see("#text")
    assert desk.page.evaluate("getComputedStyle(document.body).backgroundColor") == dark == "rgb(22, 24, 26)"
