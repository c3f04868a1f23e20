// Policies of several files in one text: lines `# file NAME.allot` begin the others, which the first may name.
#pragma once

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

namespace allot::texts {

struct SeveralFiles {
  std::string first;
  std::map<std::string, std::string> others;  // by name without `.allot`
};

inline SeveralFiles several_files(const std::string& text) {
  static const std::string mark = "# file ";
  SeveralFiles files;
  std::string* into = &files.first;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(mark)) {
      std::string name = line.substr(mark.size(), line.find(".allot") - mark.size());
      std::replace(name.begin(), name.end(), '/', '.');
      into = &files.others[name];
    } else {
      *into += line + "\n";
    }
  }
  if (files.others.empty()) files.first = text;  // to the last byte
  return files;
}

}  // namespace allot::texts
