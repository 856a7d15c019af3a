"""What the documentation promises: its tables are what commands print, and what it names exists."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from actune.bench.grid import AXES, READING, TABLES, load_grid, parse_grid
from actune.bench.store import RESULT_COLUMNS
from actune.bench.vocabulary import RUN_SETTINGS
from actune.cli.app import app
from actune.core.options import options_of
from actune.core.settings import SYMBOLS, Settings, Training
from actune.core.spec import RunSpec
from actune.methods.recipes import RECIPES
from actune.models.learners import AUTO, LEARNERS
from actune.rounds.first import FIRST
from actune.session.request import PRESETS
from actune.weak.label_models import LABEL_MODELS

ROOT = Path(__file__).parents[1]
PAGES = [
    *map(ROOT.joinpath, ("README.md", "CHANGELOG.md", "benchmarks/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
METHODS = (ROOT / "docs/methods.md").read_text(encoding="utf-8")
TABLE = re.compile(r"<!-- methods: actune methods --markdown -->\n(.*?)\n<!-- /methods -->", re.DOTALL)

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def test_the_table_of_methods_is_what_the_command_prints():
    (found,) = TABLE.findall(METHODS)
    assert found == CliRunner().invoke(app, ["methods", "--markdown"]).stdout.strip()


def test_what_is_derived_from_the_options_of_a_run_is_up_to_date():
    derived = runpy.run_path(str(ROOT / "docs/generate.py"))
    for file, text in ((derived["PAGE"], derived["options_page"]()), (derived["TYPES"], derived["types_source"]())):
        assert file.read_text(encoding="utf-8") == text, "run `make options`"


def test_the_help_of_an_option_names_what_it_takes():
    options = options_of(RunSpec)
    for name, known in (
        ("preset", PRESETS),
        ("learner", [AUTO, *LEARNERS]),
        ("first", FIRST),
        ("label_model", LABEL_MODELS),
    ):
        assert all(re.search(rf"\b{word}\b", options[name].help) for word in known), name


def test_every_method_has_its_paragraph():
    told = re.findall(r"\*\*`([\w-]+)`\*\*", TABLE.sub("", METHODS))
    assert sorted(told) == sorted(RECIPES)


def test_every_setting_is_in_a_table_and_every_name_there_is_one():
    known = {field.name for field in (*fields(Settings), *fields(Training))}
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", METHODS[METHODS.index("## Settings") :], re.MULTILINE)
    told = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert known <= set(told) <= known | set(LEARNERS)
    assert len(told) == len(set(told))


def test_symbols_and_other_words_of_the_command_line_are_told():
    for word in SYMBOLS:
        assert re.search(rf"\| [^|]*\b{word}\b[^|]* \|", METHODS), word
    for word in (*FIRST, *PRESETS):
        assert re.search(rf"\b{word}\b", METHODS), word
    for word in LABEL_MODELS:
        assert f"`{word}`" in (ROOT / "docs/weak.md").read_text(encoding="utf-8")


def test_benchmark_tables_are_what_the_script_prints():
    page = (ROOT / "docs/benchmark.md").read_text(encoding="utf-8")
    pattern = r"<!-- (|weak |core |exact )(table|differences|classes): (.*?) -->\n(.*?)<!-- /table -->"
    found = re.findall(pattern, page, re.DOTALL)
    assert len(found) == page.count("<!-- /table -->") >= 14
    places = {"": "trec_mpnet_gpu.csv", "weak ": "trec_weak_mpnet_gpu.csv", "core ": "core/results.csv"}
    places["exact "] = "core_exact/results.csv"
    for kind, script, words, table in found:
        command = [f"benchmarks/{script}.py", f"benchmarks/results/{places[kind]}", *words.split()]
        assert not kind or f"\npython {' '.join(command)}\n" in page
        printed = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, check=True).stdout.decode()
        assert table == printed


def test_the_page_of_experiments_names_every_word_of_a_grid_and_counts_the_cells_of_those_that_ship():
    page = (ROOT / "docs/experiments.md").read_text(encoding="utf-8")
    for word in (*TABLES, *AXES, *RUN_SETTINGS, *READING, *RESULT_COLUMNS):
        assert re.search(rf"(?:[`\[]|^){word}\b", page, re.MULTILINE), word
    told = dict(re.findall(r"^\| \[(\w+)\.toml\]\(\S+\) \| (\d+) \|", page, re.MULTILINE))
    shipped = {file.stem: str(len(load_grid(file).points)) for file in (ROOT / "benchmarks/grids").glob("*.toml")}
    assert told == shipped
    example = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0]
    assert len(parse_grid(example).points) == 12 + 3 + 24


@pages
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


@pages
def test_files_and_what_is_named_in_them_exist(page):
    text = page.read_text(encoding="utf-8")
    for path, names in re.findall(r"`((?:\w+/)+\w+\.py)`((?:(?::|,) `\w+`)*)", text):
        file = next((base / path for base in (ROOT, ROOT / "actune") if (base / path).is_file()), None)
        assert file is not None, path
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"^\s*(?:def|class) {name}\b", file.read_text(encoding="utf-8"), re.MULTILINE), name


def every_command(group, before=""):
    """Commands and groups with the words that call them."""
    for name, command in group.commands.items():
        yield before + name, command
        if hasattr(command, "commands"):
            yield from every_command(command, f"{before}{name} ")


@pages
def test_commands_and_options_exist(page):
    text = page.read_text(encoding="utf-8")
    spans = re.findall(r"```\n(.*?)```", text, re.DOTALL) + re.findall(r"`([^`\n]+)`", text)
    lines = [line.strip() for span in spans for line in span.splitlines() if "python benchmarks/" not in line]
    commands = dict(every_command(typer.main.get_command(app)))
    used = {found[1] for line in lines if (found := re.match(r"actune ((?:bench )?[a-z][a-z-]*)", line))}
    assert used <= set(commands)
    known = {option for command in commands.values() for part in command.params for option in part.opts}
    named = {option for line in lines for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", line)}
    assert named <= known | {"--help", "--version"}


def test_the_tables_of_the_default_method_are_what_its_scripts_print():
    judged = ["benchmarks/auto/judge.py", "show", "benchmarks/results/breadth"]
    every_class = [*judged, "--measure", "macro_f1"]
    skewed = ["benchmarks/auto/judge.py", "show", "benchmarks/results/skewed"]
    rare = [*skewed, "--measure", "macro_f1"]
    searched = ["benchmarks/auto/search.py", "show"]
    untouched = [*judged, "--seeds", "1,2,3,4"]
    estimated = ["benchmarks/auto/estimating.py", "show"]
    taught = ["benchmarks/auto/learning.py", "show"]
    students = [*taught, "--out", "benchmarks/results/auto_students_cpu.csv", "--against", "no teacher"]
    tuned = ["benchmarks/auto/finetuned.py", "show", "benchmarks/results/auto"]
    half = [*tuned[:2], "benchmarks/results/auto_half"]
    before = [*tuned[:2], "benchmarks/results/auto_500_steps.csv"]
    of_probes = (judged, every_class, skewed, rare, untouched, searched, estimated)
    place = {**os.environ, "PYTHONPATH": str(ROOT)}
    printed = [
        subprocess.run([sys.executable, *words], cwd=ROOT, env=place, capture_output=True, text=True, check=True).stdout
        for words in (*of_probes, taught, students, tuned, half, before)
    ]
    tables = re.findall(r"(?:^\|.*\n)+", (ROOT / "docs/auto.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(tables) == 28
    for table in tables:
        assert any(table in said for said in printed), table
