"""What the tests share."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import cnsim as cn

EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))


@pytest.fixture
def short() -> cn.Scenario:
    """A few milliseconds of B07's single hop, with the hotspot in them."""
    return cn.scenario("B07/single-hop").with_(SHORT, scheme="qcn-2pt")


def needs(package: str) -> Any:
    """A package that only an extra installs. Where it is missing the test is skipped by name; with CNSIM_STRICT=1 it fails."""
    try:
        return importlib.import_module(package)
    except ImportError:
        why = f"needs {package}"
        if os.environ.get("CNSIM_STRICT") == "1":
            pytest.fail(why)
        skipped = Path(__file__).parents[2] / "target" / "skipped.txt"
        skipped.parent.mkdir(exist_ok=True)
        with skipped.open("a") as file:
            file.write(f"SKIPPED: {os.environ.get('PYTEST_CURRENT_TEST', 'python').split(' ')[0]} ({why})\n")
        pytest.skip(why)


SHORT = {"run.duration": "6 ms", "hotspot.start": "1 ms", "hotspot.stop": "5 ms", "record.bin": "0.1 ms"}
