#include "cli/stamp.h"

#include "cli/sha256.h"
#include "engine/pack.h"

namespace rekey::cli {
namespace {

constexpr std::string_view kPack = "pack:";

std::string BaseName(const std::string& path) {
  if (path.starts_with(kPack)) return path;
  return path.substr(path.rfind('/') + 1);
}

int64_t LanguageVersion(const ast::File& file) {
  for (const ast::Statement& statement : file.statements) {
    if (const auto* version = std::get_if<ast::Version>(&statement.node)) return version->number;
  }
  return 1;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> StampOf(const Job& job) {
  std::string name = BaseName(job.rules_name);
  int64_t version = LanguageVersion(*job.file);
  if (job.rules_name.starts_with(kPack)) {
    const Result<Pack> pack =
        FindPackByReference(std::string_view(job.rules_name).substr(kPack.size()));
    if (pack.ok()) {
      name = std::string(kPack) + pack->name;
      version = pack->version;
    }
  }
  std::vector<std::pair<std::string, std::string>> stamp = {
      {"rekey.rules", name},
      {"rekey.rules_version", std::to_string(version)},
      {"rekey.rules_sha256", Sha256(job.file->source->text())}};
  std::string included;
  for (const auto& file : job.program->files) {
    if (file->source == job.file->source) continue;
    included += (included.empty() ? "" : "\n") + BaseName(file->source->name()) + " " +
                Sha256(file->source->text());
  }
  if (!included.empty()) stamp.emplace_back("rekey.included", included);
  return stamp;
}

}  // namespace rekey::cli
