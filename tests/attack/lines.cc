// SPDX-License-Identifier: Apache-2.0

#include "lines.h"

#include <cstdlib>
#include <cstring>
#include <fstream>

namespace attack {

std::vector<Line> read_attacks(const std::string& path) {
  std::ifstream in(path);
  if (!in) stop("cannot read " + path);
  std::vector<Line> lines;
  for (std::string text; std::getline(in, text);) {
    const Words part = split(text, '\t');
    Line line;
    line.type = part[0][0];
    if (line.type == 'G') {
      line.header = part[1], line.function = part[2], line.argument = part[3];
      line.fault = part[4], line.words.assign(part.begin() + 5, part.end());
    } else if (line.type == 'H' || line.type == 'Q') {
      line.header = part[1], line.function = part[2];
      if (part[3] != "-") line.before = split(part[3], ' ');
      line.words.assign(part.begin() + 4, part.end());
    } else {
      line.header = lines.back().header, line.function = lines.back().function;
      line.argument = part[1], line.number = std::atoi(part[2].c_str()), line.fault = part[3];
      for (const std::string& name : split(part[4], ',')) line.others.insert(name);
      for (size_t k = 5; k < part.size(); ++k) {
        const size_t equals = part[k].find('=');
        line.changes.emplace_back(std::stoul(part[k]), part[k].substr(equals + 1));
      }
    }
    lines.push_back(line);
  }
  return lines;
}

const Function& function_of(const Line& line) { return find_function(line.function); }

std::string without_into(const std::string& name) {
  const bool into = name.size() > 5 && name.compare(name.size() - 5, 5, "_into") == 0;
  return into ? name.substr(0, name.size() - 5) : name;
}

bool begins(const std::string& text, const char* with) {
  return text.compare(0, std::strlen(with), with) == 0;
}

}  // namespace attack
