// The pages of what the checker says. Each `wrong` gives its code, each `right` is accepted: a test holds them to it.
#include <array>

#include "lang/codes.h"

namespace allot::lang {
namespace {

constexpr std::array table{
    // ---- names
    Code{"E0101", "a name that is not declared",
         "Every name is a parameter, a state, a `let`, the variable of a handler or of a comprehension, or a fact of "
         "the run (`iteration`, `epoch`). Facts of a group are read from it: `g.hits`.",
         "policy p\nparam threshold: real = 0.1\non finish of group g {\n  when (g.reward_mean ?? 0) < treshold then "
         "drop\n}\n",
         "policy p\nparam threshold: real = 0.1\non finish of group g {\n  when (g.reward_mean ?? 0) < threshold "
         "then drop\n}\n"},
    Code{"E0102", "declared twice", "Two declarations of one name: it would not be clear which is meant.",
         "policy p\nparam at: turns = 10\nparam at: turns = 12\non turn at of group g { continue }\n",
         "policy p\nparam at: turns = 10\non turn at of group g { continue }\n"},
    Code{"E0103", "a name that the language needs",
         "Functions of the language and facts of the run keep their names. A parameter may be called like a function, "
         "since a call cannot be mistaken for a value; a function may not.",
         "policy p\nfn min(a: real) -> real = a\non finish of group g { train }\n",
         "policy p\nfn least(a: real) -> real = a\non finish of group g { report x = least(0.5) }\n"},
    Code{"W0104", "a name that hides another",
         "A local name is the same as one declared outside, or a name is that of a built-in function, or one in the `hit` "
         "condition hides a fact of the rollout. It is allowed, and easily misread.",
         "policy p\nparam size: rollouts = 8\non finish of group g {\n  let size = g.scored\n  when size < 2 then "
         "drop\n}\non wave of group g { complete to size }\n",
         "policy p\non finish of group g {\n  let known = g.scored\n  when known < 2 then drop\n}\n"},
    Code{"E0105", "no such fact", "A group, a rollout, a batch and a beta each have a fixed set of facts.",
         "policy p\non finish of group g { when g.reward_maen is undefined then drop }\n",
         "policy p\non finish of group g { when g.reward_mean is undefined then drop }\n"},
    Code{"E0106", "no such function", "Functions are those of the language and those that the file declares with `fn`.",
         "policy p\non finish of group g { when clmp(1, 0, 2) > g.scored then drop }\n",
         "policy p\non finish of group g { when clamp(1, 0, 2) > g.scored then drop }\n"},
    Code{"E0107", "a function that calls itself",
         "Every policy ends, and its cost is known before the run. So functions cannot call themselves, directly or "
         "through others; collections are walked by comprehensions.",
         "policy p\nfn f(x: real) -> real = f(x)\non finish of group g { when f(1) > 0 then drop }\n",
         "policy p\nfn f(x: real) -> real = x\non finish of group g { when f(1) > (g.reward_mean ?? 0) then drop }\n"},
    Code{"E0108", "too large once functions stand in place of their calls",
         "Functions are put in place of their calls. A chain of functions that each call the one before twice doubles "
         "at each link; a `let` computes a value once.",
         "policy p\nfn a(x: real) -> real = <60 times: x + >x\nfn b(x: real) -> real = <60 times: a(x) + >x\n"
         "fn c(x: real) -> real = <60 times: b(x) + >x\non finish of group g { report y = c(0.5) }\n",
         "policy p\nfn a(x: real) -> real = <60 times: x + >x\non finish of group g { report y = a(0.5) }\n"},
    Code{"E0109", "not a value",
         "A group, a collection, the actions of a group or a function stand for more than one value. Read a fact of "
         "them, walk them, or call them.",
         "policy p\non finish of group g { when g > 1 then drop }\n",
         "policy p\non finish of group g { when g.scored > 1 then drop }\n"},
    Code{"E0110", "arguments that do not fit",
         "An argument is left out, given twice, or one too many. The message shows how the function is called.",
         "policy p\non finish of group g { when (variance(g.rewards) ?? 0) < 0.1 then drop }\n",
         "policy p\non finish of group g { when (variance(g.rewards, 0) ?? 0) < 0.1 then drop }\n"},
    Code{"E0118", "this may be undefined",
         "A reward that was not given, a rate of no rollouts, a mean of no pairs: such values are undefined, not 0. "
         "Say what then with `??`, or test `is undefined` first; a test narrows what follows it.",
         "policy p\nhit when reward >= 1.0\non finish of group g { when g.hit_rate < 0.2 then drop }\n",
         "policy p\nhit when reward >= 1.0\non finish of group g { when (g.hit_rate ?? 0.5) < 0.2 then drop }\n"},
    // ---- types and units
    Code{"E0201", "another type is needed",
         "The value is of a type that does not fit there. Ints become reals where needed; reals are rounded by "
         "`floor`, `ceil` or `round_even`.",
         "policy p\non wave of group g { sample 1.5 more }\n", "policy p\non wave of group g { sample 2 more }\n"},
    Code{"E0202", "no such type here",
         "Parameters are numbers, counts with a unit, or true and false; state may also be a beta.",
         "policy p\nparam at: turn_count = 10\non turn at of group g { continue }\n",
         "policy p\nparam at: turns = 10\non turn at of group g { continue }\n"},
    Code{"E0203", "a condition must be true or false", "Numbers do not count as true or false.",
         "policy p\non finish of group g { when g.scored then train }\n",
         "policy p\non finish of group g { when g.scored > 0 then train }\n"},
    Code{"E0204", "these do not go together", "An operation is given values that it has no meaning for.",
         "policy p\non finish of group g { when g.flat + 1 > 1 then drop }\n",
         "policy p\non finish of group g { when g.scored + 1 > 1 then drop\n otherwise train }\n"},
    Code{"E0213", "units that cannot be joined",
         "Counts of different things cannot be added, or stand in one list or one `if`. A bare literal takes the unit "
         "that it meets.",
         "policy p\non finish of group g { when g.tokens + g.turn > 100 then drop }\n",
         "policy p\non finish of group g { when g.tokens + 10 > 100 then drop }\n"},
    Code{"E0214", "units that cannot be compared",
         "Counts of different things cannot be compared. A bare literal takes the unit that it meets.",
         "policy p\nparam at: turns = 10\non finish of group g { when g.tokens >= at then drop }\n",
         "policy p\nparam at: turns = 10\non finish of group g { when g.turn >= at then drop }\n"},
    Code{"E0215", "another unit is needed", "The value counts something else than what is needed there.",
         "policy p\nparam n: turns = 4\non wave of group g { sample n more }\n",
         "policy p\nparam n: rollouts = 4\non wave of group g { sample n more }\n"},
    Code{
        "E0216", "out of range", "A value lies outside of the range that its type or its declaration gives.",
        "policy p\nparam low: real = 1.5 in 0..1\non finish of group g { when (g.reward_mean ?? 0) < low then drop }\n",
        "policy p\nparam low: real = 0.5 in 0..1\non finish of group g { when (g.reward_mean ?? 0) < low then drop "
        "}\n"},
    Code{"E0220", "vectors of different things",
         "Vectors over rollouts, groups and prompts have different elements and do not mix.",
         "policy p\non finish of group g { train where(g.rewards > 0, [1, 2], [0, 0]) }\n",
         "policy p\non finish of group g { train g.rewards > 0 }\n"},
    Code{"E0221", "one value or a vector",
         "A vector stands where one value is needed, or the other way round. Reductions such as `sum`, `mean`, `any` "
         "make one value of many.",
         "policy p\non finish of group g { when g.rewards > 0 then train }\n",
         "policy p\non finish of group g { when any(g.rewards > 0) then train }\n"},
    Code{"E0230", "sure to fault",
         "This is computed from literals alone, and has no result: a division by zero, a number that does not fit.",
         "policy p\non finish of group g { when 1 / 0 > g.scored then drop }\n",
         "policy p\non finish of group g { when 1 / 2 > g.scored then drop }\n"},
    Code{"E0240", "cannot be allotted exactly",
         "Where the utility is known to be concave in the count, giving each unit where it adds most is exact. Elsewhere "
         "every count is tried, and for that HI - LO needs a bound of at most 4096: a number, or a parameter with a range.",
         "policy p\nparam most: int = 8\non finish of group g {\n"
         "  report given = sum(allot 8 over t in [1.0, 2.0], n in 0..most maximizing 0 - (n - t) * (n - t))\n"
         "  train\n}\n",
         "policy p\nparam most: int = 8 in 1..64\non finish of group g {\n"
         "  report given = sum(allot 8 over t in [1.0, 2.0], n in 0..most maximizing 0 - (n - t) * (n - t))\n"
         "  train\n}\n"},
    Code{"E0241", "not concave yet",
         "Some functions bend the right way only from some count on: a group of one is never mixed, so its first rollout "
         "adds nothing and greed would stop there. Let LO be where it begins.",
         "policy p\non finish of group g {\n"
         "  report given = sum(allot 8 rollouts over p in [0.2, 0.5], n in 0..8 maximizing 1 - flat_prob(p, n))\n"
         "  train\n}\n",
         "policy p\non finish of group g {\n"
         "  report given = sum(allot 8 rollouts over p in [0.2, 0.5], n in 1..8 maximizing 1 - flat_prob(p, n))\n"
         "  train\n}\n"},
    // ---- decision points
    Code{"E0301", "not known yet",
         "At `select`, `size` and while rollouts run no reward is known. They exist from `result` on, advantages at `shape`.",
         "policy p\non turn 10 of group g { when g.flat then stop }\n",
         "policy p\non finish of group g { when g.flat then drop }\n"},
    Code{"E0302", "does not exist at this point",
         "When `size` is asked no group is open yet; the groups that ended are all there at `update` only, stored ones at "
         "`replay`, anchors at `expand`. A vector over turns is read in a handler of one rollout.",
         "policy p\non size of batch b { start [if g.slot < 2 then 4 else 8 for g in b.groups] each }\n",
         "policy p\non size of batch b { start [if draw(\"more\") < 0.5 then 4 else 8 for p in b.prompts] each }\n"},
    Code{"E0303", "a point asked of the wrong thing",
         "Each point is asked of a pool, a batch, a group, a rollout or a micro-batch. `turn` needs a number or `every`; "
         "`by` belongs to `resume`, `ahead: run` to `turn N of group`.",
         "policy p\non finish of batch b { train }\n", "policy p\non finish of group g { train }\n"},
    Code{"E0304", "cannot be said here", "Each point can carry out some verdicts only; a barrier decides nothing.",
         "policy p\non turn 10 of group g { sample 1 more }\n", "policy p\non wave of group g { sample 1 more }\n"},
    Code{"E0305", "said twice",
         "A verdict has four fields (rollouts, group, slot, prompt), and sets each at most once. So does the verdict that a "
         "test expects; and a record of a test gives each of its fields once. What drops or defers a group cannot ask for more "
         "rollouts of it: only one of the two could be carried out.",
         "policy p\non turn 10 of group g { stop, continue }\n", "policy p\non turn 10 of group g { stop, drop }\n"},
    Code{"E0306", "at least 1", "Turns, waves, lengths, rounds, ages and budgets are counted from 1.",
         "policy p\non turn 0 of group g { stop }\n", "policy p\non turn 1 of group g { stop }\n"},
    Code{"E0307", "never reached",
         "Rules are tried in order. After `otherwise`, or after a verdict without `when`, nothing is asked any more.",
         "policy p\non finish of group g { otherwise train\n when g.flat then drop }\n",
         "policy p\non finish of group g { when g.flat then drop\n otherwise train }\n"},
    Code{"E0308", "two handlers for one point",
         "`turn 5` and `turn 10` may stand side by side; two handlers of the same number may not.",
         "policy p\non finish of group g { train }\non finish of group g { drop }\n",
         "policy p\non turn 5 of group g { continue }\non turn 10 of group g { stop }\n"},
    Code{"E0309", "asked of groups and of the batch",
         "A point is answered group by group or for the whole batch, not both.",
         "policy p\non wave of group g { stop }\non wave of batch b { stop }\n",
         "policy p\non wave of group g { stop }\n"},
    Code{"E0310", "state is written at barriers",
         "State per prompt, per category and per run is written at `update` and `epoch` only, when the iteration is over: so it does not matter "
         "in which order groups finish, and every reader sees one snapshot.",
         "policy p\nstate seen: int per prompt = 0\non finish of group g { remember seen[g.prompt] = seen[g.prompt] + "
         "1 }\n",
         "policy p\nstate seen: int per prompt = 0\non update of batch b { for each g in b.ended { remember "
         "seen[g.prompt] = seen[g.prompt] + 1 } }\n"},
    Code{"E0311", "state of a group", "State per group belongs to one group: its own handlers read and write it.",
         "policy p\nstate looks: int per group = 0\non update of batch b { remember looks = 0 }\n",
         "policy p\nstate looks: int per group = 0\non wave of group g { remember looks = looks + 1\n sample 1 more "
         "}\n"},
    Code{"E0312", "what is a hit?",
         "`hits`, `misses`, `hit_rate` and `hit` count rewards that meet the `hit` condition, which must be declared.",
         "policy p\non finish of group g { when g.hits == 0 then drop }\n",
         "policy p\nhit when reward >= 1.0\non finish of group g { when g.hits == 0 then drop }\n"},
    Code{"E0313", "must be known before the run",
         "The engine keeps statistics as turns arrive, so their lengths are literals, parameters or `g.turn`. "
         "Anything else would mean recomputing them.",
         "policy p\non turn 10 of group g { when (agreement(actions_at(g.actions, g.turn - 1)) ?? 0) > 0.9 then stop "
         "}\n",
         "policy p\non turn 10 of group g { when (agreement(actions_at(g.actions, 9)) ?? 0) > 0.9 then stop }\n"},
    Code{"E0314", "two draws without a name",
         "A draw is a function of its name and place, so that it can be replayed. Two without a name would be the "
         "same number.",
         "policy p\non finish of group g { when draw() < 0.5 and draw() < 0.5 then drop }\n",
         "policy p\non finish of group g { when draw(\"a\") < 0.5 and draw(\"b\") < 0.5 then drop }\n"},
    Code{
        "E0316", "no such budget",
        "A budget is read in a unit that is declared: `budget.tokens.left`, or `budget.left` where there is one alone. What a "
        "scenario expects to be `spent` or `left` is that of a declared budget too.",
        "policy p\non wave of group g { when budget.tokens.left < 100 then stop }\n",
        "policy p\nbudget 1_000 tokens per run\non wave of group g { when budget.tokens.left < 100 then stop }\n"},
    Code{"E0317", "one of a few words",
         "Some arguments are words, not values: the distance, the padding, the unit of an entropy.",
         "policy p\non turn 10 of group g { when (entropy(actions_at(g.actions, 10), bit) ?? 1) < 0.1 then stop }\n",
         "policy p\non turn 10 of group g { when (entropy(actions_at(g.actions, 10), bits) ?? 1) < 0.1 then stop }\n"},
    Code{"E0318", "a statistic is not called like this",
         "Statistics of actions have a fixed form, which the message shows.",
         "policy p\non turn 10 of group g { when (agreement(g.actions) ?? 0) > 0.9 then stop }\n",
         "policy p\non turn 10 of group g { when (agreement(actions_at(g.actions, 10)) ?? 0) > 0.9 then stop }\n"},
    Code{"E0319", "whose state?",
         "State per prompt is read and written under a prompt: `belief[g.prompt]`. State per group and per run has no "
         "key.",
         "policy p\nstate belief: beta per prompt = beta(1, 1)\non finish of group g { when belief.mean > 0.5 then "
         "drop }\n",
         "policy p\nstate belief: beta per prompt = beta(1, 1)\non finish of group g { when belief[g.prompt].mean > "
         "0.5 then drop }\n"},
    Code{"E0320", "nothing to test", "A test asks a handler of this policy about something given, and says what it expects.",
         "policy p\non finish of group g { train }\ntest \"t\" {\n  given g = group { turn: 10 }\n  expect turn(g) is "
         "stop\n}\n",
         "policy p\non finish of group g { train }\ntest \"t\" {\n  given g = group { rewards: [1, 0] }\n  expect "
         "finish(g) is train\n}\n"},
    Code{"E0321", "deferred, but never resumed",
         "A group that `defer` sets aside waits for `resume`. Without a handler for it, it would wait for its age limit "
         "and be dropped.",
         "policy p\non wave of group g { defer at most 4 iterations }\n",
         "policy p\non wave of group g { defer at most 4 iterations }\non resume of group g by g.age { complete to 16 }\n"},
    Code{"E0322", "an eviction without a way back",
         "An evicted prompt is not drawn any more. A verdict says until which epoch, or `for good`; or a `readmit` takes "
         "it back.",
         "policy p\non finish of group g { when g.flat then drop, evict }\n",
         "policy p\non finish of group g { when g.flat then drop, evict until epoch + 2 }\n"},
    Code{"E0323", "replay without an age limit",
         "Groups of a policy long gone collapse the training, so `replay` says how old they may be.",
         "policy p\non replay of batch b { replay up to 4 by g.age }\n",
         "policy p\non replay of batch b { replay up to 4 by g.age, max_age 4 iterations }\n"},
    Code{"E0324", "cannot be set here",
         "At `score` one sets the reward, at `shape` advantages, weights or the baseline, each once, at `loss` the loss.",
         "policy p\non score of rollout r { set advantages = r.reward }\n",
         "policy p\non score of rollout r { set reward = r.reward - 0.1 }\n"},
    Code{"E0325", "a loss that training cannot follow",
         "A loss is trained on by its slope in `t.logprob`. Sums, products, quotients, min, max, clamp, abs, exp, log, sqrt, "
         "pow, tanh and `if` have one; the sum or an element of a list has none: write its terms out. What training is not to "
         "follow stands in `detach(…)`.",
         "policy p\non loss of token t { set loss = any_prob(exp(t.logprob), 4) }\n",
         "policy p\non loss of token t { set loss = -t.advantage * exp(t.logprob - t.old_logprob) }\n"},
    Code{"E0326", "a loss has no effects",
         "`loss` is asked of every token, by several threads at once and in no order. It can say what the loss is, and no more.",
         "policy p\non loss of token t {\n  report ratio = exp(t.logprob - t.old_logprob)\n  set loss = -t.advantage * t.logprob\n}\n",
         "policy p\non loss of token t { set loss = -t.advantage * t.logprob }\n"},
    // ---- declarations
    Code{"E0401", "declared twice", "There is one `refill at most`, and one budget for each unit.",
         "policy p\nbudget 10 tokens per run\nbudget 20 tokens per run\non finish of group g { train }\n",
         "policy p\nbudget 10 tokens per run\nbudget 20 rollouts per run\non finish of group g { train }\n"},
    Code{"E0402", "a refill that can go on for ever",
         "Where `refill` is answered, the policy says how often a slot may be filled, and what happens then.",
         "policy p\non finish of group g { when g.flat then drop, refill }\n",
         "policy p\nrefill at most 10 rounds then train_partial\non finish of group g { when g.flat then drop, "
         "refill }\n"},
    Code{"E0403", "a budget of what?",
         "A budget is a number of rollouts, tokens, calls or seconds, or a parameter of such a unit.",
         "policy p\nbudget 100 per run\non finish of group g { train }\n",
         "policy p\nbudget 100 rollouts per run\non finish of group g { train }\n"},
    Code{"E0404", "must be known from the text alone",
         "Defaults, ranges and initial values are literals; so is what a test gives.",
         "policy p\nparam a: int = 1\nparam b: int = a\non finish of group g { report s = a + b }\n",
         "policy p\nparam a: int = 1\nparam b: int = 1\non finish of group g { report s = a + b }\n"},
    Code{"E0405", "state needs an initial value",
         "State begins at a value that its declaration gives; state that may be undefined begins so. Reals and betas may "
         "decay, at a rate in 0..1; a whole number would be rounded at each step, and soon stand still.",
         "policy p\nstate seen: bool per prompt = false decay 0.5\non finish of group g { when seen[g.prompt] then "
         "drop }\n",
         "policy p\nstate seen: real per prompt = 0 decay 0.5\non finish of group g { when seen[g.prompt] > 2 then "
         "drop }\n"},
    Code{"E0406", "an input of something the host does not know",
         "`input NAME: TYPE per prompt`, `per category` or `per run` names a fact that the host supplies. It is read "
         "like state: `difficulty[g.prompt]`; no handler writes it.",
         "policy p\ninput anchor: real? per group\non finish of group g { report a = anchor }\n",
         "policy p\ninput anchor: real? per run\non finish of group g { report a = anchor }\n"},
    // ---- several files
    Code{"E0601", "a file that is not there",
         "`import team.gates` means the file team/gates.allot: in the folder of the file that names it, in the folders of "
         "`--path` and ALLOT_PATH, or in the project's stdlib. Where allot.toml names a package `team`, it means gates.allot in "
         "this package, which must be installed as allot.lock says. The members of a composition are found in the same way.",
         "policy p\nimport gate\non finish of group g { when gate.soft(g.scored) then drop }\n",
         "policy p\nimport gates\non finish of group g { when gates.few(g.scored) then drop }\n"
         "# file gates.allot\npolicy gates\nfn few(n: rollouts) -> bool = n < 2\n"},
    Code{"E0602", "files in a circle",
         "A file uses another that uses the first: nothing could be read first. What both need belongs into a third.",
         "policy p\nimport one\non finish of group g { when one.f(g.reward_mean ?? 0) > 1 then drop }\n"
         "# file one.allot\npolicy one\nimport two\nfn f(x: real) -> real = two.g(x)\n"
         "# file two.allot\npolicy two\nimport one\nfn g(x: real) -> real = one.f(x)\n",
         "policy p\nimport one\non finish of group g { when one.f(g.reward_mean ?? 0) > 1 then drop }\n"
         "# file one.allot\npolicy one\nimport two\nfn f(x: real) -> real = two.g(x)\n"
         "# file two.allot\npolicy two\nfn g(x: real) -> real = x * x\n"},
    Code{"E0603", "one name, two files",
         "Two files of one policy mean different files by the same name, and these are not equal: two versions of one "
         "thing would decide side by side. Or one name means a file of a package and one of the project itself.",
         "policy p\nimport gates\nimport team.other\n"
         "on finish of group g { when gates.f(g.scored) and other.h(g.scored) then drop }\n"
         "# file gates.allot\npolicy gates\nfn f(n: rollouts) -> bool = n < 2\n"
         "# file team/other.allot\npolicy other\nimport gates\nfn h(n: rollouts) -> bool = gates.f(n)\n"
         "# file team/gates.allot\npolicy gates\nfn f(n: rollouts) -> bool = n < 3\n",
         "policy p\nimport gates\nimport team.other\n"
         "on finish of group g { when gates.f(g.scored) and other.h(g.scored) then drop }\n"
         "# file gates.allot\npolicy gates\nfn f(n: rollouts) -> bool = n < 2\n"
         "# file team/other.allot\npolicy other\nimport gates\nfn h(n: rollouts) -> bool = gates.f(n)\n"},
    Code{"E0605", "members that do not agree",
         "In a composition `hit`, `refill at most`, the tolerance of `flat` and the budget in one unit come from one "
         "member, or are equal in all that declare them.",
         "policy p = one then two\n"
         "# file one.allot\npolicy one\nhit when reward >= 1\non finish of group g { when g.hits < 1 then drop }\n"
         "# file two.allot\npolicy two\nhit when reward > 0\non wave of group g { when g.hits < 1 then stop }\n",
         "policy p = one then two\n"
         "# file one.allot\npolicy one\nhit when reward >= 1\non finish of group g { when g.hits < 1 then drop }\n"
         "# file two.allot\npolicy two\nhit when reward >= 1\non wave of group g { when g.hits < 1 then stop }\n"},
    // ---- warnings
    Code{"W0501", "never used",
         "A parameter, state, function or `let` that nothing reads: a rest, or a slip of the pen.",
         "policy p\nparam at: turns = 10\non finish of group g { train }\n",
         "policy p\non finish of group g { train }\n"},
    Code{"W0502", "this never changes",
         "A condition that is always true or always false, or a part of it that never matters; a `hit` condition that says "
         "the same of every rollout.",
         "policy p\non finish of group g { when g.scored < 0 then drop }\n",
         "policy p\non finish of group g { when g.scored < 2 then drop }\n"},
    Code{"W0503", "a condition for the second time",
         "An earlier rule has the same condition, so this one never answers.",
         "policy p\non finish of group g { when g.flat then drop\n when g.flat then train }\n",
         "policy p\non finish of group g { when g.flat then drop\n otherwise train }\n"},
    Code{"W0504", "a mean within a range does not show spread",
         "Only where rewards are 0 or 1 does a mean strictly between them mean that there are both. With other "
         "rewards a group of equal middling ones passes too, and teaches nothing.",
         "policy p\non finish of group g { when 0 < (g.reward_mean ?? 0) < 1 then train\n otherwise drop }\n",
         "policy p\non finish of group g { when not g.flat then train\n otherwise drop }\n"},
    Code{"W0505", "a gate on the shaped reward",
         "A `score` handler changes the rewards, so a gate that looks at them judges the shaping, not the task: a length "
         "penalty makes equal answers look spread. `raw_rewards` and `hit_rate` are what the environment gave.",
         "policy p\non score of rollout r { set reward = r.reward - 0.1 }\non finish of group g { when g.flat then drop }\n",
         "policy p\non score of rollout r { set reward = r.reward - 0.1 }\non finish of group g { when (std(g.raw_rewards, 0) "
         "?? 0) == 0 then drop }\n"},
    Code{"W0506", "work that grows too fast",
         "The worst case of a handler grows with the fourth power of its sizes or faster: with groups of 64 that is 17 million "
         "evaluations a call, where the eigenvalues of a matrix, a third power, take a quarter of a million. Mostly a loop "
         "stands in another one that it does not look at.",
         "policy p\non finish of group g {\n  report crossed = sum(sum(sum(sum(r.turns for r in g.rollouts) for q in "
         "g.rollouts) for s in g.rollouts) for t in g.rollouts)\n}\n",
         "policy p\non finish of group g {\n  let turns = sum(r.turns for r in g.rollouts)\n  report crossed = sum(turns for q "
         "in g.rollouts)\n}\n"},
    Code{"W0507", "a refill that never comes",
         "`refill at most N rounds` counts the fills of a slot in one iteration, the first included: N rounds are up to N - 1 "
         "refills. With 1 no `refill` is ever carried out.",
         "policy p\nrefill at most 1 rounds then train_partial\non finish of group g { when g.flat then drop, refill }\n",
         "policy p\nrefill at most 2 rounds then train_partial\non finish of group g { when g.flat then drop, refill }\n"},
    Code{"W0508", "written twice",
         "Effects run in order. Where one handler remembers or reports the same thing twice, the second wins, and the first is "
         "lost: unless the second may fault, or, at a barrier, something in between looks at the state.",
         "policy p\non finish of group g {\n  report left = g.alive\n  report left = g.ended\n}\n",
         "policy p\non finish of group g {\n  report left = g.alive\n  report done = g.ended\n}\n"},
};

}  // namespace

std::span<const Code> check_codes() {
  return table;
}

}  // namespace allot::lang
