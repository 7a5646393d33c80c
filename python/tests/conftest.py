"""What the tests share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import cnsim as cn

EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))


@pytest.fixture
def short() -> cn.Scenario:
    """A few milliseconds of B07's single hop, with the hotspot in them."""
    return cn.scenario("B07/single-hop").with_(SHORT, scheme="qcn-2pt")


SHORT = {"run.duration": "6 ms", "hotspot.start": "1 ms", "hotspot.stop": "5 ms", "record.bin": "0.1 ms"}
