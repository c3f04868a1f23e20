"""A world of a few tasks for tests: three turns of any action. A third of the tasks is always solved, a third never, and in
the rest the actions decide, so that groups end flat and mixed, whatever the model has learnt."""
import json
import sys
import zlib

WORDS = ["red", "green", "blue", "left", "right"]
KINDS = ["always", "never", "either"]


def answer(call, request, rollout):
    if call == "hello":
        tasks = [{"id": f"{kind}-{i}", "kind": kind, "seed": i} for i in range(5) for kind in KINDS]
        return {"protocol": 1, "name": "lottery", "turn_limit": 3, "expert": True, "vocabulary": WORDS,
                "tasks": {"training": tasks, "held_out": 1}}
    if call == "reset":
        rollout.update(kind=request["task"].get("kind", "never"), said="", turns=0)
        return {"observation": "red left"}
    if call == "act":
        rollout["said"] += request["text"] + "\n"
        rollout["turns"] += 1
        done = rollout["turns"] == 3
        reward = {"always": 1, "never": 0}.get(rollout["kind"], zlib.crc32(rollout["said"].encode()) % 2)
        return {"observation": "green", "action": request["text"].strip() or "nothing", "done": done,
                "reward": reward if done else None}
    return {"action": "blue"} if call == "expert" else {"reward": 0}


def main():
    rollout = {}
    for line in sys.stdin:
        request = json.loads(line)
        if request["call"] == "close":
            break
        print(json.dumps({"id": request["id"], **answer(request["call"], request, rollout)}), flush=True)


if __name__ == "__main__":
    main()
