"""A world for tests: say "up" until the counter reaches the goal. The first argument names how it misbehaves.

    counter.py MODE [TURN]     misbehaves in turn TURN (default 2); MODE "good" never does
"""
import json
import os
import signal
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
TURN = int(sys.argv[2]) if len(sys.argv) > 2 else 2


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def raw(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def misbehave(mode, number):
    """Does what `mode` names; returns True where the usual answer must not follow."""
    if mode == "crash":
        sys.stderr.write("first line\nthe counter fell apart\n")
        sys.exit(3)
    if mode == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "hang":
        time.sleep(600)
    if mode == "rubbish":
        raw(b"Segmentation fault, or so\n")
    elif mode == "array":
        raw(b"[1, 2]\n")
    elif mode == "half":
        raw(b'{"id": 1, "observ')
        sys.exit(0)
    elif mode == "half_hang":
        raw(b'{"id": 1, "observ')
        time.sleep(600)
    elif mode == "huge":
        raw(b"x" * 3_000_000 + b"\n")
    elif mode == "flood":
        while True:
            raw(b"x" * 65536)
    elif mode == "latin1":
        raw(b'{"id": %d, "observation": "caf\xe9"}\n' % number)
    elif mode == "nan":
        raw(b'{"id": %d, "observation": "x", "reward": NaN}\n' % number)
    elif mode == "overflow":
        raw(b'{"id": %d, "observation": "x", "reward": 1e999}\n' % number)
    elif mode == "text_reward":
        say({"id": number, "observation": "x", "reward": "1"})
    elif mode == "no_observation":
        say({"id": number, "done": False})
    elif mode == "wrong_id":
        say({"id": number - 1, "observation": "x"})
    elif mode == "error":
        say({"id": number, "error": "the counter is stuck"})
    elif mode == "chatty_stderr":
        sys.stderr.write("a lot of words\n" * 100_000)
        return False
    elif mode == "twice":
        say({"id": number, "observation": "once", "action": "up"})
        say({"id": number, "observation": "and once more", "action": "up"})
    else:
        return False
    return True


def hello(number):
    if MODE == "hello_exit":
        sys.stderr.write("ImportError: no counter here\n")
        sys.exit(4)
    if MODE == "hello_hang":
        time.sleep(600)
    if MODE == "hello_rubbish":
        raw(b"Welcome!\n")
    message = {"id": number, "protocol": 2 if MODE == "hello_version" else 1, "name": "counter", "turn_limit": 9,
               "expert": True, "vocabulary": ["at", "up", "down", "not", "understood"] + [str(n) for n in range(10)],
               "tasks": {"training": [{"id": "to-3", "kind": "short", "seed": 3}, "to-0"], "held_out": 2}}
    if MODE == "hello_tasks":
        del message["tasks"]
    if MODE == "hello_double":
        message["tasks"]["training"].append("to-3")
    say(message)


def main():
    goal = value = turn = 0
    for line in sys.stdin:
        request = json.loads(line)
        call, number = request["call"], request["id"]
        if call == "hello":
            hello(number)
        elif call == "reset":
            if MODE == "reset_crash":
                sys.exit(5)
            goal, value, turn = request["task"]["seed"], 0, 0
            say({"id": number, "observation": "at 0"})
        elif call == "act":
            turn += 1
            if turn == TURN and misbehave(MODE, number):
                continue
            words = request["text"].split()
            if words not in (["up"], ["down"]):
                say({"id": number, "observation": "not understood", "valid": False, "action": request["text"]})
                continue
            value += 1 if words == ["up"] else -1
            won = value >= goal
            say({"id": number, "observation": "at %d" % value, "action": words[0], "done": won,
                 "reward": 1 if won else None})
        elif call == "score":
            if MODE == "score_die":
                os.kill(os.getpid(), signal.SIGTERM)
            say({"id": number, "reward": None if MODE == "unscored" else 0})
        elif call == "expert":
            say({"id": number, "action": "up"})
        elif call == "close":
            break


main()
