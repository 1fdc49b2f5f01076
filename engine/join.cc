#include "engine/join.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rekey {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "mp_rank_07/a" -> {"mp_rank_", "07", "/a"}: runs of digits stand at odd places.
std::vector<std::string> SplitDigits(const std::string& name) {
  std::vector<std::string> runs{""};
  for (char c : name) {
    const bool in_digits = runs.size() % 2 == 0;
    if (IsDigit(c) != in_digits) runs.emplace_back();
    runs.back().push_back(c);
  }
  return runs;
}

// A literal as patterns and targets of the rule language write it.
std::string Written(const std::string& literal) {
  std::string escaped;
  for (char c : literal) {
    if (std::string_view("\\{}\"").find(c) != std::string_view::npos) escaped.push_back('\\');
    escaped.push_back(c);
  }
  return escaped;
}

bool NeedsQuotes(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) {
    const bool letter_or_digit = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    return !letter_or_digit &&
           std::string_view("_.:/@%~-{}\\\"").find(static_cast<char>(c)) == std::string_view::npos;
  });
}

std::string SourceLine(const std::string& pattern, const std::string& target) {
  const auto quoted = [](const std::string& text) {
    return NeedsQuotes(text) ? '"' + text + '"' : text;
  };
  return "source " + quoted(pattern) + " -> " + quoted(target);
}

std::string Stem(const std::string& name) {
  const size_t dot = name.find_last_of('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

void Shift(ObjectId& id, ObjectId base) {
  if (id != kNoObject) id += base;
}

// "a" if all parts say "a", else "a, b".
void AddWord(std::string& words, const std::string& word, bool first) {
  if (first) {
    words = word;
    return;
  }
  for (size_t begin = 0; begin <= words.size();) {
    const size_t end = std::min(words.find(", ", begin), words.size());
    if (words.compare(begin, end - begin, word) == 0) return;
    begin = end + 2;
  }
  words += ", " + word;
}

}  // namespace

std::vector<std::string> SourceLinesFor(const std::string& a, const std::string& b) {
  constexpr std::string_view kHoles = "nmkij";
  const std::vector<std::string> runs_a = SplitDigits(a), runs_b = SplitDigits(b);
  std::string pattern, target;
  size_t holes = 0;
  bool alike = runs_a.size() == runs_b.size() && a != b;
  for (size_t i = 0; alike && i < runs_a.size(); ++i) {
    if (runs_a[i] == runs_b[i]) {
      pattern += Written(runs_a[i]);
    } else if (i % 2 == 1 && holes < kHoles.size()) {
      const std::string name(1, kHoles[holes++]);
      pattern += "{" + name + ":int}";
      target += "{" + name + "}.";
    } else {
      alike = false;
    }
  }
  if (alike) return {SourceLine(pattern, target)};
  return {SourceLine(Written(a), Written(Stem(a)) + "."),
          SourceLine(Written(b), Written(Stem(b)) + ".")};
}

void CatalogJoiner::Add(Catalog part, std::string_view prefix) {
  const bool first = parts_.empty();
  parts_.push_back({whole_.entries.size(), static_cast<uint32_t>(whole_.files.size())});
  AddWord(whole_.format, part.format, first);
  AddWord(whole_.envelope, part.envelope, first);
  AddEntries(part, prefix);
  AddObjects(part, prefix.empty());
  AddMetadata(part);
  std::move(part.callables.begin(), part.callables.end(), std::back_inserter(whole_.callables));
  std::move(part.warnings.begin(), part.warnings.end(), std::back_inserter(whole_.warnings));
}

void CatalogJoiner::AddEntries(Catalog& part, std::string_view prefix) {
  const uint32_t files = static_cast<uint32_t>(whole_.files.size());
  const uint32_t storages = static_cast<uint32_t>(whole_.storages.size());
  for (FileInfo& file : part.files) whole_.files.push_back(std::move(file));
  for (Storage& storage : part.storages) {
    storage.file += files;
    whole_.storages.push_back(storage);
  }
  for (Entry& entry : part.entries) {
    entry.key = whole_.text->Add(prefix, entry.key);
    entry.storage += storages;
    whole_.entries.push_back(std::move(entry));
  }
  for (MetaRoot& root : part.meta) {
    root.file += files;
    Shift(root.object, static_cast<ObjectId>(whole_.objects->size()));
    whole_.meta.push_back(std::move(root));
  }
}

void CatalogJoiner::AddObjects(Catalog& part, bool with_modules) {
  const ObjectId base = static_cast<ObjectId>(whole_.objects->size());
  for (ModuleMetadata& module : part.module_metadata) {
    if (!with_modules) break;
    Shift(module.value, base);
    whole_.module_metadata.push_back(std::move(module));
  }
  for (size_t i = 0; i < part.objects->size(); ++i) {
    Object object = std::move((*part.objects)[static_cast<ObjectId>(i)]);
    Shift(object.state, base);
    for (ObjectId& item : object.items) Shift(item, base);
    whole_.objects->Add(std::move(object));
  }
}

void CatalogJoiner::AddMetadata(Catalog& part) {
  for (auto& [key, value] : part.metadata) {
    const auto [it, is_new] = metadata_.try_emplace(key, value);
    if (is_new) {
      metadata_order_.push_back(key);
    } else if (it->second && *it->second != value) {
      it->second.reset();
    }
  }
}

const FileInfo& CatalogJoiner::FileOfEntry(uint32_t entry) const {
  const auto after =
      std::upper_bound(parts_.begin(), parts_.end(), entry,
                       [](size_t index, const Part& part) { return index < part.first_entry; });
  return whole_.files[std::prev(after)->file];
}

Diagnostic CatalogJoiner::KeyInTwoFiles(uint32_t earlier, uint32_t later) const {
  const FileInfo& a = FileOfEntry(earlier);
  const FileInfo& b = FileOfEntry(later);
  Diagnostic error =
      Error("key-in-two-files", "the key `" + std::string(whole_.entries[later].key) +
                                    "` is in both `" + a.name + "` and `" + b.name + "`");
  if (metadata_.contains("DCP_SHARDING_INFO")) {
    return error
        .Note(
            "the files hold pieces of tensors, as torch.distributed.checkpoint writes them for "
            "each rank")
        .Help("join them first with torch's consolidate_safetensors_files");
  }
  for (const std::string& line : SourceLinesFor(a.name, b.name)) {
    error.Help("tell the files apart in the rules: `" + line + "`");
  }
  return error.Help("or name one of the files instead of the folder");
}

Result<Catalog> CatalogJoiner::Finish() {
  if (const auto twice = FindDuplicateKey(whole_.entries)) {
    return KeyInTwoFiles(twice->first, twice->second);
  }
  for (const std::string& key : metadata_order_) {
    std::optional<std::string>& value = metadata_[key];
    if (value) {
      whole_.metadata.emplace_back(key, std::move(*value));
    } else {
      whole_.warnings.push_back(
          Warning("metadata-differs",
                  "the metadata entry `" + key + "` differs between the files; it is left out"));
    }
  }
  // The same module in two files: the first one's.
  std::vector<ModuleMetadata> modules;
  std::map<std::string, bool> seen;
  for (ModuleMetadata& module : whole_.module_metadata) {
    if (seen.emplace(module.module, true).second) modules.push_back(std::move(module));
  }
  whole_.module_metadata = std::move(modules);
  std::sort(whole_.callables.begin(), whole_.callables.end());
  whole_.callables.erase(std::unique(whole_.callables.begin(), whole_.callables.end()),
                         whole_.callables.end());
  return std::move(whole_);
}

}  // namespace rekey
