#include "runtime/training/sampler.h"

#include <algorithm>
#include <string>

#include "runtime/training/decoder.h"
#include "runtime/training/philox.h"
#include "runtime/training/sampling.h"

namespace allot::training {
namespace {

struct Row {
  int id = -1;
  std::uint64_t key = 0;
  int slot = -1;
  std::vector<int> tokens;
  int computed = 0;      // tokens whose keys and values are cached
  int action_left = 0;   // > 0 while the row samples an action
};

}  // namespace

struct Sampler::State {
  SamplerOptions options;
  int vocabulary = 0;
  std::unique_ptr<Decoder> decoder;
  std::vector<Row> rows;  // in order of their adding
  std::vector<int> free;  // slots, the lowest last
  std::vector<SampledToken> sampled;
  std::vector<RowWork> work;
  std::vector<Row*> active;
  std::int64_t computed = 0;

  Row* find(int id) {
    const auto found = std::find_if(rows.begin(), rows.end(), [id](const Row& row) { return row.id == id; });
    return found == rows.end() ? nullptr : &*found;
  }

  Result<void> append(Row& row, std::span<const int> tokens) const {
    if (row.tokens.size() + tokens.size() > static_cast<std::size_t>(options.max_context))
      return Error{"row " + std::to_string(row.id) + " would grow to " +
                       std::to_string(row.tokens.size() + tokens.size()) + " tokens, over the limit of " +
                       std::to_string(options.max_context),
                   "end this rollout as truncated, or raise the context limit"};
    for (const int token : tokens)
      if (token < 0 || token >= vocabulary)
        return Error{"token " + std::to_string(token) + " is outside the model's vocabulary of " +
                         std::to_string(vocabulary),
                     "the tokenizer and the model must be of one checkpoint"};
    row.tokens.insert(row.tokens.end(), tokens.begin(), tokens.end());
    return {};
  }

  // Runs in the thread that computed the logits; touches this row and its own place in `sampled` alone.
  void draw(std::size_t index, std::span<float> logits) {
    Row& row = *active[index];
    const auto words = philox(options.seed, row.key, row.tokens.size());
    const Draw drawn =
        draw_token(logits, options.temperature, options.top_p, unit_interval(words[0], words[1]));
    row.computed = static_cast<int>(row.tokens.size());
    row.tokens.push_back(drawn.token);
    --row.action_left;
    const bool full = row.tokens.size() >= static_cast<std::size_t>(options.max_context);
    if (full || drawn.token == options.end_token) row.action_left = 0;
    sampled[index] = {row.id, drawn.token, drawn.logprob, drawn.entropy, row.action_left == 0, full};
  }
};

Result<Sampler> Sampler::make(const Model& model, const SamplerOptions& options) {
  const auto refuse = [](const std::string& what) { return Error{what, "check the sampling options"}; };
  if (options.rows < 1) return refuse("the sampler needs at least one row");
  if (options.max_context < 2 || options.max_context > model.config().max_positions)
    return refuse("a context of " + std::to_string(options.max_context) + " tokens does not fit the model's " +
                  std::to_string(model.config().max_positions) + " positions");
  if (!(options.temperature >= 0)) return refuse("the temperature must be 0 or more");
  if (!(options.top_p > 0 && options.top_p <= 1)) return refuse("top-p must lie in (0, 1]");
  auto state = std::make_unique<State>();
  state->options = options;
  state->vocabulary = model.config().vocab_size;
  state->decoder = model.device() == Device::Cpu
                       ? make_cpu_decoder(model, options.rows, options.max_context, options.threads)
                       : make_torch_decoder(model, options.rows, options.max_context);
  for (int slot = options.rows - 1; slot >= 0; --slot) state->free.push_back(slot);
  return Sampler(std::move(state));
}

Sampler::Sampler(std::unique_ptr<State> state) : state_(std::move(state)) {}
Sampler::Sampler(Sampler&&) noexcept = default;
Sampler& Sampler::operator=(Sampler&&) noexcept = default;
Sampler::~Sampler() = default;

Result<void> Sampler::add(int id, std::uint64_t key, std::span<const int> tokens) {
  if (state_->find(id)) return Error{"row " + std::to_string(id) + " is there already", ""};
  if (state_->free.empty())
    return Error{"all " + std::to_string(state_->options.rows) + " rows of the sampler are taken", "remove one first"};
  if (tokens.empty()) return Error{"a row needs at least one token of context", "begin with <bos>"};
  Row row;
  row.id = id, row.key = key;
  row.tokens.reserve(static_cast<std::size_t>(state_->options.max_context) + 1);
  if (auto appended = state_->append(row, tokens); !appended) return appended;
  row.slot = state_->free.back();
  state_->free.pop_back();
  state_->rows.push_back(std::move(row));
  return {};
}

Result<void> Sampler::extend(int id, std::span<const int> tokens) {
  Row* row = state_->find(id);
  if (!row) return Error{"there is no row " + std::to_string(id), ""};
  return state_->append(*row, tokens);
}

Result<void> Sampler::begin_action(int id, int max_tokens) {
  Row* row = state_->find(id);
  if (!row) return Error{"there is no row " + std::to_string(id), ""};
  if (max_tokens < 1) return Error{"an action needs room for at least one token", "raise the action limit"};
  if (room(id) < 1) return Error{"row " + std::to_string(id) + " is full", "end this rollout as truncated"};
  row->action_left = max_tokens;
  return {};
}

std::span<const SampledToken> Sampler::step() {
  State& s = *state_;
  s.active.clear(), s.work.clear();
  for (Row& row : s.rows) {
    if (row.action_left == 0) continue;
    s.active.push_back(&row);
    s.work.push_back({row.slot, row.computed, std::span<const int>(row.tokens).subspan(row.computed)});
    s.computed += static_cast<std::int64_t>(row.tokens.size()) - row.computed;
  }
  s.sampled.assign(s.active.size(), {});
  if (!s.work.empty())
    s.decoder->forward(s.work, [&s](std::size_t row, std::span<float> logits) { s.draw(row, logits); });
  return s.sampled;
}

void Sampler::remove(int id) {
  const Row* row = state_->find(id);
  if (!row) return;
  // Slots are interchangeable, but the lowest is taken first: the cache that is in use stays small.
  auto& free = state_->free;
  free.insert(std::lower_bound(free.begin(), free.end(), row->slot, std::greater<>()), row->slot);
  state_->rows.erase(state_->rows.begin() + (row - state_->rows.data()));
}

void Sampler::clear() {
  while (!state_->rows.empty()) remove(state_->rows.back().id);
}

void Sampler::set_temperature(double temperature) { state_->options.temperature = temperature; }
bool Sampler::contains(int id) const { return state_->find(id) != nullptr; }
int Sampler::rows() const { return static_cast<int>(state_->rows.size()); }
int Sampler::free_rows() const { return static_cast<int>(state_->free.size()); }
std::int64_t Sampler::computed_tokens() const { return state_->computed; }

int Sampler::room(int id) const {
  const Row* row = state_->find(id);
  return row ? state_->options.max_context - static_cast<int>(row->tokens.size()) : 0;
}

std::span<const int> Sampler::tokens(int id) const {
  const Row* row = state_->find(id);
  return row ? std::span<const int>(row->tokens) : std::span<const int>();
}

}  // namespace allot::training
