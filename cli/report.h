// What a person sees: diagnostics, tables, sizes, progress. Results go to stdout, messages to
// stderr; colour only on a terminal that has not asked for none.
#ifndef REKEY_CLI_REPORT_H_
#define REKEY_CLI_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/settings.h"
#include "grammar/diagnostic.h"
#include "grammar/printable.h"

namespace rekey::cli {

constexpr int kYes = 0;  // exit statuses
constexpr int kNo = 1;
constexpr int kFailed = 2;

// Whether to colour what goes to this descriptor (1 or 2).
bool UseColor(const Settings& settings, int descriptor);

// A diagnostic on stderr (in JSON runs the caller puts it into the object instead).
void Print(const Settings& settings, const Diagnostic& diagnostic);

// Prints it, or with --json the object {errors, warnings} of a run that failed; returns kFailed:
// `return Fail(settings, error);`.
int Fail(const Settings& settings, const Diagnostic& error);

void PrintAll(const Settings& settings, const Diagnostics& diagnostics);

std::string Size(uint64_t bytes);                            // "97.8 MB"
std::string Count(uint64_t number);                          // "25,557,032"
std::string Plural(uint64_t number, std::string_view word);  // "1 key", "2 keys"
std::string Plural(uint64_t number, std::string_view one, std::string_view many);

// The first `count` texts with commas between, escaped for a terminal, and how many more there are.
template <typename Texts>
std::string FirstOf(const Texts& texts, size_t count) {
  std::string line;
  size_t shown = 0;
  for (const auto& text : texts) {
    if (shown == count) return line + " and " + Count(texts.size() - shown) + " more";
    line += (shown++ == 0 ? "" : ", ") + Printable(text);
  }
  return line;
}

// Columns padded to their widest cell, two spaces between; a column may be right-aligned.
class Table {
 public:
  explicit Table(std::vector<bool> right) : right_(std::move(right)) {}
  void Row(std::vector<std::string> cells);
  std::string ToString() const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace rekey::cli

#endif  // REKEY_CLI_REPORT_H_
