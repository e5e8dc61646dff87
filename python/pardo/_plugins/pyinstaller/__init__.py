# python/pardo/_plugins/pyinstaller/__init__.py: where PyInstaller finds the hook, by its entry point.
from __future__ import annotations

from pathlib import Path


def hook_dirs() -> list[str]:
    """The folder of this package's hook."""
    return [str(Path(__file__).parent)]
