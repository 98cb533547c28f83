"""The targets of `make fuzz` accept and refuse a few inputs correctly: no target is broken unnoticed."""

from copy import copy

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
    target = copy(fuzz_readers.TARGETS[name])
    files = sorted((seeds / name).iterdir())
    fed = [file.read_bytes() for file in files[:: -(-len(files) // SEEDS)]]
    for content in fed:
        fuzz_readers.feed_one(name, target, content, tmp_path, tmp_path / "out")
    assert not target.failed
    assert target.accepted > 0
    for content in fed:
        fuzz_readers.feed_one(name, target, content[: len(content) // 2], tmp_path, tmp_path / "out")
    assert not target.failed
    assert target.inputs == 2 * len(fed)


def test_a_target_that_raises_fails_and_its_input_is_kept(tmp_path, capsys):
    def broken(_content, _folder):
        raise TypeError("takes 3 arguments")

    target = fuzz_readers.Target("text", broken)
    fuzz_readers.feed_one("broken", target, b"abc", tmp_path, tmp_path / "out")
    assert target.failed
    assert (tmp_path / "out" / "broken-0").read_bytes() == b"abc"
    assert "takes 3 arguments" in capsys.readouterr().err
