#include "runtime/training/loss_weights.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace allot::training {
namespace {

constexpr std::array<std::pair<Aggregate, std::string_view>, 9> kNames = {
    {{Aggregate::TokenMean, "token-mean"},
     {Aggregate::SeqMeanTokenSum, "seq-mean-token-sum"},
     {Aggregate::SeqMeanTokenMean, "seq-mean-token-mean"},
     {Aggregate::SeqMeanTokenSumNorm, "seq-mean-token-sum-norm"},
     {Aggregate::TrlGrpo, "grpo"},
     {Aggregate::TrlBnpo, "bnpo"},
     {Aggregate::TrlDapo, "dapo"},
     {Aggregate::TrlDrGrpo, "dr_grpo"},
     {Aggregate::TrlLuspo, "luspo"}}};

// verl adds this to the length of a sequence before it divides by it.
constexpr double kLengthEpsilon = 1e-8;

}  // namespace

Result<Aggregate> parse_aggregate(std::string_view text) {
  std::string known;
  for (const auto& [mode, word] : kNames) {
    if (word == text) return mode;
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return Error{"there is no loss aggregation \"" + std::string(text) + "\"", "choose one of " + known};
}

std::string_view name(Aggregate mode) {
  for (const auto& [candidate, word] : kNames)
    if (candidate == mode) return word;
  return "";
}

std::vector<double> sequence_weights(Aggregate mode, std::span<const int> tokens, int length) {
  double total = 0, filled = 0;
  for (const int n : tokens) {
    total += n;
    filled += n > 0 ? 1 : 0;
  }
  const double sequences = static_cast<double>(tokens.size());
  const auto weight = [&](double n) {
    switch (mode) {
      case Aggregate::TokenMean:
      case Aggregate::TrlBnpo:
      case Aggregate::TrlDapo: return 1.0 / total;
      case Aggregate::SeqMeanTokenSum: return 1.0 / filled;
      case Aggregate::SeqMeanTokenMean: return 1.0 / (filled * (n + kLengthEpsilon));
      case Aggregate::SeqMeanTokenSumNorm: return 1.0 / length;
      case Aggregate::TrlGrpo: return 1.0 / (sequences * std::max(n, 1.0));
      case Aggregate::TrlDrGrpo: return 1.0 / (sequences * length);
      case Aggregate::TrlLuspo: return 1.0 / sequences;
    }
    return 0.0;
  };
  std::vector<double> out;
  for (const int n : tokens) out.push_back(n > 0 ? weight(n) : 0.0);
  return out;
}

}  // namespace allot::training
