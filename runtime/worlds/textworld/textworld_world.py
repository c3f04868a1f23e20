#!/usr/bin/env python3
"""TextWorld as a world in a child process (protocol: docs/worlds.md).

    textworld_world.py --games FOLDER [--style brief|full] [--turn-limit 30] [--words 60] [--vocabulary 600]

Plays the games FOLDER/training/*.z8 and FOLDER/held_out/*.z8, or, where there are no such folders, FOLDER/*.z8, of
which every fourth in the order of their names is held out. A game needs the .json that TextWorld writes beside it.

brief  what a player sees, said in few words from the game's own state: fit for a small model
full   the game's own text without banner, prompt, score and punctuation, cut to --words words
"""
import argparse
import collections
import glob
import json
import os
import re
import sys

PROTOCOL = 1
COMPASS = ("north", "south", "east", "west")
BRIEF_WORDS = ("task . exit door has is open closed locked empty you have done nothing happens special not understood "
               "go take drop open close lock unlock insert put eat examine look inventory from into on with invalid "
               + " ".join(COMPASS)).split()
DIRT = re.compile(r"[^a-z0-9'\-]+")


def words_of(text):
    return [word for word in (w.strip("'-") for w in DIRT.split(text.lower())) if word]


# ---- the games of a folder -------------------------------------------------------------------------------------------

def find_games(folder):
    """{split: [paths]}; games without their .json are left out."""
    def games_in(*parts):
        found = sorted(glob.glob(os.path.join(glob.escape(os.path.join(folder, *parts)), "*.z8")))
        return [path for path in found if os.path.exists(path[:-len(".z8")] + ".json")]

    splits = {"training": games_in("training"), "held_out": games_in("held_out")}
    if not splits["training"] and not splits["held_out"]:
        games = games_in()
        splits = {"training": [g for i, g in enumerate(games) if i % 4 != 3], "held_out": games[3::4]}
    return splits


class Games:
    def __init__(self, folder):
        self.paths = {}
        self.tasks = {"training": [], "held_out": []}
        for split, paths in find_games(folder).items():
            for path in paths:
                name = split + "/" + os.path.basename(path)[:-len(".z8")]
                self.paths[name] = path
                self.tasks[split].append({"id": name, "kind": "game", "seed": len(self.tasks[split])})
        if not self.paths:
            sys.exit("no TextWorld games (.z8 with .json) in %s" % folder)


# ---- one game being played -------------------------------------------------------------------------------------------

class Play:
    """A game in progress. Facts are kept as {name: [arguments]}, with names as the player reads them."""

    def __init__(self, path, style, word_limit):
        import textworld
        self.style, self.word_limit = style, word_limit
        self.env = textworld.start(path, textworld.EnvInfos(
            feedback=True, description=True, objective=True, won=True, lost=True, facts=True, admissible_commands=True,
            possible_commands=True, policy_commands=True, extras=["walkthrough"]))
        self.state = self.env.reset()
        self.done = False
        self.goal = self.state["extra.walkthrough"][-1]
        self.possible = {c.lower(): c for c in self.state.possible_commands}
        self.read_facts()

    def close(self):
        self.env.close()

    def read_facts(self):
        self.facts = collections.defaultdict(list)
        for fact in self.state.facts:
            self.facts[fact.name].append(tuple(v.name.lower() for v in fact.arguments))
        self.types = {v.name.lower(): v.type for fact in self.state.facts for v in fact.arguments}
        self.admissible = {c.lower(): c for c in self.state.admissible_commands}

    def has(self, name, *arguments):
        return arguments in self.facts[name]

    def inside(self, holder):
        """What lies in or on `holder`, as far as it can be seen."""
        if self.types.get(holder) == "c" and not self.has("open", holder):
            return []
        return [a for name in ("in", "on") for a, where in self.facts[name] if where == holder]

    def condition(self, thing):
        return next((word for word in ("open", "closed", "locked") if self.has(word, thing)), "")

    def describe_thing(self, thing):
        condition, held = self.condition(thing), self.inside(thing)
        return " ".join([thing] + [condition] * bool(condition) + (["has"] + held if held else []))

    def room(self):
        return next(where for who, where in self.facts["at"] if self.types[who] == "P")

    def describe_exits(self, room):
        parts = []
        for direction in COMPASS:
            for other, here in self.facts[direction + "_of"]:
                if here != room:
                    continue
                door = next((d for a, d, b in self.facts["link"] if a == room and b == other), None)
                if door:
                    parts.append("%s %s %s" % (direction, door, self.condition(door)))
                elif self.has("free", room, other):
                    parts.append(direction)
        return "exit " + " ".join(parts) if parts else ""

    def describe_room(self):
        room = self.room()
        things = [self.describe_thing(a) for a, where in self.facts["at"] if where == room and self.types[a] != "P"]
        return " . ".join(part for part in [room] + things + [self.describe_exits(room)] if part)

    def describe_hand(self):
        held = [a for a, where in self.facts["in"] if self.types.get(where) == "I"]
        return "you have " + (" ".join(held) if held else "nothing")

    def introduction(self):
        if self.style == "full":
            return self.shorten(self.state.objective + " " + self.state.description)
        return "task " + self.goal.lower() + " . " + self.describe_room()

    def shorten(self, text):
        """The game's text as bare words, without what says nothing of the game's world."""
        text = re.sub(r"\n>.*", "", text, flags=re.DOTALL)
        text = re.sub(r"Your score has just gone up by \w+ points?\.", "", text)
        text = re.sub(r"\*\*\* The End \*\*\*.*", "", text, flags=re.DOTALL)
        return " ".join(words_of(text)[:self.word_limit])

    def brief_answer(self, command, changed):
        verb, _, rest = command.partition(" ")
        if verb == "look" or (verb == "go" and changed):
            return self.describe_room()
        if verb == "inventory":
            return self.describe_hand()
        if verb == "examine" and command in self.admissible:
            thing = self.describe_thing(rest)
            return thing if thing != rest else rest + " is nothing special"
        if not changed:
            return "nothing happens"
        if verb == "open":
            return "you open " + self.describe_thing(rest).replace(" open", "", 1)
        return "you " + command

    def act(self, text):
        """The reply to one line of the model."""
        command = " ".join(text.lower().split())
        original = self.admissible.get(command) or self.possible.get(command)
        if original is None:
            return {"observation": "not understood", "action": "invalid", "valid": False}
        before = set(map(str, self.state.facts))
        self.state, _, ended = self.env.step(original)
        changed = before != set(map(str, self.state.facts))
        self.read_facts()
        won, lost = bool(self.state.won), bool(self.state.lost)
        self.done = bool(ended) or won or lost
        answer = self.shorten(self.state.feedback) if self.style == "full" else self.brief_answer(command, changed)
        return {"observation": answer + " . done" * won, "action": command, "done": self.done,
                "reward": (1 if won else 0) if self.done else None}

    def expert(self):
        commands = self.state.policy_commands
        return commands[0].lower() if commands and not self.done else None


# ---- vocabulary ------------------------------------------------------------------------------------------------------

def names_of(path):
    """The names of everything in a game, from the file beside it."""
    import textworld
    game = textworld.Game.load(path[:-len(".z8")] + ".json")
    return [info.name.lower() for info in game.infos.values() if info.name]


def vocabulary_of(games, style, word_limit, size):
    """Words of commands and names first, then, in the full style, those of the games' text by how often they come."""
    words = dict.fromkeys(BRIEF_WORDS + ["<unk>"])
    for path in games.paths.values():
        for name in names_of(path):
            words.update(dict.fromkeys(name.split()))
    if style == "full":
        counts = collections.Counter()
        for path in games.paths.values():
            play = Play(path, style, word_limit)
            counts.update(play.introduction().split())
            while (command := play.expert()) is not None:
                for line in ("look", command):
                    counts.update(play.act(line)["observation"].split() if not play.done else [])
            play.close()
        frequent = sorted(counts, key=lambda word: (-counts[word], word))
        words.update(dict.fromkeys(frequent[:max(0, size - len(words))]))
    return sorted(words)


# ---- the protocol ----------------------------------------------------------------------------------------------------

class World:
    def __init__(self, options):
        self.options = options
        self.games = Games(options.games)
        self.play = None
        self.known = None

    def words(self):
        """The vocabulary. That of the full style takes seconds to collect: the first child leaves it for the others."""
        if self.known is None:
            o = self.options
            key = [sorted(self.games.paths), o.words, o.vocabulary]
            cache = os.path.join(o.games, ".vocabulary-%s.json" % o.style)
            try:
                with open(cache) as file:
                    kept = json.load(file)
            except (OSError, ValueError):
                kept = {}
            if kept.get("key") != key:
                kept = {"key": key, "words": vocabulary_of(self.games, o.style, o.words, o.vocabulary)}
                try:
                    with open("%s.%d" % (cache, os.getpid()), "w") as file:
                        json.dump(kept, file)
                    os.replace("%s.%d" % (cache, os.getpid()), cache)
                except OSError:
                    pass  # a folder that cannot be written to costs time, nothing else
            self.known = frozenset(kept["words"])
        return self.known

    def hide_unknown(self, reply):
        """In the full style a game may use words that were not met when the vocabulary was collected."""
        if self.options.style == "full":
            known = self.words()
            reply["observation"] = " ".join(w if w in known else "<unk>" for w in reply["observation"].split())
        return reply

    def hello(self, request):
        if request.get("protocol") != PROTOCOL:
            raise ValueError("protocol %r is asked for, this is version %d" % (request.get("protocol"), PROTOCOL))
        reply = {"protocol": PROTOCOL, "name": "textworld", "turn_limit": self.options.turn_limit, "expert": True}
        if request.get("describe"):
            reply.update(tasks=self.games.tasks, vocabulary=sorted(self.words()))
        return reply

    def reset(self, request):
        name = request["task"]["id"]
        if name not in self.games.paths:
            raise ValueError("there is no game %s" % name)
        if self.play:
            self.play.close()
        self.play = Play(self.games.paths[name], self.options.style, self.options.words)
        return self.hide_unknown({"observation": self.play.introduction()})

    def act(self, request):
        if self.play is None or self.play.done:
            raise ValueError("no game is being played")
        return self.hide_unknown(self.play.act(request["text"]))

    def score(self, request):
        return {"reward": 1 if self.play and self.play.state.won else 0}

    def expert(self, request):
        return {"action": self.play.expert() if self.play else None}

    def close(self, request):
        return {}


def serve(world, lines, out):
    calls = {name: getattr(world, name) for name in ("hello", "reset", "act", "score", "expert", "close")}
    for line in lines:
        request = json.loads(line)
        try:
            reply = calls[request["call"]](request)
        except (ValueError, KeyError, OSError) as error:
            reply = {"error": "%s: %s" % (type(error).__name__, error)}
        out.write(json.dumps({"id": request["id"], **reply}) + "\n")
        out.flush()
        if request["call"] == "close":
            return


def main():
    # What libraries print must not end up between our lines.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", required=True)
    parser.add_argument("--style", choices=("brief", "full"), default="brief")
    parser.add_argument("--turn-limit", type=int, default=30)
    parser.add_argument("--words", type=int, default=60)
    parser.add_argument("--vocabulary", type=int, default=600)
    options = parser.parse_args()
    try:
        import textworld  # noqa: F401  now, so that the hello answers for it
    except ImportError as error:
        sys.exit("%s; install it with: pip install textworld" % error)
    serve(World(options), sys.stdin, out)


if __name__ == "__main__":
    main()
