"""What `airpath emulate` refuses before it starts a process: no emulated hosts are needed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airpath.cli import main
from airpath.emulation import emulated_scenario
from airpath.errors import ScenarioError, UsageError


@pytest.fixture
def refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Return a function that calls the command, which must end with exit code 2, and returns its message."""

    def call(*arguments: str) -> str:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SystemExit) as left:
            main(["emulate", *arguments])
        assert left.value.code == 2
        assert list(tmp_path.iterdir()) == []
        return capsys.readouterr().err

    return call


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--link", "nonsense", "--", "true"], 'link: found "nonsense"'),
        (["--link", "8", "--", "true"], "link:"),
        (["--link", "8mbps", "--queue", "nonsense", "--", "true"], "nonsense"),
        (["--link", "8mbps", "--duration", "5", "--", "true"], "duration"),
        (["--link", "8mbps", "--capture", "middle", "--", "true"], "accepted: sender, receiver"),
    ],
)
def test_bad_arguments_are_one_message(refused: Callable[..., str], arguments: list[str], words: str):
    said = refused(*arguments)
    assert words in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"buffer": "5cm"}, 'buffer: found "5cm"; accepted: a buffer such as '),
        ({"buffer": "10B"}, 'buffer: the buffer of link "bottleneck" comes to 10 bytes, '),
        ({"queue": "codle"}, 'queue: found "codle" (did you mean "codel"?); accepted: '),
        ({"queue": "priority"}, "queue: classes: required, but not given"),
        ({"up": "lte.upp"}, 'up: found "lte.upp", which is neither a rate, nor a file, '),
        ({"duration": ""}, 'duration: found ""; accepted: a duration with a unit '),
        ({"seed": -1}, "seed: found -1; accepted: at least 0"),
    ],
)
def test_errors_name_the_option(options: dict[str, Any], said: str):
    with pytest.raises((ScenarioError, UsageError)) as found:
        emulated_scenario("8mbps", **options)
    assert str(found.value).startswith(said)


@pytest.mark.parametrize("server", ["'", "  "])
def test_a_server_that_is_no_command_is_rejected(server: str, refused: Callable[..., str]):
    said = refused("--link", "8mbps", "--server", server, "--", "true")
    assert f"server: found {server!r}" in said
    assert "accepted: a command as in a shell" in said
