"""A process that does tasks: it reads them from standard input and writes what came out to standard output.

What a scheme prints goes to standard error, so that it does not stand among the answers.
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
    """Reads such a value; an ``EOFError`` where the other end is gone."""
    head = pipe.read(8)
    if len(head) < 8:
        raise EOFError
    data = pipe.read(struct.unpack("<Q", head)[0])
    return pickle.loads(data)


def main() -> None:
    """Does tasks until there are none."""
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
