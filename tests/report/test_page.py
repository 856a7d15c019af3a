"""The page: whole, alone, true to the numbers, and safe from the words of users."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import tomllib

import pytest

import actune
from actune.core.facts import Metrics, PseudoLabelFacts, RoundFacts
from actune.errors import StorageError, UserError
from actune.report.facts import effective_classes, gain
from actune.report.page import render, write_report

NAMES = ["both", "project", "begun", "random", "thrifty"]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_well_formed_and_needs_nothing_else(pages, parsed, name):
    assert "http:" not in pages[name] and "https:" not in pages[name]
    assert "@import" not in pages[name]
    for tag, attributes in parsed[name].tags:
        assert tag not in ("script", "link", "img", "image", "iframe", "object", "foreignobject")
        assert "src" not in attributes and not any(key.startswith("on") for key in attributes)
        assert (attributes.get("href") or "#").startswith("#")
    for target in re.findall(r"url\(([^)]*)", pages[name]):
        assert target.startswith("#")


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_unique_and_every_reference_has_its_target(pages, parsed, name):
    ids = [attributes["id"] for _, attributes in parsed[name].tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    used = {attributes["href"] for _, attributes in parsed[name].tags if "href" in attributes}
    used |= set(re.findall(r"url\(([^)]*)", pages[name]))
    assert used <= {f"#{id}" for id in ids}


def test_the_curve_is_printed_number_by_number(opened, parsed):
    rounds = [opened[name].rounds() for name in ("actune", "random")]
    for actunes, randoms in zip(*rounds, strict=True):
        row = [str(actunes.round), str(actunes.labels)]
        for facts in (actunes, randoms):
            row += [f"{100 * facts.accuracy:.1f} %", f"{100 * facts.macro_f1:.1f} %"]
        assert row in parsed["both"].rows


def test_pseudo_labels_are_told_with_their_spread_their_estimate_and_the_truth(opened, parsed):
    for facts in opened["actune"].rounds():
        found = facts.pseudo_labels
        row = [str(facts.round), f"{found.count:,}", effective_classes(facts)]
        row += ["–" if share is None else f"{100 * share:.1f} %" for share in (found.estimate, found.accuracy)]
        assert [*row, "on" if found.trained_on else "off"] in parsed["both"].rows
    assert opened["actune"].rounds()[1].pseudo_labels.estimate is not None
    assert effective_classes(facts_with(PseudoLabelFacts(10, (5, 0, 5)))) == "2.0"
    assert effective_classes(facts_with(PseudoLabelFacts(0, (0, 0)))) == ""


def facts_with(pseudo_labels: PseudoLabelFacts, **facts: float | None) -> RoundFacts:
    return RoundFacts(0, 0, 0, (), Metrics(), pseudo_labels, **facts)


def test_what_self_training_brings_is_told_where_there_is_a_model_without_it(opened, parsed):
    for taught, trusting in zip(opened["thrifty"].rounds(), opened["actune"].rounds(), strict=True):
        row = next(
            row for row in parsed["thrifty"].rows if row[:2] == [str(taught.round), f"{taught.pseudo_labels.count:,}"]
        )
        assert row[5] == "on" and row[6] == f"{100 * taught.gain:+.1f}"
        assert row[11:] == ["on" if trusting.pseudo_labels.trained_on else "off", "–"]
    assert gain(facts_with(PseudoLabelFacts(), gain=None, dev_gain=0.02)) == 0.02
    assert gain(facts_with(PseudoLabelFacts(), gain=0.0, dev_gain=0.02)) == 0
    assert "Gain:" in parsed["thrifty"].text and "Gain:" not in parsed["both"].text


def test_the_first_sentence_holds_the_last_numbers(opened, parsed):
    last = [f"{100 * opened[name].rounds()[-1].accuracy:.1f} %" for name in ("actune", "random")]
    assert f"AcTune reaches {last[0]} with 70 labels; Random {last[1]} with the same. A test" in parsed["both"].text


def test_class_counts_are_printed(opened, parsed):
    rounds = opened["random"].rounds()
    for number, name in enumerate(opened["random"].pool.classes):
        assert [name, *(str(facts.class_counts[number]) for facts in rounds)] in parsed["both"].rows


def test_a_run_that_never_read_the_pool_says_that_it_has_no_map(parsed):
    assert "Random has no map of this round: no model read the pool" in parsed["both"].text
    assert "Random has no map of any round: no model read the pool" in parsed["random"].text


def test_every_setting_of_the_run_is_there(folders, parsed):
    tables = tomllib.loads((folders["random"] / "run.toml").read_text())
    names = {name for table in tables.values() if isinstance(table, dict) for name in table}
    assert names <= {row[0] for row in parsed["random"].rows}
    assert ["fingerprint", tables["resolved"]["fingerprint"]] in parsed["random"].rows
    assert ["method", "actune", "random"] in parsed["both"].rows
    assert ("tr", {"class": "differs"}) in parsed["both"].tags


def test_words_of_users_stay_words(pages, parsed):
    assert "<script" not in pages["project"]
    drawn = parsed["project"].drawn
    for name in ("<script>alert(1)</script>", '$x$ & "y"', "_hidden", "ding�"):
        assert drawn.count(name) == 1  # the legend of the map
    assert any(row[0] == "<script>alert(1)</script>" for row in parsed["project"].rows)


def test_a_project_without_a_test_set_shows_counts(parsed):
    text = parsed["project"].text
    assert "12 answers, 2 rounds. The accuracy is not known, because there is no test set." in text
    assert "1 new label since its last round." in text
    assert ["0", "8"] in parsed["project"].rows
    assert "test accuracy (%)" not in parsed["project"].drawn
    assert "number of pseudo-labels" not in parsed["project"].drawn  # two rounds are numbers, not a chart


def test_a_run_without_a_finished_round_says_so(parsed):
    assert "No round of AcTune is finished yet: 0 texts are labelled" in parsed["begun"].text
    assert "There is a map as soon as a model has selected questions." in parsed["begun"].text
    assert not parsed["begun"].drawn


def test_the_fine_tuning_at_the_end_is_told_and_drawn(copied, parse):
    session = copied("random")
    facts = {"accuracy": 0.876, "macro_f1": 0.7654, "labels": 70, "round": 3, "seconds": 1.0}
    session.store.set_fact("final", facts)
    page = parse(render([session]))
    assert ["fine-tuned", "70", "87.6 %", "76.5 %"] in page.rows
    assert "(87.6 % once the encoder is fine-tuned on them)" in page.text
    assert "Random, fine-tuned" in page.drawn


def test_each_round_has_its_own_map_and_the_newest_is_the_default(opened, pages):
    def pictures(page):
        return re.findall(r'<svg[^>]*aria-label="Two-dimensional.*?</svg>', page, re.DOTALL)

    other = render([opened["actune"], opened["random"]], round=1)
    assert len(pictures(pages["both"])) == len(pictures(other)) == 1
    assert pictures(pages["both"]) != pictures(other)
    assert (
        "when the questions of round 2 were selected" in pages["both"] and "questions of round 1 were selected" in other
    )


@pytest.mark.parametrize("round", [-1, 0, 3, 99])
def test_a_round_without_a_map_names_those_that_have_one(opened, tmp_path, round):
    with pytest.raises(UserError, match=f"round {round} has no map: rounds with a map: 1, 2$"):
        write_report([opened["random"], opened["actune"]], tmp_path / "report.html", round)
    assert not list(tmp_path.iterdir())


def test_a_round_of_a_run_without_any_map_says_why(opened):
    with pytest.raises(UserError, match="round 1 has no map: these runs have no maps"):
        render([opened["random"]], round=1)


def test_equal_runs_give_equal_bytes_in_another_process(folders, pages, tmp_path):
    script = (
        "import sys, actune; from pathlib import Path; from actune.report.page import write_report; "
        "print(write_report([actune.open_session(sys.argv[1])], Path(sys.argv[2])))"
    )
    file = tmp_path / "report.html"
    for seed in ("1", "2"):
        found = subprocess.run(
            [sys.executable, "-W", "error::UserWarning", "-c", script, folders["project"], file],
            env={**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": seed},
            capture_output=True,
            text=True,
        )
        assert (found.returncode, found.stdout, found.stderr) == (0, f"{file}\n", "")
        assert file.read_bytes().decode() == pages["project"]


def test_a_new_report_takes_the_place_of_an_old_one(opened, pages, tmp_path):
    file = tmp_path / "report.html"
    file.write_text("old")
    assert write_report([opened["begun"]], file) == file
    assert file.read_text(encoding="utf-8") == pages["begun"]
    assert list(tmp_path.iterdir()) == [file]


def test_a_place_that_cannot_be_written_is_one_sentence(opened, tmp_path):
    with pytest.raises(UserError, match="is a folder: give a file"):
        write_report([opened["begun"]], tmp_path)
    with pytest.raises(UserError, match="there is no folder"):
        write_report([opened["begun"]], tmp_path / "no" / "report.html")
    (tmp_path / "file").touch()
    with pytest.raises((UserError, StorageError)):
        write_report([opened["begun"]], tmp_path / "file" / "report.html")


def test_runs_of_other_classes_and_no_runs_are_refused(opened):
    with pytest.raises(UserError, match="have different classes"):
        render([opened["random"], opened["project"]])
    with pytest.raises(UserError, match="at least one run"):
        render([])


def test_importing_the_page_is_light():
    heavy = {"torch", "matplotlib", "sklearn", "scipy", "jinja2"}
    code = f"import sys, actune.report.page; print(sorted({heavy} & {{*sys.modules}}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_name_that_is_not_utf_8_can_be_written(opened, tmp_path, monkeypatch):
    from dataclasses import replace

    session = actune.open_session(opened["begun"].store.folder)
    config = session.config
    monkeypatch.setattr(session, "config", replace(config, request=replace(config.request, data="caf\udce9.csv")))
    assert "caf?.csv" in write_report([session], tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_shorter_run_leaves_its_last_cells_empty(opened, copied, parse):
    session = copied("random")
    with sqlite3.connect(session.store.folder / "run.db") as connection:
        connection.execute("DELETE FROM rounds WHERE round = 2")
    rounds = opened["actune"].rounds()
    rows = parse(render([session, opened["actune"]])).rows
    printed = [f"{100 * getattr(rounds[2], fact):.1f} %" for fact in ("accuracy", "macro_f1")]
    assert ["2", "", "", "", "70", *printed] in rows
