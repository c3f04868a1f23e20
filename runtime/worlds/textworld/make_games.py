#!/usr/bin/env python3
"""Makes TextWorld games for training and for the held-out evaluation.

    make_games.py FOLDER [--training 24] [--held-out 24] [--seed 1] [--jobs 2]

Writes FOLDER/training/*.z8 and FOLDER/held_out/*.z8, each with the .json that TextWorld keeps beside a game. Every game
is what `tw-make custom --theme house --only-last-action` makes of the options in games.json. The two splits have
disjoint seeds, no two games have the same names and walkthrough, and each was won by its walkthrough. A folder that is
complete is left as it is.
"""
import argparse
import json
import multiprocessing
import os
import signal
import sys
import time

# From small to middling: rooms, objects, turns of the quest. A seed picks one of them.
SIZES = [(1, 4, 3), (2, 5, 4), (2, 6, 5), (3, 6, 5), (3, 8, 6), (4, 8, 7)]
MAX_COMMAND_WORDS = 7  # "unlock microsoft box with microsoft keycard" is six
HELD_OUT_SEEDS = 1_000_000  # the held-out seeds start here, above every seed of training


def options_of(seed):
    rooms, objects, quest = SIZES[seed % len(SIZES)]
    return {"seed": seed, "world_size": rooms, "nb_objects": objects, "quest_length": quest}


def winnable(path, walkthrough):
    """Plays the walkthrough. Some names, such as those with an apostrophe, are not understood by the compiled game."""
    import textworld
    env = textworld.start(path, textworld.EnvInfos(won=True))
    env.reset()
    won = False
    for command in walkthrough:
        state, _, done = env.step(command)
        won = bool(state.won)
        if done:
            break
    env.close()
    return won


def leave_signals_alone():
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def make_game(job):
    """Makes one game; returns (seed, what tells games apart), or (seed, None) for one that is of no use."""
    folder, seed = job
    import textworld
    from textworld.generator import QuestGenerationError

    chosen = options_of(seed)
    options = textworld.GameOptions()
    options.seeds = seed
    options.path = os.path.join(folder, "game-%d.z8" % seed)
    options.force_recompile = True
    options.nb_rooms = chosen["world_size"]
    options.nb_objects = chosen["nb_objects"]
    options.chaining.min_length = options.chaining.max_length = options.chaining.max_depth = chosen["quest_length"]
    options.chaining.max_breadth = 1
    options.grammar.theme = "house"
    options.grammar.only_last_action = True
    try:
        _, game = textworld.make(options)
    except QuestGenerationError:
        return seed, None
    # Inform's source is of no use once the game is compiled.
    source = options.path.replace(".z8", ".ni")
    if os.path.exists(source):
        os.remove(source)
    walkthrough = game.metadata["walkthrough"]
    longest = max(len(command.split()) for command in walkthrough)
    if longest > MAX_COMMAND_WORDS or not winnable(options.path, walkthrough):
        return seed, None
    return seed, json.dumps([walkthrough, sorted(e.name or "" for e in game.infos.values())])


def remove_game(folder, seed):
    for ending in (".z8", ".json"):
        path = os.path.join(folder, "game-%d%s" % (seed, ending))
        if os.path.exists(path):
            os.remove(path)


def make_split(pool, folder, first_seed, count, taken):
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):  # games of another request may be the same as new ones of the other split
        if name.startswith("game-"):
            os.remove(os.path.join(folder, name))
    kept, seed = [], first_seed
    while len(kept) < count:
        wanted = range(seed, seed + count - len(kept))
        seed = wanted.stop
        if seed > first_seed + 50 * count + 50:
            sys.exit("make_games.py: cannot make %d different games from seed %d; try another --seed"
                     % (count, first_seed))
        for made, content in pool.imap(make_game, [(folder, s) for s in wanted]):
            if content is None or content in taken:
                remove_game(folder, made)
            else:
                taken.add(content)
                kept.append(made)
    return kept


def complete(folder, request):
    """Whether `folder` holds every game of an earlier run with the same request."""
    try:
        with open(os.path.join(folder, "games.json")) as file:
            manifest = json.load(file)
    except (OSError, ValueError):
        return False
    return manifest.get("request") == request and all(
        os.path.exists(os.path.join(folder, split, "game-%d%s" % (game["seed"], ending)))
        for split in ("training", "held_out") for game in manifest[split] for ending in (".z8", ".json"))


def main():
    parser = argparse.ArgumentParser(description="Make TextWorld games for training and held-out evaluation.")
    parser.add_argument("folder")
    parser.add_argument("--training", type=int, default=24)
    parser.add_argument("--held-out", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    args = parser.parse_args()
    if min(args.training, args.held_out, args.jobs) < 1 or not 0 <= args.seed < HELD_OUT_SEEDS // 100:
        parser.error("counts and jobs start at 1, seeds lie in 0..%d" % (HELD_OUT_SEEDS // 100 - 1))
    request = {"training": args.training, "held_out": args.held_out, "seed": args.seed, "version": 2}
    if complete(args.folder, request):
        print("%s: %d training and %d held-out games are there" % (args.folder, args.training, args.held_out))
        return
    try:
        import textworld  # noqa: F401  once, before the workers are forked
    except ImportError as error:
        sys.exit("make_games.py: %s; install it with: pip install textworld" % error)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the pool takes its workers with it
    start = time.time()
    taken = set()
    with multiprocessing.get_context("fork").Pool(args.jobs, leave_signals_alone) as pool:
        offset = args.seed * 100
        training = make_split(pool, os.path.join(args.folder, "training"), offset, args.training, taken)
        held_out = make_split(pool, os.path.join(args.folder, "held_out"), HELD_OUT_SEEDS + offset, args.held_out,
                              taken)
    manifest = {"request": request, "training": [options_of(s) for s in training],
                "held_out": [options_of(s) for s in held_out]}
    partial = os.path.join(args.folder, "games.json.partial")
    with open(partial, "w") as file:
        json.dump(manifest, file, indent=1)
    os.replace(partial, os.path.join(args.folder, "games.json"))
    print("%s: made %d training and %d held-out games in %.0f s"
          % (args.folder, len(training), len(held_out), time.time() - start))


if __name__ == "__main__":
    main()
