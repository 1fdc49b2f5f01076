// `rekey keys IN`: what is in a checkpoint, from its headers.
#include <iostream>
#include <optional>
#include <utility>

#include "cli/job.h"
#include "cli/json_text.h"
#include "cli/key_views.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "engine/checkpoint.h"
#include "engine/join.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

struct NamedCatalog {
  std::string name;
  Catalog catalog;
};

// The entries that --filter takes, in file order.
Result<std::vector<uint32_t>> Chosen(const Settings& settings, const Catalog& catalog) {
  std::optional<KeyPattern> filter;
  if (!settings.filter.empty()) {
    Result<KeyPattern> compiled = CompileFilter(settings.filter);
    if (!compiled.ok()) return compiled.error();
    filter = std::move(*compiled);
  }
  std::vector<uint32_t> chosen;
  std::vector<std::string_view> variables;
  for (uint32_t i = 0; i < catalog.entries.size(); ++i) {
    if (!filter || filter->Match(catalog.entries[i].key, &variables)) chosen.push_back(i);
  }
  return chosen;
}

std::string LastLine(const Catalog& catalog, const std::vector<uint32_t>& chosen) {
  const std::vector<uint32_t> alias = Aliases(catalog);
  uint64_t parameters = 0, bytes = 0, tied = 0;
  for (uint32_t i : chosen) {
    if (alias[i] != i) {
      ++tied;
      continue;
    }
    parameters += static_cast<uint64_t>(NumElements(catalog.entries[i].shape).value_or(0));
    bytes += DataBytes(catalog.entries[i]);
  }
  std::string line = Plural(chosen.size(), "key");
  if (chosen.size() != catalog.entries.size()) line += " of " + Count(catalog.entries.size());
  if (tied > 0) line += " (" + Count(tied) + " tied to another)";
  line += ", " + Plural(parameters, "parameter") + ", " + Size(bytes) + "; " + catalog.format;
  if (catalog.files.size() > 1) line += ", " + Plural(catalog.files.size(), "file");
  if (!catalog.envelope.empty()) line += ", state_dict at `" + Printable(catalog.envelope) + "`";
  return line + "\n";
}

void PrintNotes(const Settings& settings, const Catalog& catalog) {
  if (settings.quiet) return;
  PrintAll(settings, catalog.warnings);
  if (catalog.callables.empty() || settings.envelope) return;
  Diagnostic note{.severity = Severity::kNote,
                  .name = "not-called",
                  .message = "the pickle names " + Plural(catalog.callables.size(), "callable") +
                             " that rekey did not call: " + FirstOf(catalog.callables, 5)};
  Print(settings, note.Help("`rekey keys --envelope` shows the objects that they stand in"));
}

void PrintText(const Settings& settings, const Catalog& catalog,
               const std::vector<uint32_t>& chosen) {
  if (settings.envelope) {
    std::cout << EnvelopeText(catalog, settings.depth);
  } else if (settings.pattern) {
    std::cout << FamilyTable(catalog, chosen);
  } else if (settings.tree) {
    std::cout << KeyTree(catalog, chosen, settings.depth);
  } else {
    std::cout << KeyTable(catalog, chosen);
  }
  if (!settings.quiet) std::cout << LastLine(catalog, chosen);
}

void WriteEntry(const Catalog& catalog, uint32_t index, uint32_t alias, JsonText* json) {
  const Entry& entry = catalog.entries[index];
  json->StartObject();
  json->Field("key", entry.key);
  json->Type({entry.dtype, entry.shape});
  json->Field("bytes", DataBytes(entry));
  const Storage* storage = entry.no_bytes ? nullptr : &catalog.storages[entry.storage];
  json->Key("file");
  storage != nullptr ? json->Text(catalog.files[storage->file].name) : json->Null();
  // Of the first element; a deflated record has no such place.
  json->Key("offset");
  storage != nullptr && storage->packing == Storage::Packing::kPlain
      ? json->Number(storage->offset + entry.start)
      : json->Null();
  if (alias != index) json->Field("alias_of", catalog.entries[alias].key);
  json->EndObject();
}

void PrintJson(const Catalog& catalog, const std::vector<uint32_t>& chosen) {
  JsonText json;
  json.StartObject();
  json.Field("format", catalog.format);
  json.Field("envelope", catalog.envelope);
  json.Key("files");
  json.StartArray();
  for (const FileInfo& file : catalog.files) {
    json.StartObject();
    json.Field("name", file.name);
    json.Field("bytes", file.size);
    json.EndObject();
  }
  json.EndArray();
  json.Key("metadata");
  json.StartObject();
  for (const auto& [key, value] : catalog.metadata) json.Field(key, value);
  json.EndObject();
  json.Texts("callables", catalog.callables);
  json.Key("tensors");
  json.StartArray();
  const std::vector<uint32_t> alias = Aliases(catalog);
  for (uint32_t i : chosen) WriteEntry(catalog, i, alias[i], &json);
  json.EndArray();
  json.Messages("warnings", catalog.warnings);
  json.EndObject();
  json.Print();
}

// Every checkpoint file of a folder by itself, for folders that are not one checkpoint.
Result<std::vector<NamedCatalog>> EachFile(const std::string& folder, const ReadOptions& read) {
  std::vector<NamedCatalog> files;
  std::optional<Diagnostic> fault;
  InputSpec spec{.read = read};
  spec.source = [&](std::string_view name,
                    const InputSpec::File& file) -> Result<std::optional<std::string>> {
    Result<const Catalog*> catalog = file();
    if (catalog.ok()) {
      files.push_back({std::string(name), **catalog});
    } else if (catalog.error().name != "not-a-checkpoint") {
      fault = catalog.error();
    }
    return std::optional<std::string>();  // taken by no `source` line
  };
  // Nothing is taken, so that this is an error whatever happens; what counts is what it saw.
  (void)OpenCheckpoint(folder, spec).ok();
  if (fault) return *fault;
  return files;
}

void PrintSourceLines(const std::vector<NamedCatalog>& files) {
  std::vector<std::string> lines = SourceLinesFor(files.front().name, files.back().name);
  if (lines.size() > 1) {
    lines.clear();
    for (const NamedCatalog& file : files) {
      const std::string& other = &file == &files.front() ? files.back().name : files.front().name;
      lines.push_back(SourceLinesFor(file.name, other).front());
    }
  }
  std::cout << "To read the files together, tell them apart in the rules:\n";
  for (const std::string& line : lines) std::cout << "  " << Printable(line) << "\n";
}

int ListFileByFile(const Settings& settings, const Diagnostic& error) {
  Result<std::vector<NamedCatalog>> files = EachFile(settings.words[0], ReadOptionsOf(settings));
  if (!files.ok()) return Fail(settings, files.error());
  if (files->size() < 2) return Fail(settings, error);
  for (const NamedCatalog& file : *files) {
    Result<std::vector<uint32_t>> chosen = Chosen(settings, file.catalog);
    if (!chosen.ok()) return Fail(settings, chosen.error());
    std::cout << Printable(file.name) << "\n";
    PrintText(settings, file.catalog, *chosen);
    std::cout << "\n";
  }
  PrintSourceLines(*files);
  return kYes;
}

}  // namespace

int RunKeys(const Settings& settings) {
  Result<Catalog> catalog =
      OpenCheckpoint(settings.words[0], InputSpec{.read = ReadOptionsOf(settings)});
  if (!catalog.ok()) {
    // Files that share keys, or lie deeper. In JSON a key stands once: there is no such listing.
    const std::string& name = catalog.error().name;
    if ((name == "key-in-two-files" || name == "no-checkpoint") && !settings.json) {
      return ListFileByFile(settings, catalog.error());
    }
    return Fail(settings, catalog.error());
  }
  Result<std::vector<uint32_t>> chosen = Chosen(settings, *catalog);
  if (!chosen.ok()) return Fail(settings, chosen.error());
  if (settings.json) {
    PrintJson(*catalog, *chosen);
    return kYes;
  }
  PrintText(settings, *catalog, *chosen);
  PrintNotes(settings, *catalog);
  return kYes;
}

}  // namespace rekey::cli
