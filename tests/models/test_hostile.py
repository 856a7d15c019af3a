"""Encoder folders of somebody else: they run no code, open no device, fill no memory, and are refused in a sentence."""

from __future__ import annotations

import json
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from actune.errors import ModelError
from actune.models.encoders import load_classifier, load_encoder, load_tokenizer, token_limit
from actune.models.sources import encoder_digest, find_model
from actune.models.tokens import tokenize
from tests.models.test_encoders import change_json

CPU = torch.device("cpu")
SLOW = 10.0  # seconds in which any folder is refused


def use(folder: Path) -> None:
    """All that a run does with an encoder before it trains."""
    found = Path(find_model(str(folder)).location)
    encoder_digest(found)
    limit = token_limit(found, 16)
    tokens = tokenize(load_tokenizer(found), ["who is the man", "what year"], limit)
    for network in (load_encoder(found, CPU), load_classifier(found, 3, CPU)):
        network(**tokens.batch(range(2)))


def config(**changes: Any) -> Callable[[Path], None]:
    return lambda folder: change_json(folder / "config.json", **changes)


def index(*names: object, decoy: bytes = b"") -> Callable[[Path], None]:
    """An index that maps the weights to these files, beside an empty file with the right ending."""

    def spoil(folder: Path) -> None:
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
        (folder / "decoy.safetensors").write_bytes(decoy)
        weights = {f"weight.{number}": name for number, name in enumerate(names)}
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weights}))

    return spoil


def fifo(name: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return spoil


def link(name: str, target: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return spoil


def both(*spoils: Callable[[Path], None]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        for each in spoils:
            each(folder)

    return spoil


def write(name: str, content: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(content) and None


def large(name: str) -> Callable[[Path], None]:
    """A file with a hole, which takes no room on the disk."""
    return lambda folder: os.truncate(folder / name, 10**12)


def hollow(name: str) -> Callable[[Path], None]:
    """A new file of holes, which would take hours to read."""

    def spoil(folder: Path) -> None:
        (folder / name).touch()
        os.truncate(folder / name, 10**12)

    return spoil


def header(content: bytes, length: int | None = None) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        size = len(content) if length is None else length
        (folder / "model.safetensors").write_bytes(struct.pack("<Q", size) + content + bytes(64))

    return spoil


def tensors(**shapes: tuple[list[int], list[int]]) -> bytes:
    return json.dumps({n: {"dtype": "F32", "shape": s, "data_offsets": o} for n, (s, o) in shapes.items()}).encode()


def tokenizer(**changes: Any) -> Callable[[Path], None]:
    return lambda folder: change_json(folder / "tokenizer.json", **changes)


def model_of_tokenizer(**changes: Any) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        model = json.loads((folder / "tokenizer.json").read_text())["model"]
        words = model["vocab"] | changes.pop("vocab", {})
        change_json(folder / "tokenizer.json", model=model | changes | {"vocab": words})

    return spoil


GROWING = [{"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 10}] * 9
ENDLESS = {"type": "Split", "pattern": {"Regex": "(a+a+)+b"}, "behavior": "Isolated", "invert": False}
LONG_END = {
    "type": "TemplateProcessing",
    "pair": [],
    "special_tokens": {"[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}},
}
LONG_END["single"] = [{"SpecialToken": {"id": "[SEP]", "type_id": 0}}] * 1000

HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "an index that leads to a pickle": (index("pytorch_model.bin"), "must be .safetensors files in the same folder"),
    "an index that leads out": (index("../other.safetensors"), "must be .safetensors files in the same folder"),
    "an index with a whole path": (index("/etc/a.safetensors"), "must be .safetensors files in the same folder"),
    "an index of numbers": (index(3, None), "must be .safetensors files in the same folder"),
    "an index of nothing": (index(), "names no files of weights"),
    "an index to a missing file": (index("gone.safetensors"), "is missing or not a regular file"),
    "an index to an empty file": (index("decoy.safetensors"), "cannot be loaded as an encoder"),
    "an index that is a list": (
        both(index(), write("model.safetensors.index.json", "[1]")),
        "must hold a JSON object",
    ),
    "weights that are a FIFO": (fifo("model.safetensors"), "is not a regular file"),
    "weights that never end": (link("model.safetensors", "/dev/zero"), "is not a regular file"),
    "weights that are a dangling link": (link("model.safetensors", "nowhere"), "is not a regular file"),
    "other weights of a terabyte of holes": (hollow("zz.safetensors"), "nearly none is stored"),
    "a config that is a FIFO": (fifo("config.json"), "has no config.json"),
    "a tokenizer that is a FIFO": (fifo("tokenizer.json"), "is not a regular file"),
    "a tokenizer config that never ends": (link("tokenizer_config.json", "/dev/zero"), "is not a regular file"),
    "another weights file that is a FIFO": (fifo("zz.safetensors"), "is not a regular file"),
    "a chat template that is a FIFO": (fifo("chat_template.jinja"), "is not a regular file"),
    "a config of a terabyte": (large("config.json"), "is larger than"),
    "a tokenizer of a terabyte": (large("tokenizer.json"), "is larger than"),
    "an adapter": (write("adapter_config.json", '{"base_model_name_or_path": "evil/model"}'), "PEFT adapter"),
    "a distributed checkpoint": (
        write("shard-00000-model-00001-of-00001.safetensors", "x"),
        "belongs to a distributed checkpoint",
    ),
    "a quantized model": (config(quantization_config={"quant_method": "gptq", "bits": 4}), "is quantized"),
    "weights of another name": (config(transformers_weights="adapter_model.bin"), "a file of another name"),
    "another family": (config(model_type="timm_wrapper", architecture="hf-hub:evil/x"), "no encoder of texts"),
    "a family of parts": (config(model_type="encoder-decoder"), "no encoder of texts"),
    "a family that is a list": (config(model_type=["bert"]), "transformers does not know"),
    "a family that is a mapping": (config(model_type={"a": 1}), "transformers does not know"),
    "200,000 layers": (config(num_hidden_layers=200_000), "allows at most 10,000"),
    "10,000 layers": (config(num_hidden_layers=10_000), "describes a network of more than"),
    "negative layers": (config(num_hidden_layers=-1), "without layers"),
    "no layers": (config(num_hidden_layers=0), "without layers"),
    "layers as a word": (config(num_hidden_layers="many"), "cannot be loaded as an encoder"),
    "a width of a billion": (config(hidden_size=10**9, num_attention_heads=1), "weights, but only"),
    "a width that overflows": (config(hidden_size=10**15), "cannot be loaded as an encoder"),
    "a width beyond all numbers": (config(hidden_size=10**30), "cannot be loaded as an encoder"),
    "a width of zero": (config(hidden_size=0), ""),
    "a negative width": (config(hidden_size=-32), "cannot be loaded as an encoder"),
    "a width that is a list": (config(hidden_size=[32]), "cannot be loaded as an encoder"),
    "a trillion words": (config(vocab_size=10**12), "weights, but only"),
    "fewer words than tokens": (config(vocab_size=3), ""),
    "no heads": (config(num_attention_heads=0), "cannot be loaded as an encoder"),
    "a billion positions": (config(max_position_embeddings=10**9), "allows at most 10,000,000"),
    "millions of positions": (config(max_position_embeddings=9_000_000), "weights, but only"),
    "no positions": (config(max_position_embeddings=1), "leaves no room for a text"),
    "positions as a mapping": (config(max_position_embeddings={"a": 1}), "leaves no room for a text"),
    "a million labels": (config(id2label={str(n): "x" for n in range(100_001)}), "allows at most 100,000"),
    "a billion labels": (config(num_labels=10**9), "allows at most 100,000"),
    "an unknown activation": (config(hidden_act="evil.module"), "cannot be loaded as an encoder"),
    "tuples for results": (config(return_dict=False), "cannot read a text"),
    "odd chunks": (config(chunk_size_feed_forward=7), "cannot read a text"),
    "a norm that divides by nothing": (config(layer_norm_eps=float("nan")), "no usable numbers"),
    "brackets": (write("config.json", "[" * 100_000), "cannot be read"),
    "not UTF-8": (lambda folder: (folder / "config.json").write_bytes(b"\xff\xfe{}") and None, "cannot be read"),
    "a number of 10,000 digits": (write("config.json", '{"a": 1' + "0" * 10_000 + "}"), "cannot be read"),
    "a header of an exabyte": (header(b"{}", 2**60), "cannot be loaded as an encoder"),
    "a header that is no JSON": (header(b"{]"), "cannot be loaded as an encoder"),
    "weights that overlap": (header(tensors(a=([4], [0, 16]), b=([4], [8, 24]))), "cannot be loaded as an encoder"),
    "a shape of 10**18": (header(tensors(a=([10**18], [0, 16]))), "cannot be loaded as an encoder"),
    "a shape that overflows": (header(tensors(a=([2**40, 2**40], [0, 16]))), "cannot be loaded as an encoder"),
    "texts that grow": (tokenizer(normalizer={"type": "Sequence", "normalizers": GROWING}), "could fill the memory"),
    "words without end": (model_of_tokenizer(max_input_chars_per_word=10**9), "could fill the memory"),
    "ends that are longer than the text": (tokenizer(post_processor=LONG_END), "where only 16 are allowed"),
    "a token without a vector": (model_of_tokenizer(vocab={"who": 5000}), "the encoder knows only"),
    "a token beyond all numbers": (model_of_tokenizer(vocab={"who": 4_000_000_000}), "fails on these texts"),
    "an unknown word for unknown words": (model_of_tokenizer(unk_token="nothing"), ""),
    "a tokenizer of another format": (
        lambda folder: change_json(folder / "tokenizer_config.json", gguf_file="/etc/passwd"),
        "another place or format",
    ),
    "a tokenizer of another place": (
        lambda folder: change_json(folder / "tokenizer_config.json", fast_tokenizer_files=["../../tokenizer.9.json"]),
        "another place or format",
    ),
    "a tokenizer of other kinds": (
        lambda folder: change_json(folder / "tokenizer_config.json", tokenizer_class=["a"]),
        "no readable tokenizer",
    ),
    "code of a tokenizer": (
        lambda folder: change_json(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil/x--a.B", None]}),
        "",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_folder_is_refused_in_a_sentence(name: str, tiny: Path) -> None:
    spoil, sentence = HOSTILE[name]
    spoil(tiny)
    began = time.monotonic()
    try:
        use(tiny)
    except ModelError as error:
        assert sentence in str(error) and "\n" not in str(error), str(error)
    else:
        assert not sentence, "it was accepted"  # what does no harm may be accepted
    assert time.monotonic() - began < SLOW


def test_a_pattern_that_would_take_for_ever_ends_in_a_sentence(tiny: Path) -> None:
    tokenizer(pre_tokenizer=ENDLESS)(tiny)
    with pytest.raises(ModelError, match="fails on these texts"):
        tokenize(load_tokenizer(tiny), ["a" * 3000], 16)


def test_no_kernel_of_another_place_is_asked_for(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names that a config gives for how attention is computed, which transformers would look up on the hub."""
    from transformers.integrations import hub_kernels

    def fail(*words: object, **named: object) -> None:
        raise SystemExit("a kernel was loaded")

    for name in ("load_and_register_attn_kernel", "get_kernel"):
        monkeypatch.setattr(hub_kernels, name, fail, raising=False)
    usual = load_encoder(tiny, CPU).config._attn_implementation
    for name in ("_attn_implementation", "attn_implementation", "_experts_implementation", "experts_implementation"):
        change_json(tiny / "config.json", **{name: "evil/kernel"})
        assert load_encoder(tiny, CPU).config._attn_implementation == usual == "sdpa"
    change_json(tiny / "config.json", attn_implementation="eager")
    assert load_encoder(tiny, CPU).config._attn_implementation == "eager"


def test_code_of_a_folder_is_not_run_where_the_family_is_known(tiny: Path) -> None:
    change_json(tiny / "config.json", auto_map={"AutoConfig": "code.C", "AutoModel": "code.M"})
    (tiny / "code.py").write_text("raise SystemExit('code ran')")
    use(tiny)


def test_links_to_files_are_followed_as_the_cache_of_the_hub_needs_it(tiny: Path, tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshot"
    tiny.rename(blobs)
    snapshot.mkdir()
    for file in blobs.iterdir():
        (snapshot / file.name).symlink_to(file)
    use(snapshot)
    assert encoder_digest(snapshot) == encoder_digest(blobs)


def test_weights_in_several_files_are_read(tiny: Path) -> None:
    network: Any = load_encoder(tiny, CPU)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    (tiny / "model.safetensors").unlink()
    network.save_pretrained(tiny, max_shard_size="20KB")
    assert (tiny / "model.safetensors.index.json").is_file() and not (tiny / "model.safetensors").exists()
    use(tiny)
    assert all(torch.equal(value, before[name]) for name, value in load_encoder(tiny, CPU).state_dict().items())
