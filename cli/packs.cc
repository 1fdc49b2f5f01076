// `rekey packs [NAME]`: the rule packs at hand.
#include <iostream>

#include "cli/json_text.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "engine/pack.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

std::string Reference(const Pack& pack) {
  return "pack:" + pack.name + "@" + std::to_string(pack.version);
}

void WritePack(const Pack& pack, JsonText* json) {
  json->StartObject();
  json->Field("name", pack.name);
  json->Field("version", uint64_t{static_cast<unsigned>(pack.version)});
  json->Field("reference", Reference(pack));
  json->Field("file", pack.file);
  json->Field("what", pack.what);
  json->Key("params");
  json->StartObject();
  for (const auto& [name, what] : pack.params) json->Field(name, what);
  json->EndObject();
  json->Texts("tested", pack.tested);
  json->EndObject();
}

void PrintJson(const std::vector<Pack>& packs, const Diagnostics& messages) {
  JsonText json;
  json.StartObject();
  json.Key("packs");
  json.StartArray();
  for (const Pack& pack : packs) WritePack(pack, &json);
  json.EndArray();
  json.Messages("warnings", messages);
  json.EndObject();
  json.Print();
}

void PrintOne(const Pack& pack) {
  std::cout << Reference(pack) << "\n  " << Printable(pack.what) << "\n  " << Printable(pack.file)
            << "\n";
  if (!pack.params.empty()) std::cout << "params\n";
  Table params({false, false});
  for (const auto& [name, what] : pack.params) {
    params.Row({"  -p " + Printable(name) + "=", Printable(what)});
  }
  std::cout << params.ToString();
  if (!pack.tested.empty()) std::cout << "tested against\n";
  for (const std::string& line : pack.tested) std::cout << "  " << Printable(line) << "\n";
}

}  // namespace

int RunPacks(const Settings& settings) {
  if (!settings.words.empty()) {
    std::string_view reference = settings.words[0];
    if (reference.starts_with("pack:")) reference.remove_prefix(5);
    Result<Pack> pack = FindPackByReference(reference);
    if (!pack.ok()) return Fail(settings, pack.error());
    settings.json ? PrintJson({*pack}, {}) : PrintOne(*pack);
    return kYes;
  }
  Diagnostics messages;
  const std::vector<Pack> packs = AllPacks(&messages);
  if (settings.json) {
    PrintJson(packs, messages);
  } else {
    Table table({false, false});
    for (const Pack& pack : packs) table.Row({Reference(pack), Printable(pack.what)});
    std::cout << table.ToString();
    PrintAll(settings, messages);
  }
  return HasErrors(messages) ? kFailed : kYes;
}

}  // namespace rekey::cli
