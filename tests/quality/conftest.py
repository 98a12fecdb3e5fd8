"""Paths for the quality tests: the built programs and what ./dev setup prepared. Missing ones fail with the remedy."""

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_configure(config):
    config.addinivalue_line("markers", "model: needs the prepared model directory and a built engine_probe")


@pytest.fixture(scope="session")
def cache() -> pathlib.Path:
    base = os.environ.get("HEADROOM_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "headroom")
    path = pathlib.Path(base)
    if not (path / "models/kokoro-82m/manifest.json").is_file():
        pytest.fail(f"no model directory under {path}; run ./dev setup", pytrace=False)
    return path


@pytest.fixture(scope="session")
def program():
    """program("engine_probe"): the path of a built program; HEADROOM_BIN names another folder than the release build's."""
    chosen = os.environ.get("HEADROOM_BIN")
    folders = [pathlib.Path(chosen)] if chosen else [ROOT / "build" / preset / "bin" for preset in ("release", "dev")]

    def find(name: str) -> pathlib.Path:
        for folder in folders:
            if (folder / name).is_file():
                return folder / name
        pytest.fail(f"{name} is not built in {', '.join(map(str, folders))}; run ./dev build", pytrace=False)

    return find
