#include "lang/compose/merge.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <optional>
#include <utility>

#include "lang/compose/join.h"
#include "lang/compose/renumber.h"

namespace allot::lang::compose {
namespace {

// One handler and the part it is of.
struct Piece {
  std::size_t part = 0;
  Handler handler;
};

class Merger {
 public:
  Merger(Program& into, std::vector<Part> parts, Diagnostics& diagnostics)
      : into_(into), parts_(std::move(parts)), diagnostics_(diagnostics) {}

  void run() {
    for (std::size_t i = 0; i < parts_.size(); ++i) take_in(i);
    agree_on_hit();
    agree_on_refill();
    agree_on_flat();
    for (int point = 0; point <= static_cast<int>(Point::Eval); ++point) place(static_cast<Point>(point));
  }

 private:
  void error(std::string code, Span span, std::string message, std::string label, std::string help,
             std::vector<Context> contexts) {
    diagnostics_.add({Severity::Error, std::move(code), span, std::move(message), std::move(label), std::move(help),
                      std::move(contexts)});
  }

  std::string named(std::size_t part, const std::string& name) const {
    return parts_[part].name.empty() ? name : parts_[part].name + "." + name;
  }

  // Declarations of one part, renamed; its handlers, with the indices of the whole.
  void take_in(std::size_t index) {
    Program& from = parts_[index].program;
    Renumber by;
    by.parameters = static_cast<std::int32_t>(into_.parameters.size());
    for (const std::string& report : from.reports) {
      by.reports.push_back(static_cast<std::int32_t>(into_.reports.size()));
      into_.reports.push_back(named(index, report));
    }
    for (const std::string& warning : from.warnings) {
      by.warnings.push_back(static_cast<std::int32_t>(into_.warnings.size()));
      into_.warnings.push_back(named(index, warning));
    }
    for (Parameter& parameter : from.parameters) {
      parameter.name = named(index, parameter.name);
      into_.parameters.push_back(std::move(parameter));
    }
    for (State& state : from.states) by.states.push_back(take_in(index, state));
    for (Migration& migration : from.migrations) {
      migration.state = by.states[static_cast<std::size_t>(migration.state)];
      into_.migrations.push_back(std::move(migration));
    }
    for (Budget& budget : from.budgets) {
      renumber(budget.amount, by);
      take_in(index, budget);
    }
    if (from.refill) renumber(from.refill->rounds, by);
    if (from.hit) renumber(*from.hit, by);
    for (Handler& handler : from.handlers) {
      renumber(handler, by);
      rename_draws(index, handler);
      pieces_.push_back({index, std::move(handler)});
    }
  }

  // Two members that draw under one name must not get the same numbers.
  void rename_draws(std::size_t part, Handler& handler) const {
    for (auto* keys : {&handler.reads, &handler.columns}) {
      for (ReadKey& key : *keys) {
        if (key.fact != Fact::Draw) continue;
        for (ReadArgument& argument : key.arguments) argument.word = named(part, argument.word);
      }
    }
  }

  // State of its own for each member; but the host has one fact of a name, whoever asks for it.
  std::int32_t take_in(std::size_t part, State& state) {
    if (!state.input) state.name = named(part, state.name);
    for (std::size_t i = 0; i < into_.states.size(); ++i) {
      const State& known = into_.states[i];
      if (known.name != state.name) continue;
      if (!known.input || !state.input || !(known.type == state.type) || known.scope != state.scope) {
        error("E0605", parts_[part].span, "`" + state.name + "` is declared twice, and differently", "",
              "the host supplies one input of a name: let the declarations be equal",
              {{known.span, "one declaration"}, {state.span, "the other"}});
      }
      return static_cast<std::int32_t>(i);
    }
    into_.states.push_back(std::move(state));
    return static_cast<std::int32_t>(into_.states.size()) - 1;
  }

  void take_in(std::size_t part, const Budget& budget) {
    for (std::size_t i = 0; i < into_.budgets.size(); ++i) {
      const Budget& known = into_.budgets[i];
      if (known.unit != budget.unit) continue;
      const bool equal = known.amount == budget.amount && known.per_run == budget.per_run &&
                         known.carry_over == budget.carry_over;
      if (!equal) {
        disagree(budget_owners_[i], known.span, part, budget.span,
                 "budgets in " + std::string(lang::name(budget.unit)));
      }
      return;
    }
    into_.budgets.push_back(budget);
    budget_owners_.push_back(part);
  }

  void disagree(std::size_t first, Span first_span, std::size_t second, Span second_span, const std::string& what) {
    const std::string a = "`" + parts_[first].shown + "`", b = "`" + parts_[second].shown + "`";
    error("E0605", parts_[second].span, a + " and " + b + " declare different " + what, "",
          "let one of them declare it, or both the same",
          {{first_span, "the one of " + a}, {second_span, "the one of " + b}});
  }

  void agree_on_hit() {
    std::optional<std::size_t> owner;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      std::optional<Handler>& hit = parts_[i].program.hit;
      if (!hit) continue;
      if (!owner) {
        owner = i;
      } else if (!same_meaning(*parts_[*owner].program.hit, *hit)) {
        return disagree(*owner, parts_[*owner].program.hit->span, i, hit->span, "hits");
      }
    }
    if (owner) into_.hit = parts_[*owner].program.hit;
  }

  void agree_on_refill() {
    std::optional<std::size_t> owner;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::optional<Refill>& refill = parts_[i].program.refill;
      if (!refill) continue;
      if (!owner) {
        owner = i;
        continue;
      }
      const Refill& known = *parts_[*owner].program.refill;
      if (!(known.rounds == refill->rounds) || known.then != refill->then) {
        return disagree(*owner, known.span, i, refill->span, "`refill at most`");
      }
    }
    if (owner) into_.refill = parts_[*owner].program.refill;
  }

  // 0 is what a policy has that says nothing of it.
  void agree_on_flat() {
    std::optional<std::size_t> owner;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const double within = parts_[i].program.flat_within;
      if (within == 0) continue;
      if (owner && parts_[*owner].program.flat_within != within) {
        return disagree(*owner, parts_[*owner].span, i, parts_[i].span, "tolerances of `flat`");
      }
      owner = i;
      into_.flat_within = within;
    }
  }

  // ---- handlers

  std::vector<Piece> of(Point point) {
    std::vector<Piece> found;
    for (const Piece& piece : pieces_) {
      if (piece.handler.point == point) found.push_back(piece);
    }
    return found;
  }

  // Handlers of one point stand side by side where they are asked about different things: a turn of the group, a turn of
  // one rollout, every so many tokens.
  static bool of_tokens(const Handler& handler) { return handler.every && handler.number.has_value(); }

  void place(Point point) {
    const std::vector<Piece> pieces = of(point);
    if (pieces.empty() || !one_rhythm(pieces)) return;
    std::vector<std::pair<Subject, bool>> places;
    for (const Piece& piece : pieces) {
      const std::pair place(piece.handler.subject, of_tokens(piece.handler));
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
    for (const auto& [subject, tokens] : places) {
      std::vector<Piece> here;
      for (const Piece& piece : pieces) {
        if (piece.handler.subject == subject && of_tokens(piece.handler) == tokens) here.push_back(piece);
      }
      place(point, here);
    }
  }

  void place(Point point, std::vector<Piece>& pieces) {
    std::set<std::size_t> members;
    for (const Piece& piece : pieces) members.insert(piece.part);
    if (members.size() <= 1 || pipes(point)) {
      for (Piece& piece : pieces) into_.handlers.push_back(std::move(piece.handler));
    } else if (of_tokens(pieces.front().handler)) {
      Handler joined = pieces.front().handler;
      for (std::size_t i = 1; i < pieces.size(); ++i) joined = join(std::move(joined), pieces[i].handler);
      into_.handlers.push_back(std::move(joined));
    } else {
      choose(pieces, {members.begin(), members.end()}, 0, {});
    }
  }

  // Group and batch handlers of one point cannot both answer; nor can two rhythms of tokens. At a barrier both run.
  bool one_rhythm(const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      for (const Piece& first : pieces) {
        if (first.part >= piece.part) continue;
        const bool subjects = piece.handler.point != Point::Update &&
                              (first.handler.subject == Subject::Batch) != (piece.handler.subject == Subject::Batch);
        const bool rhythms = of_tokens(first.handler) && of_tokens(piece.handler) &&
                             !(first.handler.number == piece.handler.number);
        if (!subjects && !rhythms) continue;
        const std::string a = "`" + parts_[first.part].shown + "`", b = "`" + parts_[piece.part].shown + "`";
        error("E0309", parts_[piece.part].span,
              a + " and " + b + " answer `" + std::string(lang::name(piece.handler.point)) + "` " +
                  (subjects ? "for different subjects" : "after different numbers of tokens"),
              "", "compose policies that are asked in the same way",
              {{first.handler.span, a + " is asked here"}, {piece.handler.span, b + " is asked here"}});
        return false;
      }
    }
    return true;
  }

  static bool numbered(const Handler& handler) { return handler.number.has_value(); }

  // Which handlers meet: of each member one with a number or none with one; where none has, its general handler
  // answers. So each meeting that can come has one handler, in which all members have their say.
  void choose(const std::vector<Piece>& pieces, const std::vector<std::size_t>& members, std::size_t at,
              std::vector<const Piece*> chosen) {
    if (at == members.size()) return meet(pieces, members, chosen);
    chosen.push_back(nullptr);
    choose(pieces, members, at + 1, chosen);
    for (const Piece& piece : pieces) {
      if (piece.part != members[at] || !numbered(piece.handler)) continue;
      chosen.back() = &piece;
      choose(pieces, members, at + 1, chosen);
    }
  }

  // A member that was left out has a handler of a number that is here for sure: they always come together.
  static bool met_elsewhere(const std::vector<Piece>& pieces, const std::vector<std::size_t>& members,
                            const std::vector<const Piece*>& chosen, const std::vector<ReadArgument>& numbers) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (chosen[i] != nullptr) continue;
      for (const Piece& piece : pieces) {
        const std::optional<ReadArgument>& number = piece.handler.number;
        if (piece.part == members[i] && number && number->kind == ReadArgument::Kind::Integer &&
            std::find(numbers.begin(), numbers.end(), *number) != numbers.end()) {
          return true;
        }
      }
    }
    return false;
  }

  void meet(const std::vector<Piece>& pieces, const std::vector<std::size_t>& members,
            const std::vector<const Piece*>& chosen) {
    std::vector<ReadArgument> numbers;
    std::optional<Handler> joined;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Piece* piece = chosen[i];
      if (piece != nullptr) {
        const ReadArgument& number = *piece->handler.number;
        for (const ReadArgument& other : numbers) {
          const bool literals =
              other.kind == ReadArgument::Kind::Integer && number.kind == ReadArgument::Kind::Integer;
          if (literals && other.integer != number.integer) return;  // they never come together
        }
        if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
      }
      for (const Piece& each : pieces) {
        if (piece == nullptr && each.part == members[i] && !numbered(each.handler)) piece = &each;
      }
      if (piece == nullptr) continue;
      Handler handler = piece->handler;
      handler.number.reset();
      joined = joined ? join(*std::move(joined), std::move(handler)) : std::move(handler);
    }
    if (!joined || met_elsewhere(pieces, members, chosen, numbers)) return;
    if (joined->nodes.size() > 200'000 || joined->rules.size() > 2'000) {
      error("E0108", parts_.back().span, "the members' rules are too many once each stands beside each",
            "at `" + joined->text + "`", "compose fewer policies that answer at one point", {});
      return;
    }
    if (!numbers.empty()) {
      joined->number = numbers.front();
      joined->numbers_too.assign(numbers.begin() + 1, numbers.end());
      joined->every = false;
    }
    into_.handlers.push_back(*std::move(joined));
  }

  Program& into_;
  std::vector<Part> parts_;
  Diagnostics& diagnostics_;
  std::vector<std::size_t> budget_owners_;
  std::vector<Piece> pieces_;
};

}  // namespace

void merge(Program& into, std::vector<Part> parts, Diagnostics& diagnostics) {
  Merger(into, std::move(parts), diagnostics).run();
}

}  // namespace allot::lang::compose
