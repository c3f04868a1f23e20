#include "runtime/engine/same_answers.h"

#include "runtime/engine/answer_text.h"

namespace allot::engine {

FrameText frame_of(const Judge& judge, int index) {
  const lang::Program& program = judge.policy().program();
  const lang::Handler& handler = program.handlers[static_cast<std::size_t>(index)];
  const Question& question = judge.question();
  JsonText text;
  FrameText frame;
  text.value(question.sizes());
  frame.ends[0] = text.text().size();
  put_reads(text.begin_next(), handler, question);
  frame.ends[1] = text.text().size();
  put_columns(text.begin_next(), handler, question);
  frame.ends[2] = text.text().size();
  put_states(text.begin_next(), program, judge.policy().states_read(index), question);
  frame.ends[3] = text.text().size();
  frame.text = text.take();
  return frame;
}

void SameAnswers::add(const Key& key, const FrameText& frame, int iteration, RolloutRef about, int turn, std::string_view carried) {
  Rows& rows = rows_[key];
  rows.iteration = iteration;
  rows.groups.push_back(about.group);
  rows.samples.push_back(about.sample);
  rows.turns.push_back(turn);
  rows.carried.push_back(carried);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < frame.ends.size(); ++i) {
    std::string& column = rows.frames[i];
    if (!column.empty()) column += ',';
    column.append(frame.text, begin, frame.ends[i] - begin);
    begin = frame.ends[i];
  }
}

void SameAnswers::take(const std::function<void(std::string)>& use) {
  for (const auto& [key, rows] : rows_) {
    JsonText text;
    text.begin_object().member("k", "same").member("it", rows.iteration).member("h", key.handler).member("r", key.rule);
    if (key.version != 0) text.member("v", key.version);
    text.member("g", rows.groups).member("s", rows.samples).member("t", rows.turns).member("c", rows.carried);
    std::size_t column = 0;
    for (const char* const name : {"sizes", "reads", "columns", "states"}) {
      text.key(name).begin_array().raw(rows.frames[column++]).end_array();
    }
    use(text.end_object().take());
  }
  rows_.clear();
}

}  // namespace allot::engine
