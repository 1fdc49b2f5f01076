#include "engine/pack.h"

#include <toml++/toml.h>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include "grammar/suggest.h"

namespace rekey {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackFile = "pack.toml";
constexpr int kMaxFolders = 4;  // rules/common/unwrap/1: family, name, version, and one to spare

bool IsFolder(const fs::path& path) {
  std::error_code code;
  return fs::is_directory(path, code);
}

// Folders of packs, first come first served.
std::vector<fs::path> Roots() {
  std::vector<fs::path> roots;
  if (const char* variable = std::getenv("REKEY_RULES")) {
    const std::string list = variable;
    for (size_t begin = 0; begin <= list.size();) {
      const size_t end = std::min(list.find(':', begin), list.size());
      if (end > begin) roots.emplace_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  if (!code) {
    const fs::path installed = program.parent_path().parent_path() / "share" / "rekey" / "rules";
    if (IsFolder(installed)) roots.push_back(installed);
  }
  for (const char* folder : {REKEY_RULES_DIR, REKEY_INSTALLED_RULES_DIR})
    if (IsFolder(folder)) roots.emplace_back(folder);
  return roots;
}

Diagnostic Broken(const fs::path& file, const std::string& what) {
  return Error("broken-pack", "`" + file.string() + "`: " + what);
}

std::optional<int> ParseVersion(std::string_view text) {
  int version = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (code != std::errc() || end != text.data() + text.size() || version < 1) return std::nullopt;
  return version;
}

Result<Pack> FromToml(const toml::table& toml, const fs::path& file, const std::string& name,
                      int version) {
  Pack pack;
  pack.name = name;
  pack.version = version;
  const auto text = [&toml](const char* key) { return toml[key].value<std::string>(); };
  if (text("name") != name)
    return Broken(file, "`name` is not that of the folder, \"" + name + "\"");
  if (toml["version"].value<int64_t>() != version)
    return Broken(file, "`version` is not that of the folder, " + std::to_string(version));
  if (!text("file")) return Broken(file, "there is no `file`, the name of the rule file");
  if (!text("what")) return Broken(file, "there is no `what`, one line of what the pack is for");
  pack.what = *text("what");
  const fs::path rules = fs::path(*text("file"));
  std::error_code code;
  pack.file = (file.parent_path() / rules).string();
  if (rules.has_parent_path() || !fs::is_regular_file(pack.file, code))
    return Broken(file, "`file` names no file of the pack, \"" + rules.string() + "\"");
  if (const toml::table* params = toml["params"].as_table())
    for (const auto& [param, what] : *params)
      pack.params.emplace_back(std::string(param.str()), what.value_or(std::string()));
  if (const toml::array* tested = toml["tested"].as_array())
    for (const toml::node& each : *tested)
      if (const auto against = each.value<std::string>()) pack.tested.push_back(*against);
  return pack;
}

Result<Pack> ReadPack(const fs::path& file, const std::string& name, int version) {
  try {
    const toml::table toml = toml::parse_file(file.string());
    return FromToml(toml, file, name, version);
  } catch (const toml::parse_error& error) {
    return Broken(file, std::string(error.description()) + " in line " +
                            std::to_string(error.source().begin.line));
  }
}

// A folder with a pack.toml, not yet read.
struct Found {
  std::string name;
  int version = 0;
  fs::path file;
};

void FindBelow(const fs::path& folder, const std::string& name, int depth,
               std::vector<Found>* found) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    if (!IsFolder(entry.path())) continue;
    const std::string part = entry.path().filename().string();
    const fs::path file = entry.path() / kPackFile;
    const std::optional<int> version = ParseVersion(part);
    if (version && fs::exists(file, code)) {
      found->push_back({name, *version, file});
    } else if (depth < kMaxFolders) {
      FindBelow(entry.path(), name.empty() ? part : name + "/" + part, depth + 1, found);
    }
  }
}

// By name and version; of two with both equal, the one of the first root.
std::vector<Found> FindAll() {
  std::vector<Found> found;
  for (const fs::path& root : Roots()) FindBelow(root, "", 0, &found);
  const auto key = [](const Found& pack) { return std::pair(pack.name, pack.version); };
  std::stable_sort(found.begin(), found.end(),
                   [&key](const Found& a, const Found& b) { return key(a) < key(b); });
  const auto last = std::unique(found.begin(), found.end(), [&key](const Found& a, const Found& b) {
    return key(a) == key(b);
  });
  found.erase(last, found.end());
  return found;
}

Diagnostic NoSuchPack(std::string_view name, const std::vector<Found>& found) {
  Diagnostic error = Error("unknown-pack", "there is no pack `" + std::string(name) + "`");
  std::set<std::string> names;
  for (const Found& pack : found) names.insert(pack.name);
  std::vector<std::string_view> candidates(names.begin(), names.end());
  for (const std::string_view near : Nearest(name, candidates, 3))
    error.Help("did you mean `pack:" + std::string(near) + "`?");
  for (const std::string& each : names)
    if (error.helps.empty() && each.ends_with("/" + std::string(name)))
      error.Help("did you mean `pack:" + each + "`?");
  if (names.empty()) error.Note("no packs were found; `REKEY_RULES` names folders of packs");
  return error.Help("`rekey packs` lists them all");
}

}  // namespace

Result<Pack> FindPack(std::string_view name, std::optional<int> version) {
  const std::vector<Found> found = FindAll();
  const Found* best = nullptr;
  std::string versions;
  for (const Found& pack : found) {
    if (pack.name != name) continue;
    versions += (versions.empty() ? "" : ", ") + std::to_string(pack.version);
    if (!version || *version == pack.version) best = &pack;
  }
  if (best != nullptr) return ReadPack(best->file, best->name, best->version);
  if (versions.empty()) return NoSuchPack(name, found);
  return Error("unknown-pack",
               "the pack `" + std::string(name) + "` has no version " + std::to_string(*version))
      .Note("it has " + versions);
}

std::vector<Pack> AllPacks(Diagnostics* diagnostics) {
  std::vector<Pack> packs;
  for (const Found& found : FindAll()) {
    Result<Pack> pack = ReadPack(found.file, found.name, found.version);
    if (pack.ok()) {
      packs.push_back(std::move(*pack));
    } else {
      diagnostics->push_back(std::move(pack).error());
    }
  }
  return packs;
}

Result<Pack> FindPackByReference(std::string_view reference) {
  const size_t at = reference.rfind('@');
  if (at == std::string_view::npos) return FindPack(reference, std::nullopt);
  const std::optional<int> version = ParseVersion(reference.substr(at + 1));
  if (!version)
    return Error("unknown-pack",
                 "`" + std::string(reference.substr(at + 1)) + "` is no version of a pack")
        .Help("write `pack:" + std::string(reference.substr(0, at)) + "@1`");
  return FindPack(reference.substr(0, at), version);
}

}  // namespace rekey
