"""Release builds use the stored profile if it fits, and only then."""

import compiler_profile
import pytest


@pytest.fixture(autouse=True)
def fitting(monkeypatch):
    """Return a profile that fits, with any compiler."""
    monkeypatch.delenv("RUSTFLAGS", raising=False)
    monkeypatch.delenv(compiler_profile.FLAGS, raising=False)
    monkeypatch.setattr(compiler_profile, "compiler", compiler_profile.COMPILER.read_text)


def test_a_profile_that_fits_is_used():
    assert compiler_profile.flags().startswith(f"-Cprofile-use={compiler_profile.PROFILE} ")
    assert compiler_profile.environment()[compiler_profile.FLAGS] == compiler_profile.flags()
    assert compiler_profile.FLAGS not in compiler_profile.environment(profiled=False)


def test_another_compiler_builds_without_the_profile(monkeypatch):
    monkeypatch.setattr(compiler_profile, "compiler", lambda: "rustc 2")
    assert compiler_profile.flags() == ""
    assert compiler_profile.FLAGS not in compiler_profile.environment()


def test_flags_of_the_user_are_unchanged(monkeypatch):
    monkeypatch.setenv("RUSTFLAGS", "-Copt-level=1")
    assert compiler_profile.flags() == ""
    assert compiler_profile.environment()["RUSTFLAGS"] == "-Copt-level=1"


def test_a_path_with_a_space_is_no_flag(monkeypatch, tmp_path):
    file = tmp_path / "with space.profdata"
    file.touch()
    monkeypatch.setattr(compiler_profile, "PROFILE", file)
    assert compiler_profile.flags() == ""


def test_without_a_profile_nothing_is_used(monkeypatch, tmp_path):
    monkeypatch.setattr(compiler_profile, "PROFILE", tmp_path / "missing.profdata")
    assert compiler_profile.flags() == ""
