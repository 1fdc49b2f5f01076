// LoadRules of compile.h: a rule file from a path, standard input, or a pack.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "engine/compile.h"
#include "engine/folder.h"
#include "engine/pack.h"
#include "grammar/parser.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPack = "pack:";

Diagnostic NoSuchFile(const std::string& path) {
  const fs::path wanted(path);
  Diagnostic error = Error("no-such-file", "there is no rule file `" + path + "`");
  const std::string folder = wanted.has_parent_path() ? wanted.parent_path().string() : ".";
  std::error_code code;
  if (!fs::is_directory(folder, code))
    return std::move(error.Note("there is no folder `" + folder + "`"));
  const Result<std::vector<std::string>> names = ListFiles(folder, Depth::kTop);
  if (!names.ok()) return error;
  const std::string name = wanted.filename().string();
  std::vector<std::string_view> candidates(names->begin(), names->end());
  const std::string with_extension = name + ".rekey";
  if (std::find(candidates.begin(), candidates.end(), with_extension) != candidates.end()) {
    error.Help("did you mean `" + (wanted.parent_path() / with_extension).string() + "`?");
    return error;
  }
  for (const std::string_view near : Nearest(name, candidates, 3))
    error.Help("did you mean `" + (wanted.parent_path() / near).string() + "`?");
  return error;
}

Result<std::string> ReadRules(const std::string& path) {
  if (path == "-") {
    std::string text(std::istreambuf_iterator<char>(std::cin), {});
    return text;
  }
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) return NoSuchFile(path);
  if (fs::is_directory(status))
    return Error("no-such-file", "`" + path + "` is a folder, no rule file")
        .Help("name a file of rules in it");
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Error("unreadable-file", "the rule file `" + path + "` cannot be read: " +
                                        std::generic_category().message(errno))
        .Help("check its permissions");
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) return Error("unreadable-file", "the rule file `" + path + "` cannot be read");
  return text;
}

LoadedRules Failed(Diagnostic error) {
  LoadedRules loaded;
  loaded.diagnostics.push_back(std::move(error));
  return loaded;
}

}  // namespace

LoadedRules LoadRulesText(const std::string& name, std::string text) {
  LoadedRules loaded;
  loaded.source = std::make_shared<Source>(name, std::move(text));
  ParseResult parsed = Parse(loaded.source);
  loaded.diagnostics = std::move(parsed.diagnostics);
  if (!HasErrors(loaded.diagnostics))
    loaded.file = std::make_shared<ast::File>(std::move(parsed.file));
  return loaded;
}

LoadedRules LoadRules(const std::string& rules) {
  std::string name = rules;
  std::string path = rules;
  if (std::string_view(rules).starts_with(kPack)) {
    Result<Pack> pack = FindPackByReference(std::string_view(rules).substr(kPack.size()));
    if (!pack.ok()) return Failed(std::move(pack).error());
    path = pack->file;
    name = std::string(kPack) + pack->name + "@" + std::to_string(pack->version);
  }
  Result<std::string> text = ReadRules(path);
  if (!text.ok()) return Failed(std::move(text).error());
  return LoadRulesText(name, std::move(*text));
}

}  // namespace rekey
