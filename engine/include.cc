#include "engine/include.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "engine/compile.h"
#include "engine/pack.h"

namespace rekey {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPack = "pack:";
constexpr size_t kMaxDepth = 50;

class Splicer {
 public:
  Splicer(Spliced* whole, Diagnostics* diagnostics) : whole_(whole), diagnostics_(diagnostics) {}

  void Add(const std::shared_ptr<const ast::File>& file, bool included) {
    whole_->files.push_back(file);
    for (const ast::Statement& statement : file->statements) {
      if (const auto* include = std::get_if<ast::Include>(&statement.node)) {
        Include(*file, *include);
      } else if (!included || !Stays(statement)) {
        whole_->items.push_back({&statement, included});
      }
    }
  }

  void Open(std::string identity, Span span) { open_.push_back({std::move(identity), span}); }

 private:
  struct OpenFile {
    std::string identity;
    Span included_at;
  };

  // What speaks of the file that it stands in.
  static bool Stays(const ast::Statement& statement) {
    return std::holds_alternative<ast::Test>(statement.node) ||
           std::holds_alternative<ast::Version>(statement.node);
  }

  // The folder that paths in the file are relative to.
  static fs::path FolderOf(const ast::File& file) {
    std::string name = file.source->name();
    if (name.starts_with(kPack)) {
      Result<Pack> pack = FindPackByReference(std::string_view(name).substr(kPack.size()));
      if (pack.ok()) name = pack->file;
    }
    return fs::path(name).parent_path();
  }

  void Include(const ast::File& from, const ast::Include& include) {
    const bool is_pack = std::string_view(include.path).starts_with(kPack);
    const fs::path path(include.path);
    const std::string name =
        is_pack || path.is_absolute() ? include.path : (FolderOf(from) / path).string();
    const std::string identity = FileIdentity(name);
    const auto same = std::find_if(open_.begin(), open_.end(), [&identity](const OpenFile& file) {
      return file.identity == identity;
    });
    if (same != open_.end() || open_.size() > kMaxDepth) {
      Diagnostic error = Error("include-cycle", "`" + include.path + "` includes itself");
      error.At(include.path_span);
      for (auto file = same; file != open_.end(); ++file)
        if (file->included_at) error.Also(file->included_at, "through this include");
      diagnostics_->push_back(std::move(error));
      return;
    }
    LoadedRules loaded = LoadRules(name);
    for (Diagnostic& diagnostic : loaded.diagnostics) {
      if (diagnostic.primary.span) {
        diagnostic.Also(include.path_span, "included here");
      } else {
        diagnostic.At(include.path_span);
      }
      diagnostics_->push_back(std::move(diagnostic));
    }
    if (!loaded.file) {
      KeepSource(std::move(loaded.source));
      return;
    }
    open_.push_back({identity, include.path_span});
    Add(loaded.file, true);
    open_.pop_back();
  }

  // Diagnostics point into the text of a file that does not parse, too.
  void KeepSource(std::shared_ptr<const Source> source) {
    if (!source) return;
    auto file = std::make_shared<ast::File>();
    file->source = std::move(source);
    whole_->files.push_back(std::move(file));
  }

 public:
  // The same for all ways to write one file.
  static std::string FileIdentity(const std::string& name) {
    std::string path = name;
    if (std::string_view(name).starts_with(kPack)) {
      Result<Pack> pack = FindPackByReference(std::string_view(name).substr(kPack.size()));
      if (!pack.ok()) return name;
      path = pack->file;
    }
    std::error_code code;
    const fs::path real = fs::weakly_canonical(path, code);
    return code ? path : real.string();
  }

 private:
  Spliced* whole_;
  Diagnostics* diagnostics_;
  std::vector<OpenFile> open_;
};

}  // namespace

Spliced Splice(std::shared_ptr<const ast::File> file, Diagnostics* diagnostics) {
  Spliced whole;
  Splicer splicer(&whole, diagnostics);
  splicer.Open(Splicer::FileIdentity(file->source->name()), Span());
  splicer.Add(file, false);
  return whole;
}

}  // namespace rekey
