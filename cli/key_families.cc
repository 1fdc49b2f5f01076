#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>

#include "cli/key_views.h"
#include "cli/report.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What may stand before a number that counts something: `layers.3`, `layer_3`, `kernel:0`.
bool Separates(char c) { return c == '.' || c == '/' || c == '_' || c == '-' || c == ':'; }

struct Family {
  std::vector<std::string> texts;           // around the numbers, one more than these
  std::vector<std::set<uint64_t>> numbers;  // of each place
  std::string dtype, shape;
  uint64_t keys = 0, bytes = 0;
};

// Cuts a key at the numbers that count something: texts and numbers by turns. Numbers with leading
// zeros or of more than 18 digits stay text, so that no two keys become one.
void Cut(std::string_view key, std::vector<std::string>* texts, std::vector<uint64_t>* numbers) {
  texts->assign(1, "");
  for (size_t i = 0; i < key.size();) {
    size_t end = i;
    while (end < key.size() && IsDigit(key[end])) ++end;
    const bool alone =
        (i == 0 || Separates(key[i - 1])) && (end == key.size() || Separates(key[end]));
    const bool plain = end - i == 1 || (end - i <= 18 && key[i] != '0');
    if (end > i && alone && plain) {
      uint64_t number = 0;
      std::from_chars(key.data() + i, key.data() + end, number);
      numbers->push_back(number);
      texts->emplace_back();
      i = end;
    } else {
      end = std::max(end, i + 1);
      texts->back() += key.substr(i, end - i);
      i = end;
    }
  }
}

// "3", "{0..31}", "{0,2,5}", "{0..31, 16 of them}".
std::string Numbers(const std::set<uint64_t>& numbers) {
  const uint64_t first = *numbers.begin(), last = *numbers.rbegin();
  if (numbers.size() == 1) return std::to_string(first);
  std::string text = "{" + std::to_string(first);
  if (last - first + 1 == numbers.size()) return text + ".." + std::to_string(last) + "}";
  if (numbers.size() > 4) {
    return text + ".." + std::to_string(last) + ", " + std::to_string(numbers.size()) + " of them}";
  }
  for (auto it = std::next(numbers.begin()); it != numbers.end(); ++it) {
    text += "," + std::to_string(*it);
  }
  return text + "}";
}

}  // namespace

std::string FamilyTable(const Catalog& catalog, const std::vector<uint32_t>& chosen) {
  std::vector<Family> families;
  std::unordered_map<std::string, size_t> by_name;
  for (uint32_t i : chosen) {
    const Entry& entry = catalog.entries[i];
    Family family;
    std::vector<uint64_t> numbers;
    Cut(entry.key, &family.texts, &numbers);
    family.dtype = Name(entry.dtype);
    family.shape = ToString(entry.shape);
    std::string name;
    for (const std::string& text : family.texts) name += text + '\0';
    name += family.dtype + family.shape;
    const auto [at, is_new] = by_name.emplace(std::move(name), families.size());
    if (is_new) {
      family.numbers.resize(numbers.size());
      families.push_back(std::move(family));
    }
    Family& known = families[at->second];
    for (size_t n = 0; n < numbers.size(); ++n) known.numbers[n].insert(numbers[n]);
    ++known.keys;
    known.bytes += DataBytes(entry);
  }
  Table table({false, false, false, true, true});
  for (const Family& family : families) {
    std::string key = Printable(family.texts[0]);
    for (size_t n = 0; n < family.numbers.size(); ++n) {
      key += Numbers(family.numbers[n]) + Printable(family.texts[n + 1]);
    }
    table.Row(
        {key, family.dtype, family.shape, "x" + std::to_string(family.keys), Size(family.bytes)});
  }
  return table.ToString();
}

}  // namespace rekey::cli
