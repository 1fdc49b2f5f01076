// Place (plan.h): which file each output goes to, and the layout of every file.
#include <re2/re2.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/formats/shards.h"
#include "engine/plan.h"
#include "grammar/printable.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

constexpr uint64_t kPage = 4096;
// What transformers' save_pretrained has long taken when nothing is said.
constexpr uint64_t kDefaultShardBytes = 5'000'000'000;

std::string Quoted(std::string_view text) { return '`' + Printable(text) + '`'; }

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// ".safetensors" of "out/model.safetensors"; "" when there is none.
std::string_view Extension(std::string_view path) {
  const std::string_view base = BaseName(path);
  const size_t dot = base.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view() : base.substr(dot);
}

std::string Stem(std::string_view path) {
  std::string_view base = BaseName(path);
  base.remove_suffix(Extension(path).size());
  return std::string(base);
}

bool IsFolder(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string FormatsInWords() {
  std::string text;
  for (const Writer& writer : Writers()) {
    text += (text.empty() ? "" : "; ") + std::string(writer.name) + ":";
    for (const char* extension : writer.extensions) text += std::string(" ") + extension;
  }
  return text;
}

const Writer* WriterByExtension(std::string_view extension) {
  for (const Writer& writer : Writers()) {
    for (const char* known : writer.extensions) {
      if (extension == known) return &writer;
    }
  }
  return nullptr;
}

Result<const Writer*> WriterByName(const std::string& name) {
  std::vector<std::string_view> known;
  for (const Writer& writer : Writers()) {
    if (name == writer.name) return &writer;
    known.push_back(writer.name);
  }
  if (const Writer* writer = WriterByExtension('.' + name)) return writer;
  Diagnostic error = Error("unknown-format", "there is no output format " + Quoted(name));
  for (std::string_view near : Nearest(name, known, 1)) {
    error.Help("did you mean `" + std::string(near) + "`?");
  }
  return error.Note("formats and their extensions: " + FormatsInWords());
}

Diagnostic UnknownExtension(const std::string& path) {
  const std::string_view extension = Extension(path);
  Diagnostic error = Error(
      "unknown-format", extension.empty() ? Quoted(path) + " has no extension that tells the format"
                                          : "the extension " + Quoted(extension) + " of " +
                                                Quoted(path) + " is that of no output format");
  std::vector<std::string_view> known;
  for (const Writer& writer : Writers()) {
    known.insert(known.end(), writer.extensions.begin(), writer.extensions.end());
  }
  for (std::string_view near : Nearest(extension, known, 1)) {
    error.Help("did you mean `" + std::string(near) + "`?");
  }
  error.Note("formats and their extensions: " + FormatsInWords());
  return error.Help("name the format with --to, or a folder by a `/` at the end");
}

// The writer of one file: --to, else the extension.
Result<const Writer*> PickWriter(const std::string& path, const PlaceOptions& options) {
  if (!options.to.empty()) return WriterByName(options.to);
  if (const Writer* writer = WriterByExtension(Extension(path))) return writer;
  return UnknownExtension(path);
}

// --- One file ------------------------------------------------------------------------------------

// A file before its layout is known.
struct Draft {
  std::string name;  // below OUT, or empty: OUT itself
  const Writer* writer = nullptr;
  std::vector<uint32_t> outputs;       // indices into the plan
  std::vector<std::string_view> keys;  // in the file; without a sink those of the plan
};

// What is known beforehand of bytes that are copied as they are.
void FillCopy(const Catalog& catalog, const Lowered& lowered, OutputTensor* tensor) {
  if (lowered.recipe != Recipe::kCopy || lowered.pieces.size() != 1) return;
  const Piece& piece = lowered.pieces.front();
  if (piece.storage == Piece::kNone || piece.fixes.any()) return;
  const Storage& storage = catalog.storages[piece.storage];
  if (storage.packing == Storage::Packing::kPlain) {
    tensor->source_phase = static_cast<uint32_t>((storage.offset + piece.source) % kPage);
  }
  // Some savers leave the CRC at 0; computing one costs less than passing on a wrong one.
  const bool whole = piece.source == 0 && lowered.bytes == storage.bytes;
  if (whole && storage.has_crc && storage.crc32 != 0) tensor->crc32 = storage.crc32;
}

std::vector<std::pair<std::string, std::string>> Metadata(const Catalog& catalog,
                                                          const PlaceOptions& options) {
  std::vector<std::pair<std::string, std::string>> metadata = catalog.metadata;
  for (const auto& [name, value] : options.stamp) {
    const auto same = std::find_if(metadata.begin(), metadata.end(),
                                   [&](const auto& entry) { return entry.first == name; });
    if (same == metadata.end()) {
      metadata.emplace_back(name, value);
    } else {
      same->second = value;
    }
  }
  return metadata;
}

std::vector<OutputTensor> Describe(const Plan& plan, const Draft& draft, bool copy_ties) {
  const Catalog& catalog = plan.rewritten.graph.catalog();
  std::vector<OutputTensor> tensors;
  tensors.reserve(draft.outputs.size());
  std::unordered_map<uint32_t, uint32_t> first;  // plan's same_as -> position in this file
  for (uint32_t at = 0; at < draft.outputs.size(); ++at) {
    const uint32_t output = draft.outputs[at];
    const Lowered& lowered = plan.lowered[output];
    OutputTensor tensor;
    tensor.key = draft.keys[at];
    tensor.dtype = lowered.type.dtype;
    tensor.shape = lowered.type.shape;
    tensor.bytes = lowered.bytes;
    tensor.same_as = copy_ties ? at : first.emplace(plan.same_as[output], at).first->second;
    FillCopy(catalog, lowered, &tensor);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// Options that every file of a run shares.
struct Shared {
  std::vector<std::pair<std::string, std::string>> metadata;
  bool copy_ties = false;
};

Result<PlacedFile> LayOut(const Plan& plan, const Draft& draft, const std::string& path,
                          const Shared& shared) {
  OutputDescription description;
  description.tensors = Describe(plan, draft, shared.copy_ties);
  description.metadata = shared.metadata;
  description.module_metadata = plan.module_metadata;
  description.objects = plan.rewritten.graph.catalog().objects.get();
  description.archive_name = Stem(path);
  Result<FileLayout> layout = draft.writer->lay_out(description);
  if (!layout.ok()) return std::move(layout).error();
  return PlacedFile{path, draft.outputs, std::move(*layout)};
}

// --- Shards --------------------------------------------------------------------------------------

Draft WholePlan(const Plan& plan, const Writer* writer) {
  Draft draft;
  draft.writer = writer;
  for (uint32_t i = 0; i < plan.rewritten.outputs.size(); ++i) {
    draft.outputs.push_back(i);
    draft.keys.push_back(plan.rewritten.outputs[i].key);
  }
  return draft;
}

// Cuts the whole plan into files named as Hugging Face tools expect them; one file has no number.
std::vector<Draft> Shards(const Plan& plan, const Writer* writer, std::string_view extension,
                          const PlaceOptions& options) {
  Draft whole = WholePlan(plan, writer);
  const std::vector<uint32_t> shard_of =
      AssignShards(Describe(plan, whole, options.copy_ties),
                   options.max_shard_size.value_or(kDefaultShardBytes));
  const std::string_view stem = ShardStem(extension);
  uint32_t count = 1;
  for (uint32_t shard : shard_of) count = std::max(count, shard + 1);
  if (count == 1) {
    whole.name = std::string(stem) + std::string(extension);
    return {std::move(whole)};
  }
  std::vector<Draft> shards(count);
  for (uint32_t i = 0; i < count; ++i) {
    shards[i].name = ShardName(stem, extension, i, count);
    shards[i].writer = writer;
  }
  for (uint32_t at = 0; at < shard_of.size(); ++at) {
    shards[shard_of[at]].outputs.push_back(whole.outputs[at]);
    shards[shard_of[at]].keys.push_back(whole.keys[at]);
  }
  return shards;
}

// Keys whose bytes stand under another name are in no safetensors file, so the index leaves them
// out.
Status AddIndex(const Plan& plan, const std::vector<Draft>& shards, const std::string& root,
                std::string_view extension, bool copy_ties, Placed* placed) {
  std::vector<std::pair<std::string_view, uint32_t>> keys;
  std::vector<std::string> files;
  uint64_t total = 0;
  for (uint32_t i = 0; i < shards.size(); ++i) {
    files.push_back(shards[i].name);
    const bool lists_shared = std::string_view(shards[i].writer->name) != "safetensors";
    const std::vector<OutputTensor> tensors = Describe(plan, shards[i], copy_ties);
    for (uint32_t at = 0; at < tensors.size(); ++at) {
      const bool shared = tensors[at].same_as != at;
      if (!shared) total += tensors[at].bytes;
      if (!shared || lists_shared) keys.emplace_back(tensors[at].key, i);
    }
  }
  Result<std::string> text = IndexText(std::move(keys), files, total);
  if (!text.ok()) return std::move(text).error();
  placed->index_path = root + IndexName(ShardStem(extension), extension);
  placed->index_text = std::move(*text);
  return {};
}

// --- Sinks ---------------------------------------------------------------------------------------

// `sink P -> T`: P fits the beginning of a key, T is the file, the rest is the key in it.
class Sink {
 public:
  explicit Sink(const PathRule& rule) : rule_(rule) {
    if (!rule.pattern.is_literal) {
      re_ = std::make_unique<re2::RE2>("(?s)(?:" + rule.pattern.regex + ")(.+)", re2::RE2::Quiet);
    }
  }

  // The file and the rest of the key; an empty file when the sink does not take it.
  Result<std::pair<std::string, std::string_view>> Take(std::string_view key) const {
    std::pair<std::string, std::string_view> taken;
    std::vector<std::string_view> variables(rule_.variables.size());
    if (!re_) {
      const std::string& prefix = rule_.pattern.prefix;
      if (!key.starts_with(prefix) || key.size() == prefix.size()) return taken;
      taken.second = key.substr(prefix.size());
    } else {
      std::vector<re2::StringPiece> groups(static_cast<size_t>(re_->NumberOfCapturingGroups()) + 1);
      if (!re_->ok() ||
          !re_->Match(re2::StringPiece(key.data(), key.size()), 0, key.size(),
                      re2::RE2::ANCHOR_BOTH, groups.data(), static_cast<int>(groups.size()))) {
        return taken;
      }
      for (size_t i = 0; i < rule_.pattern.groups.size(); ++i) {
        const int group = rule_.pattern.groups[i];
        if (group < 0) continue;
        variables[i] = {groups[static_cast<size_t>(group)].data(),
                        groups[static_cast<size_t>(group)].size()};
      }
      taken.second = {groups.back().data(), groups.back().size()};
    }
    Env env;
    env.variables = &variables;
    Status printed = rule_.target.Print(env, &taken.first);
    if (!printed.ok()) return std::move(printed).error();
    return taken;
  }

  const PathRule& rule() const { return rule_; }

 private:
  const PathRule& rule_;
  std::unique_ptr<re2::RE2> re_;  // null: a literal
};

// A path below OUT: no way up and none from the root.
Status CheckPath(const std::string& path, std::string_view key, const PathRule& sink) {
  bool leads_out = path.empty() || path.front() == '/' || path.back() == '/';
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = std::string_view(path).substr(begin, end - begin);
    leads_out = leads_out || part.empty() || part == "." || part == "..";
    begin = end + 1;
  }
  if (!leads_out) return {};
  return Error("sink-path", "the sink would write " + Quoted(key) + " to " + Quoted(path) +
                                ", which is no file below the output folder")
      .At(sink.span)
      .Help("write a path such as rank_{t}/model.safetensors");
}

// One draft for each file that the sinks name, in the order of their first keys.
Result<std::vector<Draft>> SinkFiles(const Plan& plan, const Program& program,
                                     const PlaceOptions& options) {
  std::vector<Sink> sinks;
  sinks.reserve(program.sinks.size());
  for (const PathRule& rule : program.sinks) sinks.emplace_back(rule);
  std::vector<Draft> files;
  std::unordered_map<std::string, size_t> by_path;
  std::vector<std::unordered_map<std::string_view, std::string_view>> taken;  // rest -> whole key
  for (uint32_t i = 0; i < plan.rewritten.outputs.size(); ++i) {
    const std::string_view key = plan.rewritten.outputs[i].key;
    bool found = false;
    for (const Sink& sink : sinks) {
      Result<std::pair<std::string, std::string_view>> take = sink.Take(key);
      if (!take.ok()) return std::move(take).error();
      const auto& [path, rest] = *take;
      if (rest.empty()) continue;
      Status safe = CheckPath(path, key, sink.rule());
      if (!safe.ok()) return std::move(safe).error();
      const auto [file, is_new] = by_path.emplace(path, files.size());
      if (is_new) {
        Result<const Writer*> writer = PickWriter(path, options);
        if (!writer.ok()) return std::move(writer.error()).At(sink.rule().span);
        files.push_back({path, *writer, {}, {}});
        taken.emplace_back();
      }
      const auto [other, fresh] = taken[file->second].emplace(rest, key);
      if (!fresh) {
        return Error("sink-collision", "the sinks make " + Quoted(rest) + " in " + Quoted(path) +
                                           " of two keys: " + Quoted(other->second) + " and " +
                                           Quoted(key))
            .At(sink.rule().span)
            .Help("give them different files or different names");
      }
      files[file->second].outputs.push_back(i);
      files[file->second].keys.push_back(rest);
      found = true;
      break;
    }
    if (!found) {
      return Error("no-sink", "no `sink` takes the key " + Quoted(key))
          .At(program.sinks.front().span)
          .Help("add a `sink` for it, or drop the key");
    }
  }
  return files;
}

// A file may not be the folder of another.
Status CheckFolders(const std::vector<Draft>& files) {
  std::unordered_set<std::string_view> names;
  for (const Draft& file : files) names.insert(file.name);
  for (const Draft& file : files) {
    for (size_t slash = file.name.find('/'); slash != std::string::npos;
         slash = file.name.find('/', slash + 1)) {
      const std::string_view folder = std::string_view(file.name).substr(0, slash);
      if (!names.contains(folder)) continue;
      return Error("sink-collision", "the sinks make " + Quoted(folder) +
                                         " both a file and the folder of " + Quoted(file.name))
          .Help("give them different paths");
    }
  }
  return {};
}

// --- The whole -----------------------------------------------------------------------------------

Result<bool> WantsFolder(const Program& program, const std::string& out,
                         const PlaceOptions& options) {
  if (out.ends_with('/') || IsFolder(out)) return true;
  const bool has_extension = WriterByExtension(Extension(out)) != nullptr;
  if (!program.sinks.empty() && has_extension) {
    return Error("needs-folder", "the rules write several files (`sink`), and " + Quoted(out) +
                                     " is the name of one")
        .At(program.sinks.front().span)
        .Help("name a folder: -o " + Stem(out) + "/");
  }
  if (options.max_shard_size && has_extension) {
    return Error("needs-folder", "--max-shard-size writes a folder of shards, and " + Quoted(out) +
                                     " is the name of a file")
        .Help("name a folder: -o " + Stem(out) + "/");
  }
  return !program.sinks.empty() || options.max_shard_size.has_value();
}

// The extension of shards: what Hugging Face tools look for.
Result<std::pair<const Writer*, std::string>> FolderFormat(const PlaceOptions& options) {
  if (options.to.empty()) {
    return std::pair(WriterByExtension(".safetensors"), std::string(".safetensors"));
  }
  Result<const Writer*> writer = WriterByName(options.to);
  if (!writer.ok()) return std::move(writer).error();
  const std::string_view name = (*writer)->name;
  return std::pair(*writer, name == "torch" ? ".bin" : std::string((*writer)->extensions.front()));
}

}  // namespace

Result<Placed> Place(const Plan& plan, const Program& program, const std::string& out,
                     const PlaceOptions& options) {
  Result<bool> folder = WantsFolder(program, out, options);
  if (!folder.ok()) return std::move(folder).error();
  if (options.max_shard_size == 0) {
    return Error("shard-size", "a shard of 0 bytes holds nothing")
        .Help("write a size such as --max-shard-size 5GB");
  }
  Placed placed;
  placed.out = out;
  placed.folder = *folder;
  const std::string root = out.ends_with('/') ? out : out + '/';
  const Shared shared{Metadata(plan.rewritten.graph.catalog(), options), options.copy_ties};

  std::vector<Draft> drafts;
  if (!program.sinks.empty()) {
    if (options.max_shard_size) {
      return Error("shard-size",
                   "--max-shard-size does not go with `sink` lines, which name the "
                   "files themselves")
          .At(program.sinks.front().span)
          .Help("leave one of the two out");
    }
    Result<std::vector<Draft>> files = SinkFiles(plan, program, options);
    if (!files.ok()) return std::move(files).error();
    drafts = std::move(*files);
    Status apart = CheckFolders(drafts);
    if (!apart.ok()) return std::move(apart).error();
  } else if (placed.folder) {
    Result<std::pair<const Writer*, std::string>> format = FolderFormat(options);
    if (!format.ok()) return std::move(format).error();
    drafts = Shards(plan, format->first, format->second, options);
    if (drafts.size() > 1) {
      Status indexed = AddIndex(plan, drafts, root, format->second, options.copy_ties, &placed);
      if (!indexed.ok()) return std::move(indexed).error();
    }
  } else {
    Result<const Writer*> writer = PickWriter(out, options);
    if (!writer.ok()) return std::move(writer).error();
    drafts.push_back(WholePlan(plan, *writer));
  }

  placed.total = placed.index_text.size();
  for (const Draft& draft : drafts) {
    Result<PlacedFile> file = LayOut(plan, draft, placed.folder ? root + draft.name : out, shared);
    if (!file.ok()) return std::move(file).error();
    placed.total += file->layout.size;
    placed.files.push_back(std::move(*file));
  }
  return placed;
}

}  // namespace rekey
