"""What a scheme in Python costs: CPU time of QCN-2pt in Python beside that in Rust on B07/single-hop, in one process, in turn.

    target/venv/bin/python python/bench.py [rounds]
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "examples"))

import qcn_python  # noqa: F401, E402

import cnsim as cn  # noqa: E402


def measured(scheme: str) -> tuple[float, list[dict[str, str]]]:
    """CPU-seconds of a run on one thread, and its hashes."""
    s = cn.scenario("B07/single-hop").with_(scheme=scheme)
    before = time.process_time()
    found = s.run(threads=1, progress=False)
    return time.process_time() - before, found.fingerprints


def main(rounds: int) -> int:
    """Prints the medians; the exit code says whether both have the same bits and Python takes at most twice the time."""
    times: dict[str, list[float]] = {"qcn-2pt": [], "qcn-2pt-python": []}
    hashes = []
    for _ in range(rounds):
        for scheme, seen in times.items():
            seconds, fingerprints = measured(scheme)
            seen.append(seconds)
            hashes.append(fingerprints)
    rust, python = (statistics.median(seen) for seen in times.values())
    same = all(h == hashes[0] for h in hashes)
    print(f"B07/single-hop   QCN-2pt in Rust {rust:.2f} CPU-s, in Python {python:.2f} CPU-s: {python / rust:.2f} x; {'the same bits' if same else 'OTHER BITS'}")
    return 0 if same and python <= 2 * rust else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
