#include "lang/compose/renumber.h"

namespace allot::lang::compose {
namespace {

void move(std::int32_t& index, std::int32_t by) {
  if (index >= 0) index += by;
}

void look_up(std::int32_t& index, const std::vector<std::int32_t>& table) {
  if (index >= 0 && !table.empty()) index = table[static_cast<std::size_t>(index)];
}

void renumber(std::vector<MessagePart>& parts, const Renumber& by) {
  for (MessagePart& part : parts) move(part.hole, by.nodes);
}

void renumber(Node& node, const Renumber& by) {
  switch (node.op) {
    case Op::Parameter: move(node.index, by.parameters); break;
    case Op::Read: look_up(node.index, by.reads); break;
    case Op::Column:
    case Op::Element: look_up(node.index, by.columns); break;
    case Op::State: look_up(node.index, by.states); break;
    case Op::Let: move(node.index, by.lets); break;
    case Op::Allot: move(node.index, by.allotments); break;
    default: break;  // Call and Reduce count in tables of the language
  }
  move(node.loop, by.loops);
  for (NodeId& arg : node.args) move(arg, by.nodes);
  for (std::int32_t& let : node.owned) move(let, by.lets);
}

void renumber(Effect& effect, const Renumber& by) {
  switch (effect.kind) {
    case EffectKind::Remember: look_up(effect.index, by.states); break;
    case EffectKind::Report: look_up(effect.index, by.reports); break;
    case EffectKind::Warn: look_up(effect.index, by.warnings); break;
    case EffectKind::ForEach: break;
  }
  move(effect.key, by.nodes);
  move(effect.value, by.nodes);
  move(effect.loop, by.loops);
  renumber(effect.because, by);
  for (std::int32_t& let : effect.owned) move(let, by.lets);
  for (Effect& inner : effect.body) renumber(inner, by);
}

bool same(const Node& a, const Node& b) {
  return a.op == b.op && a.type == b.type && a.index == b.index && a.loop == b.loop && a.args == b.args &&
         a.owned == b.owned && a.cell == b.cell;
}

bool same(const std::vector<ReadKey>& a, const std::vector<ReadKey>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].fact != b[i].fact || a[i].scope != b[i].scope || a[i].arguments != b[i].arguments) return false;
  }
  return true;
}

bool same(const std::vector<Effect>& a, const std::vector<Effect>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].kind != b[i].kind || a[i].index != b[i].index || a[i].value != b[i].value) return false;
  }
  return true;
}

}  // namespace

void renumber(ReadArgument& argument, const Renumber& by) {
  if (argument.kind == ReadArgument::Kind::Parameter) argument.integer += by.parameters;
}

void renumber(Handler& handler, const Renumber& by) {
  if (handler.number) renumber(*handler.number, by);
  for (ReadArgument& number : handler.numbers_too) renumber(number, by);
  for (auto* keys : {&handler.reads, &handler.columns}) {
    for (ReadKey& key : *keys) {
      for (ReadArgument& argument : key.arguments) renumber(argument, by);
    }
  }
  for (Loop& loop : handler.loops) move(loop.source, by.nodes);
  for (Allotment& allotment : handler.allotments) move(allotment.counts, by.loops);
  for (Let& let : handler.lets) move(let.value, by.nodes);
  for (Node& node : handler.nodes) renumber(node, by);
  move(handler.keys, by.nodes);
  for (Rule& rule : handler.rules) {
    move(rule.condition, by.nodes);
    for (const auto operand : verdict_operands) move(rule.verdict.*operand, by.nodes);
    renumber(rule.because, by);
  }
  for (Effect& effect : handler.effects) renumber(effect, by);
}

bool same_meaning(const Handler& a, const Handler& b) {
  if (a.nodes.size() != b.nodes.size() || a.rules.size() != b.rules.size() || a.loops.size() != b.loops.size() ||
      a.lets.size() != b.lets.size() || !same(a.reads, b.reads) || !same(a.columns, b.columns) ||
      !same(a.effects, b.effects)) {
    return false;
  }
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    if (!same(a.nodes[i], b.nodes[i])) return false;
  }
  return true;
}

}  // namespace allot::lang::compose
