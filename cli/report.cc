#include "cli/report.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "cli/json_text.h"

namespace rekey::cli {

bool UseColor(const Settings& settings, int descriptor) {
  if (settings.color == "always") return true;
  if (settings.color == "never") return false;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  return isatty(descriptor) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

void Print(const Settings& settings, const Diagnostic& diagnostic) {
  std::cerr << Render(diagnostic, UseColor(settings, 2));
}

int Fail(const Settings& settings, const Diagnostic& error) {
  if (settings.json) {
    PrintFailure({error}, {});
  } else {
    Print(settings, error);
  }
  return kFailed;
}

void PrintAll(const Settings& settings, const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) Print(settings, diagnostic);
}

std::string Size(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string Count(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string Plural(uint64_t number, std::string_view word) {
  return Plural(number, word, std::string(word) + "s");
}

std::string Plural(uint64_t number, std::string_view one, std::string_view many) {
  return Count(number) + " " + std::string(number == 1 ? one : many);
}

void Table::Row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

std::string Table::ToString() const {
  // Width in code points: continuation bytes take no column.
  const auto width = [](const std::string& cell) {
    return static_cast<size_t>(
        std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  };
  std::vector<size_t> widths(right_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - width(row[i]), ' ');
      line += (right_[i] ? blanks + row[i] : row[i] + blanks) + "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace rekey::cli
