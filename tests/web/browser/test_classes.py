"""The page of classes by keyboard, and what a project shows whose classes are all retired."""

from __future__ import annotations

import pytest

from tests.web.serving import serve


@pytest.fixture
def desk(sit_down, started, data, truth):
    return sit_down(started(serve(data, "--labels", "human,location", "--no-training", "--port", "0")), truth)


def focused(desk):
    """The word on the button that has the focus, and of which class it is."""
    return desk.page.evaluate(
        "[document.activeElement.innerText, document.activeElement.closest('[data-class]')?.dataset.class ?? null]"
    )


def change(desk, name, does, written=None):
    """Opens a change by its key, writes what it needs and applies it, without a mouse."""
    desk.page.locator(f"[data-class={name}] [data-does={does}]").focus()
    desk.press("Enter")
    desk.see("dialog")
    if written is not None:
        desk.press("Control+a")
        desk.page.keyboard.type(written)
    desk.see("dialog .preview", ".")
    desk.see("dialog button[type=submit]:enabled").focus()
    desk.press("Enter")
    desk.page.locator("dialog").wait_for(state="detached")


def test_the_focus_stays_where_it_was_when_the_list_is_drawn_anew(desk):
    desk.go("classes")
    change(desk, "human", "rename", "person")
    desk.see("[data-class=person]")
    assert focused(desk) == ["Rename", "person"]
    change(desk, "person", "describe", "somebody, or a group")
    desk.see("[data-class=person]", "somebody, or a group")
    assert focused(desk) == ["Describe", "person"]
    for _ in range(2):
        desk.page.locator("[data-does=undo-classes]").focus()
        desk.press("Enter")
        desk.see(".toast", "Undone")
        desk.page.click(".toast [aria-label='Close this message']")
    desk.see("[data-class=human]")
    assert desk.page.locator("[data-class=human]", has_text="somebody").count() == 0
    desk.go("label")
    desk.answer("human")
    desk.wait_until_saved()
    desk.go("review/history")
    desk.see("[data-does=edit]").focus()
    desk.press("Enter")
    desk.page.locator(".log select").select_option("location")
    desk.page.locator("[data-does=save]").focus()
    desk.press("Enter")
    desk.see(".toast", "The change is saved")
    assert focused(desk)[0] == "Change"


def test_all_classes_may_be_retired_and_come_back(desk):
    desk.go("classes")
    for name in ("human", "location"):
        change(desk, name, "retire")
        desk.see(f"[data-class={name}].retired")
    desk.go("label")
    desk.see(".face h2", "All classes are retired")
    desk.shots_of_all("all-retired")
    desk.page.click(".face a")
    change(desk, "human", "restore")
    desk.go("label")
    assert desk.key_of("human") == "1"


def changed(desk, **words):
    """A change of the classes by somebody else."""
    with desk.server.program() as client:
        body = {"change": words, "client": "-".join(words.values())}
        assert client.post("/classes/changes", json=body).status_code == 200


def test_undo_and_redo_know_the_new_name_of_a_class(desk):
    """Steps from before a rename go on under the new name, also after a reload."""
    desk.answer("human")
    desk.answer("human")
    desk.press("ArrowLeft")
    desk.answer("location")
    desk.wait_until_saved()
    changed(desk, kind="rename", old="human", new="person")
    desk.see(".class[data-label=person]")
    desk.press("u")
    desk.see(".mark-word", "person")
    desk.wait_until_saved()
    assert [(row["kind"], row["label"]) for row in desk.history()[:2]] == [("label", "person"), ("label", "location")]
    desk.press("u")
    desk.wait_until_saved()
    desk.page.goto("about:blank")
    changed(desk, kind="add", name="thing")
    changed(desk, kind="rename", old="person", new="who")
    desk.page.goto(desk.server.url)
    assert desk.text
    desk.press("r")
    desk.wait_until_saved()
    assert (desk.history()[0]["kind"], desk.history()[0]["label"]) == ("label", "who")
    assert desk.page.locator(".banner.error").count() == 0
