"""A worker process: it reads tasks from standard input and writes their results to standard output.

The output of a scheme goes to standard error, apart from the results.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
from typing import Any, BinaryIO


def send(pipe: BinaryIO, value: Any) -> None:
    """Writes a value with its length before it."""
    data = pickle.dumps(value)
    pipe.write(struct.pack("<Q", len(data)) + data)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:
    """Reads a value that ``send`` wrote; raises ``EOFError`` if the other end is closed."""
    head = pipe.read(8)
    if len(head) < 8:
        raise EOFError
    data = pipe.read(struct.unpack("<Q", head)[0])
    return pickle.loads(data)


def main() -> None:
    """Does tasks until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    questions = sys.stdin.buffer
    sys.path[:] = receive(questions)
    from ._work import work

    while True:
        try:
            task = receive(questions)
        except EOFError:
            return
        try:
            answer: tuple[str | None, BaseException | None] = (work(task), None)
        except Exception as e:
            answer = (None, e)
        send(answers, answer)


if __name__ == "__main__":
    main()
