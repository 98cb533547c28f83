"""The Python targets of `make fuzz` accept and refuse a few inputs correctly: none is broken unnoticed."""

import fuzz_readers
import pytest

SEEDS = 24
"""Per target; whole and cut in half."""


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz") / "seeds"
    fuzz_readers.write_seeds(folder)
    return folder


@pytest.mark.parametrize("name", fuzz_readers.TARGETS)
def test_a_target_accepts_its_seeds_and_truncated_seeds_do_not_fail(name, seeds, tmp_path):
    target = fuzz_readers.TARGETS[name]
    files = sorted((seeds / name).iterdir())
    fed = [file.read_bytes() for file in files[:: -(-len(files) // SEEDS)]]
    assert sum(fuzz_readers.feed(target, content, tmp_path) for content in fed) > 0
    for content in fed:
        fuzz_readers.feed(target, content[: len(content) // 2], tmp_path)


def test_an_input_that_takes_too_long_fails(tmp_path, monkeypatch):
    monkeypatch.setattr("fuzz_readers.SLOW_IF_SMALL_S", -1)
    with pytest.raises(AssertionError, match="3 bytes take"):
        fuzz_readers.feed(lambda _content, _folder: True, b"abc", tmp_path)
