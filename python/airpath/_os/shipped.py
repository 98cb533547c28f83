"""Files that come with airpath and are found by name: scenarios, sweeps, suites."""

from pathlib import Path

from airpath._nearest import suggestion
from airpath.errors import ScenarioError


def shipped_names(folder: Path) -> list[str]:
    """Return the names of the files in a folder, without extension, sorted."""
    return sorted(file.stem for file in folder.glob("*.toml"))


def find_shipped(path_or_name: str | Path, folder: Path, noun: str) -> Path:
    """Return an existing path, else the file of this name in the folder.

    Parameters
    ----------
    path_or_name
        The path or the name.
    folder
        The folder of the shipped files.
    noun
        The kind of file, for the error message.

    Raises
    ------
    ScenarioError
        If there is neither.
    """
    path = Path(path_or_name)
    if path.is_file():
        return path
    name, names = str(path_or_name), shipped_names(folder)
    if name in names:
        return folder / f"{name}.toml"
    raise ScenarioError(f"{name}: neither a file nor a shipped {noun}; {suggestion(name, names, f'{noun}s')}")
