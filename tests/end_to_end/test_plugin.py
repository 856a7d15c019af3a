"""Methods of others: a package with entry points is installed, used, reopened, and missed politely; so are values."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import actune
from actune.core.task import Task
from actune.errors import RunFolderError, SettingError
from actune.methods.method import Method, Recipe, asking
from actune.methods.queries import Random, Top
from actune.methods.recipes import build
from actune.methods.uncertainty import margin
from actune.session.config import load_config
from actune.session.labelled import human_rows
from actune.session.status import status

ROOT = Path(__file__).parents[2]
PLAN = ("--learner", "probe", "--initial", "20", "--batch", "10", "--device", "cpu", "--quiet", "--json")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plug-in as pip installs it, in a folder of its own; no package is fetched for it."""
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(ROOT / "tests/plugin")], check=True, env=_offline())
    return target


def _offline() -> dict[str, str]:
    return {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1"}


def command(*words: str, with_plugin: Path | None = None) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, filter(None, (ROOT, with_plugin))))
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, "-m", "actune", *words], env=environment, capture_output=True, text=True, cwd=ROOT
    )


def result(done: subprocess.CompletedProcess[str]) -> dict:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_an_installed_method_is_listed_with_its_package(installed: Path) -> None:
    listed = {entry["name"]: entry for entry in result(command("methods", "--json", with_plugin=installed))["methods"]}
    assert listed["shy"]["package"] == listed["shyer"]["package"] == "actune-shy"
    assert listed["shyer"]["summary"].startswith("Asks about the texts whose likeliest class")
    assert listed["margin"]["package"] is None and "broken" not in listed
    table = command("methods", with_plugin=installed).stdout
    assert "package actune-shy" in table and "'broken' of the package 'actune-shy' cannot be loaded" in " ".join(
        table.replace("│", " ").split()
    )
    assert "shy" not in {entry["name"] for entry in result(command("methods", "--json"))["methods"]}


def test_a_run_of_an_installed_method_is_reopened_and_refused_where_it_is_missing(
    installed: Path, tmp_path: Path
) -> None:
    def run(rounds: int, *words: str, plugin: Path | None = installed) -> subprocess.CompletedProcess[str]:
        options = ("run", "trec", "--sample", "200", *PLAN, "--out", str(tmp_path / "run"), "--rounds", str(rounds))
        return command(*options, *words, with_plugin=plugin)

    first = result(run(2, "--method", "shy"))
    # the likeliest class is least likely where least-confidence is highest
    usual = command(
        *("run", "trec", "--sample", "200", *PLAN, "--out", str(tmp_path / "usual"), "--rounds", "2"),
        *("--method", "least-confidence"),
    )
    assert first["asked"] == result(usual)["asked"]
    missing = run(3, "--method", "shy", plugin=None)
    assert missing.returncode == 2
    assert missing.stderr.strip() == (
        "actune: this run was made with the method 'shy' of the package 'actune-shy', which is not installed: "
        "pip install actune-shy"
    )
    # what needs no method works without it
    assert result(run(2, "--method", "shy", plugin=None))["accuracy"] == first["accuracy"]
    assert command("report", str(tmp_path / "run"), "--to", str(tmp_path / "page.html")).returncode == 0
    assert len(result(run(3, "--method", "shy"))["accuracy"]) == 3
    assert load_config(tmp_path / "run").resolved.method_origin == "package actune-shy"


def test_an_unknown_method_and_one_that_cannot_be_loaded_are_one_sentence(installed: Path, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "run"))
    unknown = command("run", "trec", "--method", "shi", *PLAN, *out, with_plugin=installed)
    assert unknown.returncode == 2 and "unknown method 'shi': did you mean 'shy'?" in unknown.stderr
    broken = command("run", "trec", "--method", "broken", *PLAN, *out, with_plugin=installed)
    assert broken.returncode == 2 and "'broken' of the package 'actune-shy' cannot be loaded" in broken.stderr
    assert not (tmp_path / "run").exists()


def test_a_method_is_found_by_its_place(installed: Path, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "run"), "--rounds", "1", "--sample", "100")
    result(command("run", "trec", "--method", "actune_shy:shyer", *PLAN, *out, with_plugin=installed))
    assert load_config(tmp_path / "run").resolved.method_origin == "place actune_shy:shyer"
    wrong = command("run", "trec", "--method", "actune_shy:loud", *PLAN, *out[2:], with_plugin=installed)
    assert wrong.returncode == 2 and "'actune_shy:loud' cannot be loaded: AttributeError" in wrong.stderr


def test_a_module_that_only_a_run_folder_names_is_never_imported(
    tmp_path: Path, questions: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else's folder: its module is imported only when the user names it too."""
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "run"
    options = {**CREATE, "simulated": False, "rounds": 0, "changes": {"epochs": 2, "steps": 10}}
    with actune.create(folder, questions, method="random", **options) as session:
        session.tell({id: session.pool.classes[number % 2] for number, id in enumerate(session.pool.ids[:20])})
    (tmp_path / "evil.py").write_text(
        "from pathlib import Path\n"
        "from actune.methods.method import asking\n"
        "from actune.methods.queries import Random\n"
        f"Path({str(tmp_path / 'was-here')!r}).touch()\n"
        "method = asking(Random())\n"
    )
    text = (folder / "run.toml").read_text()
    named = text.replace('method = "random"', 'method = "evil:method"', 1)
    for harmful in (
        named,
        named.replace('method_origin = ""', 'method_origin = "place evil:method"'),
        text.replace('method = "random"', 'method = "mine"', 1).replace('origin = ""', 'origin = "place evil:method"'),
        text.replace('method = "random"', 'method = "mine"', 1).replace('origin = ""', 'origin = "place evil"'),
    ):
        assert harmful != text
        (folder / "run.toml").write_text(harmful)
        with actune.open_session(folder) as session:
            assert status(session).labels == len(session.pool) and human_rows(session)
            with pytest.raises(SettingError, match="is code in the module 'evil', which is not run"):
                session.advance()
        with pytest.raises((SettingError, RunFolderError)):
            actune.open_session(folder, method="mine")
        assert not (tmp_path / "was-here").exists()
    said = command("advance", str(folder), with_plugin=tmp_path)
    assert said.returncode == 2 and "pass --method evil" in said.stderr and not (tmp_path / "was-here").exists()
    (folder / "run.toml").write_text(named.replace('method_origin = ""', 'method_origin = "place evil:method"'))
    assert command("advance", str(folder), "--method", "evil:method", with_plugin=tmp_path).returncode == 0
    assert (tmp_path / "was-here").exists()


# by value


CREATE = {"learner": "probe", "initial": 20, "batch": 10, "rounds": 3, "simulated": True, "device": "cpu"}


def least_likely(view):
    return -view.log_proba.amax(1)


def asks_least_likely(settings):
    """Asks about the least likely."""
    return asking(Top(least_likely))


def one_round(session: actune.Session) -> list[str]:
    oracle = actune.Oracle(session.pool)
    oracle.send(session.ask())
    session.tell(oracle.collect())
    session.advance()
    return [question.id for question in session.ask()]


def test_a_method_is_given_by_value(tmp_path: Path, questions: Task) -> None:
    value = asking(Top(margin))
    session = actune.create(tmp_path / "value", questions, method=value, **CREATE)
    by_name = actune.create(tmp_path / "name", questions, method="margin", **CREATE)
    assert one_round(session) == one_round(by_name)
    assert session.config.request.method == "Method(Top(margin), Objective(hard))"
    assert load_config(tmp_path / "value").resolved.method_origin == "value"
    assert load_config(tmp_path / "name").resolved.method_origin == ""


def test_a_method_that_was_given_by_value_is_given_again(tmp_path: Path, questions: Task) -> None:
    program = """
import sys, actune
from actune.methods.method import asking
from actune.methods.queries import Top
from actune.methods.uncertainty import margin
with actune.open_session(sys.argv[1], **({"method": asking(Top(margin))} if sys.argv[2:] else {})) as session:
    oracle = actune.Oracle(session.pool)
    oracle.send(session.ask())
    session.tell(oracle.collect())
    try:
        session.advance()
        print("advanced")
    except actune.errors.SettingError as error:
        print(error)
"""
    actune.create(tmp_path / "run", questions, method=asking(Top(margin)), **CREATE).close()

    def reopened(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "run"), *words],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    assert reopened() == (
        "the method 'Method(Top(margin), Objective(hard))' of this run was given by value: pass it again with "
        "actune.open_session(folder, method=...)"
    )
    assert reopened("again") == "advanced"
    with pytest.raises(
        RunFolderError, match=r"was created with the method .*, not 'Method\(Random, Objective\(hard\)\)'"
    ):
        actune.open_session(tmp_path / "run", method=asking(Random()))


def test_numbers_are_part_of_the_name_of_a_value(questions: Task, tmp_path: Path) -> None:
    value = build("actune", questions.settings)
    session = actune.create(tmp_path / "run", questions, method=value, **CREATE)
    assert f"k={questions.settings.regions}" in session.config.request.method


def test_a_recipe_has_a_name_of_its_own_and_makes_a_method(tmp_path: Path, questions: Task) -> None:
    with pytest.raises(SettingError, match="there is already a method 'margin'"):
        recipe = Recipe("margin", "plug-in", "", "", asks_least_likely)
        actune.create(tmp_path / "run", questions, method=recipe, **CREATE)
    with pytest.raises(SettingError, match="the recipe 'nothing' returned a NoneType"):
        recipe = Recipe("nothing", "plug-in", "", "", lambda settings: None)  # type: ignore[arg-type,return-value]
        actune.create(tmp_path / "run", questions, method=recipe, **CREATE)
    with pytest.raises(SettingError, match="a method must be a Recipe, a Method, or a function"):
        actune.create(tmp_path / "run", questions, method=3, **CREATE)
    assert not (tmp_path / "run").exists()
    session = actune.create(tmp_path / "run", questions, method=asks_least_likely, **CREATE)
    assert session.config.request.method == "asks_least_likely" and isinstance(session.method, Method)
