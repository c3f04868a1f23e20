// Times of the trainer's two halves, best of several: `bench_training [hidden layers heads kv_heads]`.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "runtime/training/sampler.h"
#include "runtime/training/update.h"

using namespace allot::training;

namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// One decoding step with contexts of about 300 tokens, and the prefill before it.
void decode(const Model& model, int rows) {
  SamplerOptions o;
  o.rows = rows, o.max_context = 640;
  auto sampler = Sampler::make(model, o);
  if (!sampler) std::exit(1);
  for (int id = 0; id < rows; ++id) {
    const std::vector<int> prompt(static_cast<std::size_t>(250 + 100 * id / rows), 7);
    if (!sampler->add(id, static_cast<std::uint64_t>(id), prompt) || !sampler->begin_action(id, 200)) std::exit(1);
  }
  const double prefill = seconds([&] { sampler->step(); });
  std::vector<double> times;
  for (int i = 0; i < 150; ++i) times.push_back(seconds([&] { sampler->step(); }));
  std::sort(times.begin(), times.end());
  std::printf("  %2d rows: decode step %.2f ms (median %.2f), prefill of %d tokens %.0f ms\n", rows, times[0] * 1e3,
              times[times.size() / 2] * 1e3, rows * 300, prefill * 1e3);
}

void update(Model& model, int micro_tokens) {
  std::vector<TrainSequence> batch(64);
  for (TrainSequence& s : batch) {
    s.tokens.assign(500, 11), s.behaviour_logp.assign(500, -3.0f), s.trained.assign(500, 0);
    for (std::size_t t = 100; t < 500; ++t) s.trained[t] = t % 20 < 6;  // six action tokens, fourteen of observation
    s.advantage = 0.5;
  }
  Trainer trainer(model, {});
  UpdateOptions options;
  options.micro_tokens = micro_tokens;
  double best = 1e9;
  for (int i = 0; i < 3; ++i) best = std::min(best, seconds([&] { (void)trainer.update(batch, options); }));
  std::printf("  update of 64 x 500 tokens, micro-batches of %d: %.2f s\n", micro_tokens, best);
}

}  // namespace

int main(int argc, char** argv) {
  ModelConfig c;
  c.vocab_size = 450;
  if (argc == 5) {
    c.hidden_size = std::atoi(argv[1]), c.layers = std::atoi(argv[2]);
    c.heads = std::atoi(argv[3]), c.kv_heads = std::atoi(argv[4]);
  }
  c.intermediate_size = 3 * c.hidden_size;
  set_up_torch(0);
  auto model = Model::fresh(c, 1, Device::Cpu);
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().text().c_str());
    return 1;
  }
  std::printf("hidden %d, layers %d, heads %d/%d: %.2f M parameters\n", c.hidden_size, c.layers, c.heads, c.kv_heads,
              static_cast<double>(c.parameter_count()) * 1e-6);
  for (const int rows : {80, 40, 20}) decode(*model, rows);
  for (const int micro : {1024, 2048, 4096}) update(*model, micro);
  return 0;
}
