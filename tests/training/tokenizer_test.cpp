#include "runtime/training/tokenizer.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <unistd.h>

using namespace allot::training;

namespace {

const std::vector<std::string> kWords = {"go to drawer 1", "You see a half-open cabinet_2.", "take the mug's lid!", "-", "/"};

std::filesystem::path fresh_folder(const char* name) {
  const auto folder = std::filesystem::temp_directory_path() / (std::string("allot-tok-") + name + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  return folder;
}

nlohmann::json written(const std::filesystem::path& folder) {
  std::ifstream in(folder / "tokenizer.json");
  return nlohmann::json::parse(in);
}

std::string refusal(const std::filesystem::path& folder, const nlohmann::json& root) {
  std::ofstream(folder / "tokenizer.json") << root.dump();
  const auto result = Tokenizer::read(folder);
  return result ? "" : result.error().what;
}

}  // namespace

TEST_CASE("Text is cut into words, punctuation and line breaks") {
  const auto check = [](std::string_view text, std::vector<std::string_view> expected) { CHECK(pieces(text) == expected); };
  check("go to drawer 1\n", {"go", "to", "drawer", "1", "\n"});
  check("  half-open,  mug_2's\t", {"half", "-", "open", ",", "mug_2", "'", "s"});
  check("a\n\nb", {"a", "\n", "\n", "b"});
  check("\xc3\xa9t\xc3\xa9 >", {"\xc3\xa9t\xc3\xa9", ">"});
  check("", {});
}

TEST_CASE("Ids are fixed by the words alone") {
  const Tokenizer a = Tokenizer::from_words(kWords);
  std::vector<std::string> reversed(kWords.rbegin(), kWords.rend());
  const Tokenizer b = Tokenizer::from_words(reversed);
  REQUIRE(a.size() == b.size());
  for (int id = 0; id < a.size(); ++id) CHECK(a.word(id) == b.word(id));
  CHECK(a.pad() == 0);
  CHECK(a.word(a.newline()) == "\n");
}

TEST_CASE("Decoded text has the same encoding") {
  const Tokenizer t = Tokenizer::from_words(kWords);
  CHECK(t.decode(t.encode("go to drawer 1\n")) == "go to drawer 1\n");
  CHECK(t.decode(t.encode("half-open mug's lid!")) == "half-open mug's lid!");
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<int> tokens;
    for (int i = 0; i < 12; ++i) tokens.push_back(4 + static_cast<int>(random() % static_cast<unsigned>(t.size() - 4)));
    CHECK(t.encode(t.decode(tokens)) == tokens);
  }
}

TEST_CASE("Text cannot forge a special token, and unknown words are told apart from none") {
  const Tokenizer t = Tokenizer::from_words(kWords);
  for (const int id : t.encode("<pad> <eos> zebra")) CHECK_FALSE((t.special(id) && id != t.unk()));
  CHECK(t.encode("zebra") == std::vector<int>{t.unk()});
}

TEST_CASE("tokenizer.json is written and read, and other kinds are refused by name") {
  const auto folder = fresh_folder("io");
  const Tokenizer t = Tokenizer::from_words(kWords);
  REQUIRE(t.write(folder));
  const auto again = Tokenizer::read(folder);
  REQUIRE(again);
  REQUIRE(again->size() == t.size());
  for (int id = 0; id < t.size(); ++id) CHECK((again->word(id) == t.word(id) && again->special(id) == t.special(id)));

  const nlohmann::json good = written(folder);
  const auto with = [&](const char* pointer, nlohmann::json value) {
    nlohmann::json changed = good;
    changed[nlohmann::json::json_pointer(pointer)] = std::move(value);
    return refusal(folder, changed);
  };
  CHECK(with("/model/type", "BPE").find("BPE") != std::string::npos);
  CHECK(with("/model/type", "Unigram").find("Unigram") != std::string::npos);
  CHECK(with("/pre_tokenizer", {{"type", "ByteLevel"}}).find("ByteLevel") != std::string::npos);
  CHECK(with("/normalizer", {{"type", "Lowercase"}}).find("Lowercase") != std::string::npos);
  CHECK(with("/post_processor", {{"type", "TemplateProcessing"}}).find("TemplateProcessing") != std::string::npos);
  CHECK(with("/model/vocab/zebra", 9999).find("gaps") != std::string::npos);
  std::ofstream(folder / "tokenizer.json") << good.dump().substr(0, 200);
  const auto cut = Tokenizer::read(folder);
  REQUIRE_FALSE(cut);
  CHECK(cut.error().text().find("tokenizer.json") != std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST_CASE("Another reader of the format cuts text alike") {
  // Peer: the `tokenizers` library, reading the file written here.
  const auto folder = fresh_folder("peer");
  const Tokenizer t = Tokenizer::from_words(kWords);
  REQUIRE(t.write(folder));
  std::string text;
  std::mt19937 random(3);
  const std::string alphabet = "ab1_ \n\t.-'!/  gomugdrawer";
  for (int i = 0; i < 2000; ++i) text += alphabet[random() % alphabet.size()];
  text += " go to drawer 1\nhalf-open mug's lid!";
  std::ofstream(folder / "text.txt") << text;
  const std::string script =
      "import sys,tokenizers;d=sys.argv[1];t=tokenizers.Tokenizer.from_file(d+'/tokenizer.json');"
      "open(d+'/ids.txt','w').write(' '.join(map(str,t.encode(open(d+'/text.txt',newline='').read()).ids)))";
  const std::string command = std::string(ALLOT_PYTHON_PROGRAM) + " -c \"" + script + "\" " + folder.string();
  REQUIRE(std::system(command.c_str()) == 0);
  std::ifstream in(folder / "ids.txt");
  std::vector<int> theirs;
  for (int id; in >> id;) theirs.push_back(id);
  CHECK(t.encode(text) == theirs);
  std::filesystem::remove_all(folder);
}
