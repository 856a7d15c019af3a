"""A whole project at the page, from a file of texts to a labelled file."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import actune
from actune.data.exchange import TOOLS, records_in
from tests.web.browser.steps import CLASSES, LATE
from tests.web.serving import serve

SMALL = ("--model", "minilm", "--initial", "20", "--batch", "20", "--port", "0")


def test_a_project_from_the_first_class_to_the_export(sit_down, started, data, truth, tmp_path):
    server = started(serve(data, *SMALL))
    desk = sit_down(server, truth)
    page = desk.page

    # three classes
    desk.see("h1", "What do you want to tell apart?")
    desk.shots_of_all("start")
    page.fill("#names", "human: a question about a person\nlocation\nlocation")
    assert page.locator("button[type=submit]").is_disabled()  # one stands there twice
    page.fill("#names", "human: a question about a person\nlocation\nnumeric")
    page.click("button[type=submit]")

    # one key for each answer, and on to the next
    assert page.locator(".class").count() == len(CLASSES) or desk.text
    desk.shots_of_all("label")
    first = desk.answer()
    assert desk.text != first
    desk.wait_until_saved()
    assert desk.state()["labels"] == 1

    # undo and redo are new answers; nothing is overwritten
    desk.press("u")
    desk.wait_for("text => document.querySelector('#text').innerText === text", first)
    desk.wait_until_saved()
    assert desk.state()["labels"] == 0
    desk.press("Control+Shift+z")
    desk.wait_until_saved()
    assert desk.state()["labels"] == 1
    assert [row["kind"] for row in desk.history()] == ["label", "retract", "label"]
    desk.press("ArrowRight")

    # skip, unsure, note, flag
    skipped = desk.text
    desk.press("Space")
    unsure = desk.text
    desk.press("x")
    noted = desk.text
    desk.press("n")
    page.keyboard.type("1 u ? a note with keys in it")
    desk.press("Enter")
    desk.see(".note p", "1 u ? a note with keys in it")
    assert desk.text == noted  # no key was an answer
    desk.press("f")
    desk.see(".mark-word", "Flagged")
    desk.wait_until_saved()
    kinds = {row["text"]: row["kind"] for row in reversed(desk.history())}
    assert (kinds[skipped], kinds[unsure]) == ("skip", "unsure")
    desk.press("?")
    desk.see("dialog h2", "Keys")
    desk.shots_of_all("keys", whole=False)
    desk.press("Escape")

    # sixty texts, while models are trained in the background
    done = desk.label(59)
    assert len({first, *done}) == 60
    desk.until(lambda state: state["model"] is not None)
    desk.see(".toast", "A new model has arrived", LATE)
    assert desk.until(lambda state: state["labels"] == 60)["skipped"] == 2

    # why this text
    desk.press("w")
    desk.see(".why p")
    page.wait_for_timeout(1000)
    desk.shots_of_all("why")
    desk.press("w")

    # progress, with the estimate from the audit sample
    desk.until(lambda state: state["model"]["knows"] >= 30 and state["training"]["state"] == "idle")
    desk.go("progress")
    estimate = desk.see("#audit-estimate", "95 % interval", LATE).inner_text()
    assert "audit text" in estimate
    desk.see("canvas.map", timeout=LATE)
    desk.see("figure.chart svg[role=img]")
    page.locator("details.regions summary").click() if page.locator("details.regions").count() else None
    desk.shots_of_all("progress")
    page.reload()
    desk.see("#audit-estimate", "95 % interval", LATE)

    # the history: search it, and change an answer
    desk.go("review/history")
    page.fill(".filters input", first)
    desk.wait_for("() => [1, 2, 3, 4, 5, 6].includes(document.querySelectorAll('.log > li').length)")
    desk.shots_of_all("history")
    page.locator(".log > li [data-does=edit]").first.click()
    other = next(name for name in CLASSES if name != truth[first])
    page.locator(".log > li select").first.select_option(other)
    page.locator("[data-does=save]").first.click()
    desk.see(".toast", "The change is saved")
    newest = desk.history()[0]
    assert (newest["text"], newest["label"], newest["before"]["label"]) == (first, other, truth[first])

    desk.go("review/disagreements")
    page.wait_for_selector(".log, .face h2")
    desk.shots_of_all("disagreements")

    # pseudo-labels: one accepted, one rejected
    desk.go("review/pseudo-labels")
    desk.see(".log > li", timeout=LATE)
    desk.shots_of_all("pseudo-labels")
    before = desk.state()["labels"]
    page.locator("[data-does=accept]").first.click()
    desk.see(".log > li.settled", "Accepted")
    page.locator("[data-does=reject]").first.click()
    desk.see(".log > li.settled", "Rejected")
    assert desk.state()["labels"] == before + 1

    # a class has another name, and the old one comes back
    desk.go("classes")
    page.locator("[data-class=human] [data-does=rename]").click()
    page.fill("dialog input", "person")
    desk.see("dialog .preview", "No answer changes.")
    desk.shots_of_all("rename", whole=False)
    page.click("dialog button[type=submit]")
    desk.see("[data-class=person]")
    desk.shots_of_all("classes")
    assert [each["name"] for each in desk.state()["project"]["classes"]] == ["person", "location", "numeric"]
    page.click("text=Undo the last change")
    desk.see("[data-class=human]")
    page.locator("[data-class=human] [data-does=merge]").click()
    assert "answers move to another class" in desk.see("dialog .preview", "move").inner_text()
    desk.press("Escape")
    page.locator("[data-class=human] [data-does=rename]").click()
    page.fill("dialog input", "person")
    desk.see("dialog .preview", "No answer changes.")
    page.click("dialog button[type=submit]")
    desk.see("[data-class=person]")
    desk.truth = {text: "person" if label == "human" else label for text, label in truth.items()}

    # export
    desk.go("export")
    desk.see("table tbody tr", timeout=LATE)
    desk.shots_of_all("export")
    with page.expect_download() as download:
        page.click("[data-format=csv]")
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    assert {row["label"] for row in rows if row["label"]} == {"person", "location", "numeric"}
    assert {row["source"] for row in rows if row.get("source")} <= {"human"}

    page.check("#with-all")
    for tool in TOOLS:
        with page.expect_download() as download:
            page.click(f"[data-format={tool}]")
        assert download.value.suggested_filename == f"questions-actune-{tool}.json"
        records = records_in(json.loads(download.value.path().read_text(encoding="utf-8")))
        assert len(records) == len(truth)
        assert {each.given[-1].label for each in records if each.given} == {"person", "location", "numeric", None}
    with page.expect_download() as download:
        page.click("[data-config=label-studio]")
    assert '<Choice value="person"/>' in download.value.path().read_text(encoding="utf-8")

    # every model that was kept, the first one too
    oldest = page.locator("[data-model]").last
    with page.expect_download(timeout=LATE) as download:
        oldest.click()
    name = oldest.get_attribute("data-model")
    assert download.value.suggested_filename == f"questions-actune-{name}.zip"
    with zipfile.ZipFile(download.value.path()) as packed:
        packed.extractall(tmp_path / "model")
    model = actune.load(tmp_path / "model" / name)
    assert model.predict(["where is oslo ?"])[0].label in CLASSES

    # the page is closed, opened again, and goes on
    labels = desk.state()["labels"]
    page.reload()
    desk.go("label")
    again = desk.answer()
    desk.wait_until_saved()
    assert again not in done
    assert desk.state()["labels"] == labels + 1
