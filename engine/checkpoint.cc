#include "engine/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "engine/file.h"
#include "engine/folder.h"
#include "engine/formats/hf_index.h"
#include "engine/formats/unknown.h"
#include "engine/join.h"

namespace rekey {
namespace {

namespace fs = std::filesystem;

std::string Quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

bool IsFolder(const std::string& path) {
  std::error_code code;
  return fs::is_directory(path, code);
}

std::string FolderOf(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

bool IsIndexName(std::string_view name) { return name.ends_with(".index.json"); }

// Names for a message: the first few.
std::string List(const std::vector<std::string>& names, size_t most = 5) {
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), most); ++i)
    list += (i ? ", " : "") + Quoted(names[i]);
  return list + (names.size() > most ? ", ..." : "");
}

Result<Catalog> ReadNamed(const std::string& folder, const std::string& name,
                          const ReadOptions& options) {
  Result<InputFile> file = InputFile::Open(JoinPath(folder, name), name);
  if (!file.ok()) return std::move(file).error();
  return ReadFile(std::move(*file), options);
}

// JSON files in the folder as meta roots: config.json is `config.…`.
void AddJsonRoots(const std::string& folder, Catalog& catalog) {
  const Result<std::vector<std::string>> names = ListFiles(folder, Depth::kTop);
  if (!names.ok()) return;  // a file in a folder that may be entered but not listed
  constexpr std::string_view kExtension = ".json";
  for (const std::string& name : *names) {
    if (!name.ends_with(kExtension) || IsIndexName(name)) continue;
    catalog.meta.push_back({.prefix = name.substr(0, name.size() - kExtension.size()),
                            .json_path = JoinPath(folder, name)});
  }
}

Result<Catalog> OpenIndex(const std::string& path, const InputSpec& spec) {
  Result<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return std::move(file).error();
  if (!IsJsonText(*file)) return UnknownFile(*file);
  Result<HfIndex> index = HfIndex::Read(*file);
  if (!index.ok()) return std::move(index).error();
  const std::string folder = FolderOf(path);
  Status present = index->CheckPresent(folder);
  if (!present.ok()) return std::move(present).error();
  CatalogJoiner joiner;
  for (uint32_t i = 0; i < index->files().size(); ++i) {
    Result<Catalog> shard = ReadNamed(folder, index->files()[i], spec.read);
    if (!shard.ok()) return shard;
    index->Settle(i, *shard);
    joiner.Add(std::move(*shard), "");
  }
  Status complete = index->CheckComplete();
  if (!complete.ok()) return std::move(complete).error();
  return joiner.Finish();
}

Diagnostic NoSourceTakes(const std::string& folder, const std::vector<std::string>& names) {
  Diagnostic error = Error("no-source-file", "no `source` line takes a file of " + Quoted(folder));
  if (!names.empty()) error.Note("the files there: " + List(names));
  return error.Help("a `source` pattern must fit the whole name, from the folder on");
}

// The files that `source` lines take, each behind its prefix.
Result<Catalog> OpenSources(const std::string& folder, const std::vector<std::string>& names,
                            const InputSpec& spec) {
  CatalogJoiner joiner;
  std::vector<std::string> left_out;
  size_t taken = 0;
  for (const std::string& name : names) {
    std::optional<Catalog> part;
    const auto read = [&]() -> Result<const Catalog*> {
      if (!part) {
        Result<Catalog> catalog = ReadNamed(folder, name, spec.read);
        if (!catalog.ok()) return std::move(catalog).error();
        part = std::move(*catalog);
      }
      return &*part;
    };
    Result<std::optional<std::string>> prefix = spec.source(name, read);
    if (!prefix.ok()) return std::move(prefix).error();
    if (!prefix->has_value()) {
      const Result<InputFile> file = InputFile::Open(JoinPath(folder, name), name);
      if (file.ok() && IsCheckpoint(*file)) left_out.push_back(name);
      continue;
    }
    const Result<const Catalog*> catalog = read();
    if (!catalog.ok()) return catalog.error();
    joiner.Add(std::move(*part), **prefix);
    ++taken;
  }
  if (taken == 0) return NoSourceTakes(folder, left_out);
  Result<Catalog> whole = joiner.Finish();
  if (whole.ok() && !left_out.empty()) {
    whole->warnings.push_back({.severity = Severity::kNote,
                               .name = "left-out",
                               .message = "no `source` line takes " + List(left_out) + " (" +
                                          std::to_string(left_out.size()) + " of " +
                                          std::to_string(taken + left_out.size()) + " files)"});
  }
  return whole;
}

// Files whose name says that they are checkpoints, whatever they hold.
bool ClaimsToBeCheckpoint(std::string_view name) {
  return name.ends_with(".safetensors") || name.ends_with(".pt") || name.ends_with(".pth");
}

// Names that checkpoints share with all sorts of files.
bool MayBeCheckpoint(std::string_view name) {
  return name.ends_with(".bin") || name.ends_with(".ckpt");
}

// A folder of torch.distributed.checkpoint: its files are pieces that only `.metadata` explains.
bool IsDistributed(const std::string& folder, const std::vector<std::string>& names) {
  std::error_code code;
  return fs::exists(JoinPath(folder, ".metadata"), code) &&
         std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.ends_with(".distcp"); });
}

Diagnostic NoCheckpoint(const std::string& folder) {
  Diagnostic error = Error(
      "no-checkpoint", "the folder " + Quoted(folder) + " holds no checkpoint and no index of one");
  size_t named = 0;
  for (const std::string& sub : ListFolders(folder)) {
    const std::string path = JoinPath(folder, sub);
    const Result<std::vector<std::string>> names = ListFiles(path, Depth::kTop);
    const bool has = names.ok() && std::any_of(names->begin(), names->end(), [&](const auto& name) {
                       const Result<InputFile> file = InputFile::Open(JoinPath(path, name));
                       return file.ok() && IsCheckpoint(*file);
                     });
    if (has && ++named <= 3) error.Help("there is one in " + Quoted(path));
  }
  if (named == 0) error.Help("name a checkpoint file, its index (*.index.json) or its folder");
  return error;
}

// All checkpoint files of a folder that has neither an index nor `source` lines.
Result<Catalog> OpenAllFiles(const std::string& folder, const std::vector<std::string>& names,
                             const InputSpec& spec) {
  CatalogJoiner joiner;
  Diagnostics left_out;
  std::optional<Diagnostic> without_state;  // of the first torch file that holds none
  size_t taken = 0;
  for (const std::string& name : names) {
    Result<InputFile> file = InputFile::Open(JoinPath(folder, name), name);
    if (!file.ok()) return std::move(file).error();
    if (!IsCheckpoint(*file)) {
      // To pass over a broken shard would lose its tensors.
      if (ClaimsToBeCheckpoint(name)) return UnknownFile(*file);
      if (MayBeCheckpoint(name)) {
        left_out.push_back(Warning("left-out", UnknownFile(*file).message + "; it is left out"));
      }
      continue;
    }
    Result<Catalog> part = ReadFile(std::move(*file), spec.read);
    if (!part.ok()) {
      // Trainers keep their optimizer and arguments in torch files beside the weights.
      if (part.error().name != "no-state-dict") return part;
      left_out.push_back(Warning("left-out", part.error().message + "; it is left out"));
      if (!without_state) without_state = std::move(part).error();
      continue;
    }
    joiner.Add(std::move(*part), "");
    ++taken;
  }
  if (taken == 0 && without_state) return std::move(*without_state);
  if (taken == 0) return NoCheckpoint(folder);
  Result<Catalog> whole = joiner.Finish();
  if (whole.ok()) std::move(left_out.begin(), left_out.end(), std::back_inserter(whole->warnings));
  return whole;
}

Result<Catalog> OpenFile(const std::string& path, const InputSpec& spec) {
  Result<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return std::move(file).error();
  const std::string folder = FolderOf(path);
  Result<Catalog> catalog = [&]() -> Result<Catalog> {
    if (!IsCheckpoint(*file) && IsJsonText(*file)) {
      if (!spec.source) return OpenIndex(path, spec);
      Result<std::vector<std::string>> names = ListFiles(folder, Depth::kAll);
      if (!names.ok()) return std::move(names).error();
      return OpenSources(folder, *names, spec);
    }
    if (spec.source) {
      Result<Catalog> one = OpenSources(folder, {file->info().name}, spec);
      if (!one.ok() && one.error().name == "no-source-file") {
        one.error().message = "no `source` line takes the file " + Quoted(path);
        one.error().Help("or name the folder that the pattern starts from");
      }
      return one;
    }
    return ReadFile(std::move(*file), spec.read);
  }();
  if (catalog.ok()) AddJsonRoots(folder, *catalog);
  return catalog;
}

Result<Catalog> OpenFolder(const std::string& folder, const InputSpec& spec) {
  Result<std::vector<std::string>> names =
      ListFiles(folder, spec.source ? Depth::kAll : Depth::kTop);
  if (!names.ok()) return std::move(names).error();
  if (IsDistributed(folder, *names)) {
    return Error("distributed-checkpoint",
                 Quoted(folder) +
                     " is a folder of torch.distributed.checkpoint, whose tensors lie "
                     "in pieces that rekey does not join")
        .Help(
            "join them first: `python -m torch.distributed.checkpoint.format_utils dcp_to_torch " +
            folder + " OUT.pt`");
  }
  if (spec.source) return OpenSources(folder, *names, spec);
  std::vector<std::string> indexes;
  std::copy_if(names->begin(), names->end(), std::back_inserter(indexes), IsIndexName);
  if (indexes.size() > 1) {
    Diagnostic error =
        Error("two-indexes", "the folder " + Quoted(folder) + " has " +
                                 std::to_string(indexes.size()) + " indexes: " + List(indexes));
    for (const std::string& name : indexes) {
      error.Help("name the one you mean: " + Quoted(JoinPath(folder, name)));
    }
    return error;
  }
  if (indexes.size() == 1) return OpenIndex(JoinPath(folder, indexes[0]), spec);
  return OpenAllFiles(folder, *names, spec);
}

bool HasIndex(const std::string& folder) {
  const Result<std::vector<std::string>> names = ListFiles(folder, Depth::kTop);
  return names.ok() && std::any_of(names->begin(), names->end(), IsIndexName);
}

}  // namespace

Result<Catalog> OpenCheckpoint(const std::string& path, const InputSpec& spec) {
  if (!IsFolder(path)) return OpenFile(path, spec);
  std::string folder = path;
  if (spec.source || !HasIndex(path)) {
    Result<std::optional<std::string>> newest = NewestCheckpoint(path);
    if (!newest.ok()) return std::move(newest).error();
    if (newest->has_value()) folder = std::move(**newest);
  }
  if (!IsFolder(folder)) return OpenFile(folder, spec);
  Result<Catalog> catalog = OpenFolder(folder, spec);
  if (!catalog.ok()) return catalog;
  AddJsonRoots(folder, *catalog);
  if (folder != path) AddJsonRoots(path, *catalog);
  return catalog;
}

}  // namespace rekey
